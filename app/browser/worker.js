// The Web Worker of the site: the engine behind the same protocol as the server of the viewer.
// Messages from the page: a text is a command, {text, bytes} one with a file, null asks for more. To the page: an array of messages,
// or an object {lost: SENTENCE} after which the worker does nothing any more.

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

async function compile() {
    const response = await get('rattleback.wasm');
    // a plain file server may send another type, which streaming refuses
    return /^application\/wasm/.test(response.headers.get('content-type') ?? '')
        ? WebAssembly.compileStreaming(response)
        : WebAssembly.compile(await response.arrayBuffer());
}

function lose(sentence) {
    self.postMessage({ lost: sentence });
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
    lose,
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
serving.start().catch((error) => lose(`the engine could not be started: ${error.message}`));
