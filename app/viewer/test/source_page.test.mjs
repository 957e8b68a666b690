import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createModel } from '../src/model.js';
import {
    chooseSpeed,
    createPageSource,
    decodeBase64,
    splitRecords,
    unzip,
} from '../src/source_page.js';
import { eventsMessage, frameMessage, joinRecords, samplesMessage, SCENE } from './messages.mjs';

const COUNT = 200;

/** Body 0 moves all the time, body 1 in every tenth frame: only then is it in the frame. */
function makeRun() {
    const messages = [
        JSON.stringify({ type: 'hello', protocol: 1, kind: 'page', scene: 'two' }),
        JSON.stringify(SCENE),
    ];
    for (let i = 0; i < COUNT; i++) {
        const poses = [{ body: 0, position: [i, 0, 0] }];
        if (i % 10 === 0) {
            poses.push({ body: 1, position: [0, i, 0] });
        }
        messages.push(
            frameMessage(i, i / 100, poses, i === 0 ? 1 : 0),
            samplesMessage(2, [[i / 100, i, 0]]),
        );
        if (i % 50 === 0) {
            messages.push(eventsMessage(i / 50, [i / 100]));
        }
    }
    return messages;
}

function setUp() {
    const clock = { time: 0 };
    let tick = null;
    const source = createPageSource(makeRun(), {
        now: () => clock.time,
        every: (fn) => {
            tick = fn;
        },
    });
    const model = createModel(source, () => clock.time);
    source.start();
    assert.equal(model.state.playing, false, 'it plays before the page is ready');
    source.send({ do: 'ready' });
    const pass = (seconds) => {
        for (let i = 0; i < Math.round(seconds * 60); i++) {
            clock.time += 1 / 60;
            tick();
        }
    };
    return { source, model, pass };
}

function isAt(model, frame) {
    assert.deepEqual(model.bodies.get(0).position, [frame, 0, 0]);
    assert.deepEqual(model.bodies.get(1).position, [0, frame - (frame % 10), 0]);
}

test('data of a page are records in gzip in base64', async () => {
    const messages = makeRun();
    const text = gzipSync(joinRecords(messages)).toString('base64');
    const records = splitRecords(
        await unzip(decodeBase64(`\n${text.slice(0, 76)}\n${text.slice(76)}`)),
    );
    assert.equal(records.length, messages.length);
    records.forEach((record, i) => assert.deepEqual(record, messages[i]));
});

test('data that end too early are refused', () => {
    const bytes = joinRecords(['{"type":"hello"}', new Uint8Array(9)]);
    assert.throws(() => splitRecords(bytes.subarray(0, bytes.length - 1)), RangeError);
    assert.throws(() => splitRecords(bytes.subarray(0, 3)), RangeError);
    assert.throws(() => createPageSource([]), /no frames/);
});

test('scene, samples and events of the whole run are there at once', () => {
    const { model } = setUp();
    assert.equal(model.scene.name, 'two');
    assert.equal(model.samples.count, COUNT);
    assert.equal(model.events.length, 4);
    assert.equal(model.state.playing, true);
    assert.equal(model.state.endTime, 1.99);
    assert.equal(model.isLive, false);
});

test('it plays in the time of the speed, between frames too', async () => {
    const { model, source, pass } = setUp();
    await source.send({ do: 'speed', factor: 0.5 });
    pass(1);
    assert.ok(Math.abs(model.time - 0.5) < 1e-9, `time ${model.time}`);
    const pose = [];
    model.pose(0, pose);
    assert.ok(Math.abs(pose[0] - 50) < 1e-3, `place ${pose[0]}`);
    pass(0.015);
    model.pose(0, pose);
    assert.ok(Math.abs(pose[0] - 100 * model.time) < 1e-3 && pose[0] % 1 > 0.1);
    pass(10);
    assert.equal(model.state.playing, false);
    assert.equal(model.state.time, 1.99);
    isAt(model, COUNT - 1);
});

test('every frame can be jumped to, and has all bodies', async () => {
    const { model, source } = setUp();
    await source.send({ do: 'pause' });
    for (const frame of [150, 3, 199, 0, 16, 17, 31, 99, 100]) {
        await source.send({ do: 'seek', time: frame / 100 + 0.004 });
        assert.ok(Math.abs(model.time - frame / 100) < 1e-12);
        isAt(model, frame);
    }
    await source.send({ do: 'step' });
    isAt(model, 101);
    await source.send({ do: 'step', count: -3 });
    isAt(model, 98);
    await source.send({ do: 'reset' });
    isAt(model, 0);
    assert.equal(model.state.playing, false);
});

test('bodies come and go with their frames, also backwards', async () => {
    const added = { number: 2, name: 'late', type: 'dynamic', shapes: [{ geometry: 2 }] };
    const messages = [JSON.stringify(SCENE)];
    for (let i = 0; i < 60; i++) {
        if (i === 20) {
            messages.push(
                JSON.stringify({
                    type: 'bodies',
                    added: [added],
                    deleted: [],
                    geometries: [{ index: 2, type: 'box', size: [1, 1, 1] }],
                }),
            );
        }
        if (i === 40) {
            messages.push(JSON.stringify({ type: 'bodies', added: [], deleted: [1] }));
        }
        const bodies = [0, 1, 2].filter((n) => (n !== 1 || i < 40) && (n !== 2 || i >= 20));
        messages.push(
            frameMessage(
                i,
                i / 60,
                bodies.map((body) => ({ body, position: [i, body, 0] })),
            ),
        );
    }
    const source = createPageSource(messages, { now: () => 0, every: () => {} });
    const model = createModel(source, () => 0);
    source.start();
    for (const frame of [30, 50, 10, 59, 19, 20, 39, 40, 0]) {
        await source.send({ do: 'seek', time: frame / 60 });
        const wanted = [0, 1, 2].filter((n) => (n !== 1 || frame < 40) && (n !== 2 || frame >= 20));
        assert.deepEqual([...model.bodies.keys()].sort(), wanted, `frame ${frame}`);
        wanted.forEach((n) => assert.deepEqual(model.bodies.get(n).position, [frame, n, 0]));
        assert.equal(model.pose(2, []), frame >= 20);
    }
    assert.equal(model.geometries[2].type, 'box');
});

test('it begins again at the end when asked to', async () => {
    const { model, source, pass } = setUp();
    await source.send({ do: 'speed', factor: 1 });
    await source.send({ do: 'loop', on: true });
    pass(2.5);
    assert.equal(model.state.playing, true);
    assert.ok(model.time < 0.6, `time ${model.time}`);
});

test('commands that would change the run are refused with a message', async () => {
    const { source } = setUp();
    for (const name of ['push', 'open', 'set', 'toString', 'constructor']) {
        const reply = await source.send({ do: name });
        assert.equal(reply.ok, false, name);
        assert.match(reply.error, /recorded run/);
    }
    assert.equal((await source.send({ do: 'seek', time: 'x' })).ok, false);
    assert.equal((await source.send({ do: 'speed', factor: -1 })).ok, false);
});

test('short runs are played slowly', () => {
    assert.equal(chooseSpeed(20), 1);
    assert.equal(chooseSpeed(4), 0.5);
    assert.equal(chooseSpeed(0.05), 0.005);
});
