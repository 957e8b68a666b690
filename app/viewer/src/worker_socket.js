// The engine in a Web Worker, with the interface of a WebSocket: what source_live.js needs of one.

export class WorkerSocket {
    constructor(address) {
        this.readyState = WebSocket.CONNECTING;
        this.onopen = null;
        this.onmessage = null;
        this.onclose = null;
        // The site starts its first worker before this script is there, and keeps what it has sent (build.mjs).
        const early = window.earlyEngine ?? { worker: new Worker(address), events: [] };
        window.earlyEngine = null;
        this.worker = early.worker;
        this.waiting = early.events; // until begin()
        this.worker.onmessage = this.worker.onerror = (event) => this.waiting.push(event);
    }

    /** Passes on what has come so far and what comes, to the functions that the owner has set. */
    begin() {
        const take = (event) => {
            if (event.type === 'error') {
                event.preventDefault();
                this.#lose(event.message || 'its worker could not be started');
            } else {
                this.#take(event.data);
            }
        };
        this.worker.onmessage = this.worker.onerror = take;
        this.waiting.forEach(take);
    }

    /** @param {Uint8Array|null} bytes of a file that comes with the command */
    send(text, bytes = null) {
        this.worker.postMessage(bytes === null ? text : { text, bytes });
    }

    close() {
        if (this.readyState !== WebSocket.CLOSED) {
            this.readyState = WebSocket.CLOSED;
            this.worker.terminate();
            this.onclose?.({ reason: '' });
        }
    }

    #take(data) {
        if (this.readyState === WebSocket.CLOSED) {
            return;
        }
        if (!Array.isArray(data)) {
            this.#lose(data.lost, data.isFinal);
            return;
        }
        if (this.readyState === WebSocket.CONNECTING) {
            this.readyState = WebSocket.OPEN;
            this.onopen?.();
        }
        for (const message of data) {
            this.onmessage?.({ data: typeof message === 'string' ? message : message.buffer });
        }
        // the next batch after this one is drawn
        requestAnimationFrame(() => this.worker.postMessage(null));
    }

    #lose(sentence, isFinal = false) {
        this.readyState = WebSocket.CLOSED;
        this.worker.terminate();
        this.onclose?.({ reason: sentence, isFinal });
    }
}
