// Why the energy changed: the causes of a step of the plot, from the ledger, and the events in it.

import { make } from './elements.js';
import { indexAt } from './sampling.js';
import { energyAccount, eventMessage, formatEnergy, formatNumber, hasLedger } from './words.js';

const EVENTS_MAX = 100; // in the list; the largest

const signed = (value) => `${value > 0 ? '+' : ''}${formatEnergy(value)}`;

/**
 * @param {object} model
 * @param {number} from s @param {number} to s; samples at or beyond both are compared
 * @returns {{from: number, to: number, change: number, rows: {label: string, value: number}[],
 *            events: {event: object, index: number}[], left: number}|null}
 */
export function findCauses(model, from, to) {
    const { samples, columns, events } = model;
    if (samples.count < 2) {
        return null;
    }
    let first = indexAt(samples.time, samples.count, from);
    while (first > 0 && samples.time[first] > from) {
        first--;
    }
    let last = indexAt(samples.time, samples.count, to);
    while (last < samples.count - 1 && (samples.time[last] < to || last <= first)) {
        last++;
    }
    const change = (index) => samples.values[index][last] - samples.values[index][first];
    const total = columns.findIndex(({ group, name }) => group === 'energy' && name === 'total');
    const [begin, end] = [samples.time[first], samples.time[last]];
    const inside = events
        .map((event, index) => ({ event, index }))
        .filter(({ event }) => event.time > begin && event.time <= end && event.energyChange !== 0)
        .sort((a, b) => Math.abs(b.event.energyChange) - Math.abs(a.event.energyChange));
    return {
        from: begin,
        to: end,
        change: total >= 0 ? change(total) : NaN,
        rows: hasLedger(columns, change) ? energyAccount(columns, change) : [],
        events: inside.slice(0, EVENTS_MAX),
        left: Math.max(0, inside.length - EVENTS_MAX),
    };
}

/** The list next to the plot. */
export function createCauses(model, { go, close }) {
    const nameOf = (number) => model.known.get(number)?.name ?? `body ${number}`;
    const isFixed = (number) => model.known.get(number)?.type === 'static';

    function makeEvent({ event, index }) {
        const button = make(
            'button',
            { type: 'button', className: 'cause', 'data-index': `${index}` },
            make('span', { className: 'cause-change' }, signed(event.energyChange)),
            `${formatNumber(event.time, 6)} s: ${eventMessage(event, nameOf, isFixed)}`,
        );
        button.addEventListener('click', () => go(index));
        return button;
    }

    return (causes) => {
        const back = make('button', { type: 'button', className: 'cause-close' }, 'Columns');
        back.addEventListener('click', close);
        const span = `${formatNumber(causes.from, 5)} to ${formatNumber(causes.to, 5)} s`;
        const title = Number.isFinite(causes.change)
            ? `${span}: energy ${causes.change === 0 ? 'the same' : signed(causes.change)}`
            : span;
        const rows = causes.rows.map(({ label, value }) =>
            make(
                'li',
                { className: value < 0 ? 'is-taken' : 'is-given' },
                make('span', { className: 'cause-label' }, label),
                signed(value),
            ),
        );
        const none = make('p', {}, 'Nothing added or removed energy here.');
        const isEmpty = rows.length + causes.events.length === 0;
        return [
            make('div', { className: 'cause-head' }, make('h3', {}, title), back),
            ...(isEmpty ? [none] : [make('ul', { className: 'cause-rows' }, ...rows)]),
            ...causes.events.map(makeEvent),
            ...(causes.left > 0 ? [make('p', {}, `and ${causes.left} smaller events`)] : []),
        ];
    };
}
