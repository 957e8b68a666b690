// Numbers and events in words.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
    energyAccount,
    eventAccount,
    eventDetail,
    eventMessage,
    formatEnergy,
    formatNumber,
    formatShort,
    hasLedger,
    historyWords,
} from '../src/words.js';

test('numbers are written as a person writes them', () => {
    const cases = [
        [0, '0'],
        [1, '1'],
        [-0.5, '−0.5'],
        [0.00125, '0.00125'],
        [12345.678, '12346'],
        [123456, '123456'],
        [1.5e-9, '1.5e−9'],
        [-2e12, '−2e12'],
        [NaN, '–'],
        [Infinity, '∞'],
        [undefined, '–'],
        [0.1 + 0.2, '0.3'],
        [9.99996, '10'],
        [100, '100'],
        [1e6, '1000000'],
    ];
    for (const [value, text] of cases) {
        assert.equal(formatNumber(value), text);
    }
});

test('a written number is within half a unit of its last digit, over 60 decades', () => {
    let seed = 12345;
    for (let i = 0; i < 2000; i++) {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        const value = (seed / 2147483648 - 0.5) * 10 ** ((i % 60) - 30);
        const back = Number(formatNumber(value).replaceAll('−', '-'));
        assert.ok(Math.abs(back - value) <= Math.abs(value) * 0.5001e-3, `${value} -> ${back}`);
    }
});

test('energies take the prefix that makes them short', () => {
    assert.equal(formatEnergy(0.00042), '420 µJ');
    assert.equal(formatEnergy(-1.5), '−1.5 J');
    assert.equal(formatEnergy(2500), '2.5 kJ');
    assert.equal(formatEnergy(0), '0 J');
    assert.equal(formatEnergy(0.99999), '1 J');
});

test('a history is read from its lowest four bits on', () => {
    assert.equal(historyWords(0), '');
    assert.equal(historyWords(0x21), 'slides, sticks');
    assert.equal(historyWords(0x131), 'slides, slides back, slides');
    assert.equal(historyWords(0xf0000001), 'slides, , , , , , , ?');
});

const impact = {
    time: 1,
    kind: 4,
    bodyA: 0,
    bodyB: -1,
    history: 0x21,
    law: 2,
    energyChange: -0.5,
    energyBefore: 2,
    frictionWork: -0.1,
    approachSpeed: 2.5,
};

test('an impact shows the bodies, the speed, the energy lost and where it went', () => {
    assert.equal(
        eventMessage(impact, () => 'ball'),
        'ball meets the world at 2.5 m/s',
    );
    assert.equal(
        eventDetail(impact),
        '−500 mJ (25 % of 2 J) · impact −400 mJ, friction −100 mJ · point slides, sticks · Stronge’s law',
    );
});

test('of two bodies the one that moves comes first', () => {
    const event = { ...impact, kind: 5, bodyA: 0, bodyB: 1 };
    const sentence = eventMessage(
        event,
        (n) => ['table', 'stone'][n],
        (n) => n === 0,
    );
    assert.equal(sentence, 'stone stays in contact with table');
});

test('an energy of rounding is no change', () => {
    assert.ok(!eventDetail({ ...impact, energyChange: 1e-16 }).includes('J'));
});

test('short numbers fit their room', () => {
    const cases = [0, 1, -0.0025123, 7.727e-15, -123456.7, 3.14159265, -9.8765e-101, 99999999];
    for (const value of cases) {
        const text = formatShort(value);
        assert.ok(text.length <= 8, text);
        const back = Number(text.replaceAll('−', '-'));
        assert.ok(Math.abs(back - value) <= 0.06 * Math.abs(value), text);
    }
});

test('kinds that this page does not know are still listed', () => {
    assert.match(
        eventMessage({ kind: 77, bodyA: 3, bodyB: -1 }, (n) => `b${n}`),
        /b3.*77/,
    );
});

test('the account names what moved energy, the largest first, and nothing else', () => {
    const columns = [
        { name: 'kinetic linear', group: 'energy' },
        { name: 'impact work', group: 'energy' },
        { name: 'friction work', group: 'energy' },
        { name: 'motor work', group: 'energy' },
        { name: 'impact work', group: 'probe' },
    ];
    const values = [10, -1, -3, 0, -9];
    assert.deepEqual(
        energyAccount(columns, (i) => values[i]),
        [
            { label: 'friction', value: -3 },
            { label: 'impacts', value: -1 },
        ],
    );
});

test('without a ledger the journal shows where the energy went', () => {
    const columns = [
        { name: 'work from outside', group: 'energy' },
        { name: 'impact work', group: 'energy' },
        { name: 'box.speed', group: 'probe' },
    ];
    assert.ok(hasLedger(columns, (i) => [0, 0, NaN][i]));
    assert.ok(!hasLedger(columns, (i) => [1, NaN, 1][i]));
    const events = [impact, { ...impact, time: 2 }, { ...impact, time: 3 }];
    assert.deepEqual(eventAccount(events, 2), [
        { label: 'impact', value: -0.8 },
        { label: 'friction', value: -0.2 },
    ]);
    assert.deepEqual(eventAccount(events, 0.5), []);
});
