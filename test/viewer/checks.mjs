// What several tests ask of a page: nothing covers anything else, no failure of WCAG AA by axe, and the look of a golden image.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { command, output, until } from './harness.mjs';
import { checkGolden } from './pictures.mjs';

const require = createRequire(new URL('../../app/viewer/package.json', import.meta.url));
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
// What lies on the view; the view itself and dialogs are meant to be below and above.
const PARTS = ['#title', '#tools', '#panels > *', '#journal', '#overlays', '#scale', '#ending', '#plots', '#timeline', '#editor'];

/** Bounding boxes of the parts that are visible: [{name, left, top, right, bottom}]. */
export function boxesOf(page) {
  return page.evaluate((parts) => parts.flatMap((name) => {
    const element = document.querySelector(name);
    const box = element?.checkVisibility() ? element.getBoundingClientRect() : null;
    return box && box.width > 0 && box.height > 0
      ? [{ name, left: box.left, top: box.top, right: box.right, bottom: box.bottom }] : [];
  }), PARTS);
}

/** No part covers another, and all are inside of the window. */
export async function checkLayout(page, what) {
  const boxes = await boxesOf(page);
  const { width, height } = page.viewportSize();
  for (const [i, a] of boxes.entries()) {
    assert.ok(a.left >= -0.5 && a.top >= -0.5 && a.right <= width + 0.5 && a.bottom <= height + 0.5,
      `${what}: ${a.name} is outside of ${width} x ${height}: ${JSON.stringify(a)}`);
    for (const b of boxes.slice(i + 1)) {
      const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      assert.ok(x <= 0.5 || y <= 0.5, `${what}: ${a.name} and ${b.name} overlap by ${x} x ${y} px`);
    }
  }
  const cut = await page.evaluate(() => ['#timeline', '#tools', '#low', '.plots-head', '.journal-head'].filter((name) => {
    const element = document.querySelector(name);
    return element?.checkVisibility() && element.scrollWidth > element.clientWidth + 1;
  }));
  assert.deepEqual(cut, [], `${what}: parts whose content is cut off`);
  return boxes.map(({ name }) => name);
}

/** Fails with every violation and the elements that have it. */
export async function checkAccess(page, what) {
  if (!await page.evaluate(() => Boolean(window.axe))) {
    await page.evaluate(axe);
  }
  const found = await page.evaluate(async (rules) => {
    const { violations, passes } = await window.axe.run(document, { runOnly: rules, resultTypes: ['violations'] });
    return { passes: passes.length,
      violations: violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`) };
  }, RULES);
  assert.deepEqual(found.violations, [], what);
  assert.ok(found.passes > 10, `${what}: axe checked ${found.passes} rules only`);
}

/** Waits until the browser has drawn a picture that began after now. */
export async function drawn(page) {
  const count = await page.evaluate(() => {
    window.rattleback.view.requestDraw();
    return window.rattleback.view.drawCount;
  });
  await page.waitForFunction((last) => window.rattleback.view.drawCount > last, count, { polling: 50 });
}

/** Pauses, goes to the start and makes a number of frames: a state that is the same in every run. */
export async function goToFrame(page, count) {
  await command(page, { do: 'pause' });
  await until(page, () => !window.rattleback.model.state.playing);
  assert.equal((await command(page, { do: 'reset' })).ok, true);
  await until(page, () => window.rattleback.model.time === 0 && !window.rattleback.model.state.playing);
  if (count > 0) {
    assert.equal((await command(page, { do: 'step', count })).ok, true);
  }
  await until(page, (wanted) => Math.abs(window.rattleback.model.time - wanted * window.rattleback.model.state.frameStep) < 1e-6
    && !window.rattleback.model.state.busy, count);
}

/** Compares the page, which must be paused, with a golden image: camera at home, all pixels drawn, no passing message. */
export async function golden(page, name) {
  await page.evaluate(() => {
    document.getElementById('message').style.visibility = 'hidden';
    document.activeElement?.matches('#view canvas') || document.activeElement?.blur();
    window.rattleback.view.lookHome();
  });
  await page.mouse.move(1, 1);
  await drawn(page);
  // a drawing that was asked for has fewer pixels; all of them come when nothing changes any more
  await until(page, () => window.rattleback.view.renderer.getPixelRatio() === 1 && !window.rattleback.model.isMoving());
  const bytes = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await page.evaluate(() => { document.getElementById('message').style.visibility = ''; });
  checkGolden(name, bytes, output);
}
