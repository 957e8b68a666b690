// Time and control: the start of the clock, the end of a scene, loops, schedules, typed values, undo, a scene file that is
// saved again, files that are dropped onto the page, and texts that try to be scripts.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { checkAccess, checkLayout, drawn, goToFrame, golden } from './checks.mjs';
import * as rb from './harness.mjs';

const scenes = fileURLToPath(new URL('../../scenes/', import.meta.url));
let folder;
let server;
let view;

/** A ball that falls for a time, as text. */
function ball({ title = 'A ball', duration = 0.4, mass = 1, extra = '' } = {}) {
  return `{
  "rattleback": 1,
  "title": ${JSON.stringify(title)},
  "duration": ${duration},
  "bodies": [
    {"name": "ball", "position": [0, 0, 1],
      "mass": ${mass},
      "shapes": [{"geometry": {"type": "sphere", "radius": 0.1}}]}${extra}
  ]
}
`;
}

/** As editors do: another file takes its place. */
function save(path, text) {
  writeFileSync(`${path}~`, text);
  renameSync(`${path}~`, path);
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rattleback-control-'));
  writeFileSync(join(folder, 'ball.json'), ball());
  await rb.openBrowser();
  server = await rb.startServer(join(folder, 'ball.json'));
});

after(async () => {
  await rb.closeBrowser();
  await server?.stop();
  rmSync(folder, { recursive: true });
});

test('the clock starts when the first page is ready, and the end has replay and continue', async () => {
  // a clock that had started with the program would be at 0.06 s
  await new Promise((done) => { setTimeout(done, 600); });
  view = await rb.openPage(server.url, { init: () => { // the time of the first state that the page gets
    let app;
    Object.defineProperty(window, 'rattleback', { configurable: true, get: () => app, set(value) {
      app = value;
      app.model.on('state', ({ time }) => { window.firstTime ??= time; });
    } });
  } });
  const { page } = view;
  await rb.until(page, () => window.rattleback?.ready && window.firstTime !== undefined);
  assert.equal(await page.evaluate(() => window.firstTime), 0, 'the beginning was missed');
  await rb.command(page, { do: 'speed', factor: 0.5 }); // a scene of 0.4 s is shown slowly
  await rb.until(page, () => window.rattleback.model.state.ended === true);
  assert.equal(await page.locator('#sentence').textContent(), 'The end of the scene.');
  await checkLayout(page, 'end');
  await checkAccess(page, 'end');
  await golden(page, 'end');
  await page.locator('#replay').click();
  await rb.until(page, () => window.rattleback.model.state.playing && window.rattleback.model.time < 0.35);
  assert.equal(await page.isVisible('#replay'), false);
  await rb.until(page, () => window.rattleback.model.state.ended === false && window.rattleback.model.time > 0.39);
  // the recorded frames are over: it goes on beyond the end
  await rb.until(page, () => window.rattleback.model.state.endTime > 0.45);
  assert.deepEqual(view.troubles, []);
});

test('a loop begins again and simulates nothing new', async () => {
  const { page } = view;
  await rb.command(page, { do: 'reset' });
  await page.locator('#loop').click();
  await rb.until(page, () => window.rattleback.model.state.looping);
  assert.equal(await page.getAttribute('#loop', 'aria-pressed'), 'true');
  await rb.command(page, { do: 'speed', factor: 1 });
  await rb.command(page, { do: 'play' });
  await page.evaluate(() => {
    window.turns = 0;
    let last = 0;
    window.rattleback.model.on('state', ({ time }) => {
      window.turns += time < last ? 1 : 0;
      last = time;
    });
  });
  await rb.until(page, () => window.turns >= 2);
  const { endTime, step } = await page.evaluate(() => ({ endTime: window.rattleback.model.state.endTime, step: window.rattleback.model.state.frameStep }));
  assert.ok(Math.abs(endTime - 0.4) <= step, `the end is at ${endTime} s`);
  await page.locator('#loop').click();
  await rb.until(page, () => window.rattleback.model.state.ended);
});

test('what was done is undone and done again, by buttons and keys', async () => {
  const { page } = view;
  await rb.command(page, { do: 'reset' });
  assert.equal(await page.isDisabled('#undo'), true);
  await rb.command(page, { do: 'step', count: 3 });
  await rb.until(page, () => window.rattleback.model.time > 0.001);
  const time = await rb.timeOf(page);
  await rb.command(page, { do: 'select', body: 0 });
  assert.equal((await rb.command(page, { do: 'push', body: 0, point: [0, 0, 1], impulse: [2, 0, 0] })).ok, true);
  await rb.until(page, () => Math.abs(window.rattleback.model.detail?.velocity[0] - 2) < 1e-9);
  await rb.command(page, { do: 'step', count: 2 });
  await rb.until(page, (t) => window.rattleback.model.time > t, time);
  await page.locator('#undo').click();
  await rb.until(page, (t) => Math.abs(window.rattleback.model.time - t) < 1e-9 && window.rattleback.model.detail?.velocity[0] === 0, time);
  assert.equal(await page.isDisabled('#undo'), true);
  await golden(page, 'undo');
  await page.locator('#view canvas').focus();
  await page.keyboard.press('Control+Shift+Z');
  await rb.until(page, () => Math.abs(window.rattleback.model.detail?.velocity[0] - 2) < 1e-9);
  await page.keyboard.press('Control+z');
  await rb.until(page, () => window.rattleback.model.detail?.velocity[0] === 0 && window.rattleback.model.state.redo === 1);
  assert.deepEqual(view.troubles, []);
});

test('a value that is being edited is marked until it is applied or restored', async () => {
  const { page } = view;
  await page.evaluate(() => {
    window.rattleback.panels.gui.open();
    window.rattleback.panels.gui.folders.forEach((folder) => folder.open());
  });
  const row = page.locator('[data-panel="world"] [data-key="gravity"]');
  const input = row.locator('input').nth(2);
  await input.scrollIntoViewIfNeeded();
  await input.fill('-3');
  assert.match(await row.getAttribute('class'), /is-edited/);
  await rb.screenshot(page, 'edited');
  await page.keyboard.press('Escape');
  assert.doesNotMatch(await row.getAttribute('class'), /is-edited/);
  assert.match(await input.inputValue(), /^[-−]9\.81$/);
  await input.fill('-3');
  await page.keyboard.press('Enter');
  await rb.until(page, () => window.rattleback.model.parameters.world.gravity[2] === -3);
  assert.doesNotMatch(await row.getAttribute('class'), /is-edited/);
});

test('a scene file that is saved runs again; a mistake is shown at its line and the scene goes on', async () => {
  const { page } = view;
  const path = join(folder, 'ball.json');
  save(path, ball({ title: 'A second ball', duration: 30 }));
  await rb.until(page, () => document.getElementById('title-text').textContent === 'A second ball');
  await rb.waitForScene(page, 'ball');
  await rb.until(page, () => window.rattleback.model.time > 0.05); // it plays
  save(path, ball({ title: 'Wrong' }).replace('"duration"', '"duration"" '));
  await page.locator('#trouble').waitFor();
  assert.equal(await page.locator('#trouble .here').getAttribute('data-line'), '4');
  assert.equal(await page.locator('#title-text').textContent(), 'A second ball');
  await checkLayout(page, 'mistake');
  await checkAccess(page, 'mistake');
  await goToFrame(page, 10);
  await page.evaluate(() => { // the folder has another name in every run
    const words = document.querySelector('#trouble p');
    words.textContent = words.textContent.replace(/\S*\/ball/, 'ball');
    window.rattleback.model.select(null);
    window.rattleback.panels.gui.close();
  });
  await rb.until(page, () => window.rattleback.model.detail === null);
  await golden(page, 'reload');
  await rb.command(page, { do: 'play' });
  save(path, ball({ title: 'Wrong', mass: -2 })); // JSON, but not a scene: the reader names a place
  await rb.until(page, () => /mass is -2/.test(document.getElementById('trouble').textContent));
  assert.equal(await page.locator('#trouble .here').getAttribute('data-line'), '7');
  const time = await rb.timeOf(page);
  await rb.until(page, (t) => window.rattleback.model.time > t, time);
  save(path, ball({ title: 'Right again' }));
  await rb.until(page, () => document.getElementById('title-text').textContent === 'Right again');
  assert.equal(await page.isVisible('#trouble'), false);
  assert.deepEqual(view.troubles, []);
});

/** Drops a file onto the page as a mouse would. */
async function drop(page, name, bytes) {
  await page.evaluate(({ fileName, data }) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], fileName));
    for (const type of ['dragenter', 'dragover', 'drop']) {
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }
  }, { fileName: name, data: Buffer.from(bytes).toString('base64') });
}

test('a scene, a mesh and a recording that are dropped onto the page run; others get a sentence', async () => {
  const { page } = view;
  await drop(page, 'my ball.json', ball({ title: 'Dropped', duration: 30 }));
  await rb.waitForScene(page, 'my-ball');
  assert.equal(await page.locator('#title-text').textContent(), 'Dropped');
  assert.equal(await page.isVisible('#drop'), false);
  await drop(page, 'star.obj', readFileSync(join(scenes, 'meshes/star.obj')));
  await rb.waitForScene(page, 'star');
  await goToFrame(page, 10);
  await golden(page, 'drop');
  const recording = join(folder, 'run.rbr');
  rb.run('run', join(scenes, 'tumbling-box.json'), '--record', recording, '--duration', '0.5', '--quiet');
  await drop(page, 'run.rbr', readFileSync(recording));
  await rb.until(page, () => window.rattleback.model.hello?.kind === 'recording' && window.rattleback.ready);
  await rb.until(page, () => window.rattleback.model.state.ended);
  await drop(page, 'wrong.json', ball({ mass: -2 }));
  await page.locator('#trouble').waitFor();
  assert.equal(await page.locator('#trouble .here').getAttribute('data-line'), '7');
  await page.locator('#trouble button').click();
  for (const [name, bytes, said] of [['notes.txt', 'hello', /end of its name/], ['broken.rbr', 'RBREC nonsense', /./],
    ['broken.stl', 'solid', /./], ['reads.json', ball({ extra: ',\n{"shapes": [{"geometry": {"type": "mesh", "file": "/etc/passwd"}}]}' }), /passwd/]]) {
    await page.evaluate(() => { document.getElementById('message').textContent = ''; });
    await drop(page, name, bytes);
    await rb.until(page, () => document.getElementById('message').textContent !== '' || !document.getElementById('trouble').hidden);
    assert.match(await page.evaluate(() => document.getElementById('message').textContent + document.querySelector('#trouble p').textContent), said);
  }
  assert.deepEqual(view.troubles, []);
});

test('texts of a scene are shown as texts, whatever they contain', async () => {
  const { page } = view;
  const evil = (where) => `<img src=x onerror="window.hit='${where}'"><script>window.hit='${where}'</script>${'"'}'&lt;`;
  const scene = { rattleback: 1, title: evil('title'), shows: evil('shows'), why: evil('why'), theme: 'toys', duration: 20,
    materials: { [evil('m').slice(0, 60).replace(/["\\/,]/g, '')]: { friction: 0.5 } },
    bodies: [{ name: '<img src=x onerror=window.hit=1>', viewGroup: '<img src=x onerror=window.hit=6>', position: [0, 0, 0.2], shapes: [{ geometry: { type: 'sphere', radius: 0.1 } }] },
      { name: '<svg onload=window.hit=2>', type: 'static', shapes: [{ geometry: { type: 'plane', normal: [0, 0, 1] } }] },
      { name: '<b>link<b>', position: [1, 0, 1], shapes: [{ geometry: { type: 'sphere', radius: 0.1 } }] }],
    joints: [{ name: '<img src=x onerror=window.hit=3>', type: 'hinge', bodyA: '<b>link<b>', anchor: [1, 0, 1.5], axis: [0, 1, 0],
      motor: { type: 'velocity', target: 1, forceMax: 1 } }],
    output: { probes: [{ name: '<img src=x onerror=window.hit=4>', body: '<b>link<b>', quantity: 'center' }] } };
  await drop(page, '<img src=x onerror=alert(1)>.json', JSON.stringify(scene));
  const opened = await rb.until(page, (title) => window.rattleback.model.scene?.title === title, evil('title'), 10000).then(() => true, () => false);
  assert.ok(opened, await page.evaluate(() => document.getElementById('trouble').textContent + document.getElementById('message').textContent));
  await rb.until(page, () => window.rattleback.ready && window.rattleback.model.parameters);
  await page.evaluate(() => {
    const { panels, openJournal, openPlots, model } = window.rattleback;
    document.querySelector('#about').open = true;
    panels.gui.open();
    const openAll = (gui) => gui.folders.forEach((folder) => { folder.open(); openAll(folder); });
    openAll(panels.gui);
    model.select(0);
    openJournal(true);
    openPlots(true);
  });
  await rb.until(page, () => window.rattleback.model.events.length > 0 && window.rattleback.model.detail);
  for (const tab of await page.locator('.plots-tab').all()) {
    await tab.click();
  }
  await page.locator('#view canvas').focus();
  await page.keyboard.press('9'); // names of bodies in the view
  // a message of the server that repeats a name
  await rb.command(page, { do: 'push', body: '<img src=x onerror=window.hit=5>', point: [0, 0, 0], impulse: [0, 0, 0] });
  await drawn(page);
  const found = await page.evaluate(() => ({ hit: window.hit ?? null,
    elements: document.querySelectorAll('img[src="x"], svg[onload], body b, body script:not(#data):not(:last-of-type)').length,
    title: document.getElementById('title-text').textContent, tab: document.title }));
  assert.equal(found.hit, null, 'a text of the scene ran');
  assert.equal(found.elements, 0, 'a text of the scene became an element');
  assert.equal(found.title, evil('title'));
  await rb.screenshot(page, 'texts');
  await page.keyboard.press('9');
  await page.evaluate(() => document.activeElement.blur());
  await checkStored(scene, evil('title'));
  assert.deepEqual(view.troubles, []);
});

/** The same texts in a page that run writes, and on a card of the gallery. */
async function checkStored(scene, title) {
  const own = join(folder, 'evil');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'evil.json'), JSON.stringify({ ...scene, duration: 0.2 }));
  rb.run('run', join(own, 'evil.json'), '--html', join(own, 'evil.html'), '--quiet');
  const stored = await rb.openPage(pathToFileURL(join(own, 'evil.html')).href, { offline: true });
  await rb.waitForScene(stored.page, 'evil');
  assert.equal(await stored.page.textContent('#title-text'), title);
  const gallery = await rb.startServerWith({ RATTLEBACK_SCENES: own });
  const cards = await rb.openPage(gallery.url);
  await cards.page.locator('.card').first().waitFor();
  assert.ok((await cards.page.textContent('.card')).includes(title), 'the card has another title');
  for (const { page, troubles } of [stored, cards]) {
    assert.equal(await page.evaluate(() => window.hit ?? null), null, 'a text ran');
    assert.equal(await page.evaluate(() => document.querySelectorAll('img[src="x"], svg[onload]').length), 0, 'a text became an element');
    assert.deepEqual(troubles, []);
  }
  await stored.close();
  await cards.close();
  await gallery.stop();
}

/** Waits until the panel of motors shows the newest values: nothing changes in three looks. */
async function settled(page) {
  await rb.until(page, () => {
    const now = [...document.querySelectorAll('#panels input')].map((e) => e.value).join();
    window.sameCount = now === window.lastLook ? (window.sameCount ?? 0) + 1 : 0;
    window.lastLook = now;
    return window.sameCount >= 5;
  });
}

test('sliders of motors follow the schedule', async () => {
  const { page } = view;
  await rb.openScene(page, 'robot-arm');
  const slider = page.locator('[data-panel="motors"] [data-key="target"] input').first();
  const first = await slider.inputValue();
  await rb.until(page, (old) => document.querySelector('[data-panel="motors"] [data-key="target"] input').value !== old, first);
  await rb.until(page, () => {
    window.positions ??= new Set();
    window.positions.add([...document.querySelectorAll('[data-panel="motors"] [data-key="target"] input')].map((e) => e.value).join());
    return window.positions.size > 2;
  });
  await goToFrame(page, 60);
  await page.evaluate(() => {
    const { openJournal, openPlots, panels } = window.rattleback;
    openJournal(false);
    openPlots(false);
    document.querySelector('#about').open = false;
    panels.gui.open();
    document.querySelector('[data-panel="motors"]').scrollIntoView();
  });
  await settled(page);
  await golden(page, 'sliders');
  assert.deepEqual(view.troubles, []);
});
