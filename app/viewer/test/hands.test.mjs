// Settings, rotations, pushes, the order of commands, filters of the journal.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventFilter, visibleRows } from '../src/journal.js';
import { bodyOf, defaultSizes, freeName, shapeForms } from '../src/panel_add.js';
import { chooseColumns } from '../src/plots.js';
import { clickArrow, dragDuration, impulseOf, sceneTime } from '../src/pushing.js';
import { fromAngles, multiply, normalize, rotate, toAngles } from '../src/rotation.js';
import { createLatest } from '../src/sending.js';
import { listSettings, motorRange, motorUnit, roundRange } from '../src/settings.js';
import { parseNumber } from '../src/fields.js';

function near(a, b, tolerance = 1e-9) {
    assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);
}

test('angles and quaternions agree, at the poles too', () => {
    let seed = 99;
    const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
    for (let i = 0; i < 1000; i++) {
        const pitch = i % 10 === 0 ? (i % 20 === 0 ? 90 : -90) : next() * 180 - 90;
        const q = fromAngles([next() * 360 - 180, pitch, next() * 360 - 180]);
        const back = fromAngles(toAngles(q));
        const dot = q.reduce((sum, value, k) => sum + value * back[k], 0);
        near(Math.abs(dot), 1, 1e-9);
    }
});

test('turning by two quaternions is turning by their product', () => {
    const a = normalize([1, 2, -1, 0.5]);
    const b = normalize([-0.3, 1, 1, 2]);
    const once = rotate(multiply(a, b), [1, -2, 3]);
    const twice = rotate(a, rotate(b, [1, -2, 3]));
    once.forEach((value, i) => near(value, twice[i]));
    const [x, y, z] = rotate(fromAngles([0, 0, 90]), [1, 0, 0]);
    near(x, 0);
    near(y, 1);
    near(z, 0);
});

test('a slider of a motor spans the limits, or a turn, and always the present value', () => {
    assert.deepEqual(
        motorRange({ type: 'position', target: 0.5 }, { kind: 'angle', lower: -1, upper: 2 }),
        [-1, 2],
    );
    assert.deepEqual(motorRange({ type: 'position', target: 0 }, { kind: 'angle' }), [
        -Math.PI,
        Math.PI,
    ]);
    assert.deepEqual(
        motorRange({ type: 'position', target: 7 }, { kind: 'angle', lower: null, upper: null }),
        [-Math.PI, 7],
    );
    assert.deepEqual(motorRange({ type: 'speed', target: 30 }, { kind: 'angle' }), [-100, 100]);
    assert.deepEqual(motorRange({ type: 'velocity', target: 0 }, { kind: 'travel' }), [-1, 1]);
    const [low, high] = motorRange({ type: 'position', target: 0 }, { kind: 'travel', upper: 0.2 });
    assert.ok(low < 0 && high === 0.2);
    assert.equal(motorUnit({ type: 'speed' }, { kind: 'travel' }), 'm/s');
    assert.equal(motorUnit({ type: 'position' }, { kind: 'angle' }), 'rad');
    assert.deepEqual([0.3, 1, 2.4, 3, 26].map(roundRange), [1, 2, 5, 10, 100]);
});

test('settings are what has a value; names and parts are not', () => {
    const values = {
        name: 'steel',
        density: 1,
        friction: null,
        law: 'newton',
        parts: [1, 2],
        motor: {},
        gravity: [0, 0, -9],
    };
    assert.deepEqual(
        listSettings('material', values).map(([key]) => key),
        ['density', 'friction', 'law', 'gravity'],
    );
    assert.equal(listSettings('contact', { novelty: 3 })[0][1].label, 'novelty');
    assert.deepEqual(listSettings('world', undefined), []);
});

test('rows of settings come from what the server says', () => {
    const described = [
        { key: 'restSpeed', type: 'number', unit: 'm/s', meaning: 'slower is no collision' },
        { key: 'gravity', type: 'vector', unit: 'm/s^2', meaning: 'of free fall' },
        { key: 'law', type: 'word', unit: '', meaning: 'of impact', words: ['newton', 'poisson'] },
        { key: 'order', type: 'integer', unit: '', meaning: '', low: 2, high: 6, step: 2 },
        { key: 'type', type: 'switch', unit: '', meaning: 'a key that is no name here' },
    ];
    const values = { restSpeed: 0.1, gravity: [0, 0, -9], law: 'newton', order: 4, type: true };
    const rows = new Map(listSettings('contact', values, described));
    assert.deepEqual([...rows.keys()], Object.keys(values));
    assert.deepEqual(rows.get('restSpeed'), {
        label: 'rest speed',
        unit: 'm/s',
        title: 'slower is no collision',
        choices: undefined,
    });
    assert.equal(rows.get('gravity').unit, 'm/s²');
    assert.deepEqual(rows.get('law').choices, ['newton', 'poisson']);
    assert.deepEqual(rows.get('order').choices, [2, 4, 6]);
});

test('typed numbers are understood, others are none', () => {
    assert.equal(parseNumber(' 1,5 '), 1.5);
    assert.equal(parseNumber('−3e2'), -300);
    assert.equal(parseNumber('∞'), Infinity);
    for (const text of ['', '1 2', 'x', '–']) {
        assert.ok(Number.isNaN(parseNumber(text)), text);
    }
});

test('a push is proportional to arrow, mass and strength, and suits the size of a scene', () => {
    const time = sceneTime(2, [0, 0, -9.81]);
    near(time, Math.sqrt(2 / 9.81));
    const once = impulseOf([1, 0, -2], { mass: 3, time, strength: 1 });
    const twice = impulseOf([1, 0, -2], { mass: 3, time, strength: 2 });
    near(once[0], 3 / time);
    near(twice[2], 2 * once[2]);
    assert.deepEqual(clickArrow([0, 0, 1], 4), [-0, -0, -1]);
    assert.ok(Number.isFinite(sceneTime(0, undefined)));
    near(dragDuration({ frameStep: 1e-3 }), 4e-3);
    near(dragDuration({}), 4 / 60);
});

test('of waiting moves the newest goes, starts and ends all go, in order', async () => {
    const sent = [];
    const waiting = [];
    const latest = createLatest((command) => {
        sent.push(command.do);
        return new Promise((resolve) => waiting.push(() => resolve({ ok: true })));
    });
    const answer = async () => {
        waiting.shift()();
        await new Promise(setImmediate);
    };
    const replies = [
        latest('drag', { do: 'start' }, true),
        latest('drag', { do: 'move 1' }),
        latest('drag', { do: 'move 2' }),
        latest('drag', { do: 'end' }, true),
        latest('drag', { do: 'start again' }, true),
        latest('drag', { do: 'move 3' }),
        latest('drag', { do: 'move 4' }),
    ];
    latest('other', { do: 'aside' });
    assert.deepEqual(sent, ['start', 'aside']);
    while (waiting.length > 0) {
        await answer();
    }
    assert.deepEqual(sent, ['start', 'aside', 'move 2', 'end', 'start again', 'move 4']);
    assert.equal(await replies[1], null);
    assert.equal((await replies[2]).ok, true);
    assert.equal(await replies[5], null);
});

test('a command that cannot be sent does not block its lane', async () => {
    let count = 0;
    const latest = createLatest(async () => {
        count++;
        if (count === 1) {
            throw new Error('no line');
        }
        return { ok: true };
    });
    const [first, second] = await Promise.all([latest('a', {}, true), latest('a', {}, true)]);
    assert.deepEqual([first.ok, first.error, second.ok], [false, 'no line', true]);
});

test('a filter finds what a search of all finds, also when events come and go', () => {
    const events = [];
    const filter = new EventFilter();
    const check = () => {
        const slow = events.map((_, i) => i).filter((i) => filter.passes(events[i]));
        assert.deepEqual(filter.look(events), slow);
    };
    filter.choose(new Set([4]), 2);
    for (let i = 0; i < 500; i++) {
        events.push({ time: i, kind: i % 7, bodyA: i % 3, bodyB: i % 5 === 0 ? -1 : 2 });
        if (i % 50 === 0) {
            check();
        }
    }
    events.length = 100;
    check();
    filter.choose(null, null);
    check();
    assert.equal(
        filter.counts.reduce((a, b) => a + b),
        100,
    );
});

test('of 65,536 entries only those in sight have rows', () => {
    const [first, end] = visibleRows(30000 * 44, 440, 65536);
    assert.ok(first <= 30000 && end >= 30010 && end - first < 30);
    assert.deepEqual(visibleRows(0, 440, 3), [0, 3]);
    assert.deepEqual(visibleRows(1e9, 440, 3), [3, 3]);
});

test('columns that were always zero stay away until asked for', () => {
    const alive = [true, false, true, true];
    assert.deepEqual(
        chooseColumns([0, 1, 2], new Map(), (i) => alive[i]),
        [0, 2],
    );
    assert.deepEqual(
        chooseColumns(
            [0, 1, 2],
            new Map([
                [1, true],
                [0, false],
            ]),
            (i) => alive[i],
        ),
        [1, 2],
    );
    const many = Array.from({ length: 30 }, (_, i) => i);
    assert.equal(chooseColumns(many, new Map(), () => true).length, 8);
});

test('forms make bodies as scene files have them', () => {
    assert.deepEqual(defaultSizes('box', 0.123), { size: [0.25, 0.25, 0.25] });
    for (const shape of Object.keys(shapeForms)) {
        const body = bodyOf({
            name: 'a',
            shape,
            sizes: defaultSizes(shape, 1),
            material: '',
            position: [0, 0, 1],
            velocity: [0, 0, 0],
            spin: [0, 0, 0],
        });
        assert.equal(body.shapes[0].geometry.type, shape);
        assert.ok(!('material' in body.shapes[0]));
    }
    assert.equal(freeName('ball', new Set(['ball 1', 'ball 2'])), 'ball 3');
});
