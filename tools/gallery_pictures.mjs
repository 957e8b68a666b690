// Makes the pictures of the gallery ahead, so that the first start of the program has them: node tools/gallery_pictures.mjs [PROGRAM]
//
// They are scenes/pictures/NAME-HASH.png: 480 x 270 pixels of 128 colors, drawn by the program. HASH is that of the scene file
// (src/base/core/hash.c); the program draws a scene anew whose picture has another one. Needs ffmpeg.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = process.argv[2] ?? join(root, 'build/release/rattleback');
const folder = join(root, 'scenes/pictures');
const MASK = (1n << 64n) - 1n;

function mix(hash, word) {
  let z = hash ^ ((word * 0x9e3779b97f4a7c15n) & MASK);
  z = ((z ^ (z >> 29n)) * 0xbf58476d1ce4e5b9n) & MASK;
  return z ^ (z >> 32n);
}

/** As rbHashBytes, in 16 hexadecimal digits. */
function hashOf(bytes) {
  let hash = mix(0xcbf29ce484222325n, BigInt(bytes.length));
  for (let at = 0; at < bytes.length; at += 8) {
    const part = Buffer.alloc(8);
    bytes.copy(part, 0, at, Math.min(at + 8, bytes.length));
    hash = mix(hash, part.readBigUInt64LE());
  }
  return hash.toString(16).padStart(16, '0');
}

mkdirSync(folder, { recursive: true });
const names = readdirSync(join(root, 'scenes')).filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -5)).sort();
const wanted = new Map(names.map((name) => [name, `${name}-${hashOf(readFileSync(join(root, 'scenes', `${name}.json`)))}.png`]));
const missing = names.filter((name) => !existsSync(join(folder, wanted.get(name))));
const spare = mkdtempSync(join(tmpdir(), 'rattleback-gallery-'));
const child = spawn(program, ['view', '--json', '--no-browser', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, RATTLEBACK_SCENES: join(root, 'scenes') } });
try {
  const { url } = JSON.parse(await new Promise((done) => { child.stdout.once('data', (bytes) => done(String(bytes))); }));
  for (const name of missing) {
    const response = await fetch(new URL(`picture/${name}.png`, url));
    if (!response.ok) {
      throw new Error(`${name}: ${await response.text()}`);
    }
    const drawn = join(spare, 'drawn.png');
    writeFileSync(drawn, Buffer.from(await response.arrayBuffer()));
    execFileSync('ffmpeg', ['-y', '-loglevel', 'error', '-i', drawn, '-filter_complex',
      'split[a][b];[a]palettegen=max_colors=128[p];[b][p]paletteuse=dither=none', '-compression_level', '9', join(folder, wanted.get(name))]);
    console.log(wanted.get(name));
  }
} finally {
  child.kill('SIGINT');
  rmSync(spare, { recursive: true });
}
const kept = new Set(wanted.values());
readdirSync(folder).filter((file) => !kept.has(file)).forEach((file) => rmSync(join(folder, file)));
console.log(`${folder}: ${names.length} pictures, ${missing.length} of them new`);
