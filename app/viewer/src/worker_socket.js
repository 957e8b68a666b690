// The engine in a Web Worker, with the interface of a WebSocket: what source_live.js needs of one.

export class WorkerSocket {
    constructor(address) {
        this.readyState = WebSocket.CONNECTING;
        this.onopen = null;
        this.onmessage = null;
        this.onclose = null;
        this.worker = new Worker(address);
        this.worker.onmessage = ({ data }) => this.#take(data);
        this.worker.onerror = (event) => {
            event.preventDefault();
            this.#lose(event.message || 'its worker could not be started');
        };
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
            this.#lose(data.lost);
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

    #lose(sentence) {
        this.readyState = WebSocket.CLOSED;
        this.worker.terminate();
        this.onclose?.({ reason: sentence });
    }
}
