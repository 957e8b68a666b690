// The self-contained page: opened from disk, without a network, it replays the rattleback.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as rb from './harness.mjs';

before(() => rb.openBrowser());
after(() => rb.closeBrowser());

test('a page written by run --html replays the rattleback with the network off', async () => {
  const file = resolve(join(rb.output, 'rattleback.html'));
  // by its path: next to the program its name is that of the program
  const scene = fileURLToPath(new URL('../../scenes/rattleback.json', import.meta.url));
  rb.run('run', scene, '--html', file, '--quiet');
  assert.ok(statSync(file).size < 4e6, `${statSync(file).size} bytes`);
  const { page, troubles, requests, close } = await rb.openPage(pathToFileURL(file).href, { offline: true });
  await rb.waitForScene(page, 'rattleback');
  await rb.until(page, () => window.rattleback.model.time > 0.1);
  // The stone rotates in the other direction at the end: its spin about the vertical changes its sign.
  const spins = await page.evaluate(() => {
    const { model } = window.rattleback;
    const column = model.columns.findIndex((c) => /angularVelocity\.z/.test(c.name));
    const values = model.samples.values[column];
    return [values[0], values[model.samples.count - 1]];
  });
  assert.ok(spins[0] > 0 && spins[1] < 0, `spin from ${spins[0]} to ${spins[1]} rad/s`);
  // Paused: a playing page may draw no frame within 0.02 s of that time.
  await rb.command(page, { do: 'pause' });
  await rb.command(page, { do: 'seek', time: 0.5 });
  await rb.until(page, () => Math.abs(window.rattleback.model.time - 0.5) < 0.02);
  const refused = await rb.command(page, { do: 'push', body: 'rattleback', point: [0, 0, 0], impulse: [0, 0, 1] });
  assert.equal(refused.ok, false, 'a page has nothing to push');
  await rb.screenshot(page, 'page-rattleback');
  assert.deepEqual(requests.filter((url) => !url.startsWith('file:') && !url.startsWith('data:') && !url.startsWith('blob:')), []);
  assert.deepEqual(troubles, []);
  await close();
});

// The overlay of rays: thin lines from the balls to the bodies they will hit, the shortest marked.
test('a page of a scene with the detector rays shows the rays of the next contact', async () => {
  const file = resolve(join(rb.output, 'rays-billiard.html'));
  const scene = fileURLToPath(new URL('../../scenes/rays-billiard.json', import.meta.url));
  rb.run('run', scene, '--html', file, '--duration', '0.3', '--quiet');
  const { page, troubles, close } = await rb.openPage(pathToFileURL(file).href, { offline: true });
  await rb.waitForScene(page, 'rays-billiard');
  assert.ok(await page.isVisible('[data-overlay="rays"]'));
  await rb.command(page, { do: 'pause' });
  await rb.command(page, { do: 'seek', time: 0.1 });
  await page.keyboard.press('8');
  assert.equal(await page.getAttribute('[data-overlay="rays"]', 'aria-pressed'), 'true');
  await rb.until(page, () => window.rattleback.model.rays.some((ray) => ray.isShortest));
  const counts = await page.evaluate(() => {
    const { rays } = window.rattleback.model;
    return [rays.length, rays.filter((ray) => ray.isHit).length, rays.filter((ray) => ray.isShortest).length];
  });
  assert.ok(counts[0] <= 2000 && counts[1] > 0 && counts[2] === 1, `rays, hits, shortest: ${counts}`);
  await rb.screenshot(page, 'page-rays');
  assert.deepEqual(troubles, []);
  await close();
});

// The badge next to the title: what a check of the certificate says, and the list of findings.
test('a badge says whether the certificate of a recording holds', async () => {
  const scene = fileURLToPath(new URL('../../scenes/newtons-cradle.json', import.meta.url));
  const [whole, cut, recording] = ['whole.rbc', 'cut.rbc', 'badge.rbr'].map((name) => resolve(join(rb.output, name)));
  rb.run('run', scene, '--quiet', '--certificate', whole, '--record', recording);
  writeFileSync(cut, readFileSync(whole).subarray(0, -10));
  for (const [file, badge, finding] of [[whole, /^✓ certified$/, /free flight obeys Newton and Euler.*\d certified/],
    [cut, /^✗ not certified$/, /cut off/]]) {
    const server = await rb.startServer(recording, '--certificate', file);
    const { page, troubles, close } = await rb.openPage(server.url);
    await rb.waitForScene(page, 'newtons-cradle');
    await rb.until(page, () => !document.getElementById('certificate').hidden);
    assert.match(await page.innerText('#certificate summary'), badge);
    assert.equal(await page.isVisible('#certificate li'), false);
    await page.click('#certificate summary');
    assert.match(await page.innerText('#certificate ul'), finding);
    assert.deepEqual(troubles, []);
    await close();
    await server.stop();
  }
});
