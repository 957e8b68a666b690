// User interaction with a simulation: pause, step, rewind, push, drag, change, plot, read the journal.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { drawn } from './checks.mjs';
import * as rb from './harness.mjs';

let server;
let view;

before(async () => {
  await rb.openBrowser();
  server = await rb.startServer();
  view = await rb.openPage(server.url);
});

after(async () => {
  await rb.closeBrowser();
  await server?.stop();
});

async function open(name) {
  const { page } = view;
  await rb.openScene(page, name);
  return page;
}

function isPlaying(page) {
  return page.evaluate(() => window.rattleback.model.state.playing);
}

// By the button: the scene must be far from its end, where the button would play it again.
async function clickPause(page) {
  await rb.until(page, () => window.rattleback.model.state.playing === true);
  await page.locator('#play').click();
  await rb.until(page, () => window.rattleback.model.state.playing === false);
}

// By a command, which also works if the scene has ended meanwhile.
async function pause(page) {
  const reply = await rb.command(page, { do: 'pause' });
  assert.equal(reply.ok, true, reply.error);
  await rb.until(page, () => window.rattleback.model.state.playing === false);
}

async function play(page) {
  await page.locator('#play').click();
  await rb.until(page, () => window.rattleback.model.state.playing === true);
}

// B-90, B-91: pause, step, rewind by the controls of the page
test('pause stops the time, step advances it by one frame, the timeline rewinds it', async () => {
  const page = await open('double-pendulum');
  await rb.until(page, () => window.rattleback.model.time > 2.0); // the timeline spans 30 s: a fiftieth is 0.6 s
  await clickPause(page);
  const stood = await rb.timeOf(page);
  await drawn(page);
  await drawn(page);
  assert.equal(await rb.timeOf(page), stood, 'the time advances while paused');

  const frameStep = await page.evaluate(() => window.rattleback.model.state.frameStep);
  await page.locator('#step').click();
  await rb.until(page, (time) => window.rattleback.model.time > time, stood);
  const stepped = await rb.timeOf(page);
  assert.ok(Math.abs(stepped - stood - frameStep) < 1e-9, `a step took ${stepped - stood} s of ${frameStep} s`);

  const endTime = await page.evaluate(() => window.rattleback.model.state.endTime);
  const box = await page.locator('#scrub').boundingBox();
  await page.mouse.click(box.x + 0.02 * box.width, box.y + box.height / 2);
  await rb.until(page, (time) => window.rattleback.model.time < time / 2, stood);
  assert.equal(await page.evaluate(() => window.rattleback.model.state.endTime), endTime, 'rewinding forgot frames');
  await rb.screenshot(page, 'rewound');
  await play(page);
  await rb.until(page, (time) => window.rattleback.model.time > time, stepped);
  assert.deepEqual(view.troubles, []);
});

async function velocityOf(page) {
  return page.evaluate(() => window.rattleback.model.detail.velocity);
}

// B-91: a push changes the velocity by impulse / mass
test('a push where one clicks changes the velocity', async () => {
  const page = await open('tumbling-box');
  await rb.until(page, () => window.rattleback.model.time > 0);
  await pause(page);
  const body = await page.evaluate(() => [...window.rattleback.model.bodies.values()].find((b) => b.type === 'dynamic'));
  await rb.command(page, { do: 'select', body: body.number });
  await rb.until(page, (number) => window.rattleback.model.detail?.body === number, body.number);
  const before = await velocityOf(page);
  const center = await page.evaluate(() => window.rattleback.model.detail.center);
  const impulse = [0.3, -0.2, 0.5].map((x) => x * body.mass);
  const reply = await rb.command(page, { do: 'push', body: body.number, point: center, impulse });
  assert.equal(reply.ok, true, reply.error);
  await rb.until(page, (x) => window.rattleback.model.detail.velocity[0] !== x, before[0]);
  const after_ = await velocityOf(page);
  for (let i = 0; i < 3; ++i) {
    assert.ok(Math.abs(after_[i] - before[i] - impulse[i] / body.mass) < 1e-9, `velocity ${before} became ${after_}`);
  }
  assert.deepEqual(view.troubles, []);
});

// B-91
test('shift and a click push the body under the pointer', async () => {
  const page = await open('rattleback'); // it stays in the middle of the view
  await rb.until(page, () => window.rattleback.model.time > 0);
  await pause(page);
  const body = await page.evaluate(() => [...window.rattleback.model.bodies.values()].find((b) => b.type === 'dynamic'));
  await rb.command(page, { do: 'select', body: body.number });
  await rb.until(page, (number) => window.rattleback.model.detail?.body === number, body.number);
  const before = await velocityOf(page);
  let isPushed = false;
  for (let i = 0; i < 10 && !isPushed; ++i) {
    const place = await page.evaluate((number) => window.rattleback.view.screenOf(number), body.number);
    await page.mouse.move(place.x, place.y);
    await page.keyboard.down('Shift');
    await page.mouse.down();
    await page.mouse.up();
    await page.keyboard.up('Shift');
    isPushed = await rb.until(page, (old) => window.rattleback.model.detail.velocity
      .some((x, k) => Math.abs(x - old[k]) > 1e-6), before, 5000).then(() => true, () => false);
  }
  assert.ok(isPushed, 'shift and click pushed nothing');
  await rb.screenshot(page, 'pushed');
  assert.deepEqual(view.troubles, []);
});

// B-30: dragging yields to the joints
test('a dragged link follows the pointer and its joints stay closed', async () => {
  const page = await open('double-pendulum');
  await rb.until(page, () => window.rattleback.model.time > 0);
  const number = await page.evaluate(() => [...window.rattleback.model.bodies.values()].filter((b) => b.type === 'dynamic').at(-1).number);
  await rb.command(page, { do: 'select', body: number });
  const errorBefore = await page.evaluate(() => window.rattleback.model.latest('error'));
  const from = await page.evaluate((n) => window.rattleback.view.screenOf(n), number);
  const start = await page.evaluate((n) => [...window.rattleback.model.bodies.get(n).position], number);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= 20; ++i) {
    await page.mouse.move(from.x + 6 * i, from.y - 4 * i);
    await page.waitForTimeout(30);
  }
  await rb.screenshot(page, 'dragged');
  await page.mouse.up();
  const moved = await page.evaluate((n) => [...window.rattleback.model.bodies.get(n).position], number);
  assert.ok(Math.hypot(...moved.map((x, i) => x - start[i])) > 1e-3, 'the body did not move');
  const error = await page.evaluate(() => window.rattleback.model.latest('error'));
  const tolerance = await page.evaluate(() => window.rattleback.model.parameters.step.tolerance);
  assert.ok(Number.isFinite(error) && error <= Math.max(tolerance, errorBefore), `joint error ${error} m, tolerance ${tolerance} m`);
  assert.deepEqual(view.troubles, []);
});

// B-91: parameters of the world, live
test('a parameter changed in a panel acts at once', async () => {
  const page = await open('bouncing-ball');
  await rb.until(page, () => window.rattleback.model.time > 0);
  const reply = await rb.command(page, { do: 'set', target: 'world', key: 'gravity', value: [0, 0, -1.5] });
  assert.equal(reply.ok, true, reply.error);
  await rb.until(page, () => window.rattleback.model.parameters.world.gravity[2] === -1.5);
  const wrong = await rb.command(page, { do: 'set', target: 'world', key: 'gravty', value: 3 });
  assert.equal(wrong.ok, false);
  assert.match(wrong.error, /gravity/, 'the message should name the nearest key');
  await rb.screenshot(page, 'panel');
  assert.deepEqual(view.troubles, []);
});

test('panels of settings are made of what the server says', async () => {
  const page = await open('dominoes');
  await rb.until(page, () => window.rattleback.model.parameters?.contact);
  const shown = await page.evaluate(() => {
    const { settings } = window.rattleback.model.scene;
    const panel = document.querySelector('[data-panel="contact"]');
    return settings.contact.map(({ key, meaning }) => {
      const row = panel.querySelector(`[data-key="${key}"]`);
      return row?.title === meaning ? null : key;
    }).filter(Boolean);
  });
  assert.deepEqual(shown, [], 'settings without a row, or without their meaning');
  const reply = await rb.command(page, { do: 'set', target: 'contact', key: 'restSpeed', value: 0.02 });
  assert.equal(reply.ok, true, reply.error);
  await page.evaluate(() => document.querySelector('[data-panel="contact"] .lil-title')?.click());
  await rb.screenshot(page, 'settings');
  assert.deepEqual(view.troubles, []);
});

test('the plot shows the energy of the ledger, the journal jumps to its moment', async () => {
  const page = await open('bouncing-ball');
  await rb.until(page, () => window.rattleback.model.events.length > 2);
  const energy = await page.evaluate(() => {
    const { model, plots } = window.rattleback;
    const column = model.columns.findIndex((c) => c.group === 'energy' && /total/i.test(c.name));
    return plots.value(column, model.samples.time[1]);
  });
  assert.ok(Number.isFinite(energy), 'the plot has no energy');
  if (await page.locator('#journal .entry').first().isHidden()) {
    await page.locator('#open-journal').click();
  }
  await pause(page); // rows that still come in would move under the click
  const entry = page.locator('#journal .entry').first();
  const index = Number(await entry.getAttribute('data-index'));
  const wanted = await page.evaluate((i) => window.rattleback.model.events[i].time, index);
  await entry.click();
  await rb.until(page, (time) => Math.abs(window.rattleback.model.time - time)
    <= window.rattleback.model.state.frameStep, wanted);
  await rb.screenshot(page, 'journal');
  assert.equal(await isPlaying(page), false);
  assert.deepEqual(view.troubles, []);
});
