// The page on phones, tablets, small windows, in the dark, by the keyboard, by fingers, and by axe.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkAccess, checkLayout, drawn, goToFrame, golden } from './checks.mjs';
import * as rb from './harness.mjs';

const SIZES = { phone: [390, 844], small: [800, 500], tablet: [820, 1180], wide: [1280, 800] };
let server;
let view;

before(async () => {
  await rb.openBrowser();
  server = await rb.startServer('door-with-stop');
  view = await rb.openPage(server.url);
  await rb.waitForScene(view.page, 'door-with-stop');
});

after(async () => {
  await rb.closeBrowser();
  await server?.stop();
});

async function show(page, { journal = false, plots = false, panels = false }) {
  await page.evaluate((wanted) => {
    const { openJournal, openPlots, panels: all } = window.rattleback;
    openJournal(false);
    openPlots(false);
    all.gui[wanted.panels ? 'open' : 'close']();
    if (wanted.journal) {
      openJournal(true);
    }
    if (wanted.plots) {
      openPlots(true);
    }
  }, { journal, plots, panels });
}

test('no panel covers another, whatever is open, on a phone, a tablet and in small windows', async () => {
  const { page } = view;
  await goToFrame(page, 20);
  for (const [name, [width, height]] of Object.entries(SIZES)) {
    await page.setViewportSize({ width, height });
    for (const open of [{}, { panels: true }, { journal: true }, { plots: true }, { panels: true, plots: true, journal: true }]) {
      await show(page, open);
      const what = `${name} with ${Object.keys(open).join(', ') || 'nothing'} open`;
      const seen = await checkLayout(page, what);
      assert.ok(seen.includes('#timeline') && seen.includes('#tools') && seen.includes('#overlays'), `${what}: ${seen}`);
      assert.ok(!open.plots || seen.includes('#plots'), `${what}: ${seen}`);
    }
    await show(page, name === 'small' || name === 'phone' ? { panels: true } : { panels: true, plots: true, journal: true });
    await golden(page, name);
  }
  assert.deepEqual(view.troubles, []);
});

test('the scene is framed inside what panels leave free', async () => {
  const { page } = view;
  for (const [name, [width, height]] of Object.entries(SIZES)) {
    await page.setViewportSize({ width, height });
    await show(page, { panels: true });
    await drawn(page);
    await page.waitForFunction(() => {
      const { view: shown, model } = window.rattleback;
      const free = document.getElementById('free').getBoundingClientRect();
      const places = [...model.bodies.values()].filter((body) => body.type === 'dynamic')
        .map((body) => shown.project(shown.centerOf(body.number)));
      return places.length > 0 && places.every(({ x, y }) => x > free.left && x < free.right && y > free.top && y < free.bottom);
    }, null, { polling: 100, timeout: 20000 }).catch(() => assert.fail(`${name}: a body is behind a panel`));
  }
});

test('no failure of WCAG AA by axe: scene and help, light and dark, wide and phone', async () => {
  const { page } = view;
  await page.setViewportSize({ width: 1280, height: 800 });
  await show(page, { panels: true, plots: true, journal: true });
  await page.evaluate(() => window.rattleback.panels.gui.folders.forEach((folder) => folder.open()));
  await page.evaluate(() => window.rattleback.model.select([...window.rattleback.model.bodies.values()].find((b) => b.type === 'dynamic').number));
  await checkAccess(page, 'light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await rb.until(page, () => document.documentElement.dataset.theme === 'dark');
  await checkAccess(page, 'dark');
  await page.setViewportSize({ width: 390, height: 844 });
  await show(page, { plots: true });
  await checkAccess(page, 'phone');
  await page.keyboard.press('?');
  await checkAccess(page, 'help');
  await rb.screenshot(page, 'help-phone');
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 800, height: 500 });
});

/** The middle of the sky and of the ground: their brightness, 0 to 255. */
async function brightness(page) {
  await drawn(page);
  return page.evaluate(() => {
    const { solids } = window.rattleback.view;
    // in software the page has the sky, behind the canvas
    const sky = /rgb\((\d+), (\d+), (\d+)\)/.exec(getComputedStyle(document.getElementById('view')).backgroundImage).slice(1).map(Number);
    return { sky: (sky[0] + sky[1] + sky[2]) / 3, page: getComputedStyle(document.getElementById('timeline')).backgroundColor,
      bodies: solids.group.children.length };
  });
}

test('dark as the system says, light or dark by the switch, which is remembered', async () => {
  const { page } = view;
  const dark = await brightness(page);
  assert.ok(dark.sky < 60, `the sky has ${dark.sky}`);
  await show(page, { panels: true });
  await golden(page, 'dark');
  await page.locator('#tools .theme').click();
  const light = await brightness(page);
  assert.ok(light.sky > 150, `the sky has ${light.sky}`);
  assert.notEqual(light.page, dark.page);
  await page.reload();
  await rb.waitForScene(page, 'door-with-stop');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light', 'the choice is forgotten');
  assert.equal(await page.locator('#tools .theme').getAttribute('aria-label'), 'Dark colors');
  await page.emulateMedia({ colorScheme: 'light' });
});

test('Tab reaches every control, Enter and space press it, and the view turns by arrows', async () => {
  const { page } = view;
  await show(page, { panels: true });
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll('button, input, select, summary, textarea, a[href], [tabindex="0"]')]
      .filter((element) => element.checkVisibility({ checkVisibilityCSS: true }) && !element.disabled && element.getBoundingClientRect().width > 0);
    all.forEach((element, i) => { element.dataset.seen = `${i}`; });
    return all.length;
  });
  assert.ok(wanted > 20, `${wanted} controls`);
  await page.evaluate(() => document.activeElement?.blur());
  const reached = new Set();
  for (let i = 0; i < wanted + 5; i++) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement?.dataset?.seen ?? null));
  }
  const missing = await page.evaluate((seen) => [...document.querySelectorAll('[data-seen]')]
    .filter((element) => !seen.includes(element.dataset.seen) && element.checkVisibility())
    .map((element) => element.outerHTML.slice(0, 120)), [...reached]);
  assert.deepEqual(missing, [], 'controls that Tab does not reach');
  // every control has a name
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button')].filter((button) => button.checkVisibility()
    && !button.textContent.trim() && !button.getAttribute('aria-label')).map((button) => button.outerHTML.slice(0, 100)));
  assert.deepEqual(nameless, []);

  // space on a button that Tab reached presses the button, and does not play
  await rb.command(page, { do: 'pause' });
  await page.locator('#open-journal').focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Space');
  assert.equal(await page.isVisible('#journal'), true);
  assert.equal(await page.evaluate(() => window.rattleback.model.state.playing), false);
  await page.keyboard.press('Enter');
  assert.equal(await page.isVisible('#journal'), false);

  await page.locator('#view canvas').focus();
  const eye = () => page.evaluate(() => window.rattleback.view.camera.position.toArray());
  const first = await eye();
  await page.keyboard.press('ArrowLeft');
  const turned = await eye();
  assert.ok(Math.hypot(...first.map((x, i) => x - turned[i])) > 1e-3, 'the view does not turn');
  const distance = (at) => page.evaluate((p) => Math.hypot(...p.map((x, i) => x - window.rattleback.view.controls.target.toArray()[i])), at);
  await page.keyboard.press('+');
  const ratio = await distance(await eye()) / await distance(turned);
  assert.ok(ratio > 0.8 && ratio < 0.95, `zoomed by ${ratio}`);
  await page.keyboard.press('n');
  assert.notEqual(await page.evaluate(() => window.rattleback.model.selected), null, 'n selects nothing');
  await goToFrame(page, 20);
  await rb.until(page, () => window.rattleback.model.detail !== null);
  await golden(page, 'keyboard');
  assert.deepEqual(view.troubles, []);
});

test('fingers: a tap selects, one finger turns the view, two zoom', async () => {
  const touch = await rb.openPage(server.url, { size: { width: 390, height: 844 }, touch: true });
  const { page } = touch;
  await rb.waitForScene(page, 'door-with-stop');
  await drawn(page);
  const devtools = await page.context().newCDPSession(page);
  const send = (type, ...points) => devtools.send('Input.dispatchTouchEvent',
    { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const place = await page.evaluate(() => window.rattleback.view.screenOf(
    [...window.rattleback.model.bodies.values()].find((body) => body.type === 'dynamic').number));
  await page.touchscreen.tap(place.x, place.y);
  await rb.until(page, () => window.rattleback.model.selected !== null);
  const read = () => page.evaluate(() => {
    const { camera, controls } = window.rattleback.view;
    return { eye: camera.position.toArray(), distance: camera.position.distanceTo(controls.target) };
  });
  const before_ = await read();
  const [x, y] = [300, 640]; // the ground
  await send('touchStart', [x, y]);
  for (let i = 1; i <= 5; i++) {
    await send('touchMove', [x - 15 * i, y]);
  }
  await send('touchEnd');
  await rb.until(page, (eye) => Math.hypot(...window.rattleback.view.camera.position.toArray().map((v, i) => v - eye[i])) > 1e-3, before_.eye);
  const turned = await read();
  await send('touchStart', [150, 640], [240, 640]);
  for (let i = 1; i <= 5; i++) {
    await send('touchMove', [150 - 12 * i, 640], [240 + 12 * i, 640]);
  }
  await send('touchEnd');
  await rb.until(page, (far) => window.rattleback.view.camera.position.distanceTo(window.rattleback.view.controls.target) < 0.95 * far,
    turned.distance);
  // fingers get larger targets
  const small = await page.evaluate(() => [...document.querySelectorAll('#timeline button, #tools button, #overlays button')]
    .filter((button) => button.checkVisibility()).map((button) => button.getBoundingClientRect())
    .filter(({ width, height }) => width < 34 || height < 34).length);
  assert.equal(small, 0, `${small} buttons are too small for a finger`);
  await checkLayout(page, 'touch');
  await rb.screenshot(page, 'touch');
  assert.deepEqual(touch.troubles, []);
  await touch.close();
});

test('a picture of the gallery is drawn once: another start of the program has it at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rattleback-everywhere-')); // of a scene whose picture is not made ahead
  const scene = JSON.parse(readFileSync(new URL('../../scenes/dominoes.json', import.meta.url), 'utf8'));
  writeFileSync(join(folder, 'dominoes.json'), JSON.stringify({ ...scene, title: 'Other dominoes' }));
  const get = async () => {
    const from = await rb.startServerWith({ RATTLEBACK_SCENES: folder });
    const start = Date.now();
    const bytes = Buffer.from(await (await fetch(new URL('picture/dominoes.png', from.url))).arrayBuffer());
    const time = Date.now() - start;
    await from.stop();
    return { bytes, time };
  };
  const first = await get();
  const again = await get();
  rmSync(folder, { recursive: true });
  console.log(`a picture: ${first.time} ms, from another start ${again.time} ms`);
  assert.deepEqual(again.bytes, first.bytes);
  const kept = readdirSync(join(rb.output, 'cache', 'rattleback')).filter((name) => name.endsWith('.png'));
  assert.ok(kept.some((name) => readFileSync(join(rb.output, 'cache', 'rattleback', name)).equals(first.bytes)), 'it is not kept');
});

test('without WebGL there is a sentence and the picture of the scene, and the scene runs', async () => {
  const blind = await rb.openPage('about:blank');
  await blind.page.addInitScript(() => {
    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function get(kind, ...rest) {
      return /webgl/.test(kind) ? null : getContext.call(this, kind, ...rest);
    };
  });
  await blind.page.goto(server.url);
  await rb.until(blind.page, () => window.rattleback?.model?.scene && window.rattleback.ready);
  assert.match(await blind.page.textContent('#view p'), /WebGL 2 is missing/);
  await rb.until(blind.page, () => window.rattleback.model.frameCount > 0);
  await checkLayout(blind.page, 'without WebGL');
  await checkAccess(blind.page, 'without WebGL');
  await rb.screenshot(blind.page, 'no-webgl');
  assert.deepEqual(blind.troubles, []);
  await blind.close();
});

test('the gallery loads its pictures when they are seen, and passes axe', async () => {
  const { page } = view;
  await page.setViewportSize({ width: 800, height: 500 });
  await rb.command(page, { do: 'close' });
  await page.locator('.card').first().waitFor();
  const { scenes } = await (await fetch(new URL('scenes.json', server.url))).json();
  await rb.until(page, () => [...document.querySelectorAll('.card img')].slice(0, 3).every((image) => image.complete && image.naturalWidth > 0));
  const asked = new Set(view.requests.filter((url) => url.includes('/picture/'))).size;
  assert.ok(asked > 0 && asked < scenes.length / 2, `${asked} pictures of ${scenes.length} at once`);
  await checkAccess(page, 'gallery');
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.locator('#gallery .theme').click();
  await rb.until(page, (old) => document.documentElement.dataset.theme !== old, theme);
  await checkAccess(page, 'gallery in the other colors');
  await rb.screenshot(page, 'gallery-dark');
  await page.locator('.card[data-scene="door-with-stop"]').focus();
  await page.keyboard.press('Enter');
  await rb.waitForScene(page, 'door-with-stop');
  assert.deepEqual(view.troubles, []);
});
