import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEmitter } from '../src/emitter.js';
import { binEvents } from '../src/marks.js';
import { createModel, findAfter } from '../src/model.js';
import { decodeMessage } from '../src/protocol.js';
import { dropMessage, eventsMessage, frameMessage, samplesMessage, SCENE } from './messages.mjs';

/** A model whose messages and clock the test controls. */
function setUp() {
    const emitter = createEmitter();
    const sent = [];
    const clock = { time: 0 };
    const source = {
        isLive: true,
        on: emitter.on,
        stats: {},
        send(command) {
            sent.push(command);
            return Promise.resolve({
                ok: command.do !== 'bad',
                error: command.do === 'bad' ? 'no' : '',
            });
        },
    };
    const model = createModel(source, () => clock.time);
    const tell = (data) => {
        const message = typeof data === 'object' && data.type ? data : decodeMessage(data);
        emitter.emit(message.type, message);
    };
    tell({ type: 'connection', isOpen: true });
    tell(SCENE);
    tell({ type: 'state', playing: true, speed: 1, time: 0, endTime: 0 });
    return { model, tell, sent, clock };
}

const at = (body, x) => ({ body, position: [x, 0, 0] });

test('a pose goes from the last frame to the next in the time of a frame', () => {
    const { model, tell, clock } = setUp();
    tell(frameMessage(0, 0, [at(0, 0), at(1, 5)], 1));
    for (let i = 1; i <= 60; i++) {
        clock.time += 1 / 60;
        tell(frameMessage(i, i / 60, [at(0, i)]));
    }
    const pose = [];
    assert.equal(model.pose(0, pose), true);
    assert.ok(Math.abs(pose[0] - 59) < 1e-6, 'it begins at the frame before');
    clock.time += 1 / 120;
    model.pose(0, pose);
    assert.ok(Math.abs(pose[0] - 59.5) < 1e-3, `halfway: ${pose[0]}`);
    assert.ok(Math.abs(model.time - 59.5 / 60) < 1e-4);
    assert.equal(model.isMoving(), true);
    clock.time += 1;
    model.pose(0, pose);
    assert.equal(pose[0], 60);
    assert.equal(model.time, 1);
    assert.equal(model.isMoving(), false);
    model.pose(1, pose);
    assert.equal(pose[0], 5, 'a body that no frame names stays');
    assert.deepEqual(model.bodies.get(0).position, [60, 0, 0]);
});

test('orientations between two frames are units and take the short way', () => {
    const { model, tell, clock } = setUp();
    const turned = (angle) => [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)];
    tell(frameMessage(0, 0, [{ ...at(0, 0), orientation: turned(3.0) }], 1));
    clock.time = 0.02;
    tell(frameMessage(1, 0.02, [{ ...at(0, 0), orientation: turned(3.4) }]));
    for (let i = 0; i < 10; i++) {
        clock.time += 0.002;
        const pose = [];
        model.pose(0, pose);
        assert.ok(Math.abs(Math.hypot(...pose.slice(3)) - 1) < 1e-6);
        const angle = 2 * Math.atan2(pose[6], pose[3]);
        const wrapped = angle < 0 ? angle + 2 * Math.PI : angle;
        assert.ok(wrapped > 2.99 && wrapped < 3.41, `angle ${wrapped}`);
    }
});

test('a jump is shown at once, and so is everything while the time stands', () => {
    const { model, tell, clock } = setUp();
    const pose = [];
    tell(frameMessage(0, 0, [at(0, 0), at(1, 1)], 1));
    clock.time = 0.02;
    tell(frameMessage(1, 3, [at(0, 8)], 2));
    model.pose(0, pose);
    assert.equal(pose[0], 8);
    assert.equal(model.time, 3);
    tell({ type: 'state', playing: false });
    tell(frameMessage(2, 3.1, [at(0, 9)]));
    model.pose(0, pose);
    assert.equal(pose[0], 9);
    assert.equal(model.time, 3.1);
});

test('a body leaves a periodic box at one side and comes in at the other', () => {
    const { model, tell, clock } = setUp();
    tell({ ...SCENE, periodicBox: [10, 0, 0] });
    tell({ type: 'state', playing: true });
    tell(frameMessage(0, 0, [at(0, 4.9), at(1, 400)], 1));
    clock.time = 0.02;
    tell(frameMessage(1, 0.02, [at(0, -4.9)]));
    const pose = [];
    for (let i = 0; i < 10; i++) {
        clock.time += 0.002;
        model.pose(0, pose);
        assert.ok(Math.abs(pose[0]) >= 4.9 - 1e-6 && Math.abs(pose[0]) <= 5, `at ${pose[0]}`);
    }
    model.pose(1, pose);
    assert.equal(pose[0], 0);
});

test('a body that is not alive at the time has no pose', () => {
    const { model, tell } = setUp();
    tell(frameMessage(0, 0, [at(0, NaN), at(1, 1)], 1));
    assert.equal(model.pose(0, []), false);
    assert.equal(model.pose(12345, []), false);
    tell(frameMessage(1, 0.1, [at(0, 2)]));
    const pose = [];
    assert.equal(model.pose(0, pose), true);
    assert.equal(pose[0], 2, 'it does not come from nowhere');
});

test('bodies come and go', () => {
    const { model, tell } = setUp();
    tell(frameMessage(0, 0, [at(0, 0), at(1, 5)], 1));
    model.select(1);
    tell({
        type: 'bodies',
        added: [{ number: 2, name: 'new', type: 'dynamic', shapes: [{ geometry: 2 }] }],
        geometries: [{ index: 2, type: 'box', size: [1, 1, 1] }],
        deleted: [1],
    });
    assert.deepEqual([...model.bodies.keys()], [0, 2]);
    assert.equal(model.pose(1, []), false, 'a body that is gone is nowhere');
    assert.equal(model.geometries[2].type, 'box');
    assert.equal(model.selected, null, 'a body that is gone is not selected');
    tell({ type: 'links', joints: [1], springs: [] });
    assert.deepEqual(
        model.joints.map((joint) => joint.number),
        [1],
    );
});

test('a mesh arrives after its scene', () => {
    const { model, tell } = setUp();
    tell({
        type: 'mesh',
        geometry: 1,
        positions: new Float32Array(9),
        indices: new Uint32Array([0, 1, 2]),
    });
    assert.equal(model.geometries[1].indices.length, 3);
});

test('samples grow, replace a row of the same time, and are dropped', () => {
    const { model, tell } = setUp();
    const rows = Array.from({ length: 3000 }, (_, i) => [i, 2 * i, 3 * i]);
    tell(samplesMessage(2, rows.slice(0, 1500), 1));
    tell(samplesMessage(2, rows.slice(1499)));
    assert.equal(model.samples.count, 3000);
    assert.equal(model.samples.time[2999], 2999);
    assert.equal(model.samples.values[1][2999], 3 * 2999);
    assert.equal(model.latest('kinetic'), 2 * 2999);
    assert.equal(model.latest('error'), 3 * 2999);
    tell(dropMessage(100));
    assert.equal(model.samples.count, 101);
    tell(samplesMessage(2, [[0, 1, 1]], 1));
    assert.equal(model.samples.count, 1);
    assert.ok(Number.isNaN(model.latest('nothing')));
});

test('events are kept, dropped and bounded', () => {
    const { model, tell } = setUp();
    tell(eventsMessage(5, [0.1, 0.2, 0.3]));
    assert.equal(model.firstEvent, 5);
    tell(dropMessage(0.2));
    assert.deepEqual(
        model.events.map((event) => event.time),
        [0.1, 0.2],
    );
    assert.equal(findAfter(model.events, 0.1), 1);
    for (let i = 0; i < 14; i++) {
        tell(eventsMessage(8 + 10000 * i, new Array(10000).fill(1)));
    }
    assert.ok(model.events.length <= 125000);
    assert.equal(model.firstEvent + model.events.length, 5 + 2 + 140000);
});

test('requests of all owners are sent together, and again after a new scene', () => {
    const { model, tell, sent } = setUp();
    sent.length = 0;
    model.want('overlays', { contacts: true, joints: false });
    model.want('panel', { joints: true });
    model.want('panel', { joints: true });
    model.want('overlays', { contacts: true, rays: true });
    assert.deepEqual(sent, [
        { do: 'overlays', contacts: true, joints: false, rays: false },
        { do: 'overlays', contacts: true, joints: true, rays: false },
        { do: 'overlays', contacts: true, joints: true, rays: true },
    ]);
    tell({ ...SCENE, epoch: 2 });
    assert.deepEqual(sent.at(-1), { do: 'overlays', contacts: true, joints: true, rays: true });
});

test('a refused command is said', async () => {
    const { model } = setUp();
    const said = [];
    model.on('say', (what) => said.push(what.text));
    await model.do({ do: 'bad' });
    await model.do({ do: 'good' });
    assert.deepEqual(said, ['no']);
});

test('marks of many events are binned', () => {
    const events = Array.from({ length: 1000 }, (_, i) => ({
        time: i / 1000,
        kind: i === 500 ? 0 : 4,
    }));
    const bins = binEvents(events, 1, 50);
    assert.equal(bins.length, 50);
    assert.equal(
        bins.reduce((sum, bin) => sum + bin.count, 0),
        1000,
    );
    assert.deepEqual(
        bins.filter((bin) => bin.kind === 'hand').map((bin) => bin.at),
        [25],
    );
    assert.ok(bins.every((bin) => bin.height > 0 && bin.height <= 1));
    assert.deepEqual(binEvents(events, 0, 50), []);
});

test('matrices of many poses are those of single poses', async () => {
    const { createPoses } = await import('../src/poses.js');
    let wall = 0;
    const poses = createPoses(() => wall, () => 0.03);
    const frame = (time, list, hasJumped = false) => ({ time, hasJumped, bodies: Uint32Array.from(list, ([n]) => n), poses: Float32Array.from(list.flatMap(([, p]) => p)) });
    const q = (x, y, z, w) => [w, x, y, z].map((v) => v / Math.hypot(x, y, z, w));
    poses.take(frame(0, [[0, [1, 2, 3, ...q(0.1, 0.2, 0.3, 0.9)]], [1, [4, 5, 6, ...q(0.5, -0.5, 0.1, -0.2)]], [3, [0, 0, 1, 1, 0, 0, 0]]], true));
    wall = 0.1;
    poses.take(frame(0.1, [[0, [2, 2, 3, ...q(0.3, 0.2, 0.3, 0.8)]], [1, [4, 7, 6, ...q(-0.4, 0.6, 0.1, 0.3)]]]));
    const out = new Float32Array(4 * 16);
    out.fill(7, 32, 48);
    poses.writeMatrices(Uint32Array.of(1, 0, 2, 3), out);
    const pose = new Float64Array(7);
    [1, 0, 3].forEach((number) => {
        const at = 16 * [1, 0, 2, 3].indexOf(number);
        assert.equal(poses.shown(number, pose), true);
        const [px, py, pz, w, x, y, z] = pose;
        const wanted = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
            2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
            2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0, px, py, pz, 1];
        wanted.forEach((value, i) => assert.ok(Math.abs(out[at + i] - value) < 1e-6, `body ${number}, ${i}: ${out[at + i]}, not ${value}`));
    });
    assert.deepEqual([...out.subarray(32, 48)], new Array(16).fill(0), 'a body that is not there');
    assert.equal(poses.newestOf(2).length, 14);
    assert.ok(Number.isNaN(poses.newestOf(3)[14]));
});
