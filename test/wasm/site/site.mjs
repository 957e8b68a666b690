// The site from a plain file server: gallery, scenes run by the engine in the page, editing, offline, bad input.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as rb from './harness.mjs';

const FIRST_MAX = 1_500_000; // bytes in gzip
const MOTION_MAX = 3000; // ms
let server;

before(async () => {
  await rb.openBrowser();
  server = await rb.serve();
});

after(async () => {
  await rb.closeBrowser();
  await server?.stop();
});

test('the first moving picture of the rattleback comes within 3 s and 1.5 MB', async () => {
  const times = [];
  for (let i = 0; i < 3; i++) {
    server.requests.length = 0;
    const { page, troubles, close } = await rb.openPage(`${server.url}#rattleback`,
      { size: { width: 1280, height: 800 }, init: rb.noteMotion, interval: 0 });
    await rb.until(page, () => window.firstMotion);
    // the first page of a browser also starts its software renderer
    times.push(Math.round(await page.evaluate(() => window.firstMotion)));
    if (i === 2) {
      const bytes = server.requests.reduce((sum, { bytes: size }) => sum + size, 0);
      console.log(`first motion after ${times.join(', ')} ms; ${bytes} bytes in gzip: ${server.requests.map((r) => r.path).join(' ')}`);
      assert.ok(bytes < FIRST_MAX, `${bytes} bytes`);
      await page.waitForTimeout(1000);
      await rb.screenshot(page, 'site-rattleback');
    }
    assert.deepEqual(troubles, []);
    await close();
  }
  assert.ok([...times].sort((a, b) => a - b)[1] < MOTION_MAX, `${times.join(', ')} ms`);
});

test('the gallery shows every scene, loads pictures when seen, and a click runs one', async () => {
  server.requests.length = 0;
  const { page, troubles, close } = await rb.openPage(server.url, { size: { width: 1280, height: 800 } });
  const { scenes } = await (await fetch(`${server.url}scenes.json`)).json();
  await rb.until(page, (count) => document.querySelectorAll('.card').length === count, scenes.length);
  await rb.until(page, () => [...document.querySelectorAll('.card img')].slice(0, 3).every((image) => image.complete && image.naturalWidth > 0));
  await rb.screenshot(page, 'site-gallery');
  const pictures = server.requests.filter(({ path }) => path.startsWith('picture/')).length;
  assert.ok(pictures < scenes.length, `${pictures} pictures at once`);
  assert.deepEqual(server.requests.filter(({ status }) => status !== 200), []);
  await page.locator('.card[data-scene="nut-on-a-bolt"]').click(); // needs mesh files
  await rb.waitForMotion(page, 'nut-on-a-bolt');
  assert.match(page.url(), /#nut-on-a-bolt$/);
  await page.goBack();
  await rb.until(page, () => !document.getElementById('gallery').hidden);
  await page.locator('.card[data-scene="dominoes"]').click();
  await rb.waitForMotion(page, 'dominoes');
  await rb.command(page, { do: 'close' });
  await rb.until(page, () => !document.getElementById('gallery').hidden);
  assert.doesNotMatch(page.url(), /#./);
  assert.deepEqual(troubles, []);
  await close();
});

test('push, rewind, plot and edit work without a server', async () => {
  const { page, troubles, close } = await rb.openPage(`${server.url}#rattleback`, { size: { width: 1280, height: 800 } });
  await rb.waitForMotion(page, 'rattleback');
  await rb.command(page, { do: 'pause' });
  const pushed = await rb.command(page, { do: 'push', body: 'rattleback', point: [0, 0, 0.02], impulse: [0.01, 0, 0] });
  assert.equal(pushed.ok, true, pushed.error);
  await rb.command(page, { do: 'seek', time: 0 });
  await rb.until(page, () => window.rattleback.model.state.time === 0);
  assert.ok(await page.evaluate(() => window.rattleback.model.samples.count > 1), 'samples to plot');
  // a mistake is shown at its line, the scene goes on
  await page.click('#edit');
  await rb.until(page, () => document.querySelector('#editor textarea').value.includes('rattleback'));
  await rb.screenshot(page, 'site-editor');
  const text = await page.inputValue('#editor textarea');
  await page.fill('#editor textarea', text.replace('"rattleback": 1,', '"rattleback": 1,,'));
  await page.click('#editor .run');
  await rb.until(page, () => /:2:\d+: /.test(document.querySelector('#editor .trouble').textContent));
  const heavy = JSON.parse(text);
  heavy.title = 'On the <b>moon</b>';
  heavy.world = { ...heavy.world, gravity: [0, 0, -1.6] };
  await page.fill('#editor textarea', JSON.stringify(heavy, null, 2));
  await page.click('#editor .run');
  await rb.until(page, () => window.rattleback.model.scene.title === 'On the <b>moon</b>');
  await rb.until(page, () => window.rattleback.model.time > 0.02);
  assert.equal(await page.evaluate(() => document.querySelectorAll('#title b').length), 0, 'texts of scenes are no HTML');
  assert.deepEqual(troubles, []);
  await close();
});

test('a scene too large for the memory is refused by a sentence, and the page goes on', async () => {
  const { page, close } = await rb.openPage(`${server.url}#rattleback`);
  await rb.waitForMotion(page, 'rattleback');
  const huge = { rattleback: 1, engine: 'flight', bodies: [{ name: 'b', mass: 1,
    shapes: [{ geometry: { type: 'sphere', radius: 0.1 } }], scatter: { count: 9000000, box: [1e4, 1e4, 1e4] } }] };
  const reply = await page.evaluate((scene) => window.rattleback.source.send({ do: 'open', scene: 'huge', text: JSON.stringify(scene) }), huge);
  assert.equal(reply.ok, false);
  assert.match(reply.error, /more memory than the engine can have/);
  await rb.until(page, () => !document.getElementById('gallery').hidden);
  await rb.openScene(page, 'tumbling-box');
  await close();
});

test('a lost worker is told and started again', async () => {
  const { page, close } = await rb.openPage(`${server.url}#tumbling-box`);
  await rb.waitForMotion(page, 'tumbling-box');
  await page.evaluate(() => { window.lostSentences = []; window.rattleback.model.on('connection', ({ isOpen, sentence }) => { window.lostSentences.push([isOpen, sentence]); }); });
  await page.workers()[0].evaluate(() => { setTimeout(() => { throw new Error('broken on purpose'); }); });
  await rb.until(page, () => window.lostSentences.some(([isOpen, sentence]) => !isOpen && /engine stopped/.test(sentence)));
  await rb.until(page, () => window.lostSentences.some(([isOpen]) => isOpen));
  await close();
});

test('an old browser gets a sentence: one that lacks SIMD of WebAssembly, and one that cannot read the script', async () => {
  const { page, close } = await rb.openPage('about:blank');
  const change = (name, fn) => page.route(name, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: fn(await response.text()) });
  });
  await change(/worker\.js/, (text) => `WebAssembly.validate = () => false;${text}`);
  await page.goto(`${server.url}#rattleback`);
  await rb.until(page, () => /too old for the engine.*Safari 16\.4/.test(document.getElementById('connection').textContent));
  assert.equal(await page.isVisible('#connection'), true);
  assert.equal(page.workers().length, 0, 'it is not tried again');
  await page.unroute(/worker\.js/);
  await change(/index\.html/, (text) => {
    const at = text.lastIndexOf('<script>') + '<script>'.length;
    return `${text.slice(0, at)}var a = b ??!.c;${text.slice(at)}`;
  });
  await page.goto(`${server.url}index.html?old`).catch(() => {});
  await rb.until(page, () => /too old for this page/.test(document.getElementById('message').textContent));
  assert.equal(await page.isVisible('#message'), true);
  await rb.screenshot(page, 'site-old-browser');
  await close();
});

test('after the first visit the site works offline', async () => {
  const own = await rb.serve();
  const { page, close } = await rb.openPage(`${own.url}#tumbling-box`);
  await rb.waitForMotion(page, 'tumbling-box');
  await page.evaluate(() => navigator.serviceWorker.register('offline.js').then(() => navigator.serviceWorker.ready));
  await own.stop();
  await page.goto(`${own.url}#dominoes`);
  await page.reload();
  await rb.waitForMotion(page, 'dominoes');
  await close();
});

test('a server that does not know the type of wasm, and a phone', async () => {
  const plain = await rb.serve({ isPlain: true });
  const { page, close } = await rb.openPage(`${plain.url}#rattleback`, { size: { width: 390, height: 844 } });
  await rb.waitForMotion(page, 'rattleback');
  await page.waitForTimeout(500);
  await rb.screenshot(page, 'site-phone');
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `${width} px wide`);
  await page.click('#edit');
  await page.waitForTimeout(300);
  await rb.screenshot(page, 'site-phone-editor');
  await page.click('#editor .close');
  await rb.command(page, { do: 'close' });
  await rb.until(page, () => document.querySelectorAll('.card').length > 0);
  await page.waitForTimeout(500);
  await rb.screenshot(page, 'site-phone-gallery');
  await close();
  await plain.stop();
});

test('without WebGL there is a sentence and the picture of the scene, and the scene runs', async () => {
  const { page, close } = await rb.openPage('about:blank');
  await page.addInitScript(() => {
    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function get(kind, ...rest) {
      return /webgl/.test(kind) ? null : getContext.call(this, kind, ...rest);
    };
  });
  await page.goto(`${server.url}#rattleback`);
  await rb.waitForMotion(page, 'rattleback');
  assert.match(await page.textContent('#view p'), /WebGL/);
  await rb.until(page, () => document.querySelector('#view img').naturalWidth > 0);
  await rb.screenshot(page, 'site-no-webgl');
  await close();
});

test('a link to a scene that does not exist shows the gallery and says so', async () => {
  const { page, close } = await rb.openPage(`${server.url}#no-such-scene`);
  await rb.until(page, () => !document.getElementById('gallery').hidden && document.querySelectorAll('.card').length > 0);
  await rb.until(page, () => /no-such-scene.*could not be loaded/.test(document.getElementById('message').textContent));
  await close();
});
