// Serves a page from the engine, as the server of the viewer does: commands of the page in, messages
// of docs/viewer-protocol.md out. Runs in a Web Worker (worker.js) and, for tests, anywhere.
//
// The page is sent a batch of messages, and the next one only after it has asked for more. So a page
// that draws slowly gets fewer frames, each with all changes since the last.

import { createEngine, EngineError } from './engine.js';

const TEXT_MAX = 16 << 20; // characters of a scene that a page sends

/**
 * @param {object} host
 * @param {() => Promise<WebAssembly.Module>} host.getModule compiles the engine, once
 * @param {(name: string) => Promise<Uint8Array>} host.readFile a file of the folder of scenes
 * @param {(batch: (string|Uint8Array)[]) => void} host.send messages for the page
 * @param {(fn: () => void, seconds: number) => void} host.wait calls later
 * @param {(sentence: string) => void} host.lose the engine is gone
 */
export function createServing(host) {
    let engine = null;
    let session = null;
    let isReady = true; // the page wants more
    let isTicking = false;
    let tickNumber = 0; // of the loop in progress; a new scene begins another
    const outbox = [];

    async function renew() {
        session = null;
        engine = await createEngine(await host.getModule());
    }

    function flush() {
        if (!isReady) {
            return;
        }
        const batch = outbox.splice(0);
        while (session && batch.length < 64) {
            const message = session.next();
            if (message === null) {
                break;
            }
            batch.push(message);
        }
        if (batch.length > 0) {
            isReady = false;
            host.send(batch);
        }
    }

    /** An engine that exited or trapped cannot be used again: tells the page, which may start another. */
    function lose(error) {
        session = null;
        engine = null;
        tickNumber++;
        host.lose(error.message);
    }

    function loop(number) {
        if (number !== tickNumber || !session) {
            return;
        }
        let pause = -1;
        try {
            pause = session.tick();
            flush();
        } catch (error) {
            lose(error);
            return;
        }
        isTicking = pause >= 0;
        if (isTicking) {
            host.wait(() => loop(number), pause);
        }
    }

    function wake() {
        if (!isTicking && session) {
            isTicking = true;
            loop(tickNumber);
        }
    }

    function reply(id, error) {
        outbox.push(JSON.stringify({ type: 'reply', id: id ?? null, ok: !error, ...(error ? { error } : {}) }));
    }

    /** Opens a scene; files that it lacks are fetched one by one. */
    async function openScene(text, name) {
        for (let missing = null; ; ) {
            try {
                return engine.openSession(text, { name });
            } catch (error) {
                const next = error.details?.status === 'out of memory' ? '' : engine.missingFile;
                if (next === '' || next === missing) {
                    throw error;
                }
                missing = next;
                engine.putFile(next, await host.readFile(next));
            }
        }
    }

    async function open(command, bytes) {
        const { scene: name, text: given, file, id } = command;
        let opened = null;
        try {
            if (typeof name !== 'string' || !/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}$/.test(name)) {
                throw new EngineError('"scene" must be the name of a scene of the gallery');
            }
            if (given !== undefined && (typeof given !== 'string' || given.length > TEXT_MAX)) {
                throw new EngineError(`"text" must be the JSON text of a scene of at most ${TEXT_MAX} characters`);
            }
            if (given === undefined && file !== undefined) {
                throw new EngineError('this page opens scenes and meshes; recordings need rattleback view');
            }
            if (bytes?.length > 0 && typeof file === 'string') {
                engine.putFile(file, bytes);
            }
            const text = given ?? new TextDecoder().decode(await host.readFile(`${name}.json`));
            opened = await openScene(text, name);
        } catch (error) {
            reply(id, error.message);
            if (error.details?.status === 'out of memory' || !(error instanceof EngineError)) {
                await renew();
                outbox.push(engine.hello);
            }
            return;
        }
        session?.close();
        session = opened;
        tickNumber++;
        isTicking = false;
        reply(id);
    }

    function closeScene(command) {
        session?.close();
        session = null;
        tickNumber++;
        isTicking = false;
        engine.dropFiles();
        reply(command.id);
        outbox.push(engine.hello);
    }

    async function take(text, bytes) {
        let command = null;
        try {
            command = JSON.parse(text);
        } catch {
            command = null;
        }
        if (command?.do === 'open') {
            await open(command, bytes);
        } else if (command?.do === 'close') {
            closeScene(command);
        } else if (command?.do === 'text') {
            // the scene as it is, for the editor
            const scene = session ? session.sceneText : null;
            outbox.push(JSON.stringify({ type: 'reply', id: command.id ?? null, ok: scene !== null, text: scene }));
        } else if (session) {
            const answer = session.command(text);
            if (answer !== '') {
                outbox.push(answer);
            }
        } else {
            reply(command?.id, 'no scene is open; open one first: {"do": "open", "scene": NAME}');
        }
        wake();
        flush();
    }

    let queue = Promise.resolve(); // commands one after another: opening waits for files

    return {
        async start() {
            await renew();
            outbox.push(engine.hello);
            flush();
        },
        /** A command of the page, JSON text. */
        take(text, bytes = null) {
            queue = queue.then(async () => {
                try {
                    if (engine) {
                        await take(text, bytes);
                    }
                } catch (error) {
                    lose(error);
                }
            });
            return queue;
        },
        /** The page has taken the last batch. */
        more() {
            isReady = true;
            try {
                flush();
            } catch (error) {
                lose(error);
            }
        },
    };
}
