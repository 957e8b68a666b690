// Events as marks on a line: several in one place become one taller mark.

import { EVENT_KINDS } from './protocol.js';

const KIND_OF = {
    impact: 'impact',
    microcollision: 'impact',
    impulse: 'hand',
    'set state': 'hand',
    rest: 'rest',
    lasting: 'rest',
    wake: 'rest',
};
const RANK = ['other', 'impact', 'rest', 'hand']; // of several in one place the last is shown

/**
 * @param {{time: number, kind: number}[]} events in order of time
 * @param {number} span s, of the whole line
 * @param {number} binCount places on the line
 * @returns {{at: number, kind: string, count: number, height: number}[]} height from 0 to 1
 */
export function binEvents(events, span, binCount) {
    if (!(span > 0) || binCount < 1) {
        return [];
    }
    const bins = new Map();
    let most = 1;
    for (const event of events) {
        const at = Math.min(binCount - 1, Math.max(0, Math.floor((event.time / span) * binCount)));
        const kind = KIND_OF[EVENT_KINDS[event.kind]] ?? 'other';
        const bin = bins.get(at);
        if (!bin) {
            bins.set(at, { at, kind, count: 1 });
            continue;
        }
        bin.count++;
        most = Math.max(most, bin.count);
        if (RANK.indexOf(kind) > RANK.indexOf(bin.kind)) {
            bin.kind = kind;
        }
    }
    return [...bins.values()].map((bin) => ({
        ...bin,
        height: 0.25 + 0.75 * (Math.log(1 + bin.count) / Math.log(1 + most)),
    }));
}
