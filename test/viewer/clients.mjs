// Several browsers on one simulation, many bodies, and browsers that disconnect during an operation.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as rb from './harness.mjs';

before(() => rb.openBrowser());
after(() => rb.closeBrowser());

// L-109: several users act on one world
test('two browsers see the same time within a frame', async () => {
  const server = await rb.startServer('double-pendulum');
  const one = await rb.openPage(server.url);
  const two = await rb.openPage(server.url);
  await rb.waitForScene(one.page, 'double-pendulum');
  await rb.waitForScene(two.page, 'double-pendulum');
  await rb.until(two.page, () => window.rattleback.model.time > 0.2);
  // While it runs: a reading of one lies between two readings of the other, taken before and after it.
  // On a loaded machine a page may get no processor for longer than a frame: most readings count, not every one.
  let good = 0;
  let last = '';
  for (let i = 0; i < 60 && good < 10; ++i) {
    const early = await rb.timeOf(one.page);
    const middle = await rb.timeOf(two.page);
    const late = await rb.timeOf(one.page);
    const frame = await one.page.evaluate(() => window.rattleback.model.state.frameStep);
    good += middle >= early - frame && middle <= late + frame ? 1 : 0;
    last = `${early} ${middle} ${late}, frame ${frame}`;
  }
  assert.equal(good, 10, `the times differ: ${last}`);
  // Paused: the same frame.
  assert.equal((await rb.command(one.page, { do: 'pause' })).ok, true);
  await rb.until(two.page, () => window.rattleback.model.state.playing === false);
  await rb.until(one.page, () => !window.rattleback.model.state.playing && !window.rattleback.model.isMoving());
  const time = await rb.timeOf(one.page);
  await rb.until(two.page, (wanted) => window.rattleback.model.time === wanted, time);
  assert.equal(await rb.timeOf(one.page), time);
  assert.deepEqual([...one.troubles, ...two.troubles], []);
  await one.close();
  await two.close();
  await server.stop();
});

test('a body that another browser drags is refused, and let go when that browser is closed', async () => {
  const server = await rb.startServer('double-pendulum');
  const one = await rb.openPage(server.url);
  const two = await rb.openPage(server.url);
  await rb.waitForScene(one.page, 'double-pendulum');
  await rb.waitForScene(two.page, 'double-pendulum');
  const grip = await one.page.evaluate(() => {
    const body = [...window.rattleback.model.bodies.values()].filter((b) => b.type === 'dynamic').at(-1);
    return { do: 'drag-start', body: body.number, point: [...body.position], kind: 'point' };
  });
  assert.equal((await rb.command(one.page, grip)).ok, true);
  const refused = await rb.command(two.page, grip);
  assert.equal(refused.ok, false);
  assert.match(refused.error, /drag/);
  await one.close();
  let granted = await rb.command(two.page, grip);
  for (let i = 0; i < 100 && !granted.ok; ++i) { // the server notices the end of a browser a little later
    await two.page.waitForTimeout(100);
    granted = await rb.command(two.page, grip);
  }
  assert.equal(granted.ok, true, granted.error);
  const time = await rb.timeOf(two.page);
  await rb.until(two.page, (t) => window.rattleback.model.time > t, time);
  assert.deepEqual(two.troubles, []);
  await two.close();
  await server.stop();
});

test('a thousand moving bodies at 60 frames per second of simulated time', async () => {
  const server = await rb.startServer('swarm');
  const { page, troubles, close } = await rb.openPage(server.url);
  await rb.waitForScene(page, 'swarm');
  await rb.until(page, () => window.rattleback.model.time > 1 && window.rattleback.stats.frameTime > 0);
  const seen = await page.evaluate(() => ({ ...window.rattleback.stats,
    bodies: window.rattleback.model.bodies.size, step: window.rattleback.model.state.frameStep,
    realTime: window.rattleback.model.state.realTime }));
  console.log(`1000 bodies: frame time of the page ${seen.frameTime.toFixed(1)} ms (drawn in software), `
    + `${seen.bytesPerBodyFrame.toFixed(1)} bytes per body and frame, simulated at ${seen.realTime.toFixed(2)} of real time`);
  assert.equal(seen.bodies, 1000);
  assert.ok(seen.bytesPerBodyFrame > 0 && seen.bytesPerBodyFrame <= 40, `${seen.bytesPerBodyFrame} bytes`);
  assert.ok(Math.abs(seen.step - 1 / 60) < 1e-9, `a frame is ${seen.step} s`);
  await rb.screenshot(page, 'thousand');
  assert.deepEqual(troubles, []);
  await close();
  await server.stop();
});
