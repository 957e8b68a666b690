// The Web Worker of the site: the engine behind the same protocol as the server of the viewer.
// Messages from the page: a text is a command, {text, bytes} one with a file, null asks for more. To the page: an array of messages,
// or an object {lost: SENTENCE} after which the worker does nothing any more; isFinal: another one would not either.

import { createServing } from './serving.js';

const base = new URL('.', self.location.href);
let module = null;

// Timers of less than a few milliseconds are rounded up; a message to oneself is not.
const soon = new MessageChannel();
let next = null;
soon.port1.onmessage = () => next?.();

async function get(path) {
    const response = await fetch(new URL(path, base));
    if (!response.ok) {
        throw new Error(`${path} could not be loaded: ${response.status} ${response.statusText}`);
    }
    return response;
}

// A function with one instruction of SIMD: browsers that refuse it refuse the engine.
const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
const hasSimd = () =>
    typeof WebAssembly === 'object' && WebAssembly.validate(Uint8Array.from(SIMD));

async function compile() {
    const response = await get('rattleback.wasm');
    // a plain file server may send another type, which streaming refuses
    return /^application\/wasm/.test(response.headers.get('content-type') ?? '')
        ? WebAssembly.compileStreaming(response)
        : WebAssembly.compile(await response.arrayBuffer());
}

function lose(sentence, isFinal = false) {
    self.postMessage({ lost: sentence, isFinal });
}

const serving = createServing({
    getModule: () => (module ??= compile()),
    readFile: async (name) => {
        const path = name.split('/').map(encodeURIComponent).join('/');
        return new Uint8Array(await (await get(`scenes/${path}`)).arrayBuffer());
    },
    send: (batch) =>
        self.postMessage(
            batch,
            batch.filter((message) => typeof message !== 'string').map((message) => message.buffer),
        ),
    wait: (fn, seconds) => {
        if (seconds > 0.004) {
            setTimeout(fn, seconds * 1000);
        } else {
            next = fn;
            soon.port2.postMessage(null);
        }
    },
    lose: (sentence) => lose(sentence),
});

self.onmessage = ({ data }) => {
    if (data === null) {
        serving.more();
    } else if (typeof data === 'string') {
        serving.take(data);
    } else {
        serving.take(data.text, data.bytes);
    }
};
if (hasSimd()) {
    serving.start().catch((error) => lose(`the engine could not be started: ${error.message}`));
} else {
    lose('This browser is too old for the engine: it lacks SIMD of WebAssembly. Chromium 91, Firefox 89, Safari 16.4 and later have it.', true);
}
