// Causes of an energy step, plots as files, scales of arrows.
import assert from 'node:assert/strict';
import test from 'node:test';
import { findCauses } from '../src/causes.js';
import { ticksOf, toCsv, toSvg } from '../src/export.js';
import { createScale, roundUp } from '../src/overlays.js';

const COLUMNS = [
    { name: 'total', unit: 'J', group: 'energy' },
    { name: 'impact work', unit: 'J', group: 'energy' },
    { name: 'friction work', unit: 'J', group: 'energy' },
];

function makeModel() {
    const time = Float64Array.from({ length: 11 }, (_, i) => i / 10);
    const step = (at, size) => Float64Array.from(time, (t) => (t >= at ? size : 0));
    return {
        columns: COLUMNS,
        samples: { count: 11, time, values: [step(0.5, -3), step(0.5, -2), step(0.5, -1)] },
        events: [
            { time: 0.2, energyChange: -9, kind: 4, bodyA: 0, bodyB: 1 },
            { time: 0.44, energyChange: -1, kind: 4, bodyA: 0, bodyB: 1 },
            { time: 0.45, energyChange: -2, kind: 4, bodyA: 0, bodyB: 1 },
            { time: 0.46, energyChange: 0, kind: 7, bodyA: 0, bodyB: -1 },
            { time: 0.55, energyChange: -9, kind: 4, bodyA: 0, bodyB: 1 },
        ],
    };
}

test('the causes of a step are those between the samples about it, the largest first', () => {
    const causes = findCauses(makeModel(), 0.44, 0.46);
    assert.deepEqual([causes.from, causes.to, causes.change], [0.4, 0.5, -3]);
    assert.deepEqual(causes.rows.map(({ value }) => value), [-2, -1]);
    assert.deepEqual(causes.events.map(({ index }) => index), [2, 1]);
    // a click on one sample takes the step after it
    const narrow = findCauses(makeModel(), 0.4, 0.4);
    assert.deepEqual([narrow.from, narrow.to], [0.4, 0.5]);
    assert.equal(findCauses({ ...makeModel(), samples: { count: 0 } }, 0, 1), null);
});

const SERIES = [
    { name: 'a, "b"', unit: 'J', color: '#123456', values: [1, 0.1 + 0.2, NaN, 4] },
    { name: '<c>', unit: '', color: '#abcdef', values: [0, 0, 0, 0] },
];

test('a table has all digits and quotes names', () => {
    const lines = toCsv([0, 0.1, 0.2, 0.3], SERIES, { from: 1, to: 4 }).split('\n');
    assert.equal(lines[0], 'time [s],"a, ""b"" [J]",<c>');
    assert.equal(lines[1], '0.1,0.30000000000000004,0');
    assert.equal(lines.length, 5);
});

test('a drawing has axes, a line for each column, gaps where values are missing, and no foreign marks', () => {
    const svg = toSvg([0, 0.1, 0.2, 0.3], SERIES, { title: 'x & <y>', isLog: false, from: 0, to: 4 });
    assert.equal(svg.match(/<path /g).length, 2);
    assert.equal(/d="([^"]*)"/.exec(svg)[1].match(/M/g).length, 2, 'the line is not broken');
    assert.match(svg, /x &#38; &#60;y&#62;/);
    assert.doesNotMatch(svg, /<c>|<y>|NaN/);
    assert.match(toSvg([0, 1], [{ ...SERIES[1], values: [1e-9, 1e-3] }], { title: '', isLog: true, from: 0, to: 2 }), /1e-4/);
    assert.deepEqual(ticksOf(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
});

test('arrows are as long as their forces are large, and the longest stands for a round number', () => {
    assert.equal(roundUp(3), 5);
    assert.equal(roundUp(0.02), 0.02);
    const scale = createScale();
    assert.equal(scale.full, 0);
    scale.take([[0, 0, 3], [1, 0, 0]]);
    assert.equal(scale.full, 5);
    const length = (v) => Math.hypot(...scale.apply(v, 2));
    assert.ok(Math.abs(length([0, 0, 3]) - 1.2) < 1e-12);
    assert.ok(Math.abs(length([1, 0, 0]) - 0.4) < 1e-12);
});
