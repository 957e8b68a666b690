// What the view draws: colors of the scene, open meshes, bodies hidden and transparent, names, and how few draw calls it takes.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkAccess, drawn } from './checks.mjs';
import * as rb from './harness.mjs';

const CALLS_MAX = 40;
const PAGE_TIME_MAX = 8; // ms
let folder;
let server;
let view;

// A red ball, a clear green ball, one square that faces up and one that faces down, on a dark ground.
const scene = {
  rattleback: 1, title: 'Looks', engine: 'flight', duration: 1000, world: { gravity: [0, 0, 0] },
  bodies: [
    { name: 'red', position: [-1, 0, 0.5], color: '#ff0000', shapes: [{ geometry: { type: 'sphere', radius: 0.4 } }] },
    { name: 'clear', position: [0, 0, 0.5], color: '#00ff00', opacity: 0.3, roughness: 0.1, shapes: [{ geometry: { type: 'sphere', radius: 0.4 } }] },
    ...[[1, [0, 1, 2, 3]], [2, [3, 2, 1, 0]]].map(([x, face]) => ({ name: `sheet${x}`, type: 'static', color: '#0000ff', position: [x, 0, 0.5],
      shapes: [{ geometry: { type: 'mesh', vertices: [[-0.4, -0.4, 0], [0.4, -0.4, 0], [0.4, 0.4, 0], [-0.4, 0.4, 0]], faces: [face] } }] })),
  ],
};

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rattleback-looks-'));
  writeFileSync(join(folder, 'looks.json'), JSON.stringify(scene));
  await rb.openBrowser();
  server = await rb.startServer(join(folder, 'looks.json'), '--paused');
  view = await rb.openPage(server.url);
  await rb.waitForScene(view.page, 'looks');
});

after(async () => {
  await rb.closeBrowser();
  await server?.stop();
  rmSync(folder, { recursive: true });
});

/** Color of the picture at the center of a body: red, green, blue, 0 to 255, as drawn. */
async function colorAt(page, name) {
  await drawn(page);
  return page.evaluate((wanted) => {
    const { view: shown, model } = window.rattleback;
    const body = [...model.bodies.values()].find((one) => one.name === wanted);
    const place = shown.project(shown.centerOf(body.number));
    // the buffer is kept only until the browser shows it: draw again and read at once
    shown.renderer.render(shown.scene, shown.camera);
    const context = shown.renderer.getContext();
    const ratio = context.drawingBufferWidth / shown.canvas.clientWidth;
    const pixel = new Uint8Array(4);
    context.readPixels(Math.round(place.x * ratio), Math.round(context.drawingBufferHeight - place.y * ratio), 1, 1, context.RGBA, context.UNSIGNED_BYTE, pixel);
    return [...pixel.slice(0, 3)];
  }, name);
}

// Tolerances are wide: light and gamma of software and graphics processors differ, the strongest channel does not.
test('bodies have the color and opacity of the scene, open meshes are seen from both sides', async () => {
  const { page } = view;
  const red = await colorAt(page, 'red');
  assert.ok(red[0] > 100 && red[0] - red[1] > 60 && red[0] - red[2] > 60, `red is ${red}`);
  for (const name of ['sheet1', 'sheet2']) {
    const blue = await colorAt(page, name);
    assert.ok(blue[2] > 60 && blue[2] - blue[0] > 40, `${name} is ${blue}: one of its sides is not drawn`);
  }
  const clear = await colorAt(page, 'clear');
  await page.evaluate(() => window.rattleback.view.change('hide', 1));
  const behind = await colorAt(page, 'clear');
  await page.evaluate(() => window.rattleback.view.change('all'));
  assert.ok(behind[1] < clear[1] + 60 && clear[0] > 20, `clear is ${clear}, what is behind it ${behind}`);
  assert.ok(clear[1] - clear[0] > behind[1] - behind[0] + 10, `clear is ${clear}, what is behind it ${behind}: not green`);
  await rb.screenshot(page, 'looks');
  assert.deepEqual(view.troubles, []);
});

/** A scene of its own in a page of its own, which may be told that it has a graphics processor. */
async function openOther(name, words, init = null, options = {}) {
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(words));
  const own = await rb.startServer(join(folder, `${name}.json`), '--paused');
  const opened = await rb.openPage(own.url, { init, ...options });
  await rb.waitForScene(opened.page, name);
  return { ...opened, async end() { await opened.close(); await own.stop(); } };
}

const box = (size) => [{ geometry: { type: 'box', size } }];

// Seen from above: a white box with black squares, a body whose shape is invisible and whose visual is green and to its right, and
// two groups.
const patterns = {
  rattleback: 1, title: 'Patterns', engine: 'flight', duration: 1000, world: { gravity: [0, 0, 0] },
  bodies: [
    { name: 'squares', position: [-1, 0, 0], color: '#ffffff', viewGroup: 'left', texture: { type: 'checker', size: 0.4, color: '#000000' }, shapes: box([0.8, 0.8, 0.4]) },
    { name: 'other', position: [0.5, 0, 0], color: '#ff0000', opacity: 0, viewGroup: 'right', shapes: box([0.3, 0.3, 0.3]),
      visuals: [{ geometry: { type: 'box', size: [0.4, 0.4, 0.4] }, position: [0.7, 0, 0], color: '#00ff00', opacity: 1 }] },
  ],
};

/** Colors of the picture at points of the world. */
async function colorsAt(page, points) {
  await drawn(page);
  return page.evaluate((places) => {
    const { view: shown } = window.rattleback;
    shown.renderer.render(shown.scene, shown.camera);
    const context = shown.renderer.getContext();
    const ratio = context.drawingBufferWidth / shown.canvas.clientWidth;
    return places.map((place) => {
      const at = shown.project(shown.camera.position.clone().set(...place));
      const pixel = new Uint8Array(4);
      context.readPixels(Math.round(at.x * ratio), Math.round(context.drawingBufferHeight - at.y * ratio), 1, 1, context.RGBA, context.UNSIGNED_BYTE, pixel);
      return [...pixel.slice(0, 3)];
    });
  }, points);
}

test('textures and visuals of the scene are drawn, groups are hidden and shown alone', async () => {
  const other = await openOther('patterns', patterns);
  const { page } = other;
  await page.evaluate(() => window.rattleback.view.setCamera({ position: [0, -0.3, 5], target: [0, 0, 0] }));
  const centers = [[-1.2, -0.2, 0.2], [-0.8, -0.2, 0.2], [-1.2, 0.2, 0.2], [-0.8, 0.2, 0.2]];
  const sum = (color) => color[0] + color[1] + color[2];
  const squares = (await colorsAt(page, centers)).map(sum);
  // the layer of the top is even: 0.2 m is half of a square
  assert.ok(squares[0] > 300 && squares[3] > 300 && squares[1] < 120 && squares[2] < 120, `squares are ${squares}`);
  const look = () => colorsAt(page, [[1.2, 0, 0.2], [0.5, 0, 0.15]]);
  const [green, nothing] = await look();
  assert.ok(green[1] > 100 && green[1] - green[0] > 60, `the visual is ${green}`);
  assert.ok(Math.abs(nothing[0] - nothing[1]) < 40, `the invisible shape is ${nothing}`);
  await page.evaluate(() => window.rattleback.view.changeGroup('right', 'hide'));
  const [gone] = await look();
  assert.ok(Math.abs(gone[1] - gone[0]) < 40, `the hidden group is ${gone}`);
  assert.equal(await page.evaluate(() => window.rattleback.view.solids.changeCount), 1);
  await page.evaluate(() => window.rattleback.view.changeGroup('right', 'alone'));
  await page.evaluate(() => window.rattleback.view.changeGroup('right', 'show'));
  await page.evaluate(() => window.rattleback.view.changeGroup('right', 'alone'));
  const [alone] = await look();
  assert.ok(alone[1] - alone[0] > 60, `the group alone is ${alone}`);
  const [without] = await colorsAt(page, [centers[1]]);
  assert.ok(sum(without) > 150, `the group that is not shown is ${without}`);
  const rows = await page.evaluate(() => [...document.querySelectorAll('[data-panel="view"] .lil-name')].map((row) => row.textContent));
  assert.ok(rows.includes('left (1)') && rows.includes('right (1)'), `the panel has ${rows}`);
  await rb.screenshot(page, 'patterns');
  assert.deepEqual(other.troubles, []);
  await other.end();
});

/** Another name for the renderer: not one of software. */
function pretendProcessor() {
  const { getParameter } = WebGL2RenderingContext.prototype;
  WebGL2RenderingContext.prototype.getParameter = function get(name) {
    return name === 0x9246 ? 'a graphics processor' : getParameter.call(this, name);
  };
}

// A corner of a floor and two walls: with occlusion it is darker there, and as bright as before far from it.
const corner = {
  rattleback: 1, title: 'Corner', engine: 'flight', duration: 1000, world: { gravity: [0, 0, 0] },
  bodies: [
    { name: 'floor', type: 'static', color: '#ffffff', position: [0, 0, -0.05], shapes: box([4, 4, 0.1]) },
    { name: 'wall', type: 'static', color: '#ffffff', position: [0, 2, 0.5], shapes: box([4, 0.1, 1.2]) },
  ],
};

test('with a graphics processor corners are dark and edges are drawn, without one both are off', async () => {
  const other = await openOther('corner', corner, pretendProcessor);
  const { page } = other;
  await page.evaluate(() => {
    const { view } = window.rattleback;
    view.setCamera({ position: [0, -3, 6], target: [0, 0.5, 0] });
    view.scene.traverse((one) => { if (one.isDirectionalLight) { one.visible = false; } }); // the sky alone
  });
  const points = [[0.3, 1.85, 0], [0.3, -0.5, 0]];
  const dark = await colorsAt(page, points);
  assert.equal(await page.evaluate(() => window.rattleback.view.hasOcclusion), true);
  const lines = await page.evaluate(() => window.rattleback.view.renderer.info.render.lines);
  assert.equal(lines, 24, 'edges of two boxes');
  await rb.screenshot(page, 'corner');
  await page.evaluate(() => { Object.assign(window.rattleback.view, { hasOcclusion: false, hasEdges: false }); });
  const bright = await colorsAt(page, points);
  assert.ok(dark[0][0] < bright[0][0] - 15, `in the corner ${dark[0]}, without occlusion ${bright[0]}`);
  assert.ok(Math.abs(dark[1][0] - bright[1][0]) <= 6, `away from it ${dark[1]}, without occlusion ${bright[1]}`);
  assert.equal(await page.evaluate(() => window.rattleback.view.renderer.info.render.lines), 0);
  assert.deepEqual(other.troubles, []);
  await other.end();
  const off = await view.page.evaluate(() => [window.rattleback.view.hasOcclusion, window.rattleback.view.hasEdges]);
  assert.deepEqual(off, [false, false], 'occlusion and edges in software rendering');
});

test('a screen with twice the pixels gets all of them when nothing moves', async () => {
  const other = await openOther('dense', corner, pretendProcessor, { size: { width: 400, height: 300 }, density: 2 });
  await drawn(other.page);
  await rb.until(other.page, () => window.rattleback.view.renderer.getPixelRatio() === 2);
  const [pixels, width] = await other.page.evaluate(() => [window.rattleback.view.canvas.width, window.rattleback.view.canvas.clientWidth]);
  assert.equal(pixels, 2 * width);
  assert.deepEqual(other.troubles, []);
  await other.end();
});

// Two plates above a floor: the higher one has the softer shadow, by the disc of the sun (0.035 rad).
const [LOW, HIGH] = [0.15, 1.2];
const plates = {
  rattleback: 1, title: 'Plates', engine: 'flight', duration: 1000, world: { gravity: [0, 0, 0] },
  bodies: [
    { name: 'floor', type: 'static', color: '#ffffff', position: [0, 0, -0.05], shapes: box([6, 6, 0.1]) },
    { name: 'low', type: 'static', position: [-1.2, 0, LOW], shapes: box([1, 1, 0.01]) },
    { name: 'high', type: 'static', position: [1.2, 0, HIGH], shapes: box([1, 1, 0.01]) },
  ],
};

test('edges of shadows widen with the distance from what casts them', async () => {
  const other = await openOther('plates', plates, pretendProcessor);
  const { page } = other;
  const sun = await page.evaluate(() => {
    const { view: shown } = window.rattleback;
    shown.setCamera({ position: [0, -0.01, 9], target: [0, 0, 0] });
    shown.hasOcclusion = false;
    let found = null;
    shown.scene.traverse((one) => { found = one.isDirectionalLight ? one : found; });
    return found.position.clone().sub(found.target.position).normalize().toArray();
  });
  // along x across the edge of a shadow that no plate hides from above; the side depends on the sun
  const side = sun[0] > 0 ? -1 : 1;
  const widthAt = async (x, height) => {
    const edge = x + side * 0.5 - (height * sun[0]) / sun[2];
    const y = -(height * sun[1]) / sun[2];
    const reach = Math.min(0.15, 0.7 * Math.abs((height * sun[0]) / sun[2])); // the plate is beyond
    const step = reach / 60;
    const places = Array.from({ length: 121 }, (_, i) => edge + step * (i - 60));
    const values = (await colorsAt(page, places.map((at) => [at, y, 0]))).map(([r]) => r);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    assert.ok(high - low > 40, `there is no edge: ${low} to ${high}`);
    // the sum of what lies between: noise of single pixels counts little
    const between = values.map((v) => (v - low) / (high - low)).filter((v) => v > 0.1 && v < 0.9).length;
    return between * step;
  };
  const [narrow, wide] = [await widthAt(-1.2, LOW), await widthAt(1.2, HIGH)];
  const disc = (2 * 0.035 * HIGH) / sun[2] / sun[2] * Math.hypot(sun[0], sun[2]); // m, of the whole edge in this plane
  console.log(`edges of shadows: ${narrow.toFixed(3)} m at ${LOW} m, ${wide.toFixed(3)} m at ${HIGH} m, the disc of the sun says ${disc.toFixed(3)} m`);
  assert.ok(wide > 2 * narrow && wide > 0.3 * disc && wide < 1.3 * disc, `${narrow} m and ${wide} m`);
  await rb.screenshot(page, 'plates');
  assert.deepEqual(other.troubles, []);
  await other.end();
});

test('a body is hidden, alone, transparent, and all are shown again', async () => {
  const { page } = view;
  const visible = () => page.evaluate(() => {
    const { view: shown, model } = window.rattleback;
    return [...model.bodies.values()].filter((body) => {
      const place = shown.project(shown.centerOf(body.number));
      return shown.pick(place.x, place.y)?.body === body.number;
    }).map(({ name }) => name);
  });
  await page.evaluate(() => window.rattleback.model.select(0));
  await page.locator('#view canvas').focus();
  await page.keyboard.press('x');
  await drawn(page);
  assert.deepEqual(await visible(), ['clear', 'sheet1', 'sheet2']);
  await page.keyboard.press('Shift+X');
  await page.keyboard.press('i');
  await drawn(page);
  assert.deepEqual(await visible(), ['red']);
  await page.keyboard.press('i');
  await page.keyboard.press('o');
  const red = await colorAt(page, 'red');
  assert.ok(red[1] > 40, `a transparent red ball is ${red}`);
  await page.keyboard.press('Shift+X');
  await drawn(page);
  assert.deepEqual(await visible(), ['red', 'clear', 'sheet1', 'sheet2']);
});

test('names of bodies and axes stand where they are', async () => {
  const { page } = view;
  await page.keyboard.press('9');
  await page.keyboard.press('4');
  await drawn(page);
  const labels = await page.evaluate(() => [...document.querySelectorAll('#labels span:not([hidden])')]
    .map((label) => ({ text: label.textContent, box: label.getBoundingClientRect().toJSON() })));
  assert.deepEqual(labels.map(({ text }) => text).sort(), ['clear', 'red', 'x', 'y', 'z']);
  const place = await page.evaluate(() => window.rattleback.view.project(window.rattleback.view.centerOf(0)));
  const { box } = labels.find(({ text }) => text === 'red');
  assert.ok(Math.abs(box.left + box.width / 2 - place.x) < 2 && Math.abs(box.top + box.height / 2 - place.y) < 2, 'the name is elsewhere');
  await checkAccess(page, 'labels');
  await rb.screenshot(page, 'labels');
  await page.keyboard.press('9');
  await page.keyboard.press('4');
});

/**
 * Keeps the socket of the page and its last frame, as window.socket and window.lastFrame. Nothing is rasterized: in software that takes
 * seconds a picture of so many bodies, and is no time of the page.
 */
function keepFrame() {
  WebGL2RenderingContext.prototype.drawElementsInstanced = () => {};
  const Real = window.WebSocket;
  window.WebSocket = class extends Real {
    constructor(...words) {
      super(...words);
      window.socket = this;
      this.addEventListener('message', ({ data }) => {
        if (data instanceof ArrayBuffer && new Uint8Array(data)[0] === 1) {
          window.lastFrame = data.slice(0);
        }
      });
    }
  };
}

test('fifty thousand moving spheres take at most 40 draw calls and 8 ms of page time', async () => {
  const many = { ...scene, bodies: [{ name: 'b', shapes: [{ geometry: { type: 'sphere', radius: 0.3 } }], repeat: { count: [50, 50, 20], spacing: [1, 1, 1] } }] };
  const other = await openOther('many', many, keepFrame);
  const { page } = other;
  assert.equal(await page.evaluate(() => window.rattleback.model.bodies.size), 50000);
  // The page gets forty frames as from a fast simulation, and measures itself.
  const seen = await page.evaluate(async () => {
    const { view: { renderer }, stats, model } = window.rattleback;
    const { calls, triangles } = renderer.info.render;
    const data = new DataView(window.lastFrame);
    for (let i = 1; i <= 40; i++) {
      const time = i / 60;
      data.setFloat64(8, time, true);
      for (let at = 24; at < data.byteLength; at += 24) {
        data.setFloat32(at + 4, data.getFloat32(at + 4, true) + 0.01, true);
      }
      const { drawCount } = window.rattleback.view;
      window.socket.onmessage({ data: window.lastFrame });
      while (window.rattleback.view.drawCount === drawCount) {
        await new Promise((done) => { requestAnimationFrame(done); });
      }
    }
    return { calls, triangles, shadows: renderer.shadowMap.enabled, middle: stats.pageTime, least: stats.pageTimeMin, count: stats.pageCount,
      bodies: data.getUint32(16, true), time: model.frameTime };
  });
  console.log(`50,000 spheres: ${seen.calls} draw calls, ${seen.triangles} triangles, ${seen.middle.toFixed(1)} ms of page time a picture, at least ${seen.least.toFixed(1)}`);
  assert.deepEqual([seen.bodies, Math.round(60 * seen.time)], [50000, 40], 'the frames that were taken');
  assert.ok(seen.calls > 0 && seen.calls <= CALLS_MAX, `${seen.calls} draw calls`);
  // the least: other processes of a loaded machine take time in between
  assert.ok(seen.count >= 30 && seen.least > 0 && seen.least <= PAGE_TIME_MAX, `${seen.least} ms of page time in ${seen.count} pictures`);
  assert.equal(seen.shadows, false, 'shadows in software rendering');
  assert.deepEqual(other.troubles, []);
  await other.end();
});
