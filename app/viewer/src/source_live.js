// Messages of a running simulation, over a WebSocket or from a Web Worker of this page. Reconnects
// repeatedly when the connection is lost.

import { createEmitter } from './emitter.js';
import { decodeMessage, PROTOCOL } from './protocol.js';
import { WorkerSocket } from './worker_socket.js';

const WAIT_FIRST = 500; // ms until the first retry
const WAIT_MAX = 5000;
const REPLY_WAIT = 20000; // ms after which a command without a reply counts as lost

/** URL of a resource of the server, with the token of this page. */
export function addressOf(path, place = window.location) {
    const token = new URLSearchParams(place.search).get('token');
    return path + (token ? `?token=${encodeURIComponent(token)}` : '');
}

/** A command with a file: the length of the JSON (u32, little-endian), the JSON, the file. */
function joinFile(text, bytes) {
    const json = new TextEncoder().encode(text);
    const message = new Uint8Array(4 + json.length + bytes.length);
    new DataView(message.buffer).setUint32(0, json.length, true);
    message.set(json, 4);
    message.set(bytes, 4 + json.length);
    return message;
}

/** @param {string} worker address of the engine's worker; '': the server of this page */
export function createLiveSource(worker = '', place = window.location) {
    const emitter = createEmitter();
    const scratch = {}; // frames are taken at once: their arrays serve the next one
    const waiting = new Map(); // id of a command -> {resolve, timer}
    let socket = null;
    let nextId = 1;
    let wait = WAIT_FIRST;
    let isClosed = false;
    let hasBeenOpen = false;

    const source = {
        isLive: true,
        isEngine: worker !== '', // the simulation runs in this page
        stats: { messages: 0, bytes: 0, badMessages: 0, work: 0 }, // work: ms spent on messages
        on: emitter.on,

        /**
         * Sends a command, with the bytes of a file if it has one; the promise always resolves, to
         * a reply or to an error with the reason.
         */
        send(command, bytes = null) {
            const id = nextId++;
            if (!socket || socket.readyState !== WebSocket.OPEN) {
                return Promise.resolve({
                    type: 'reply',
                    id,
                    ok: false,
                    error: 'not connected to the simulation',
                });
            }
            const text = JSON.stringify({ ...command, id });
            socket.send(bytes === null || worker !== '' ? text : joinFile(text, bytes), bytes);
            return new Promise((resolve) => {
                const timer = setTimeout(
                    () =>
                        settle({
                            type: 'reply',
                            id,
                            ok: false,
                            error: `no reply to "${command.do}"`,
                        }),
                    REPLY_WAIT,
                );
                waiting.set(id, { resolve, timer });
            });
        },

        close() {
            isClosed = true;
            socket?.close();
        },
    };

    function settle(reply) {
        const entry = waiting.get(reply.id);
        if (entry) {
            waiting.delete(reply.id);
            clearTimeout(entry.timer);
            entry.resolve(reply);
        }
    }

    function take(data) {
        source.stats.messages++;
        source.stats.bytes += typeof data === 'string' ? data.length : data.byteLength;
        let message = null;
        try {
            message = decodeMessage(data, scratch);
        } catch (error) {
            source.stats.badMessages++;
            console.warn(`a message could not be decoded: ${error.message}`);
        }
        if (!message) {
            return;
        }
        if (message.type === 'reply') {
            settle(message);
        }
        emitter.emit(message.type, message);
    }

    function openSocket() {
        if (worker !== '') {
            return new WorkerSocket(worker);
        }
        const scheme = place.protocol === 'https:' ? 'wss:' : 'ws:';
        return new WebSocket(`${scheme}//${place.host}${addressOf('/ws', place)}`, PROTOCOL);
    }

    function tellLoss(reason) {
        if (worker !== '') {
            return `The engine stopped: ${reason || 'its worker is gone'}. Starting it again …`;
        }
        return hasBeenOpen
            ? 'The connection to rattleback is lost. Reconnecting …'
            : 'No connection to rattleback yet. Trying again …';
    }

    // an engine takes time to start: it does so while the page is made
    let opened = worker !== '' ? openSocket() : null;

    function connect() {
        socket = opened ?? openSocket();
        opened = null;
        socket.binaryType = 'arraybuffer';
        socket.onopen = () => {
            wait = WAIT_FIRST;
            hasBeenOpen = true;
            emitter.emit('connection', { isOpen: true, sentence: '' });
        };
        socket.onmessage = (event) => {
            const begin = performance.now();
            take(event.data);
            source.stats.work += performance.now() - begin;
        };
        socket.onclose = ({ reason, isFinal = false }) => {
            for (const id of [...waiting.keys()]) {
                settle({ type: 'reply', id, ok: false, error: 'the connection was lost' });
            }
            if (isClosed) {
                return;
            }
            if (isFinal) { // another try would end in the same way
                emitter.emit('connection', { isOpen: false, sentence: reason });
                return;
            }
            emitter.emit('connection', { isOpen: false, sentence: tellLoss(reason) });
            setTimeout(connect, wait);
            wait = Math.min(WAIT_MAX, wait * 1.6);
        };
        socket.begin?.();
    }

    // The parts of the page subscribe first.
    setTimeout(connect, 0);
    return source;
}
