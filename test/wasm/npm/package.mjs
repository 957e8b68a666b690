// The packed package, installed into an empty folder: its README example, its types, its hashes.
// RB_TARBALL names it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SIZE_MAX = 1_500_000; // bytes of the tarball
const root = fileURLToPath(new URL('../../..', import.meta.url));
const tarball = resolve(process.env.RB_TARBALL);
const folder = mkdtempSync(join(tmpdir(), 'rattleback-npm-'));
const place = join(folder, 'node_modules/rattleback');
let rattleback;

before(async () => {
  writeFileSync(join(folder, 'package.json'), '{"name": "user", "version": "1.0.0", "type": "module", "private": true}');
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', tarball], { cwd: folder });
  rattleback = await import(pathToFileURL(join(place, 'index.js')));
});

test('the tarball is small', () => {
  const { size } = statSync(tarball);
  console.log(`${tarball}: ${size} bytes`);
  assert.ok(size < SIZE_MAX, `${size} bytes`);
});

test('the example of the README prints what it says', () => {
  const text = readFileSync(join(place, 'README.md'), 'utf8');
  const [, code] = /```js\n([\s\S]*?)```/.exec(text);
  const [, line] = /It prints `([^`]+)`/.exec(text);
  writeFileSync(join(folder, 'example.js'), code);
  const printed = execFileSync(process.execPath, ['example.js'], { cwd: folder, encoding: 'utf8' });
  assert.ok(printed.includes(line), printed);
});

test('a scene with mesh files has the hash of the program', async () => {
  const engine = await rattleback.load();
  const scene = JSON.parse(readFileSync(join(root, 'scenes/swarm.json'), 'utf8'));
  scene.duration = 1;
  assert.throws(() => engine.openWorld(scene), rattleback.EngineError);
  assert.match(engine.missingFile, /^meshes\/(star.obj|torus.ply)$/);
  const files = Object.fromEntries(['meshes/star.obj', 'meshes/torus.ply'].map((name) => [name, readFileSync(join(root, 'scenes', name))]));
  const world = engine.openWorld(scene, { name: 'swarm', files });
  assert.equal(world.run(), true);
  const program = process.env.RB_PROGRAM ?? join(root, 'build/release/rattleback');
  const native = JSON.parse(execFileSync(program, ['run', 'scenes/swarm.json', '--set', 'duration=1', '--json'], { cwd: root, encoding: 'utf8' }));
  assert.equal(world.hash, native.hash);
  assert.equal(world.positions.length, 3 * world.bodyCount);
  assert.equal(world.info.bodies.length, world.bodyCount);
  assert.equal(engine.version, JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')).version);
});

test('the types name everything that a world and an engine have', async () => {
  const types = readFileSync(join(place, 'index.d.ts'), 'utf8');
  const body = (name) => new RegExp(`(class|interface) ${name} \\{([\\s\\S]*?)\\n\\}`).exec(types)[2];
  const members = (name) => [...body(name).matchAll(/^ {4}(?:readonly )?(\w+)[(:?]/gm)].map(([, word]) => word);
  const engine = await rattleback.load();
  const world = engine.openWorld({ rattleback: 1, engine: 'flight', bodies: [] });
  const own = Object.getOwnPropertyNames(rattleback.World.prototype).filter((name) => name !== 'constructor');
  assert.deepEqual(own.sort(), members('World').filter((name) => name !== 'constructor').sort());
  for (const name of members('Engine')) {
    assert.ok(name in engine, `the types have ${name}, the engine has not`);
  }
  assert.deepEqual(Object.keys(world.ledger).sort(), members('Ledger').sort());
  assert.deepEqual(Object.keys(world.info).sort(), members('SceneInfo').sort());
});
