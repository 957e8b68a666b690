// Why something happened: causes of an energy step, plots as files, forces as arrows with a scale.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { checkAccess, checkLayout, drawn } from './checks.mjs';
import * as rb from './harness.mjs';

let server;
let view;

before(async () => {
  await rb.openBrowser();
  server = await rb.startServer('bouncing-ball');
  view = await rb.openPage(server.url, { size: { width: 1000, height: 640 } });
});

after(async () => {
  await rb.closeBrowser();
  await server?.stop();
});

test('a click on a step of the energy lists its causes, and a cause leads to its moment', async () => {
  const { page } = view;
  await rb.waitForScene(page, 'bouncing-ball');
  await rb.command(page, { do: 'speed', factor: 10 });
  await rb.until(page, () => window.rattleback.model.events.filter((event) => event.energyChange !== 0).length > 3);
  await rb.command(page, { do: 'pause' });
  await page.keyboard.press('g');
  await page.locator('.plots-canvas .u-over').waitFor();
  const event = await page.evaluate(() => window.rattleback.model.events.find((one) => one.energyChange !== 0));
  await rb.until(page, (time) => window.rattleback.plots.chart.data[0].at(-1) > time, event.time);
  const place = await page.evaluate((time) => {
    const { chart } = window.rattleback.plots;
    const box = chart.over.getBoundingClientRect();
    return { x: box.left + chart.valToPos(time, 'x'), y: box.top + box.height / 2 };
  }, event.time);
  await page.mouse.click(place.x, place.y);
  await page.locator('.plots-causes').waitFor();
  const causes = await page.locator('.plots-causes').textContent();
  assert.match(causes, /impacts/);
  assert.match(causes, /meets/);
  const head = await page.locator('.cause-head h3').textContent();
  assert.match(head, /energy −/, head);
  await checkLayout(page, 'causes');
  await checkAccess(page, 'causes');
  await rb.screenshot(page, 'causes');
  // the ledger and the event say the same: the energy that the list shows as lost is the event's
  const cause = page.locator(`.cause[data-index]`).first();
  const index = Number(await cause.getAttribute('data-index'));
  await cause.click();
  const wanted = await page.evaluate((i) => window.rattleback.model.events[i].time, index);
  await rb.until(page, (time) => Math.abs(window.rattleback.model.time - time) <= window.rattleback.model.state.frameStep, wanted);
  await page.locator('.cause-close').click();
  assert.equal(await page.isVisible('.plots-list:not(.plots-causes)'), true);
  assert.deepEqual(view.troubles, []);
});

test('a plot is saved as a table with all samples and as a drawing', async () => {
  const { page } = view;
  const save = async (kind) => {
    const waiting = page.waitForEvent('download');
    await page.locator(`[data-export="${kind}"]`).click();
    const download = await waiting;
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
  };
  const csv = await save('csv');
  assert.equal(csv.name, 'bouncing-ball-energy.csv');
  const lines = csv.text.trim().split('\n');
  const { count, first } = await page.evaluate(() => {
    const { samples, columns } = window.rattleback.model;
    return { count: samples.count, first: samples.values[columns.findIndex(({ name }) => name === 'total')][0] };
  });
  assert.equal(lines.length, count + 1);
  const column = lines[0].split(',').findIndex((name) => name.startsWith('total'));
  assert.equal(Number(lines[1].split(',')[column]), first);
  const svg = await save('svg');
  assert.match(svg.text, /^<svg /);
  const isWhole = await page.evaluate((text) => {
    const root = new DOMParser().parseFromString(text, 'image/svg+xml');
    return root.querySelector('parsererror') === null && root.querySelectorAll('path').length > 0;
  }, svg.text);
  assert.ok(isWhole, 'the drawing is not XML');
  // a zoom cuts the table
  const over = await page.locator('.plots-canvas .u-over').boundingBox();
  await page.mouse.move(over.x + over.width * 0.25, over.y + 20);
  await page.mouse.down();
  await page.mouse.move(over.x + over.width * 0.5, over.y + 20, { steps: 4 });
  await page.mouse.up();
  await rb.until(page, () => window.rattleback.plots.zoom !== null);
  const part = (await save('csv')).text.trim().split('\n').length;
  assert.ok(part > 2 && part < 0.6 * lines.length, `${part} of ${lines.length} lines`);
  assert.deepEqual(view.troubles, []);
});

// m g of the block is what the arrows show: the scale is the round number above the largest of them
test('forces of contacts and joints are arrows with a scale', async () => {
  const { page } = view;
  await rb.openScene(page, 'dominoes');
  await page.keyboard.press('1');
  await rb.until(page, () => window.rattleback.model.contacts.some((contact) => Math.hypot(...contact.force) > 0));
  await rb.command(page, { do: 'pause' });
  await drawn(page);
  const shown = await page.locator('[data-scale="contacts"]').textContent();
  const [, number] = /contact force ([\d.e−-]+) N/.exec(shown) ?? [];
  const largest = await page.evaluate(() => Math.max(...window.rattleback.model.contacts.map((contact) => Math.hypot(...contact.force))));
  assert.ok(Number(number?.replace('−', '-')) >= largest * 0.999, `${shown} for ${largest} N`);
  assert.match(String(Number(number?.replace('−', '-')).toExponential()), /^[125]e/, `${shown} is not round`);
  await checkLayout(page, 'scale');
  await rb.screenshot(page, 'forces');
  await page.keyboard.press('1');
  await drawn(page);
  assert.equal(await page.isVisible('#scale'), false);
  await rb.openScene(page, 'double-pendulum');
  await page.keyboard.press('3');
  await rb.until(page, () => /joint force/.test(document.getElementById('scale').textContent));
  await rb.screenshot(page, 'joint-forces');
  assert.deepEqual(view.troubles, []);
});
