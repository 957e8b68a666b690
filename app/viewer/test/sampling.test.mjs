// Samples: searching, interpolating, thinning.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { indexAt, lowerBound, thin, throttle, valueAt } from '../src/sampling.js';

function random(seed) {
    let state = seed;
    return () => {
        state = (state * 1103515245 + 12345) % 2147483648;
        return state / 2147483648;
    };
}

test('searching agrees with looking at every sample', () => {
    const next = random(7);
    for (let round = 0; round < 300; round++) {
        const count = Math.floor(next() * 20);
        const times = new Float64Array(32);
        for (let i = 1; i < count; i++) {
            times[i] = times[i - 1] + Math.floor(next() * 3); // times may repeat
        }
        const time = next() * 30 - 2;
        const slow = times.subarray(0, count).findIndex((t) => t >= time);
        assert.equal(lowerBound(times, count, time), slow < 0 ? count : slow);
    }
});

test('values between samples lie on the straight line, outside they stay', () => {
    const times = Float64Array.of(0, 1, 3, 0, 0);
    const values = Float64Array.of(5, 7, 3, 99, 99);
    const cases = [
        [-1, 5],
        [0, 5],
        [0.5, 6],
        [1, 7],
        [2, 5],
        [3, 3],
        [9, 3],
    ];
    for (const [time, value] of cases) {
        assert.equal(valueAt(times, values, 3, time), value);
    }
    assert.ok(Number.isNaN(valueAt(times, values, 0, 1)));
});

test('the sample at a time is the last that is not after it', () => {
    const times = Float64Array.of(0, 1, 3);
    assert.deepEqual(
        [-1, 0, 0.5, 1, 2.9, 3, 4].map((t) => indexAt(times, 3, t)),
        [0, 0, 0, 1, 1, 2, 2],
    );
});

test('thinning 100,000 samples keeps every spike and takes less than a frame', () => {
    const count = 100000;
    const times = Float64Array.from({ length: count }, (_, i) => i * 1e-3);
    const columns = [];
    for (let c = 0; c < 8; c++) {
        columns.push(Float64Array.from({ length: count }, (_, i) => Math.sin(i * 1e-4 * (c + 1))));
    }
    columns[3][77777] = 50;
    columns[3][77778] = -50;
    thin(times, columns, { from: 0, to: count, pixels: 1000 });
    const start = performance.now();
    const [shownTimes, ...shown] = thin(times, columns, { from: 0, to: count, pixels: 1000 });
    const spent = performance.now() - start;
    assert.equal(shownTimes.length, 2000);
    assert.ok(shown[3].includes(50) && shown[3].includes(-50));
    assert.ok(shownTimes.every((t, i) => i === 0 || t >= shownTimes[i - 1]));
    assert.ok(spent < 100, `${spent} ms`);
});

test('few samples are shown as they are, gaps as gaps', () => {
    const times = Float64Array.of(0, 1, 2, 3);
    const values = Float64Array.of(1, NaN, -3, 4);
    const positive = (v) => (v > 0 ? v : NaN);
    const [shownTimes, shown] = thin(times, [values], {
        from: 0,
        to: 3,
        pixels: 100,
        transform: positive,
    });
    assert.deepEqual([...shownTimes], [0, 1, 2]);
    assert.deepEqual(shown, [1, null, null]);
});

test('a bucket without a number is a gap', () => {
    const count = 1000;
    const times = Float64Array.from({ length: count }, (_, i) => i);
    const values = Float64Array.from({ length: count }, (_, i) => (i < 500 ? NaN : i));
    const [, shown] = thin(times, [values], { from: 0, to: count, pixels: 10 });
    assert.deepEqual(shown.slice(8, 12), [null, null, 500, 599]);
});

test('a throttled function runs once for many calls, and after the last one', () => {
    let clock = 0;
    let waiting = [];
    let calls = 0;
    const run = throttle(
        () => calls++,
        100,
        () => clock,
        (fn, wait) => waiting.push([clock + wait, fn]),
    );
    const advance = (to) => {
        clock = to;
        const due = waiting.filter(([time]) => time <= clock);
        waiting = waiting.filter(([time]) => time > clock);
        due.forEach(([, fn]) => fn());
    };
    run();
    run();
    advance(0);
    assert.equal(calls, 1);
    for (clock = 1; clock < 90; clock += 10) {
        run();
    }
    advance(99);
    assert.equal(calls, 1);
    advance(100);
    assert.equal(calls, 2);
    advance(500);
    assert.equal(calls, 2);
});
