// Pictures of the page against golden images: test/viewer/golden/NAME.png, half as wide and half as high as the window.
//
// Tolerance: the pictures are compared in squares of 4 x 4 pixels (8 x 8 of the window), by the mean of each color. A square
// differs when one of its colors differs by more than SQUARE_MAX of 255; a picture differs when more than SHARE_MAX of its
// squares do. Smoothing of fonts and edges stays below this, a missing button, a body elsewhere and another theme do not
// (pictures.test.mjs shows both). RB_GOLDEN=write draws all golden images anew: look at each before you commit it.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync, inflateSync } from 'node:zlib';

export const SQUARE = 4; // pixels of a golden image
export const SQUARE_MAX = 16; // of 255
export const SHARE_MAX = 0.003; // of all squares
// The golden images are of x86-64. Software rendering of another processor may round otherwise: its pictures are compared, and
// what differs is printed, but does not fail.
const IS_SAME_PROCESSOR = process.arch === 'x64';
const folder = fileURLToPath(new URL('./golden/', import.meta.url));
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Checksum of a PNG chunk (Node 18 has none). */
function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) {
      crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    }
  }
  return ~crc >>> 0;
}

/** Predictor of a byte of a row: of its left, upper and upper left neighbors. */
function predict(kind, a, b, c) {
  if (kind === 4) {
    const p = a + b - c;
    const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
  }
  return [0, a, b, (a + b) >> 1][kind];
}

/** Reads a PNG with 8 bits a channel, with or without alpha: {width, height, pixels: RGB}. */
export function readPng(bytes) {
  assert.ok(bytes.subarray(0, 8).equals(SIGNATURE), 'not a PNG');
  const parts = [];
  let head = null;
  for (let at = 8; at < bytes.length;) {
    const size = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + 8 + size);
    head = type === 'IHDR' ? data : head;
    if (type === 'IDAT') {
      parts.push(data);
    }
    at += size + 12;
  }
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const channels = { 2: 3, 6: 4 }[head[9]];
  assert.ok(head[8] === 8 && channels && head[12] === 0, 'a PNG of a kind that is not read here');
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const rows = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y++) {
    const kind = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x >= channels ? rows[at - channels] : 0;
      const up = y > 0 ? rows[at - stride] : 0;
      const corner = x >= channels && y > 0 ? rows[at - stride - channels] : 0;
      rows[at] = raw[y * (stride + 1) + 1 + x] + predict(kind, left, up, corner);
    }
  }
  const pixels = Buffer.alloc(width * height * 3);
  for (let i = 0; i < width * height; i++) {
    rows.copy(pixels, 3 * i, channels * i, channels * i + 3);
  }
  return { width, height, pixels };
}

/** Writes one: each row as the difference to the row above. */
export function writePng({ width, height, pixels }) {
  const stride = 3 * width;
  const raw = Buffer.alloc(height * (stride + 1));
  for (let y = 0; y < height; y++) {
    raw[y * (stride + 1)] = 2;
    for (let x = 0; x < stride; x++) {
      raw[y * (stride + 1) + 1 + x] = pixels[y * stride + x] - (y > 0 ? pixels[(y - 1) * stride + x] : 0);
    }
  }
  const chunk = (type, data) => {
    const all = Buffer.alloc(data.length + 12);
    all.writeUInt32BE(data.length, 0);
    all.write(type, 4, 'latin1');
    data.copy(all, 8);
    all.writeUInt32BE(crc32(all.subarray(4, data.length + 8)), data.length + 8);
    return all;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('IDAT', deflateSync(raw, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

/** The means of squares of some pixels. */
export function reduce({ width, height, pixels }, size) {
  const [w, h] = [Math.floor(width / size), Math.floor(height / size)];
  const out = Buffer.alloc(w * h * 3);
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      for (let c = 0; c < 3; c++) {
        let sum = 0;
        for (let k = 0; k < size * size; k++) {
          sum += pixels[3 * ((y * size + Math.floor(k / size)) * width + x * size + (k % size)) + c];
        }
        out[3 * (y * w + x) + c] = Math.round(sum / (size * size));
      }
    }
  }
  return { width: w, height: h, pixels: out };
}

/** The share of squares that differ, and the greatest difference: {share, largest, where: [x, y] of the golden image}. */
export function compare(a, b) {
  const [p, q] = [reduce(a, SQUARE), reduce(b, SQUARE)];
  let [count, largest, where] = [0, 0, [0, 0]];
  for (let i = 0; i < p.width * p.height; i++) {
    const difference = Math.max(...[0, 1, 2].map((c) => Math.abs(p.pixels[3 * i + c] - q.pixels[3 * i + c])));
    count += difference > SQUARE_MAX ? 1 : 0;
    if (difference > largest) {
      [largest, where] = [difference, [(i % p.width) * SQUARE, Math.floor(i / p.width) * SQUARE]];
    }
  }
  return { share: count / (p.width * p.height), largest, where };
}

/** Compares a screenshot with the golden image of a name; keeps both in the folder of the outputs when they differ. */
export function checkGolden(name, bytes, output) {
  const shown = reduce(readPng(bytes), 2);
  const path = join(folder, `${name}.png`);
  if (process.env.RB_GOLDEN === 'write') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, writePng(shown));
    return;
  }
  assert.ok(existsSync(path), `there is no golden image ${path}: RB_GOLDEN=write draws it`);
  const golden = readPng(readFileSync(path));
  writeFileSync(join(output, `golden-${name}.png`), writePng(shown));
  assert.deepEqual([shown.width, shown.height], [golden.width, golden.height], `${name}: size of the golden image`);
  const { share, largest, where } = compare(shown, golden);
  console.log(`${name}: ${(100 * share).toFixed(2)} % of the squares differ from the golden image, largest difference ${largest} at ${where}`);
  assert.ok(share <= SHARE_MAX || !IS_SAME_PROCESSOR, `${name}: ${(100 * share).toFixed(2)} % of the squares differ from ${path}, at most ${100 * SHARE_MAX} %; `
    + `the picture of now is ${join(output, `golden-${name}.png`)}`);
}
