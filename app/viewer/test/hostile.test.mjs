// Hostile recordings: whatever the bytes of a page are, it ends with a message or shows them, soon and without filling the memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createModel } from '../src/model.js';
import { createPageSource, splitRecords } from '../src/source_page.js';
import { SCENE, dropMessage, eventsMessage, frameMessage, joinRecords, samplesMessage } from './messages.mjs';

const CASES = { quick: 1000, normal: 4000, long: 100000, full: 100000 }[process.env.RB_TEST_LEVEL ?? 'normal'];
const LONGEST = 2000; // ms for one case
const MEMORY_MAX = 400e6; // bytes of buffers for one case

function createRandom(seed) {
    let state = seed;
    return (limit) => {
        state = (state * 48271) % 2147483647;
        return state % limit;
    };
}

const pose = (body, x) => ({ body, position: [x, 0, 0] });
const base = joinRecords([
    JSON.stringify({ type: 'hello', protocol: 'rattleback-1', kind: 'page', scene: 'two' }),
    JSON.stringify(SCENE),
    frameMessage(0, 0, [pose(0, 0), pose(1, 1)], 1),
    samplesMessage(2, [[0, 1, 2]]),
    eventsMessage(0, [0.01]),
    frameMessage(1, 0.1, [pose(1, 2)]),
    dropMessage(0.05),
]);

const WORDS = [0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 100_000_000];

/** A copy with some of its bytes changed, cut, doubled, or a length replaced. */
function mutate(bytes, random) {
    let out = bytes.slice();
    for (let k = 1 + random(4); k > 0; k--) {
        const at = random(out.length);
        const kinds = [
            () => { out[at] ^= 1 << random(8); },
            () => { out[at] = random(256); },
            () => { out = out.slice(0, Math.max(1, at)); },
            () => { out = Uint8Array.from([...out.slice(0, at), ...out.slice(random(out.length))]); },
            () => {
                if (at + 4 <= out.length) {
                    new DataView(out.buffer).setUint32(at, WORDS[random(WORDS.length)], true);
                }
            },
        ];
        kinds[random(kinds.length)]();
    }
    return out;
}

/** Shows a page as main.js does. @returns {string} what happened */
function show(bytes) {
    let tick = () => {};
    let time = 0;
    const source = createPageSource(splitRecords(bytes), { now: () => time, every: (fn) => { tick = fn; } });
    const model = createModel(source, () => time);
    source.start?.();
    source.send({ do: 'ready' });
    for (let i = 0; i < 20; i++) {
        time += 0.05;
        tick();
    }
    source.send({ do: 'seek', time: 0.05 });
    return model.scene ? 'shown' : 'empty';
}

test('the run is shown before its bytes are changed', () => {
    assert.equal(show(base), 'shown');
});

test(`${CASES} changed recordings are shown or refused by an error, in bounded time and memory`, () => {
    const random = createRandom(27);
    const counts = {};
    for (let i = 0; i < CASES; i++) {
        const bytes = mutate(base, random);
        const start = performance.now();
        const before = process.memoryUsage().arrayBuffers;
        let what;
        try {
            what = show(bytes);
        } catch (error) {
            assert.ok(error instanceof Error, `case ${i}: ${error}`);
            what = error.constructor.name;
        }
        counts[what] = (counts[what] ?? 0) + 1;
        assert.ok(performance.now() - start < LONGEST, `case ${i} took ${performance.now() - start} ms`);
        const grown = process.memoryUsage().arrayBuffers - before;
        assert.ok(grown < MEMORY_MAX, `case ${i} took ${grown} bytes`);
    }
    console.log(JSON.stringify(counts));
    assert.ok(counts.shown > 0.05 * CASES && counts.RangeError > 0.02 * CASES, 'the cases are all alike');
});

// 4 GB of poses for a body that was never described
test('a frame for a body with a huge number is refused', () => {
    const hostile = joinRecords([JSON.stringify(SCENE), frameMessage(0, 0, [pose(150_000_000, 0)], 1)]);
    assert.throws(() => show(hostile), /no body 150000000/);
    const described = { ...SCENE, bodies: [{ ...SCENE.bodies[0], number: 150_000_000 }] };
    assert.throws(() => show(joinRecords([JSON.stringify(described), frameMessage(0, 0, [pose(0, 0)], 1)])), /number 150000000/);
});
