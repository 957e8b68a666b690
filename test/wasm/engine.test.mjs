// The engine module under Node: worlds, sessions, bad input, and the fuzz seeds of mesh files.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createEngine, EngineError } from '../../app/browser/engine.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const wasm = process.env.RB_WASM ?? `${root}build/wasm/rattleback.wasm`;
let module;
let engine;

before(async () => {
  module = await WebAssembly.compile(readFileSync(wasm));
  engine = await createEngine(module);
});

const ball = { rattleback: 1, duration: 1, world: { gravity: [0, 0, -9.81] }, engine: 'flight',
  materials: { wet: { density: 1000 } },
  bodies: [{ name: 'ball', shapes: [{ geometry: { type: 'sphere', radius: 0.1 }, material: 'wet' }], velocity: [1, 0, 2] }] };

/** A scene with one mesh. */
function withMesh(file) {
  return { ...ball, bodies: [{ name: 'part', shapes: [{ geometry: { type: 'mesh', file }, material: 'wet' }] }] };
}

test('a thrown ball is where the formula says', () => {
  const world = engine.openWorld(ball, { name: 'ball' });
  world.advance(0.5);
  const [x, y, z] = world.positions;
  assert.ok(Math.abs(x - 0.5) < 1e-12 && y === 0, `${x} ${y}`);
  assert.ok(Math.abs(z - (2 * 0.5 - 0.5 * 9.81 * 0.25)) < 1e-12, `${z}`);
  assert.equal(world.time, 0.5);
  assert.deepEqual(world.info.bodies, ['ball']);
  assert.ok(Math.abs(world.ledger.mass - 1000 * 4 / 3 * Math.PI * 1e-3) < 1e-9);
  world.write('linearVelocities', [0, 0, 0]);
  assert.deepEqual([...world.linearVelocities], [0, 0, 0]);
  assert.throws(() => world.write('masses', [1]), EngineError);
  assert.throws(() => world.write('positions', [1]), /3 numbers, not 1/);
  assert.throws(() => world.read('colors'), /there is no field "colors"/);
  assert.throws(() => world.advance(-1), /cannot advance/);
  world.close();
  assert.throws(() => world.time, /closed/);
});

test('a scene with a mistake names the place and the remedy', () => {
  assert.throws(() => engine.openWorld('{"rattleback": 1,\n "bodies": [}', { name: 'broken' }),
    (error) => error.details.line === 2 && /broken/.test(error.message));
  assert.throws(() => engine.openWorld({ ...ball, bodies: [{ ...ball.bodies[0], mass: -1 }] }),
    (error) => error.details.place.startsWith('/bodies/0'));
  assert.throws(() => engine.openWorld(''), EngineError);
  assert.throws(() => engine.openWorld('null'), EngineError);
});

test('a scene that lacks a file names it', () => {
  assert.throws(() => engine.openWorld(withMesh('none.stl')), EngineError);
  assert.equal(engine.missingFile, 'none.stl');
});

test('a session answers commands and sends the messages of the protocol', () => {
  const session = engine.openSession(readFileSync(`${root}scenes/rattleback.json`, 'utf8'), { name: 'rattleback' });
  const types = new Set();
  let frames = 0;
  const drain = () => {
    for (let message = session.next(); message !== null; message = session.next()) {
      if (typeof message === 'string') {
        types.add(JSON.parse(message).type);
      } else {
        frames += message[0] === 1 ? 1 : 0;
      }
    }
  };
  drain();
  assert.ok(types.has('hello') && types.has('scene') && types.has('state'), [...types].join(' '));
  const tell = (command) => JSON.parse(session.command(JSON.stringify(command)));
  assert.deepEqual(tell({ do: 'select', body: 'stone-of-nobody', id: 3 }).ok, false);
  assert.equal(tell({ do: 'overlays', contacts: true, id: 4 }).ok, true);
  assert.equal(tell({ do: 'overlays', contacts: 7, id: 5 }).ok, false);
  assert.equal(tell({ do: 'select', body: 0, id: 6 }).id, 6);
  assert.equal(tell({ do: 'save', id: 7 }).ok, false, 'a page has no disk');
  assert.equal(tell({ do: 'fly', id: 8 }).ok, false);
  assert.equal(JSON.parse(session.command('no JSON')).ok, false);
  assert.equal(tell({ do: 'play', id: 9 }).ok, true);
  const before = frames;
  for (let i = 0; i < 200; i++) {
    session.tick();
    drain();
  }
  assert.ok(frames > before, `${frames - before} frames`);
  assert.equal(JSON.parse(session.sceneText).rattleback, 1);
  session.close();
});

test('a scene too large for the memory is refused by a sentence, and a new engine works', async () => {
  const own = await createEngine(module);
  const huge = { ...ball, bodies: [{ ...ball.bodies[0], scatter: { count: 9000000, box: [1e4, 1e4, 1e4], speed: 2, spin: 5 } }] };
  assert.throws(() => own.openWorld(huge), /more memory than the engine can have/);
  assert.throws(() => own.openWorld(ball), /more memory/, 'what is left of it is not used');
  const next = await createEngine(module);
  next.openWorld(ball).close();
});

// 32-bit size_t: sizes that a file claims must not wrap around
test('the fuzz seeds of meshes are read or refused, and the engine survives', () => {
  const folder = `${root}test/fuzz/corpus/mesh`;
  let read = 0;
  for (const file of readdirSync(folder)) {
    const bytes = readFileSync(`${folder}/${file}`);
    const endings = ['.obj', '.stl', '.ply', '.gltf', '.glb'];
    for (const ending of endings.some((e) => file.endsWith(e)) ? [''] : endings) {
      const name = file + ending;
      engine.putFile(name, bytes);
      try {
        engine.openWorld(withMesh(name)).close();
        read++;
      } catch (error) {
        assert.ok(error instanceof EngineError, String(error));
        assert.doesNotMatch(error.message, /engine failed|ended itself/, file);
      }
    }
  }
  assert.ok(read > 0, 'no mesh was read');
  const gltf = JSON.stringify({ asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }], buffers: [{ uri: 'data:;base64,AAAAAAAAAAAAAAAAAAAAAAAA', byteLength: 18 }],
    bufferViews: [{ buffer: 0, byteLength: 18 }],
    // (count - 1) * stride wraps to 12 in 32 bits
    accessors: [{ bufferView: 0, componentType: 5126, type: 'VEC3', count: 357913943, byteOffset: 0 }] });
  engine.putFile('wrap.gltf', new TextEncoder().encode(gltf));
  assert.throws(() => engine.openWorld(withMesh('wrap.gltf')),
    /does not fit|integer/);
  engine.dropFiles();
});
