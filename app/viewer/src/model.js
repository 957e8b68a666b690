// The state of the simulation in the page. No drawing, no DOM, no socket: a source passes messages
// to it, the parts of the page read it and subscribe.
//
// Subscribe with model.on(type, fn): every type of a message (hello scene bodies state parameters
// detail reply trouble viewers frame events samples contacts joints rays links mesh drop), after it was applied;
// and "connection", "select", "highlight", "say".

import { createEmitter } from './emitter.js';
import { createPoses } from './poses.js';
import { createSamples } from './samples.js';

const BODY_NUMBER_MAX = 4_000_000; // hostile recordings name bodies that would fill the memory
const EVENT_COUNT_MAX = 100000; // kept here; the oldest go first

const STATE_AT_START = {
    type: 'state',
    time: 0,
    endTime: 0,
    playing: false,
    speed: 1,
    frameStep: 1 / 60,
    realTime: 0,
    busy: false,
    canAct: false,
    looping: false,
    ended: false,
    undo: 0,
    redo: 0,
    sentence: '',
};

/** First index of a list ordered by time whose time is above a limit. */
export function findAfter(list, time) {
    let low = 0;
    let high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle].time > time) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

const NO_WISH = { contacts: false, joints: false, rays: false };

/**
 * @param {object} source where messages come from (source_live.js, source_page.js)
 * @param {() => number} now wall time in s
 */
export function createModel(source, now = () => performance.now() / 1000) {
    const emitter = createEmitter();
    const poses = createPoses(now, source.getTime);
    const samples = createSamples();
    const wishes = new Map(); // owner -> what it wants to receive
    let told = { ...NO_WISH }; // what was last sent to the server
    let bodyLimit = 0; // above the numbers of all bodies that were described

    /** A body in the page; position and orientation are those of the newest frame. */
    class Body {
        constructor(message) {
            Object.assign(this, message);
        }
        get position() {
            return poses.newest(this.number, 0, 3);
        }
        get orientation() {
            return poses.newest(this.number, 3, 4); // w, x, y, z
        }
    }

    const model = {
        source,
        isLive: source.isLive,
        isConnected: false,
        hello: null,
        scene: null, // last scene message; null: the gallery is shown
        bodies: new Map(), // number -> Body; those that exist at the time shown
        known: new Map(), // these and the deleted ones: the journal still names them
        geometries: [], // as in the scene message; meshes get positions and indices
        joints: [],
        springs: [],
        materials: [],
        columns: samples.columns,
        samples,
        events: [],
        firstEvent: 0, // how many events were dropped before events[0]
        contacts: [],
        jointStates: [],
        rays: [],
        state: { ...STATE_AT_START },
        parameters: null,
        detail: null,
        viewers: { viewers: [], control: 0, asking: [] }, // who shows this simulation
        selected: null, // a body's number
        highlighted: null,
        frameCount: 0, // of this scene
        bytes: { frame: 0, records: 0 },

        on: emitter.on,
        emit: emitter.emit,

        /** Time that is shown, between the last two frames, s. */
        get time() {
            return poses.time();
        },

        /** Time of the newest frame, s. */
        get frameTime() {
            return poses.newestTime();
        },

        /**
         * Writes the pose that is shown (x, y, z, w, x, y, z); false if the body does not exist. Who asks for many gets
         * share() once and gives it.
         */
        pose(number, target, share = poses.share()) {
            return poses.shown(number, target, share);
        },

        /** Matrices of many poses at once (poses.js); false: only one by one. */
        writeMatrices(numbers, out) {
            if (poses.isPeriodic) {
                return false;
            }
            poses.writeMatrices(numbers, out);
            return true;
        },

        /** Part of the time between the last two frames that has passed. */
        share: poses.share,

        /** Above the numbers of all bodies that this scene has had. */
        get bodyLimit() {
            return bodyLimit;
        },

        /** Poses of all bodies below bodyLimit in the newest frame. */
        newestPoses() {
            return poses.newestOf(bodyLimit);
        },

        /** Whether poses still change without a new frame: between two frames they do. */
        isMoving() {
            return poses.isMoving();
        },

        /** A command to the simulation; a refusal is also shown to the user. */
        async do(command) {
            if (command.do === 'select' && typeof command.body === 'number') {
                setSelected(command.body);
            }
            const reply = await source.send(command);
            if (!reply.ok) {
                emitter.emit('say', { text: reply.error || 'refused', kind: 'error' });
            }
            return reply;
        },

        select(number) {
            if (setSelected(number) && source.isLive && model.isConnected) {
                source.send({ do: 'select', body: model.selected });
            }
        },

        /**
         * Data that a part wants to receive: contact points, joints, rays. The server is informed when the
         * combined requests change.
         * @param {string} owner @param {{contacts?: boolean, joints?: boolean, rays?: boolean}} wish
         */
        want(owner, wish) {
            wishes.set(owner, wish);
            tellWishes(false);
        },

        /** @param {null|{bodies?: number[], point?: number[], normal?: number[], impulse?: number[]}} what */
        highlight(what) {
            model.highlighted = what;
            emitter.emit('highlight', what);
        },

        /** Newest value of a column by its name, or of the first column of a group. */
        latest(name) {
            return samples.latest(name);
        },
    };

    let canActThere = false; // as the simulation says

    /** Whether another viewer is in control. */
    function isWatching() {
        const { control } = model.viewers;
        return control !== 0 && control !== model.hello?.client;
    }

    /** Who only watches cannot act. */
    function showControl() {
        const canAct = canActThere && !isWatching();
        if (canAct !== model.state.canAct) {
            model.state.canAct = canAct;
            emitter.emit('state', model.state);
        }
    }

    /** @returns {boolean} whether another body is selected now */
    function setSelected(number) {
        const wanted = number !== null && model.bodies.has(number) ? number : null;
        if (wanted === model.selected) {
            return false;
        }
        model.selected = wanted;
        model.detail = null;
        emitter.emit('select', wanted);
        return true;
    }

    function tellWishes(isNew) {
        const all = [...wishes.values()];
        const names = Object.keys(NO_WISH);
        const wish = Object.fromEntries(names.map((name) => [name, all.some((w) => w[name])]));
        if (!isNew && names.every((name) => wish[name] === told[name])) {
            return;
        }
        if (source.isLive && model.isConnected) {
            told = wish;
            source.send({ do: 'overlays', ...wish });
        }
    }

    function addBody(message) {
        const { number } = message;
        if (!Number.isInteger(number) || number < 0 || number >= BODY_NUMBER_MAX) {
            throw new RangeError(`a body has the number ${number}`);
        }
        bodyLimit = Math.max(bodyLimit, number + 1);
        const body = new Body(message);
        model.bodies.set(body.number, body);
        model.known.set(body.number, body);
    }

    const takers = {
        connection(message) {
            model.isConnected = message.isOpen;
            told = { ...NO_WISH };
        },
        hello(message) {
            model.hello = message;
            if (!message.scene) {
                model.scene = null;
            }
        },
        scene(message) {
            const isSame =
                model.scene !== null &&
                model.scene.epoch === message.epoch &&
                model.scene.name === message.name;
            model.scene = message;
            model.bodies = new Map();
            model.known = new Map();
            model.geometries = (message.geometries ?? []).map((geometry) => ({ ...geometry }));
            model.joints = message.joints ?? [];
            model.springs = message.springs ?? [];
            model.materials = message.materials ?? [];
            model.events = [];
            model.firstEvent = 0;
            model.contacts = [];
            model.jointStates = [];
            model.rays = [];
            model.parameters = null;
            model.detail = null;
            model.highlighted = null;
            model.state = { ...STATE_AT_START };
            model.frameCount = 0;
            poses.clear();
            bodyLimit = 0;
            poses.setPeriod(message.periodicBox);
            samples.reset(message.columns ?? []);
            model.columns = samples.columns;
            (message.bodies ?? []).forEach(addBody);
            if (!isSame) {
                setSelected(null);
            } else if (model.selected !== null) {
                source.send({ do: 'select', body: model.selected });
            }
            tellWishes(true);
        },
        bodies(message) {
            for (const geometry of message.geometries ?? []) {
                model.geometries[geometry.index] = { ...geometry };
            }
            (message.added ?? []).forEach(addBody);
            for (const number of message.deleted ?? []) {
                poses.remove(number);
                model.bodies.delete(number);
            }
        },
        mesh(message) {
            const geometry = model.geometries[message.geometry];
            if (geometry) {
                geometry.positions = message.positions;
                geometry.indices = message.indices;
            }
        },
        frame(message) {
            poses.take(message, bodyLimit);
            model.frameCount++;
            model.bytes.frame += message.bytes ?? 0;
            model.bytes.records += message.bodies.length;
        },
        state(message) {
            model.state = { ...STATE_AT_START, ...message };
            canActThere = model.state.canAct;
            model.state.canAct = canActThere && !isWatching();
            poses.setMoving(model.state.playing);
        },
        parameters(message) {
            model.parameters = message;
            if (message.materials) {
                model.materials = message.materials;
            }
        },
        detail(message) {
            if (message.body === model.selected) {
                model.detail = message;
            }
        },
        events(message) {
            if (model.events.length === 0 && message.events.length > 0) {
                model.firstEvent = message.events[0].number;
            }
            for (const event of message.events) {
                model.events.push(event);
            }
            if (model.events.length > EVENT_COUNT_MAX * 1.25) {
                const left = model.events.length - EVENT_COUNT_MAX;
                model.events = model.events.slice(left);
                model.firstEvent += left;
            }
        },
        samples(message) {
            samples.take(message);
        },
        contacts(message) {
            model.contacts = message.contacts;
        },
        joints(message) {
            model.jointStates = message.joints;
        },
        rays(message) {
            model.rays = message.rays;
        },
        // Which joints and springs remain: some are deleted with their bodies.
        links(message) {
            const isLeft = (list) => (item) => list.includes(item.number);
            model.joints = (model.scene?.joints ?? []).filter(isLeft(message.joints ?? []));
            model.springs = (model.scene?.springs ?? []).filter(isLeft(message.springs ?? []));
        },
        drop(message) {
            model.events.length = findAfter(model.events, message.time);
            samples.drop(message.time);
            model.highlighted = null;
        },
        trouble() {},
        viewers(message) {
            model.viewers = message;
            showControl();
        },
        reply() {},
    };

    for (const [type, take] of Object.entries(takers)) {
        source.on(type, (message) => {
            take(message);
            emitter.emit(type, message);
            if (model.selected !== null && !model.bodies.has(model.selected)) {
                setSelected(null);
            }
        });
    }
    return model;
}
