// The messages of docs/viewer-protocol.md, decoded. No sockets, no drawing.

export const PROTOCOL = 'rattleback-1';
export const NO_BODY = 0xffffffff;

/** Kinds of events, by their number in the journal (rbEventKind). */
export const EVENT_KINDS = [
    'impulse',
    'set state',
    'fallback',
    'tolerance',
    'impact',
    'microcollision',
    'lasting',
    'rest',
    'wake',
    'parted',
];

const FRAME_HEADER = 24;
const FRAME_RECORD = 24;
const FRAME_WORDS = FRAME_RECORD / 4;
const EVENT_RECORD = 96;
const CONTACT_RECORD = 52;
const JOINT_RECORD = 80;
const RAY_RECORD = 28;
const HALF_SQRT2 = Math.SQRT1_2;
const STEP_20 = (2 * HALF_SQRT2) / 1048575;

/** @param {DataView} view @param {number} size bytes that are needed */
function need(view, size, what) {
    if (view.byteLength < size) {
        throw new RangeError(`${what}: ${view.byteLength} bytes, needs ${size}`);
    }
}

/**
 * Unpacks a quaternion of 64 bits (the three smallest parts) into target[at..at+3] as w, x, y, z.
 * @param {number} low @param {number} high @param {Float32Array|number[]} target @param {number} at
 */
export function unpackQuaternion(low, high, target, at) {
    const largest = (high >>> 28) & 3;
    const a = ((high & 0x0fffffff) >>> 8) & 0xfffff;
    const b = ((high & 0xff) << 12) | (low >>> 20);
    const c = low & 0xfffff;
    const x = a * STEP_20 - HALF_SQRT2;
    const y = b * STEP_20 - HALF_SQRT2;
    const z = c * STEP_20 - HALF_SQRT2;
    // without an array: a frame may have fifty thousand of these
    target[at + (largest > 0 ? 0 : 1)] = x;
    target[at + (largest > 1 ? 1 : 2)] = y;
    target[at + (largest > 2 ? 2 : 3)] = z;
    target[at + largest] = Math.sqrt(Math.max(0, 1 - x * x - y * y - z * z));
}

/**
 * Packs a quaternion w, x, y, z; the opposite of unpackQuaternion.
 * @param {ArrayLike<number>} q @returns {[number, number]} low and high word
 */
export function packQuaternion(q) {
    let largest = 0;
    for (let i = 1; i < 4; i++) {
        if (Math.abs(q[i]) > Math.abs(q[largest])) {
            largest = i;
        }
    }
    const sign = q[largest] < 0 ? -1 : 1;
    const parts = [];
    for (let i = 0; i < 4; i++) {
        if (i !== largest) {
            const value = Math.round((sign * q[i] + HALF_SQRT2) / STEP_20);
            parts.push(Math.min(1048575, Math.max(0, value)));
        }
    }
    const low = ((parts[1] & 0xfff) << 20) | parts[2];
    const high = (largest << 28) | (parts[0] << 8) | (parts[1] >>> 12);
    return [low >>> 0, high >>> 0];
}

/** Arrays for the bodies of a frame and their poses: x, y, z, w, x, y, z. */
function roomFor(count, scratch) {
    const isFit = scratch?.bodies?.length === count;
    const room = isFit ? scratch : { bodies: new Uint32Array(count), poses: new Float32Array(count * 7) };
    return Object.assign(scratch ?? {}, room);
}

/** The records of a frame as arrays, which are read ten times faster than a view; machines are little-endian. */
function recordsOf(view, count) {
    const [from, size] = [view.byteOffset + FRAME_HEADER, count * FRAME_RECORD];
    const isEven = from % 4 === 0;
    const buffer = isEven ? view.buffer : view.buffer.slice(from, from + size);
    const at = isEven ? from : 0;
    return [new Uint32Array(buffer, at, count * FRAME_WORDS), new Float32Array(buffer, at, count * FRAME_WORDS)];
}

/** A frame: poses of the bodies that changed, or of all. */
function decodeFrame(view, scratch) {
    need(view, FRAME_HEADER, 'frame');
    const flags = view.getUint8(1);
    const count = view.getUint32(16, true);
    need(view, FRAME_HEADER + count * FRAME_RECORD, 'frame');
    const { bodies, poses } = roomFor(count, scratch);
    const [words, floats] = recordsOf(view, count);
    for (let i = 0, at = 0; i < count; i++, at += FRAME_WORDS) {
        bodies[i] = words[at];
        poses[7 * i] = floats[at + 1];
        poses[7 * i + 1] = floats[at + 2];
        poses[7 * i + 2] = floats[at + 3];
        unpackQuaternion(words[at + 4], words[at + 5], poses, 7 * i + 3);
    }
    return {
        type: 'frame',
        number: view.getUint32(4, true),
        time: view.getFloat64(8, true),
        isAll: (flags & 1) !== 0,
        hasJumped: (flags & 2) !== 0,
        bodies,
        poses,
        bytes: view.byteLength,
    };
}

function floats(view, at, count) {
    const values = [];
    for (let i = 0; i < count; i++) {
        values.push(view.getFloat32(at + 4 * i, true));
    }
    return values;
}

/** A body's number, or -1 for none. */
function bodyNumber(view, at) {
    const number = view.getUint32(at, true);
    return number === NO_BODY ? -1 : number;
}

function decodeEvents(view) {
    need(view, 16, 'events');
    const count = view.getUint32(4, true);
    const first = view.getFloat64(8, true);
    need(view, 16 + count * EVENT_RECORD, 'events');
    const events = [];
    for (let i = 0, at = 16; i < count; i++, at += EVENT_RECORD) {
        const kind = view.getUint32(at + 8, true);
        events.push({
            number: first + i,
            time: view.getFloat64(at, true),
            kind,
            kindName: EVENT_KINDS[kind] ?? `kind ${kind}`,
            bodyA: bodyNumber(view, at + 12),
            bodyB: bodyNumber(view, at + 16),
            history: view.getUint32(at + 20, true),
            energyChange: view.getFloat64(at + 24, true),
            energyBefore: view.getFloat64(at + 32, true),
            frictionWork: view.getFloat64(at + 40, true),
            approachSpeed: view.getFloat64(at + 48, true),
            point: floats(view, at + 56, 3),
            normal: floats(view, at + 68, 3),
            impulse: floats(view, at + 80, 3),
            law: view.getUint32(at + 92, true),
        });
    }
    return { type: 'events', events, hasGap: (view.getUint8(1) & 1) !== 0 };
}

function decodeSamples(view) {
    need(view, 8, 'samples');
    const columns = view.getUint16(2, true);
    const rows = view.getUint32(4, true);
    need(view, 8 + rows * (columns + 1) * 8, 'samples');
    const values = new Float64Array(rows * (columns + 1));
    for (let i = 0; i < values.length; i++) {
        values[i] = view.getFloat64(8 + 8 * i, true);
    }
    return { type: 'samples', columns, rows, values, replacesAll: (view.getUint8(1) & 1) !== 0 };
}

function decodeContacts(view) {
    need(view, 16, 'contacts');
    const count = view.getUint32(4, true);
    need(view, 16 + count * CONTACT_RECORD, 'contacts');
    const contacts = [];
    for (let i = 0, at = 16; i < count; i++, at += CONTACT_RECORD) {
        contacts.push({
            bodyA: bodyNumber(view, at),
            bodyB: bodyNumber(view, at + 4),
            point: floats(view, at + 8, 3),
            normal: floats(view, at + 20, 3),
            force: floats(view, at + 32, 3),
            gap: view.getFloat32(at + 44, true),
            isSticking: view.getUint32(at + 48, true) !== 0,
        });
    }
    return { type: 'contacts', time: view.getFloat64(8, true), contacts };
}

function decodeMesh(view) {
    need(view, 16, 'mesh');
    const vertexCount = view.getUint32(8, true);
    const triangleCount = view.getUint32(12, true);
    need(view, 16 + 12 * vertexCount + 12 * triangleCount, 'mesh');
    const positions = new Float32Array(3 * vertexCount);
    const indices = new Uint32Array(3 * triangleCount);
    for (let i = 0; i < positions.length; i++) {
        positions[i] = view.getFloat32(16 + 4 * i, true);
    }
    const start = 16 + 12 * vertexCount;
    for (let i = 0; i < indices.length; i++) {
        indices[i] = view.getUint32(start + 4 * i, true);
        if (indices[i] >= vertexCount) {
            throw new RangeError(`mesh: vertex ${indices[i]} of ${vertexCount}`);
        }
    }
    return { type: 'mesh', geometry: view.getUint32(4, true), positions, indices };
}

function decodeJoints(view) {
    need(view, 16, 'joints');
    const count = view.getUint32(4, true);
    need(view, 16 + count * JOINT_RECORD, 'joints');
    const joints = [];
    for (let i = 0, at = 16; i < count; i++, at += JOINT_RECORD) {
        joints.push({
            joint: view.getUint32(at, true),
            pointA: floats(view, at + 4, 3),
            pointB: floats(view, at + 16, 3),
            axis: floats(view, at + 28, 3),
            force: floats(view, at + 40, 3),
            torque: floats(view, at + 52, 3),
            positionError: view.getFloat32(at + 64, true),
            angleError: view.getFloat32(at + 68, true),
            positions: floats(view, at + 72, 2),
        });
    }
    return { type: 'joints', time: view.getFloat64(8, true), joints };
}

function decodeDrop(view) {
    need(view, 16, 'drop');
    return { type: 'drop', time: view.getFloat64(8, true) };
}

/** Rays of the pair that touches next, from where they start to where they hit or end. */
function decodeRays(view) {
    need(view, 16, 'rays');
    const count = view.getUint32(4, true);
    need(view, 16 + count * RAY_RECORD, 'rays');
    const rays = [];
    for (let i = 0, at = 16; i < count; i++, at += RAY_RECORD) {
        const flags = view.getUint32(at + 24, true);
        rays.push({
            start: floats(view, at, 3),
            end: floats(view, at + 12, 3),
            isHit: (flags & 1) !== 0,
            isReverse: (flags & 2) !== 0,
            isRefined: (flags & 4) !== 0,
            isShortest: (flags & 8) !== 0,
        });
    }
    return { type: 'rays', time: view.getFloat64(8, true), rays };
}

/** Decoders of binary messages, by first byte. */
const DECODERS = [
    null,
    decodeFrame,
    decodeEvents,
    decodeSamples,
    decodeContacts,
    decodeMesh,
    decodeJoints,
    decodeDrop,
    decodeRays,
];

/**
 * Decodes a message.
 * @param {string|ArrayBuffer|Uint8Array} data text or bytes
 * @param {object|null} scratch keeps the arrays of a frame for the next one, of who has no more use for the last
 * @returns {{type: string}} the message; null for an unknown type
 */
export function decodeMessage(data, scratch = null) {
    if (typeof data === 'string') {
        const message = JSON.parse(data);
        return message && typeof message.type === 'string' ? message : null;
    }
    const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
    if (bytes.length < 4) {
        throw new RangeError(`message: ${bytes.length} bytes, needs 4`);
    }
    const decode = DECODERS[bytes[0]];
    return decode ? decode(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), scratch) : null;
}
