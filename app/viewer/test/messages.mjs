// Binary messages as the server makes them, for tests.

import { packQuaternion } from '../src/protocol.js';

/** @param {{body: number, position: number[], orientation: number[]}[]} poses */
export function frameMessage(number, time, poses, flags = 0) {
    const bytes = new Uint8Array(24 + 24 * poses.length);
    const view = new DataView(bytes.buffer);
    bytes[0] = 1;
    bytes[1] = flags;
    view.setUint32(4, number, true);
    view.setFloat64(8, time, true);
    view.setUint32(16, poses.length, true);
    poses.forEach(({ body, position, orientation }, i) => {
        const at = 24 + 24 * i;
        view.setUint32(at, body, true);
        position.forEach((x, k) => view.setFloat32(at + 4 + 4 * k, x, true));
        const [low, high] = packQuaternion(orientation ?? [1, 0, 0, 0]);
        view.setUint32(at + 16, low, true);
        view.setUint32(at + 20, high, true);
    });
    return bytes;
}

export function samplesMessage(columns, rows, flags = 0) {
    const bytes = new Uint8Array(8 + 8 * rows.length * (columns + 1));
    const view = new DataView(bytes.buffer);
    bytes[0] = 3;
    bytes[1] = flags;
    view.setUint16(2, columns, true);
    view.setUint32(4, rows.length, true);
    rows.flat().forEach((x, i) => view.setFloat64(8 + 8 * i, x, true));
    return bytes;
}

export function eventsMessage(first, times, kind = 4) {
    const bytes = new Uint8Array(16 + 96 * times.length);
    const view = new DataView(bytes.buffer);
    bytes[0] = 2;
    view.setUint32(4, times.length, true);
    view.setFloat64(8, first, true);
    times.forEach((time, i) => {
        const at = 16 + 96 * i;
        view.setFloat64(at, time, true);
        view.setUint32(at + 8, kind, true);
        view.setUint32(at + 12, 3, true);
        view.setUint32(at + 16, 0xffffffff, true);
        view.setUint32(at + 20, 77, true);
        [-0.5, 2, -0.125, 1.5].forEach((x, k) => view.setFloat64(at + 24 + 8 * k, x, true));
        [1, 2, 3, 0, 0, 1, 4, 5, 6].forEach((x, k) => view.setFloat32(at + 56 + 4 * k, x, true));
        view.setUint32(at + 92, 2, true);
    });
    return bytes;
}

export function dropMessage(time) {
    const bytes = new Uint8Array(16);
    bytes[0] = 7;
    new DataView(bytes.buffer).setFloat64(8, time, true);
    return bytes;
}

/** The records of a page: {u32 length, u8 isText, bytes}. */
export function joinRecords(messages) {
    const parts = messages.map((message) => {
        const isText = typeof message === 'string';
        const body = isText ? new TextEncoder().encode(message) : message;
        const bytes = new Uint8Array(5 + body.length);
        new DataView(bytes.buffer).setUint32(0, body.length, true);
        bytes[4] = isText ? 1 : 0;
        bytes.set(body, 5);
        return bytes;
    });
    return new Uint8Array(Buffer.concat(parts));
}

export const SCENE = {
    type: 'scene',
    epoch: 1,
    name: 'two',
    title: 'Two balls',
    duration: 1,
    view: { center: [0, 0, 0], radius: 1, direction: [0, -1, 0] },
    bodies: [0, 1].map((number) => ({
        number,
        name: `ball ${number}`,
        type: 'dynamic',
        mass: 1,
        center: [0, 0, 0],
        shapes: [{ geometry: 0 }],
    })),
    geometries: [
        { type: 'sphere', radius: 0.1 },
        { type: 'mesh', of: 'hull' },
    ],
    joints: [
        { number: 0, name: 'a' },
        { number: 1, name: 'b' },
    ],
    springs: [],
    materials: [],
    columns: [
        { name: 'kinetic', unit: 'J', group: 'energy' },
        { name: 'worst', unit: 'm', group: 'error' },
    ],
};
