// Messages of a run that was written into the page itself, played here. It has the interface of
// source_live.js. It controls the time itself, so play, pause, step, speed, seek and reset are
// handled here, and everything that would change the simulation is refused.

import { createEmitter } from './emitter.js';
import { decodeMessage } from './protocol.js';

const TAG_FRAME = 1;
const FLAG_ALL = 1;
const HEADER = 24;
const RECORD = 24;
const KEY_BYTES_MAX = 1 << 26; // of stored full frames, so that a jump need not begin at the start
const SPEEDS = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];
const LASTS = 6; // s of wall time that a short run should last
const OF_A_FRAME = ['contacts', 'joints', 'rays', 'detail']; // sent with their frame, others at the start
const REFUSAL =
    'this page replays a recorded run; to act on it, open the scene with rattleback view';

/** Bytes of the text of the data element: gzip in base64. */
export function decodeBase64(text) {
    const binary = atob(text.replace(/\s+/g, ''));
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) {
        bytes[i] = binary.charCodeAt(i);
    }
    return bytes;
}

/** @param {Uint8Array} bytes @returns {Promise<Uint8Array>} */
export async function unzip(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Splits {u32 length, u8 isText, bytes} records.
 * @param {Uint8Array} bytes
 * @returns {(string|Uint8Array)[]}
 */
export function splitRecords(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const utf8 = new TextDecoder();
    const records = [];
    let at = 0;
    while (at < bytes.length) {
        if (at + 5 > bytes.length) {
            throw new RangeError('the data of this page ends in the middle of a record');
        }
        const size = view.getUint32(at, true);
        const isText = bytes[at + 4] !== 0;
        const end = at + 5 + size;
        if (end > bytes.length) {
            throw new RangeError('the data of this page ends in the middle of a record');
        }
        const part = bytes.subarray(at + 5, end);
        records.push(isText ? utf8.decode(part) : part);
        at = end;
    }
    return records;
}

/** Speed at which a run of this length lasts long enough to watch. */
export function chooseSpeed(duration) {
    return SPEEDS.find((speed) => duration / speed >= LASTS) ?? SPEEDS[SPEEDS.length - 1];
}

/**
 * Random access to the frames of a run. Frames hold only what changed; full ones are made at
 * intervals.
 */
class Frames {
    constructor() {
        this.messages = []; // Uint8Array of each frame
        this.times = [];
        this.extras = []; // other messages that belong to the time of a frame: contacts, joints
        this.keys = new Map(); // frame -> bytes of a frame with all bodies
        this.keyStep = 1;
        this.changes = []; // {frame, added, deleted}: bodies added and deleted by a frame
    }

    get count() {
        return this.messages.length;
    }

    add(bytes) {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        this.messages.push(bytes);
        this.times.push(view.getFloat64(8, true));
        this.extras.push([]);
    }

    /** Bodies are added or deleted by the frame that follows. */
    addChange(message) {
        this.changes.push({
            frame: this.count,
            added: (message.added ?? []).map((body) => body.number),
            deleted: message.deleted ?? [],
        });
    }

    /** Applies a frame, and removes bodies that were deleted. */
    collect(index, records) {
        for (const { frame, deleted } of this.changes) {
            if (frame === index) {
                deleted.forEach((number) => records.delete(number));
            }
        }
        collectRecords(this.messages[index], records);
    }

    /** Numbers of the bodies that exist in a frame, from those at the start. */
    alive(index, first) {
        const numbers = new Set(first);
        for (const { frame, added, deleted } of this.changes) {
            if (frame <= index) {
                added.forEach((number) => numbers.add(number));
                deleted.forEach((number) => numbers.delete(number));
            }
        }
        return numbers;
    }

    /** Makes the full frames. Called once, after the last frame. */
    finish() {
        const bodyCount = this.messages.reduce(
            (most, bytes) => Math.max(most, recordCount(bytes)),
            1,
        );
        const affordable = Math.max(1, Math.floor(KEY_BYTES_MAX / (HEADER + bodyCount * RECORD)));
        this.keyStep = Math.max(16, Math.ceil(this.count / affordable));
        const records = new Map(); // body -> its last record
        for (let i = 0; i < this.count; i++) {
            this.collect(i, records);
            if (i % this.keyStep === 0) {
                this.keys.set(i, joinRecords(this.messages[i], records));
            }
        }
    }

    /** The frame of an index with all bodies. */
    full(index) {
        const start = index - (index % this.keyStep);
        if (start === index) {
            return this.keys.get(index);
        }
        const records = new Map();
        collectRecords(this.keys.get(start), records);
        for (let i = start + 1; i <= index; i++) {
            this.collect(i, records);
        }
        return joinRecords(this.messages[index], records);
    }

    /** Index of the last frame at or before a time. */
    before(time) {
        let low = 0;
        let high = this.count;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.times[middle] > time) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return Math.max(0, low - 1);
    }

    nearest(time) {
        const index = this.before(time);
        const next = Math.min(this.count - 1, index + 1);
        return this.times[next] - time < time - this.times[index] ? next : index;
    }
}

function recordCount(bytes) {
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(16, true);
}

function collectRecords(bytes, records) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const count = view.getUint32(16, true);
    if (HEADER + count * RECORD > bytes.length) {
        throw new RangeError('a frame of this page is too short');
    }
    for (let i = 0, at = HEADER; i < count; i++, at += RECORD) {
        records.set(view.getUint32(at, true), bytes.subarray(at, at + RECORD));
    }
}

function joinRecords(head, records) {
    const bytes = new Uint8Array(HEADER + records.size * RECORD);
    bytes.set(head.subarray(0, HEADER));
    bytes[1] = FLAG_ALL;
    new DataView(bytes.buffer).setUint32(16, records.size, true);
    let at = HEADER;
    for (const record of records.values()) {
        bytes.set(record, at);
        at += RECORD;
    }
    return bytes;
}

/**
 * @param {(string|Uint8Array)[]} records the messages of the run
 * @param {{now?: () => number, every?: (fn: () => void) => void}} clock wall time in s, and a
 *     function that calls repeatedly
 */
export function createPageSource(records, clock = {}) {
    const emitter = createEmitter();
    const now = clock.now ?? (() => performance.now() / 1000);
    const every =
        clock.every ??
        ((fn) => {
            const loop = () => {
                fn();
                requestAnimationFrame(loop);
            };
            requestAnimationFrame(loop);
        });
    const frames = new Frames();
    const firstMessages = []; // sent once, at the start
    const descriptions = new Map(); // number -> body as it was described
    let bodiesAtStart = [];
    let bodiesNow = new Set();
    const stats = { messages: 0, bytes: 0, badMessages: 0 };
    let frameStep = 1 / 60;
    let speed = 1;
    let isPlaying = false;
    let isLooping = false;
    let hasStarted = false; // until then "ready" plays
    let hasEnded = false;
    let head = 0; // s, simulated time that is shown
    let shown = -1; // newest frame that was sent
    let wall = 0; // when the head was last moved

    function sort() {
        for (const data of records) {
            stats.messages++;
            stats.bytes += data.length;
            if (typeof data !== 'string' && data[0] === TAG_FRAME) {
                frames.add(data);
                continue;
            }
            const message = decodeMessage(data);
            if (message === null || message.type === 'reply') {
                continue;
            }
            for (const body of message.bodies ?? message.added ?? []) {
                descriptions.set(body.number, body);
            }
            if (message.type === 'scene') {
                bodiesAtStart = (message.bodies ?? []).map((body) => body.number);
                bodiesNow = new Set(bodiesAtStart);
            }
            if (message.type === 'bodies' && frames.count > 0) {
                frames.addChange(message);
                firstMessages.push({ type: 'bodies', geometries: message.geometries });
            } else if (OF_A_FRAME.includes(message.type)) {
                if (frames.count > 0) {
                    frames.extras[frames.count - 1].push(message);
                }
            } else if (message.type !== 'state') {
                firstMessages.push(message);
            }
        }
        if (frames.count === 0) {
            throw new RangeError('this page has no frames');
        }
        frames.finish();
        head = frames.times[0];
        const span = frames.times[frames.count - 1] - head;
        frameStep = frames.count > 1 ? span / (frames.count - 1) : frameStep;
        speed = chooseSpeed(span);
    }

    function sendState(sentence = '') {
        emitter.emit('state', {
            type: 'state',
            time: head,
            endTime: frames.times[frames.count - 1],
            playing: isPlaying,
            speed,
            frameStep,
            realTime: isPlaying ? speed : 0,
            busy: false,
            canAct: false,
            looping: isLooping,
            ended: hasEnded && !isPlaying,
            undo: 0,
            redo: 0,
            sentence,
        });
    }

    /** Reports the bodies that appear or disappear in a frame. */
    function tellBodies(index) {
        if (frames.changes.length === 0) {
            return;
        }
        const wanted = frames.alive(index, bodiesAtStart);
        const added = [...wanted].filter((number) => !bodiesNow.has(number));
        const deleted = [...bodiesNow].filter((number) => !wanted.has(number));
        bodiesNow = wanted;
        if (added.length + deleted.length > 0) {
            emitter.emit('bodies', {
                type: 'bodies',
                deleted,
                added: added.map((number) => descriptions.get(number)),
            });
        }
    }

    function tellFrame(bytes, hasJumped, index) {
        tellBodies(index);
        const message = decodeMessage(bytes);
        message.hasJumped = hasJumped;
        emitter.emit('frame', message);
        for (const extra of frames.extras[index]) {
            emitter.emit(extra.type, extra);
        }
        shown = index;
    }

    function jump(index) {
        hasEnded = false;
        head = frames.times[index];
        if (index === shown + 1) {
            tellFrame(frames.messages[index], false, index);
        } else if (index !== shown) {
            tellFrame(frames.full(index), true, index);
        }
    }

    /** Advances the head by wall time and sends the frames it needs. */
    function tick() {
        const time = now();
        const passed = Math.min(0.25, Math.max(0, time - wall));
        wall = time;
        if (!isPlaying) {
            return;
        }
        const end = frames.times[frames.count - 1];
        head += passed * speed;
        if (head >= end && isLooping) {
            jump(0);
            sendState();
            return;
        }
        head = Math.min(head, end);
        const wanted = Math.min(frames.count - 1, frames.before(head) + (head < end ? 1 : 0));
        if (wanted - shown > 64) {
            tellFrame(frames.full(wanted), true, wanted);
        }
        while (shown < wanted) {
            tellFrame(frames.messages[shown + 1], false, shown + 1);
        }
        if (head >= end) {
            isPlaying = false;
            hasEnded = true;
            sendState('the end of the recording');
        } else {
            sendState();
        }
    }

    const commands = {
        play() {
            hasStarted = true;
            if (head >= frames.times[frames.count - 1]) {
                jump(0);
            }
            isPlaying = true;
            hasEnded = false;
            wall = now();
        },
        pause() {
            hasStarted = true;
            isPlaying = false;
            jump(frames.nearest(head));
        },
        step(command) {
            isPlaying = false;
            const count = Number.isFinite(command.count) ? Math.trunc(command.count) : 1;
            jump(Math.min(frames.count - 1, Math.max(0, frames.nearest(head) + count)));
        },
        speed(command) {
            if (!(command.factor > 0 && command.factor <= 1000)) {
                return 'speed: "factor" must be above 0, at most 1000';
            }
            speed = command.factor;
            return undefined;
        },
        seek(command) {
            if (!Number.isFinite(command.time)) {
                return 'seek: "time" must be a number';
            }
            jump(frames.nearest(command.time));
            return undefined;
        },
        reset() {
            isPlaying = false;
            jump(0);
        },
        ready() {
            if (!hasStarted) {
                commands.play();
            }
        },
        loop(command) {
            isLooping = Boolean(command.on);
        },
        select() {},
        overlays() {},
    };

    sort();
    let nextId = 1;
    const source = {
        isLive: false,
        isMovable: true,
        stats,
        on: emitter.on,

        /** Simulated time to show. */
        getTime: () => head,

        send(command) {
            const id = command.id ?? nextId++;
            const run = Object.hasOwn(commands, command.do) ? commands[command.do] : null;
            const error = run ? run(command) : REFUSAL;
            if (run) {
                sendState();
            }
            return Promise.resolve({ type: 'reply', id, ok: !error, error: error ?? '' });
        },

        close() {
            isPlaying = false;
        },

        /** Sends the initial messages; it plays when the page is ready. */
        start() {
            emitter.emit('connection', { isOpen: true, sentence: '' });
            for (const message of firstMessages) {
                emitter.emit(message.type, message);
            }
            firstMessages.length = 0;
            jump(0);
            sendState();
            every(tick);
        },
    };
    return source;
}
