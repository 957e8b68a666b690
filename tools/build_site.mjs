// Writes the site, a folder of static files: node tools/build_site.mjs PROGRAM WASM FOLDER [DOCS]
//
//   index.html         the page: gallery and viewer        worker.js, rattleback.wasm   the engine
//   scenes.json        what the gallery shows              scenes/                      scenes and meshes
//   picture/NAME.png   pictures of the gallery             offline.js                   works without a network
//   docs/              the documents, if DOCS is their folder
//   licenses.txt       of what is inside
//
// Links are relative: any file server can serve it, under any path. Pictures are made by the program,
// which takes a minute, and kept in FOLDER/../site-pictures until their scene or the program changes.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const FIRST_MAX = 1_500_000; // bytes in gzip of what the first page loads, with the engine

const root = fileURLToPath(new URL('..', import.meta.url));
const [program, wasm, folder, docs] = process.argv.slice(2).map((path) => resolve(path));
if (!folder || process.argv.length > 6) {
  console.error('usage: node tools/build_site.mjs PROGRAM WASM FOLDER [DOCS]');
  process.exit(2);
}
const pictures = join(dirname(folder), 'site-pictures');
mkdirSync(pictures, { recursive: true });
rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, 'picture'), { recursive: true });

/** The gallery of the program: list and pictures, from its own server. */
async function copyGallery() {
  const child = spawn(program, ['view', '--json', '--no-browser', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((done, fail) => {
    child.stdout.once('data', (bytes) => done(String(bytes)));
    child.once('exit', (code) => fail(new Error(`${program} view ended with ${code}`)));
  });
  const { url } = JSON.parse(line);
  const get = async (path) => {
    const response = await fetch(new URL(path, url));
    if (!response.ok) {
      throw new Error(`${path}: ${response.status} ${await response.text()}`);
    }
    return Buffer.from(await response.arrayBuffer());
  };
  try {
    const list = JSON.parse(await get('scenes.json'));
    writeFileSync(join(folder, 'scenes.json'), JSON.stringify(list));
    const scenes = list.scenes ?? list;
    for (const { name } of scenes) {
      const kept = join(pictures, `${name}.png`);
      const isNew = !existsSync(kept) || statSync(kept).mtimeMs < statSync(join(root, 'scenes', `${name}.json`)).mtimeMs;
      if (isNew) {
        writeFileSync(kept, await get(`picture/${name}.png`));
      }
      cpSync(kept, join(folder, 'picture', `${name}.png`));
    }
    return scenes.map(({ name }) => name);
  } finally {
    child.kill('SIGINT');
  }
}

function writeLicenses() {
  const sources = join(root, 'build/wasm-sources');
  const modules = join(root, 'app/viewer/node_modules');
  const texts = [
    ['Rattleback', join(root, 'LICENSE')],
    ['jansson', join(sources, 'jansson/LICENSE')],
    ['zstd', join(sources, 'zstd/LICENSE')],
    ['qhull', join(sources, 'qhull/COPYING.txt')],
    ['AMD', join(sources, 'suitesparse/AMD/Doc/License.txt')],
    ['three', join(modules, 'three/LICENSE')],
    ['lil-gui', join(modules, 'lil-gui/LICENSE.md')],
    ['uplot', join(modules, 'uplot/LICENSE')],
  ].filter(([, path]) => existsSync(path));
  writeFileSync(join(folder, 'licenses.txt'),
    texts.map(([name, path]) => `${'='.repeat(100)}\n${name}\n${'='.repeat(100)}\n${readFileSync(path, 'utf8')}`).join('\n'));
}

const names = await copyGallery();
cpSync(join(root, 'scenes'), join(folder, 'scenes'), { recursive: true, filter: (from) => !from.startsWith(join(root, 'scenes/pictures')) });
cpSync(wasm, join(folder, 'rattleback.wasm'));
execFileSync(process.execPath, ['build.mjs', '--site', folder], { cwd: join(root, 'app/viewer'), stdio: ['ignore', 'ignore', 'inherit'] });
writeLicenses();
if (docs) {
  cpSync(docs, join(folder, 'docs'), { recursive: true });
}

const first = ['index.html', 'worker.js', 'rattleback.wasm', 'scenes.json'];
const files = ['./', ...first, ...names.map((name) => `scenes/${name}.json`),
  ...readdirSync(join(folder, 'scenes/meshes')).map((name) => `scenes/meshes/${name}`)];
const hash = createHash('sha256');
for (const file of files.slice(1)) {
  hash.update(readFileSync(join(folder, file)));
}
const offline = readFileSync(join(root, 'app/browser/offline.js'), 'utf8')
  .replace('/*VERSION*/', `rattleback-${hash.digest('hex').slice(0, 16)}`)
  .replace('/*FILES*/', files.map((file) => JSON.stringify(file)).join(', '));
writeFileSync(join(folder, 'offline.js'), offline);

const sizes = first.map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length);
const sum = sizes.reduce((a, b) => a + b, 0);
console.log(`${folder}: ${names.length} scenes; first page ${sum} bytes in gzip (${first.map((file, i) => `${file} ${sizes[i]}`).join(', ')})`);
if (sum > FIRST_MAX) {
  console.error(`site: the first page has ${sum} bytes in gzip; at most ${FIRST_MAX}`);
  process.exit(1);
}
