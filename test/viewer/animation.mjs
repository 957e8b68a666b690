// Bodies and their motion for other programs: what run --gltf and --usd write is read back by readers that are not ours
// (three's for glTF, its parser of USD text) and compared with the laws of motion and with each other.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { run } from './harness.mjs';

globalThis.self ??= globalThis; // three's loaders expect a browser
globalThis.ProgressEvent ??= class extends Event {};
const packages = new URL('../../app/viewer/node_modules/three/', import.meta.url);
const THREE = await import(new URL('build/three.module.js', packages));
const { GLTFLoader } = await import(new URL('examples/jsm/loaders/GLTFLoader.js', packages));

const [GRAVITY, SPIN, SPEED, FPS] = [9.81, 3, 2, 50]; // m/s², rad/s, m/s, 1/s
let folder;

// A ball with a sideways speed and a spin about z, and a body with two shapes and odd signs in its name that turns about x.
const scene = {
  rattleback: 1, title: 'A "throw" \\ <&>', engine: 'flight', duration: 0.5,
  bodies: [
    { name: 'ball', position: [0, 0, 5], velocity: [SPEED, 0, 0], spin: [0, 0, SPIN], color: '#ff0000', opacity: 0.5,
      shapes: [{ geometry: { type: 'sphere', radius: 0.2 } }] },
    { name: 'two <parts> é', position: [3, 0, 5], spin: [SPIN, 0, 0],
      shapes: [{ geometry: { type: 'box', size: [0.2, 0.2, 0.2] }, position: [0.3, 0, 0] },
        { geometry: { type: 'box', size: [0.2, 0.2, 0.2] }, position: [-0.3, 0, 0] }] },
    { name: 'floor', type: 'static', shapes: [{ geometry: { type: 'plane', normal: [0, 0, 1] } }] },
  ],
};

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'rattleback-animation-'));
  writeFileSync(join(folder, 'throw.json'), JSON.stringify(scene));
  run('run', join(folder, 'throw.json'), '--gltf', join(folder, 'a.glb'), '--usd', join(folder, 'a.usda'), '--fps', `${FPS}`, '--quiet');
});

after(() => rmSync(folder, { recursive: true }));

/** The file as three reads it, and its objects at a time (s): their world positions and rotations, z up again. */
async function readGltf(path) {
  const bytes = readFileSync(path);
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), '');
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const clip = gltf.animations[0];
  const action = mixer.clipAction(clip).setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  return { gltf, clip, at(time, name) {
    action.reset().play(); // one that has ended would stay there
    mixer.setTime(time);
    gltf.scene.updateMatrixWorld(true);
    const object = gltf.scene.getObjectByName(THREE.PropertyBinding.sanitizeNodeName(name));
    assert.ok(object, `no object ${name}`);
    const [p, q] = [object.getWorldPosition(new THREE.Vector3()), object.getWorldQuaternion(new THREE.Quaternion())];
    const back = new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(1, 0, 0), Math.PI / 2);
    return { position: p.applyQuaternion(back), rotation: back.clone().multiply(q) };
  } };
}

// Between frames positions are linear: a parabola differs by at most g dt² / 8.
test('a thrown ball in glTF follows its parabola and turns at its rate', async () => {
  const { gltf, clip, at } = await readGltf(join(folder, 'a.glb'));
  assert.ok(Math.abs(clip.duration - scene.duration) < 1e-6, `${clip.duration} s`);
  assert.equal(clip.tracks[0].times.length, scene.duration * FPS + 1);
  const sag = GRAVITY / FPS ** 2 / 8;
  for (const time of [0, 0.1, 0.237, 0.4, 0.5]) {
    const { position, rotation } = at(time, 'ball');
    const wanted = [SPEED * time, 0, 5 - 0.5 * GRAVITY * time * time];
    wanted.forEach((x, i) => assert.ok(Math.abs(position.getComponent(i) - x) < sag + 1e-5, `${time} s: ${position.toArray()}, not ${wanted}`));
    const angle = 2 * Math.atan2(rotation.z, rotation.w);
    assert.ok(Math.abs(angle - SPIN * time) < 1e-5, `${time} s: turned by ${angle}, not ${SPIN * time}`);
  }
  const meshes = [];
  gltf.scene.traverse((object) => object.isMesh && meshes.push(object));
  const ball = gltf.scene.getObjectByName('ball');
  const color = [];
  ball.traverse((object) => object.isMesh && color.push(object.material));
  assert.equal(color.length, 2, 'a ball has two tones');
  assert.ok(color[0].transparent && color[0].opacity === 0.5, 'opacity of the scene');
  assert.deepEqual([color[0].color.r, color[0].color.g, color[0].color.b].map((x) => Math.round(x * 100)), [100, 0, 0]);
  assert.equal(meshes.length, 2 + 2 + 1, 'two tones, two boxes, a ground');
  const box = new THREE.Box3().setFromObject(ball);
  assert.ok(Math.abs(box.max.y - box.min.y - 0.4) < 2e-3, `the ball is ${box.max.y - box.min.y} m high`);
});

test('USD has the same poses as glTF, and its text is whole', async () => {
  const { at } = await readGltf(join(folder, 'a.glb'));
  const text = readFileSync(join(folder, 'a.usda'), 'utf8');
  assert.match(text, /^#usda 1\.0\n/);
  assert.equal(text.split('{').length, text.split('}').length, 'brackets');
  assert.match(text, /timeCodesPerSecond = 50\n/);
  const samples = (body, what) => {
    const from = text.indexOf(`def Xform "${body}"`);
    assert.ok(from > 0, `no ${body}`);
    const [, list] = new RegExp(`${what}\\.timeSamples = \\{([^}]*)\\}`).exec(text.slice(from));
    return [...list.matchAll(/([-\d.e]+): \(([^)]*)\)/g)].map(([, code, values]) => [Number(code), values.split(',').map(Number)]);
  };
  for (const [usd, name] of [['B0_ball', 'ball'], ['B1_two__parts____', 'two <parts> é']]) {
    const places = samples(usd, 'xformOp:translate');
    const turns = samples(usd, 'xformOp:orient');
    assert.equal(places.length, scene.duration * FPS + 1);
    for (const [i, [code, place]] of places.entries()) {
      const { position, rotation } = at(code / FPS, name);
      place.forEach((x, k) => assert.ok(Math.abs(x - position.getComponent(k)) < 1e-5, `${name} at ${code}: ${place}`));
      const [w, x, y, z] = turns[i][1];
      assert.ok(Math.abs(Math.hypot(w, x, y, z) - 1) < 1e-9, 'not a unit quaternion');
      assert.ok(Math.abs(Math.abs(w * rotation.w + x * rotation.x + y * rotation.y + z * rotation.z) - 1) < 1e-5, `${name} at ${code}: turned otherwise`);
    }
  }
  // every point of a mesh is used, and every index is one of a point
  for (const [, indices, points] of text.matchAll(/faceVertexIndices = \[([^\]]*)\]\s*point3f\[\] points = \[([^\]]*)\]/g)) {
    const used = new Set(indices.split(',').map(Number));
    assert.equal(used.size, points.split('(').length - 1);
    assert.equal(Math.max(...used), used.size - 1);
  }
});

test('a body that is removed is hidden from then on', async () => {
  const file = join(folder, 'removed.glb');
  const actions = join(folder, 'actions.jsonl');
  writeFileSync(actions, `${JSON.stringify({ time: 0.25, do: 'delete', body: 'ball' })}\n`);
  run('run', join(folder, 'throw.json'), '--actions', actions, '--gltf', file, '--fps', `${FPS}`, '--quiet');
  const { clip, gltf, at } = await readGltf(file);
  const track = clip.tracks.find(({ name }) => name === 'ball.scale');
  assert.ok(track, 'no scale of the ball');
  const scales = [...track.values].filter((_, i) => i % 3 === 0);
  assert.equal(scales.filter((x) => x === 1).length, track.times.filter((t) => t < 0.25 - 1e-9).length);
  at(0.1, 'ball');
  assert.equal(gltf.scene.getObjectByName('ball').scale.x, 1);
  at(0.4, 'ball');
  assert.equal(gltf.scene.getObjectByName('ball').scale.x, 0);
});
