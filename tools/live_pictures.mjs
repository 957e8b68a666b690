// Draws twelve scenes by the viewer and by the program's own renderer, at the same time and from the same camera, for
// docs/looks.md: node tools/live_pictures.mjs PROGRAM [FOLDER [NAME...]]. Needs chromium and ffmpeg.
//
// Chromium draws in software here; the page is told that it has a graphics processor, so that it draws shadows, materials
// and smooth edges as it does there.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [, , program = 'build/release/rattleback', folder = 'docs/images/live'] = process.argv;
process.env.RB_PROGRAM = program;
process.env.RB_OUTPUT ??= mkdtempSync(join(tmpdir(), 'rattleback-live-'));
const rb = await import('../test/viewer/harness.mjs');
const { drawn } = await import('../test/viewer/checks.mjs');

const SIZE = { width: 480, height: 270 };
const NAMES = process.argv.slice(4); // only these
const SCENES = { rattleback: 0.5, gyroscope: 0.5, dominoes: 0.6, 'double-pendulum': 0.8, 'robot-arm': 1, 'card-house': 0.2,
  'wrecking-ball': 1, shapes: 0.5, 'tippe-top': 0.4, 'interlocked-meshes': 0.3, 'bouncing-ball': 0.6, 'door-with-stop': 0.3 };

/** Another name for the renderer: not one of software. */
function pretendProcessor() {
  const { getParameter } = WebGL2RenderingContext.prototype;
  WebGL2RenderingContext.prototype.getParameter = function get(name) {
    return name === 0x9246 ? 'a graphics processor' : getParameter.call(this, name);
  };
}

function shrink(from, to) {
  execFileSync('ffmpeg', ['-y', '-loglevel', 'error', '-i', from, '-q:v', '4', to]);
}

mkdirSync(folder, { recursive: true });
await rb.openBrowser();
const server = await rb.startServer();
const { page } = await rb.openPage(server.url, { size: SIZE, init: pretendProcessor });
for (const [name, time] of Object.entries(SCENES).filter(([one]) => NAMES.length === 0 || NAMES.includes(one))) {
  await rb.openScene(page, name);
  await rb.until(page, (wanted) => window.rattleback.model.state.endTime >= wanted, time, 120000);
  await rb.command(page, { do: 'pause' });
  await rb.command(page, { do: 'seek', time });
  await rb.until(page, (wanted) => Math.abs(window.rattleback.model.time - wanted) <= window.rattleback.model.state.frameStep, time);
  // the camera of the picture: framed in the whole window, without panels
  await page.evaluate(() => {
    document.querySelectorAll('body > :not(#view)').forEach((one) => { one.style.visibility = 'hidden'; });
    document.getElementById('free').style.cssText = 'position: fixed; inset: 0';
    window.rattleback.view.resize();
    window.rattleback.view.lookHome();
  });
  await drawn(page);
  const data = await page.evaluate(async () => {
    const blob = await window.rattleback.view.takePicture(false);
    return new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result.split(',')[1]);
      reader.readAsDataURL(blob);
    });
  });
  const live = join(process.env.RB_OUTPUT, `${name}-live.png`);
  writeFileSync(live, Buffer.from(data, 'base64'));
  shrink(live, join(folder, `${name}-viewer.jpg`));
  const { position, target } = await page.evaluate(() => window.rattleback.view.getCamera());
  const now = await rb.timeOf(page);
  const still = join(process.env.RB_OUTPUT, `${name}.png`);
  rb.run('run', name, '--duration', `${now}`, '--png', still, '--size', `${SIZE.width}x${SIZE.height}`, '--look-from', position.join(),
    '--look-at', target.join(), '--quiet');
  shrink(still, join(folder, `${name}-program.jpg`));
  console.log(name);
}
await rb.closeBrowser();
await server.stop();
