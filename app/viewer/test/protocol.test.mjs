import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage, packQuaternion, unpackQuaternion } from '../src/protocol.js';
import { dropMessage, eventsMessage, frameMessage, samplesMessage } from './messages.mjs';

test('quaternions come back to a millionth, whatever part is the largest', () => {
    const out = [0, 0, 0, 0];
    let worst = 0;
    for (let i = 0; i < 20000; i++) {
        const raw = [
            Math.sin(i * 1.1),
            Math.sin(i * 1.7 + 1),
            Math.sin(i * 2.3 + 2),
            Math.sin(i * 3.1 + 3),
        ];
        const q = raw.map((x) => x / Math.hypot(...raw));
        unpackQuaternion(...packQuaternion(q), out, 0);
        const product = q.reduce((sum, x, k) => sum + x * out[k], 0);
        const sign = product < 0 ? -1 : 1;
        worst = Math.max(worst, ...q.map((x, k) => Math.abs(x - sign * out[k])));
    }
    assert.ok(worst < 2.5e-6, `off by ${worst}`);
});

test('quaternions with a part at the limit come back', () => {
    const h = Math.SQRT1_2;
    for (const q of [
        [1, 0, 0, 0],
        [0, -1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
        [h, h, 0, 0],
        [h, 0, 0, -h],
        [-h, 0, h, 0],
    ]) {
        const out = [0, 0, 0, 0];
        unpackQuaternion(...packQuaternion(q), out, 0);
        const product = q.reduce((sum, x, k) => sum + x * out[k], 0);
        assert.ok(Math.abs(Math.abs(product) - 1) < 1e-6, `${q} became ${out}`);
    }
});

test('the words of a quaternion are those of the protocol', () => {
    // the largest is z (3) and negative, so w, x, y change their signs
    const q = [0.5, -0.1, 0.3, -Math.sqrt(0.65)];
    const part = (x) => BigInt(Math.round(((x + Math.SQRT1_2) / Math.SQRT2) * (2 ** 20 - 1)));
    const wanted = (3n << 60n) | (part(-0.5) << 40n) | (part(0.1) << 20n) | part(-0.3);
    const [low, high] = packQuaternion(q);
    assert.equal((BigInt(high) << 32n) | BigInt(low), wanted);
});

test('a frame is decoded', () => {
    const message = decodeMessage(
        frameMessage(
            9,
            0.25,
            [
                { body: 4, position: [1, -2, 3], orientation: [0, 1, 0, 0] },
                { body: 70000, position: [0.5, 0, 0] },
            ],
            3,
        ),
    );
    assert.equal(message.type, 'frame');
    assert.equal(message.number, 9);
    assert.equal(message.time, 0.25);
    assert.equal(message.isAll, true);
    assert.equal(message.hasJumped, true);
    assert.deepEqual([...message.bodies], [4, 70000]);
    assert.deepEqual([...message.poses.slice(0, 3)], [1, -2, 3]);
    assert.ok(Math.abs(message.poses[4] - 1) < 1e-5);
    assert.equal(message.bytes, 24 + 48);
});

test('events are decoded', () => {
    const { events } = decodeMessage(eventsMessage(40, [0.5, 0.75]));
    assert.equal(events.length, 2);
    assert.deepEqual(events[1], {
        number: 41,
        time: 0.75,
        kind: 4,
        kindName: 'impact',
        bodyA: 3,
        bodyB: -1,
        history: 77,
        energyChange: -0.5,
        energyBefore: 2,
        frictionWork: -0.125,
        approachSpeed: 1.5,
        point: [1, 2, 3],
        normal: [0, 0, 1],
        impulse: [4, 5, 6],
        law: 2,
    });
});

test('samples and drops are decoded', () => {
    const samples = decodeMessage(
        samplesMessage(
            2,
            [
                [0, 1, 2],
                [0.5, 3, 4],
            ],
            1,
        ),
    );
    assert.equal(samples.columns, 2);
    assert.equal(samples.rows, 2);
    assert.equal(samples.replacesAll, true);
    assert.deepEqual([...samples.values], [0, 1, 2, 0.5, 3, 4]);
    assert.deepEqual(decodeMessage(dropMessage(0.5)), { type: 'drop', time: 0.5 });
});

test('contacts, joints and meshes are decoded', () => {
    const contacts = new Uint8Array(16 + 52);
    let view = new DataView(contacts.buffer);
    contacts[0] = 4;
    view.setUint32(4, 1, true);
    view.setFloat64(8, 2.5, true);
    view.setUint32(16, 1, true);
    view.setUint32(20, 0xffffffff, true);
    for (let i = 0; i < 10; i++) {
        view.setFloat32(24 + 4 * i, i, true);
    }
    view.setUint32(64, 1, true);
    assert.deepEqual(decodeMessage(contacts), {
        type: 'contacts',
        time: 2.5,
        contacts: [
            {
                bodyA: 1,
                bodyB: -1,
                point: [0, 1, 2],
                normal: [3, 4, 5],
                force: [6, 7, 8],
                gap: 9,
                isSticking: true,
            },
        ],
    });

    const joints = new Uint8Array(16 + 80);
    view = new DataView(joints.buffer);
    joints[0] = 6;
    view.setUint32(4, 1, true);
    view.setUint32(16, 5, true);
    for (let i = 0; i < 19; i++) {
        view.setFloat32(20 + 4 * i, i, true);
    }
    assert.deepEqual(decodeMessage(joints).joints[0], {
        joint: 5,
        pointA: [0, 1, 2],
        pointB: [3, 4, 5],
        axis: [6, 7, 8],
        force: [9, 10, 11],
        torque: [12, 13, 14],
        positionError: 15,
        angleError: 16,
        positions: [17, 18],
    });

    const mesh = new Uint8Array(16 + 36 + 12);
    view = new DataView(mesh.buffer);
    mesh[0] = 5;
    view.setUint32(4, 1, true);
    view.setUint32(8, 3, true);
    view.setUint32(12, 1, true);
    [0, 1, 2].forEach((index, i) => view.setUint32(52 + 4 * i, index, true));
    assert.deepEqual([...decodeMessage(mesh).indices], [0, 1, 2]);
    view.setUint32(52, 3, true);
    assert.throws(() => decodeMessage(mesh), /vertex 3 of 3/);
});

test('rays are decoded', () => {
    const rays = new Uint8Array(16 + 2 * 28);
    const view = new DataView(rays.buffer);
    rays[0] = 8;
    view.setUint32(4, 2, true);
    view.setFloat64(8, 0.75, true);
    for (let i = 0; i < 6; i++) {
        view.setFloat32(16 + 4 * i, i, true);
        view.setFloat32(44 + 4 * i, -i, true);
    }
    view.setUint32(40, 1 | 8, true);
    view.setUint32(68, 2 | 4, true);
    assert.deepEqual(decodeMessage(rays), {
        type: 'rays',
        time: 0.75,
        rays: [
            {
                start: [0, 1, 2],
                end: [3, 4, 5],
                isHit: true,
                isReverse: false,
                isRefined: false,
                isShortest: true,
            },
            {
                start: [-0, -1, -2],
                end: [-3, -4, -5],
                isHit: false,
                isReverse: true,
                isRefined: true,
                isShortest: false,
            },
        ],
    });
    assert.throws(() => decodeMessage(rays.subarray(0, 70)), /rays: 70 bytes, needs 72/);
});

test('messages cut anywhere are refused, never read beyond their end', () => {
    for (const whole of [
        frameMessage(0, 0, [{ body: 0, position: [0, 0, 0] }]),
        eventsMessage(0, [1]),
        samplesMessage(2, [[0, 1, 2]]),
        dropMessage(1),
    ]) {
        for (let size = 0; size < whole.length; size++) {
            assert.throws(() => decodeMessage(whole.slice(0, size)), RangeError);
        }
    }
});

test('messages of unknown types are left alone', () => {
    assert.equal(decodeMessage(new Uint8Array([200, 0, 0, 0])), null);
    assert.equal(decodeMessage('{"no": "type"}'), null);
    assert.equal(decodeMessage('{"type": "state", "time": 1}').time, 1);
});
