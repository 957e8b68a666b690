// Looking closer: sections, measures, saved cameras, friction cones, the branch before beside this one, kept runs and
// references in plots, and pictures, films and models as files.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkAccess, checkLayout, drawn, goToFrame, golden } from './checks.mjs';
import * as rb from './harness.mjs';

const [RADIUS, FRICTION] = [0.4, 0.3];
let folder;
let server;
let view;

// Two balls 2 m apart on a plane, one behind the other's middle, and a box on a slope that holds it.
const scene = {
  rattleback: 1, title: 'Study', duration: 30, materials: { wood: { friction: FRICTION }, ice: { friction: 0.02 } },
  materialPairs: [{ materials: ['wood', 'ice'], restitution: 0, friction: 0.1 }],
  bodies: [
    { name: 'floor', type: 'static', shapes: [{ geometry: { type: 'plane', normal: [0, 0, 1] }, material: 'wood' }] },
    { name: 'left', position: [-1, 0, RADIUS], shapes: [{ geometry: { type: 'sphere', radius: RADIUS }, material: 'wood' }] },
    { name: 'right', position: [1, 0, RADIUS], shapes: [{ geometry: { type: 'box', size: [0.8, 0.8, 0.8] }, material: 'wood' }] },
    { name: 'puck', position: [0, 1.5, 0.1], shapes: [{ geometry: { type: 'box', size: [0.4, 0.4, 0.2] }, material: 'ice' }] },
  ],
};

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rattleback-study-'));
  writeFileSync(join(folder, 'study.json'), JSON.stringify(scene));
  await rb.openBrowser();
  server = await rb.startServer(join(folder, 'study.json'), '--paused');
  view = await rb.openPage(server.url, { size: { width: 1000, height: 640 } });
  await rb.waitForScene(view.page, 'study');
  await view.page.evaluate(() => {
    window.rattleback.panels.gui.open();
    window.rattleback.panels.gui.folders.forEach((one) => one.domElement.dataset.panel === 'view' && one.open());
  });
});

after(async () => {
  await rb.closeBrowser();
  await server?.stop();
  rmSync(folder, { recursive: true });
});

const press = (page, key) => page.locator(`[data-panel="view"] [data-key="${key}"]`).click();

/** Frames one by one: of several at once the page gets the last. */
async function stepBy(page, count) {
  for (let i = 0; i < count; i++) {
    const time = await rb.timeOf(page);
    assert.equal((await rb.command(page, { do: 'step', count: 1 })).ok, true);
    await rb.until(page, (old) => window.rattleback.model.time > old + 1e-9 && !window.rattleback.model.isMoving(), time);
  }
}

/** A file that the page saves. */
async function save(page, act) {
  const waiting = page.waitForEvent('download');
  await act();
  const download = await waiting;
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test('a section shows half of the bodies, and a click meets what is left', async () => {
  const { page } = view;
  await goToFrame(page, 0);
  const picks = () => page.evaluate(() => {
    const { view: shown, model } = window.rattleback;
    shown.setCamera({ position: [0.2, -5, 7], target: [0, 0.5, 0] });
    return [...model.bodies.values()].filter((body) => {
      if (body.type === 'static') {
        return false;
      }
      const place = shown.project(shown.centerOf(body.number));
      return shown.pick(place.x, place.y)?.body === body.number;
    }).map(({ name }) => name);
  });
  assert.deepEqual(await picks(), ['left', 'right', 'puck']);
  await page.getByLabel('section across').selectOption('x');
  await drawn(page);
  const { center } = await page.evaluate(() => window.rattleback.view.frame);
  assert.deepEqual(await page.evaluate(() => window.rattleback.view.section), { axis: 0, at: center[0], isFlipped: false });
  assert.ok(!(await picks()).includes('right'), 'what is cut off is hit by clicks');
  await checkLayout(page, 'section');
  await checkAccess(page, 'panel of the view');
  await golden(page, 'section');
  await page.locator('[data-panel="view"] input[type="checkbox"]').first().check();
  await drawn(page);
  assert.ok(!(await picks()).includes('left') && (await picks()).includes('right'), 'the other side');
  await page.getByLabel('section across').selectOption('none');
  await drawn(page);
  assert.deepEqual(await picks(), ['left', 'right', 'puck']);
  assert.deepEqual(view.troubles, []);
});

test('two clicks measure a distance, three an angle, and points move with their bodies', async () => {
  const { page } = view;
  await page.evaluate(() => window.rattleback.view.setCamera({ position: [0, -0.02, 8], target: [0, 0, 0] }));
  await page.locator('#view canvas').focus();
  await page.keyboard.press('l');
  await drawn(page);
  const click = async (point) => {
    const place = await page.evaluate((p) => {
      const { view: shown } = window.rattleback;
      return shown.project(shown.centerOf(0).set(...p));
    }, point);
    await page.mouse.click(place.x, place.y);
    await drawn(page);
  };
  // from above: the top of the ball, the top of the box
  await click([-1, 0, 2 * RADIUS]);
  assert.match(await page.textContent('#measure'), /second point/);
  await click([1, 0, 2 * RADIUS]);
  const text = await page.textContent('#measure');
  assert.ok(Math.abs(parseFloat(text) - 2) < 0.03, text);
  await click([1, 1.5, 0]); // the ground
  const [a, b, c] = await page.evaluate(() => window.rattleback.measure.points);
  const [p, q] = [a, c].map((end) => end.map((x, i) => x - b[i]));
  const dot = p.reduce((sum, x, i) => sum + x * q[i], 0);
  const wanted = (Math.acos(dot / Math.hypot(...p) / Math.hypot(...q)) * 180) / Math.PI;
  assert.ok(Math.abs(parseFloat(await page.textContent('#measure')) - wanted) < 0.1, `${await page.textContent('#measure')}, not ${wanted}`);
  assert.ok(wanted > 80 && wanted < 100, `${wanted} degrees`);
  await checkAccess(page, 'measuring');
  await rb.screenshot(page, 'measure');
  assert.equal(await page.evaluate(() => window.rattleback.model.selected), null, 'measuring selects');
  await page.keyboard.press('l');
  await drawn(page);
  assert.equal(await page.isVisible('#measure'), false);
});

test('a saved camera is there after a reload', async () => {
  const { page } = view;
  const camera = { position: [3, -4, 2.5], target: [0.5, 0.25, 0.125] };
  await page.evaluate((wanted) => window.rattleback.view.setCamera(wanted), camera);
  await press(page, 'save-camera');
  await press(page, 'home');
  await page.reload();
  await rb.waitForScene(page, 'study');
  await page.evaluate(() => window.rattleback.panels.gui.folders.forEach((one) => one.domElement.dataset.panel === 'view' && one.open()));
  await press(page, 'camera-1');
  const now = await page.evaluate(() => window.rattleback.view.getCamera());
  now.position.forEach((x, i) => assert.ok(Math.abs(x - camera.position[i]) < 1e-9 && Math.abs(now.target[i] - camera.target[i]) < 1e-9, JSON.stringify(now)));
  await press(page, 'forget-1');
  assert.equal(await page.locator('[data-key="camera-1"]').count(), 0);
  await page.evaluate(() => window.rattleback.view.lookHome());
});

// What the cone says: the coefficient of the pair of materials where the scene gives one, else by the rule.
test('friction cones open by the coefficient of the pair', async () => {
  const { page } = view;
  await page.locator('#view canvas').focus();
  await page.keyboard.press('0');
  assert.equal((await rb.command(page, { do: 'step', count: 3 })).ok, true);
  await rb.until(page, () => window.rattleback.model.contacts.length >= 6);
  await drawn(page);
  const ratios = await page.evaluate(() => {
    const found = {};
    window.rattleback.view.scene.traverse((mesh) => {
      if (mesh.isInstancedMesh && mesh.geometry.type === 'ConeGeometry' && mesh.geometry.parameters.openEnded) {
        for (let i = 0; i < mesh.count; i++) {
          const [a] = mesh.instanceMatrix.array.slice(16 * i, 16 * i + 1);
          const m = mesh.instanceMatrix.array.slice(16 * i, 16 * i + 16);
          const ratio = Math.hypot(m[0], m[1], m[2]) / Math.hypot(m[8], m[9], m[10]);
          found[ratio.toFixed(3)] = (found[ratio.toFixed(3)] ?? 0) + (Number.isFinite(a) ? 1 : 0);
        }
      }
    });
    return found;
  });
  assert.deepEqual(Object.keys(ratios).sort(), ['0.100', '0.300'], JSON.stringify(ratios));
  await rb.screenshot(page, 'cones');
  await page.keyboard.press('0');
  assert.deepEqual(view.troubles, []);
});

test('an action in the past makes a branch; the one before is shown beside it', async () => {
  const { page } = view;
  await goToFrame(page, 0);
  await rb.command(page, { do: 'push', body: 1, point: [-1, 0, RADIUS], impulse: [0, 0, 1200] });
  await stepBy(page, 8);
  const end = await rb.timeOf(page);
  const height = await page.evaluate(() => window.rattleback.model.bodies.get(1).position[2]);
  await rb.command(page, { do: 'seek', time: 0 });
  await rb.until(page, () => window.rattleback.model.time === 0);
  assert.equal((await rb.command(page, { do: 'push', body: 2, point: [1, 0, RADIUS], impulse: [0, 0, 1200] })).ok, true);
  await rb.until(page, () => window.rattleback.history.hasBranch);
  await stepBy(page, 8);
  assert.ok(Math.abs(await rb.timeOf(page) - end) < 1e-6);
  const poses = await page.evaluate((time) => {
    const pose = new Float64Array(7);
    const z = (number) => (window.rattleback.history.poseBefore(number, time, pose) ? pose[2] : NaN);
    return [z(1), z(2)];
  }, end);
  assert.ok(Math.abs(poses[0] - height) < 1e-6, `${poses[0]} m in the branch before, not ${height}`);
  assert.ok(Math.abs(poses[1] - RADIUS) < 1e-3, 'the second push belongs to this branch');
  await page.locator('[data-panel="view"] label, [data-panel="view"] .lil-controller').filter({ hasText: 'branch before' }).locator('input').check();
  await drawn(page);
  assert.equal(await page.evaluate(() => window.rattleback.view.isSplit), true);
  await golden(page, 'branches');
  await page.evaluate(() => window.rattleback.view.setSplit(false));
  assert.deepEqual(view.troubles, []);
});

test('a kept run and a reference are drawn in the plot', async () => {
  const { page } = view;
  await page.keyboard.press('g');
  await page.locator('.plots-canvas .u-over').waitFor();
  await page.locator('[data-curves="keep"]').click();
  const kept = await page.evaluate(() => ({ count: window.rattleback.plots.curves.of('total').length,
    rows: window.rattleback.plots.curves.of('total')[0].times.length, samples: window.rattleback.model.samples.count }));
  assert.deepEqual([kept.count, kept.rows], [1, kept.samples]);
  const chooser = page.waitForEvent('filechooser');
  await page.locator('[data-curves="reference"]').click();
  await (await chooser).setFiles({ name: 'reference.csv', mimeType: 'text/csv', buffer: Buffer.from('time [s],total [J],nonsense\n0,1e6,1\n1,2e6,2\n') });
  await rb.until(page, () => window.rattleback.plots.curves.of('total').length === 2);
  await rb.until(page, () => window.rattleback.plots.chart.scales.yJ.max >= 2e6); // it counts for the range
  await checkAccess(page, 'curves');
  await rb.screenshot(page, 'curves');
  await page.locator('[data-curves="forget"]').click();
  await rb.until(page, () => window.rattleback.plots.chart.scales.yJ.max < 1e6);
  await page.keyboard.press('g');
  assert.deepEqual(view.troubles, []);
});

test('pictures, films and models are saved', async () => {
  const { page } = view;
  const whole = await save(page, () => press(page, 'save-png'));
  assert.equal(whole.name, 'study.png');
  const alphas = (bytes) => page.evaluate(async (data) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: 'image/png' }));
    const canvas = Object.assign(document.createElement('canvas'), { width: bitmap.width, height: bitmap.height });
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data: pixels } = context.getImageData(0, 0, canvas.width, canvas.height);
    let [clear, full] = [0, 0];
    for (let i = 3; i < pixels.length; i += 4) {
      clear += pixels[i] === 0 ? 1 : 0;
      full += pixels[i] === 255 ? 1 : 0;
    }
    return { clear: clear / (pixels.length / 4), full: full / (pixels.length / 4) };
  }, bytes.toString('base64'));
  assert.equal((await alphas(whole.bytes)).full, 1, 'a picture has no holes');
  const clear = await alphas((await save(page, () => press(page, 'save-clear-png'))).bytes);
  assert.ok(clear.clear > 0.5 && clear.full > 0.005, `a clear picture: ${JSON.stringify(clear)}`);

  await rb.command(page, { do: 'play' });
  const record = async (format) => {
    await page.getByLabel('film as').selectOption(format);
    await press(page, 'record');
    const start = await page.evaluate(() => window.rattleback.view.drawCount);
    await rb.until(page, (count) => window.rattleback.view.drawCount > count + 10, start);
    return save(page, () => press(page, 'record'));
  };
  const film = await record('WebM');
  assert.equal(film.name, 'study.webm');
  assert.ok(film.bytes.length > 2000 && film.bytes.readUInt32BE(0) === 0x1a45dfa3, `${film.bytes.length} bytes`);
  const gif = await record('GIF');
  assert.equal(gif.name, 'study.gif');
  const frames = await page.evaluate(async (data) => { // read by the browser, which is not ours
    const decoder = new ImageDecoder({ type: 'image/gif', data: Uint8Array.from(atob(data), (c) => c.charCodeAt(0)) });
    await decoder.tracks.ready;
    await decoder.completed;
    const { image } = await decoder.decode({ frameIndex: decoder.tracks.selectedTrack.frameCount - 1 });
    const canvas = Object.assign(document.createElement('canvas'), { width: image.displayWidth, height: image.displayHeight });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data: pixels } = context.getImageData(0, 0, canvas.width, canvas.height);
    const colors = new Set();
    for (let i = 0; i < pixels.length; i += 4) {
      colors.add(`${pixels[i]} ${pixels[i + 1]} ${pixels[i + 2]}`);
    }
    return { count: decoder.tracks.selectedTrack.frameCount, width: canvas.width, colors: colors.size };
  }, gif.bytes.toString('base64'));
  assert.ok(frames.count >= 5 && frames.width === 640 && frames.colors > 20 && frames.colors <= 252, JSON.stringify(frames));
  if (await page.evaluate(() => MediaRecorder.isTypeSupported('video/mp4'))) {
    const { name, bytes } = await record('MP4');
    assert.equal(name, 'study.mp4');
    assert.equal(bytes.toString('latin1', 4, 8), 'ftyp');
  } else { // browsers without the codec say so
    await page.getByLabel('film as').selectOption('MP4');
    await press(page, 'record');
    assert.match(await page.textContent('#message'), /cannot record films as MP4/);
  }
  await rb.command(page, { do: 'pause' });

  const { bytes } = await save(page, () => press(page, 'save-glb'));
  assert.equal(bytes.toString('latin1', 0, 4), 'glTF');
  assert.equal(bytes.readUInt32LE(8), bytes.length);
  const json = JSON.parse(bytes.toString('utf8', 20, 20 + bytes.readUInt32LE(12)));
  assert.deepEqual(json.nodes.map(({ name }) => name).filter(Boolean).sort(), ['Study', 'floor', 'left', 'puck', 'right']);
  const count = await page.evaluate(() => window.rattleback.history.frames.length);
  assert.equal(json.accessors[0].count, count);
  // the box jumps: its channel holds the heights that the page showed
  const node = json.nodes.findIndex(({ name }) => name === 'right');
  const channel = json.animations[0].channels.find(({ target }) => target.node === node && target.path === 'translation');
  const accessor = json.accessors[json.animations[0].samplers[channel.sampler].output];
  const at = 28 + bytes.readUInt32LE(12) + json.bufferViews[accessor.bufferView].byteOffset;
  const heights = Array.from({ length: count }, (_, i) => bytes.readFloatLE(at + 12 * i + 8));
  const seen = await page.evaluate(() => window.rattleback.history.frames.map(({ poses }) => poses[2 * 7 + 2]));
  heights.forEach((z, i) => assert.ok(Math.abs(z - seen[i]) < 1e-6, `frame ${i}: ${z}, not ${seen[i]}`));
  assert.ok(Math.max(...heights) > RADIUS + 0.01, 'it did not jump');

  const usd = await save(page, () => press(page, 'save-usda'));
  assert.equal(usd.name, 'study.usda');
  const text = usd.bytes.toString('utf8');
  assert.match(text, /^#usda 1\.0\n/);
  assert.equal(text.split('{').length, text.split('}').length, 'brackets');
  const [, list] = /def Xform "B2_right"[\s\S]*?translate\.timeSamples = \{([^}]*)\}/.exec(text);
  const places = [...list.matchAll(/([-\d.e]+): \(([^)]*)\)/g)].map(([, code, values]) => [Number(code) / 30, Number(values.split(',')[2])]);
  assert.equal(places.length, count);
  const times = await page.evaluate(() => window.rattleback.history.frames.map(({ time }) => time));
  places.forEach(([time, z], i) => assert.ok(Math.abs(z - seen[i]) < 1e-6 && Math.abs(time - (times[i] - times[0])) < 1e-6, `${time}: ${z}`));
  const { USDAParser } = await import(new URL('../../app/viewer/node_modules/three/examples/jsm/loaders/usd/USDAParser.js', import.meta.url));
  const parsed = new USDAParser().parseText(text);
  assert.ok(parsed['def Xform "World"']['def Xform "B1_left"'], 'a parser that is not ours finds the bodies');
  assert.deepEqual(view.troubles, []);
});
