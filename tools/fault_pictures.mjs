// Draws the old faults of the viewer for docs/looks.md: node tools/fault_pictures.mjs PROGRAM before|now [FOLDER].
//
// Each picture is of the same page in the same state, made by the program that is given: "before" needs one built from the
// commit before the faults were removed (29d23584). Needs chromium and ffmpeg.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [, , program = 'build/release/rattleback', when = 'now', folder = 'docs/images/faults'] = process.argv;
process.env.RB_PROGRAM = program;
process.env.RB_OUTPUT = mkdtempSync(join(tmpdir(), 'rattleback-faults-')); // a new cache: no picture is there yet
const rb = await import('../test/viewer/harness.mjs');

const SMALL = { width: 800, height: 500 };
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

async function save(page, name) {
  const png = join(process.env.RB_OUTPUT, `${name}.png`);
  await page.screenshot({ path: png });
  execFileSync('ffmpeg', ['-y', '-loglevel', 'error', '-i', png, '-vf', 'scale=iw*0.6:-2:flags=area', '-q:v', '4', join(folder, `${name}-${when}.jpg`)]);
  console.log(name);
}

/** A server with a page of its scene, paused at a time. */
async function show(words, name, { size = SMALL, touch = false, time = null, late = 0 } = {}) {
  const server = await rb.startServer(...words);
  await wait(late);
  const { page, close } = await rb.openPage(server.url, { size, touch });
  await rb.waitForScene(page, name);
  if (time !== null) {
    await rb.until(page, (wanted) => window.rattleback.model.state.endTime >= wanted, time, 120000);
    await rb.command(page, { do: 'pause' });
    await rb.command(page, { do: 'seek', time });
  }
  await wait(2500);
  return { page, async end() { await close(); await server.stop(); } };
}

// A sheet whose triangles face down, beside one whose triangles face up.
const sheets = { rattleback: 1, title: 'Sheets', engine: 'flight', duration: 1000, world: { gravity: [0, 0, 0] },
  bodies: [[-0.5, [0, 1, 2, 3]], [0.5, [3, 2, 1, 0]]].map(([x, face], i) => ({ name: i === 0 ? 'up' : 'down', type: 'static', position: [x, 0, 0],
    shapes: [{ geometry: { type: 'mesh', vertices: [[-0.4, -0.4, 0], [0.4, -0.4, 0], [0.4, 0.4, 0.1], [-0.4, 0.4, 0.1]], faces: [face] } }] })) };

mkdirSync(folder, { recursive: true });
await rb.openBrowser();

// The clock: the page is opened five seconds after the program was started, and waits until it has drawn.
const clock = await rb.startServer('dominoes');
await wait(5000);
const late = await rb.openPage(clock.url, { size: SMALL });
await rb.waitForScene(late.page, 'dominoes');
await save(late.page, 'clock');
console.log(`  shows ${(await rb.timeOf(late.page)).toFixed(2)} s`);
await late.close();
await clock.stop();

const phone = await show(['robot-arm', '--paused'], 'robot-arm', { size: { width: 390, height: 844 }, touch: true });
await phone.page.evaluate(() => {
  window.rattleback.panels.gui.open();
  for (const name of ['Journal', 'Plots']) {
    [...document.querySelectorAll('button')].find((one) => one.textContent.trim() === name).click();
  }
});
await wait(2500);
await save(phone.page, 'phone');
await phone.end();

const file = join(process.env.RB_OUTPUT, 'sheets.json');
writeFileSync(file, JSON.stringify(sheets));
const mesh = await show([file, '--paused'], 'sheets');
await save(mesh.page, 'meshes');
await mesh.end();

const camera = await show(['dominoes', '--paused'], 'dominoes');
await save(camera.page, 'camera');
await camera.end();

const motors = await show(['robot-arm'], 'robot-arm', { size: { width: 1100, height: 700 }, time: 1.5 });
await motors.page.evaluate(() => {
  const folder = window.rattleback.panels.gui.open().foldersRecursive().find(({ domElement }) => /^motors$/i.test(domElement.querySelector('.lil-title, .title').textContent));
  folder.open();
});
await wait(1500);
await save(motors.page, 'sliders');
await motors.end();

// The gallery half a second after its cards are there, the first time the program is started.
const first = await rb.startServer();
const cards = await rb.openPage(first.url, { size: { width: 1100, height: 700 } });
await rb.until(cards.page, () => document.querySelectorAll('.card').length > 10);
await wait(500);
await save(cards.page, 'cards');
await cards.close();
await first.stop();
await rb.closeBrowser();
