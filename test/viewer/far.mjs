// Far away: through a tunnel with another port, from other machines with a token, and several viewers of which one is in
// control.
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { checkAccess, checkLayout, goToFrame, golden } from './checks.mjs';
import * as rb from './harness.mjs';

const NAME = 'tumbling-box';
let server;

before(async () => {
  await rb.openBrowser();
  server = await rb.startServer(NAME);
});

after(async () => {
  await rb.closeBrowser();
  await server?.stop();
});

/** What ssh -L does: another port of this machine, whose bytes go to the server. */
async function tunnel(port) {
  const made = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const end of [near, far]) {
      end.on('error', () => { near.destroy(); far.destroy(); });
    }
  });
  await new Promise((done) => { made.listen(0, '127.0.0.1', done); });
  return { port: made.address().port, stop: () => made.close() };
}

test('a tunnel with another port shows the scene and acts on it', async () => {
  const away = await tunnel(Number(new URL(server.url).port));
  for (const host of ['localhost', '127.0.0.1']) {
    const { page, troubles, close } = await rb.openPage(`http://${host}:${away.port}/`);
    await rb.waitForScene(page, NAME);
    await rb.until(page, () => window.rattleback.model.time > 0.01);
    assert.equal((await rb.command(page, { do: 'pause' })).ok, true);
    if (host === 'localhost') {
      await goToFrame(page, 3);
      await golden(page, 'tunnel');
    }
    assert.equal((await rb.command(page, { do: 'play' })).ok, true);
    assert.deepEqual(troubles, []);
    await close();
  }
  away.stop();
});

test('beyond this machine nothing is given without the token', async () => {
  const far = await rb.startServer(NAME, '--listen', '0.0.0.0');
  const { port, search } = new URL(far.url);
  const base = `http://127.0.0.1:${port}/`;
  for (const path of ['', 'scenes.json', `picture/${NAME}.png`, 'ws', 'anything']) {
    const response = await fetch(base + path);
    assert.equal(response.status, 403, path);
    assert.match(await response.text(), /token/, path);
  }
  assert.equal((await fetch(`${base}?token=${'0'.repeat(32)}`)).status, 403);
  const { page, troubles, close } = await rb.openPage(base + search);
  await rb.waitForScene(page, NAME);
  assert.deepEqual(troubles, []);
  await close();
  await far.stop();
});

test('one viewer takes control, the other watches, asks and gets it', async () => {
  const one = await rb.openPage(server.url);
  await rb.waitForScene(one.page, NAME);
  assert.equal(await one.page.isVisible('#viewers'), false, 'shown to a single viewer');
  const two = await rb.openPage(server.url);
  await rb.waitForScene(two.page, NAME);
  await one.page.getByRole('button', { name: 'Take control' }).click();
  await rb.until(two.page, () => window.rattleback.model.state.canAct === false);
  const refused = await rb.command(two.page, { do: 'pause' });
  assert.equal(refused.ok, false);
  assert.match(refused.error, /in control/);
  assert.equal((await rb.command(one.page, { do: 'pause' })).ok, true);
  await two.page.getByRole('button', { name: 'Ask for control' }).click();
  await one.page.getByRole('button', { name: /Give to viewer/ }).waitFor();
  await checkLayout(one.page, 'viewers');
  await checkAccess(one.page, 'viewers');
  await goToFrame(one.page, 3);
  await golden(one.page, 'two-viewers');
  await one.page.getByRole('button', { name: /Give to viewer/ }).click();
  await rb.until(two.page, () => window.rattleback.model.state.canAct === true);
  assert.equal((await rb.command(two.page, { do: 'play' })).ok, true);
  assert.equal((await rb.command(one.page, { do: 'pause' })).ok, false);
  await two.close(); // control ends with its viewer
  await rb.until(one.page, () => window.rattleback.model.viewers.control === 0);
  assert.equal((await rb.command(one.page, { do: 'pause' })).ok, true);
  assert.deepEqual([...one.troubles, ...two.troubles], []);
  await one.close();
});
