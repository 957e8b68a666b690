// The comparison with golden images: what it accepts and what it finds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHARE_MAX, compare, readPng, reduce, writePng } from './pictures.mjs';

/** A picture whose color at (x, y) is a function of them. */
function draw(width, height, color) {
  const pixels = Buffer.alloc(3 * width * height);
  for (let i = 0; i < width * height; i++) {
    pixels.set(color(i % width, Math.floor(i / width)), 3 * i);
  }
  return { width, height, pixels };
}

// A window with a disk (a body) and a bar with nine buttons of 12 x 12 pixels.
const inDisk = (x, y, cx) => (x - cx) ** 2 + (y - 60) ** 2 < 30 ** 2;
const page = (cx, buttons, ink = 20) => draw(200, 150, (x, y) => {
  const isButton = y >= 130 && y < 142 && x % 20 < 12 && Math.floor(x / 20) < buttons;
  return isButton ? [ink, ink, ink] : inDisk(x, y, cx) ? [220, 60, 40] : [200, 215, 230 - (y >> 2)];
});

test('a PNG that is written is read back, whatever its pixels', () => {
  let seed = 7;
  const random = () => { seed = (seed * 48271) % 2147483647; return seed & 255; };
  for (const [width, height] of [[1, 1], [3, 5], [64, 17]]) {
    const picture = draw(width, height, () => [random(), random(), random()]);
    assert.deepEqual(readPng(writePng(picture)), picture);
  }
});

test('edges that are smoothed otherwise are no difference, a moved body and a missing button are', () => {
  const golden = page(100, 9);
  const smooth = draw(200, 150, (x, y) => {
    // every pixel takes a quarter of its right neighbor: what another smoothing does to edges
    const at = (i, j) => golden.pixels.subarray(3 * (j * 200 + i), 3 * (j * 200 + i) + 3);
    return [...at(x, y)].map((v, c) => Math.round(0.75 * v + 0.25 * at(Math.min(x + 1, 199), y)[c]));
  });
  assert.ok(compare(smooth, golden).share <= SHARE_MAX, `smoothed: ${compare(smooth, golden).share}`);
  assert.equal(compare(golden, golden).largest, 0);
  for (const [what, other] of [['moved by 6 pixels', page(106, 9)], ['a button is missing', page(100, 8)], ['other colors', page(100, 9, 60)]]) {
    assert.ok(compare(other, golden).share > SHARE_MAX, `${what}: ${compare(other, golden).share}`);
  }
});

test('squares have the mean of their pixels', () => {
  const small = reduce(draw(4, 4, (x, y) => [x * 10, y * 10, 200]), 2);
  assert.deepEqual([small.width, small.height], [2, 2]);
  assert.deepEqual([...small.pixels.subarray(0, 3)], [5, 5, 200]);
  assert.deepEqual([...small.pixels.subarray(9, 12)], [25, 25, 200]);
});
