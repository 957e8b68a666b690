// Loads the engine (rattleback.wasm) and calls it. Nothing of emscripten's runtime is used: the module
// imports a clock, an output for complaints and what longjmp needs, and everything else is in it.
//
// Runs in pages, Web Workers and Node 18 or later.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const BAD_FILE = 8; // errno of WASI
const NO_SUCH_CALL = -52; // ENOSYS of the C library in the module
const COMPLAINT_MAX = 2000; // characters
const OUT_OF_MEMORY =
    'the scene needs more memory than the engine can have here (2 GB); use fewer bodies or shorter ' +
    'runs, or run it with the program rattleback';

/** Fields of bodies as rbBodyField numbers them. */
const FIELDS = {
    positions: 0,
    orientations: 1,
    centers: 2,
    linearVelocities: 3,
    angularVelocities: 4,
    masses: 5,
    forces: 6,
    torques: 7,
};

/** An error of the engine; `details` has status, line, column and place where they are known. */
export class EngineError extends Error {
    constructor(message, details = {}) {
        super(message);
        this.name = 'EngineError';
        this.details = details;
    }
}

/** Thrown by longjmp through the frames of the module; who called setjmp catches it. */
class LongJump extends Error {}

class Host {
    constructor() {
        this.exports = null;
        this.complaint = ''; // what the module wrote last
        this.trouble = null; // the error after which the module cannot be used any more
        this.high = 0; // the second word of a result of the module
    }

    get view() {
        return new DataView(this.exports.memory.buffer);
    }

    /** Ends the use of the module. */
    end(reason) {
        const words = this.complaint.trim();
        this.trouble = /out of memory/.test(words)
            ? new EngineError(OUT_OF_MEMORY, { status: 'out of memory' })
            : new EngineError(words || `the engine ended itself (${reason})`);
        throw this.trouble;
    }

    write(file, list, count, address) {
        let size = 0;
        for (let i = 0; i < count; i++) {
            const at = this.view.getUint32(list + 8 * i, true);
            const length = this.view.getUint32(list + 8 * i + 4, true);
            if (file === 1 || file === 2) {
                const bytes = new Uint8Array(this.exports.memory.buffer, at, length).slice();
                this.complaint = (this.complaint + decoder.decode(bytes)).slice(-COMPLAINT_MAX);
            }
            size += length;
        }
        this.view.setUint32(address, size, true);
        return 0;
    }

    /** Calls a function of the module's table, from which longjmp may come back. */
    invoke(index, ...values) {
        const { stackSave, stackRestore, setThrew, __indirect_function_table } = this.exports;
        const stack = stackSave();
        try {
            return __indirect_function_table.get(index)(...values);
        } catch (error) {
            if (!(error instanceof LongJump)) {
                throw error;
            }
            stackRestore(stack);
            setThrew(1, 0);
            return 0;
        }
    }

    /** The function that the module imports under a name. */
    give(name) {
        const known = {
            clock_time_get: (id, precision, address) => {
                const time = BigInt(Math.round(performance.now() * 1e6));
                this.view.setBigUint64(address, time, true);
                return 0;
            },
            fd_write: (...values) => this.write(...values),
            fd_close: () => 0,
            environ_sizes_get: (count, size) => {
                this.view.setUint32(count, 0, true);
                this.view.setUint32(size, 0, true);
                return 0;
            },
            environ_get: () => 0,
            proc_exit: (code) => this.end(`code ${code}`),
            emscripten_notify_memory_growth: () => {},
            setTempRet0: (value) => {
                this.high = value;
            },
            getTempRet0: () => this.high,
            _emscripten_throw_longjmp: () => {
                throw new LongJump();
            },
        };
        if (known[name]) {
            return known[name];
        }
        if (name.startsWith('invoke_')) {
            return (...values) => this.invoke(...values);
        }
        if (name.startsWith('fd_')) {
            return () => BAD_FILE;
        }
        if (name.startsWith('__syscall_')) {
            return () => NO_SUCH_CALL;
        }
        throw new EngineError(`the loader does not know "${name}", which the engine imports`);
    }
}

/** A world that its owner advances. Made by Engine.openWorld. */
export class World {
    #engine;
    #world;
    #info = null;

    constructor(engine, address) {
        this.#engine = engine;
        this.#world = address;
    }

    get #address() {
        if (this.#world === 0) {
            throw new EngineError('this world is closed');
        }
        return this.#world;
    }

    /** name, title, engine, duration, outputStep and the names of the bodies. */
    get info() {
        this.#info ??= JSON.parse(this.#engine.callText('GetInfo', this.#address));
        return this.#info;
    }

    get time() {
        return this.#engine.call('GetTime', this.#address);
    }

    get bodyCount() {
        return this.#engine.call('GetBodyCount', this.#address);
    }

    /** Of the state: 16 hexadecimal digits, the same on every machine and as `rattleback run` prints. */
    get hash() {
        return this.#engine.callText('GetHash', this.#address);
    }

    /** Energies, momenta and works so far. */
    get ledger() {
        return JSON.parse(this.#engine.callText('GetLedger', this.#address));
    }

    advance(seconds) {
        this.advanceTo(this.time + seconds);
    }

    advanceTo(time) {
        if (!Number.isFinite(time) || time < this.time) {
            throw new EngineError(`cannot advance to ${time} s from ${this.time} s`);
        }
        if (this.#engine.call('AdvanceTo', this.#address, time) !== 0) {
            throw this.#engine.error();
        }
    }

    /** Advances by the output steps of the scene to the end of its duration. */
    run() {
        return this.#engine.call('Run', this.#address) === 0;
    }

    /** A copy of a field of all bodies, packed: see FIELDS. */
    read(field) {
        const number = fieldOf(field);
        const count = this.#engine.call('GetFieldWidth', number) * this.bodyCount;
        const address = this.#engine.call('ReadField', this.#address, number);
        return new Float64Array(this.#engine.memory, address, count).slice();
    }

    write(field, values) {
        const number = fieldOf(field);
        const count = this.#engine.call('GetFieldWidth', number) * this.bodyCount;
        if (values.length !== count) {
            throw new EngineError(`${field} of ${this.bodyCount} bodies are ${count} numbers, not ${values.length}`);
        }
        this.#engine.withBytes(new Uint8Array(Float64Array.from(values).buffer), (address) => {
            if (!this.#engine.call('WriteField', this.#address, number, address)) {
                throw this.#engine.error();
            }
        });
    }

    get positions() {
        return this.read('positions');
    }

    get orientations() {
        return this.read('orientations');
    }

    get linearVelocities() {
        return this.read('linearVelocities');
    }

    get angularVelocities() {
        return this.read('angularVelocities');
    }

    close() {
        if (this.#world !== 0) {
            this.#engine.call('CloseWorld', this.#world);
            this.#world = 0;
        }
    }
}

function fieldOf(name) {
    if (!(name in FIELDS)) {
        throw new EngineError(`there is no field "${name}"; there are ${Object.keys(FIELDS).join(', ')}`);
    }
    return FIELDS[name];
}

/** A simulation under the commands of docs/viewer-protocol.md. Made by Engine.openSession. */
export class Session {
    #engine;
    #session;

    constructor(engine, address) {
        this.#engine = engine;
        this.#session = address;
    }

    /** Sends a command, JSON text; returns the reply, JSON text. */
    command(text) {
        return this.#engine.withText(text, (address, size) =>
            this.#engine.callText('Command', this.#session, address, size),
        );
    }

    /** Advances; returns s until the next tick is due, negative: when a command comes. */
    tick() {
        return this.#engine.call('Tick', this.#session);
    }

    /** The next message, text or a Uint8Array of its own; null: there is none. */
    next() {
        const address = this.#engine.call('NextMessage', this.#session);
        if (address === 0) {
            return null;
        }
        const size = this.#engine.call('GetMessageSize', this.#session);
        const bytes = new Uint8Array(this.#engine.memory, address, size).slice();
        return this.#engine.call('IsMessageText', this.#session) ? decoder.decode(bytes) : bytes;
    }

    /** The scene, JSON text. */
    get sceneText() {
        return this.#engine.callText('GetSceneText', this.#session);
    }

    close() {
        this.#engine.call('CloseSession', this.#session);
        this.#session = 0;
    }
}

export class Engine {
    #host;

    constructor(host) {
        this.#host = host;
    }

    get version() {
        return this.callText('GetVersion');
    }

    /** The message that greets a client while no scene is open. */
    get hello() {
        return this.callText('GetHello');
    }

    /** Bytes of the module's memory; valid until the next call. */
    get memory() {
        return this.#host.exports.memory.buffer;
    }

    /** Calls a function of the module by its name without the prefix. */
    call(name, ...values) {
        if (this.#host.trouble) {
            throw this.#host.trouble;
        }
        try {
            return this.#host.exports[`rbEngine_${name}`](...values);
        } catch (error) {
            // after a trap or an exit the state of the module is unknown
            this.#host.trouble ??=
                error instanceof WebAssembly.RuntimeError
                    ? new EngineError(`the engine failed: ${error.message}. ${this.#host.complaint}`.trim())
                    : error;
            throw this.#host.trouble;
        }
    }

    /** The same, for one that returns a text. */
    callText(name, ...values) {
        const address = this.call(name, ...values);
        const bytes = new Uint8Array(this.memory);
        return decoder.decode(bytes.slice(address, bytes.indexOf(0, address)));
    }

    /** Calls with the address of a copy of bytes. */
    withBytes(bytes, use) {
        // at least one byte: memory of no size has no address
        const size = bytes.length + 1;
        const address = this.call('Alloc', size);
        const copy = new Uint8Array(this.memory, address, size);
        copy.set(bytes);
        copy[bytes.length] = 0;
        try {
            return use(address, bytes.length);
        } finally {
            if (!this.#host.trouble) {
                this.call('Free', address, size);
            }
        }
    }

    withText(text, use) {
        return this.withBytes(encoder.encode(text), use);
    }

    /** The reason why the last call failed. */
    error() {
        const details = JSON.parse(this.callText('GetError'));
        return new EngineError(details.text ?? 'the engine gave no reason', details);
    }

    putFile(name, bytes) {
        const address = this.call('Alloc', bytes.length);
        new Uint8Array(this.memory, address, bytes.length).set(bytes);
        this.withText(name, (text) => this.call('PutFile', text, address, bytes.length));
    }

    dropFiles() {
        this.call('DropFiles');
    }

    /** The file that the last scene lacked; '' if it lacked none. */
    get missingFile() {
        return this.callText('GetMissingFile');
    }

    #open(kind, scene, { name = 'scene', files = {} }) {
        const text = typeof scene === 'string' ? scene : JSON.stringify(scene);
        for (const [file, bytes] of Object.entries(files)) {
            this.putFile(file, bytes);
        }
        const address = this.withText(name, (nameAddress) =>
            this.withText(text, (at, size) => this.call(kind, at, size, nameAddress)),
        );
        if (address === 0) {
            throw this.error();
        }
        return address;
    }

    /**
     * A world of a scene: its JSON text or the object. Throws an EngineError with the place.
     * @param {string|object} scene
     * @param {{name?: string, files?: Record<string, Uint8Array>}} [options] its name in messages; the
     *     files that it names, e.g. meshes
     */
    openWorld(scene, options = {}) {
        return new World(this, this.#open('OpenWorld', scene, options));
    }

    openSession(scene, options = {}) {
        return new Session(this, this.#open('OpenSession', scene, options));
    }
}

/**
 * Makes an engine.
 * @param {WebAssembly.Module|BufferSource|Response|Promise<Response>} source the module, its bytes, or
 *     a response with them
 */
export async function createEngine(source) {
    const host = new Host();
    const module = await compile(await source);
    const imports = {};
    for (const { module: space, name } of WebAssembly.Module.imports(module)) {
        imports[space] ??= {};
        imports[space][name] = host.give(name);
    }
    const instance = await WebAssembly.instantiate(module, imports);
    host.exports = instance.exports;
    host.exports._initialize();
    const engine = new Engine(host);
    if (!engine.call('Start')) {
        throw engine.error();
    }
    return engine;
}

async function compile(source) {
    if (source instanceof WebAssembly.Module) {
        return source;
    }
    if (typeof Response === 'undefined' || !(source instanceof Response)) {
        return WebAssembly.compile(source);
    }
    if (!source.ok) {
        throw new EngineError(`the engine could not be loaded: ${source.status} ${source.statusText}`);
    }
    // a plain file server may send another type, which streaming refuses
    const isStream = /^application\/wasm/.test(source.headers.get('content-type') ?? '');
    return isStream ? WebAssembly.compileStreaming(source) : WebAssembly.compile(await source.arrayBuffer());
}
