// Text for numbers, units and events: no DOM, so that tests can use it.

/** Names of rbEventKind, in its order: label in the list, and color of its mark. */
export const eventKinds = [
    { name: 'impulse', label: 'push', color: '#8250df' },
    { name: 'set state', label: 'set', color: '#8250df' },
    { name: 'motion fallback', label: 'other integrator', color: '#6e7781' },
    { name: 'tolerance missed', label: 'tolerance missed', color: '#cf222e' },
    { name: 'impact', label: 'impact', color: '#bc4c00' },
    { name: 'microcollision', label: 'microcollision', color: '#d4a72c' },
    { name: 'lasting contact', label: 'contact lasts', color: '#1a7f37' },
    { name: 'rest', label: 'at rest', color: '#0969da' },
    { name: 'wake', label: 'wakes', color: '#1b7c83' },
    { name: 'parted', label: 'parted', color: '#cf222e' },
];

const unknownKind = { name: 'unknown', label: 'unknown', color: '#6e7781' };

export function eventKind(kind) {
    return eventKinds[kind] ?? unknownKind;
}

const kindOf = Object.fromEntries(eventKinds.map((kind, index) => [kind.name, index]));

/** rbImpactPhase, in its order; four bits each in a history, the first in the lowest bits. */
const phases = [
    '',
    'slides',
    'sticks',
    'slides back',
    'slides without friction',
    'returns',
    'is boosted',
    'found by a ray',
    'gains energy by the law',
];

export const impactLaws = ['Newton', 'Poisson', 'Stronge'];

/** What the contact point did during an impact: "slides, sticks". */
export function historyWords(history) {
    const words = [];
    for (let rest = history >>> 0; rest !== 0; rest >>>= 4) {
        words.push(phases[rest & 15] ?? '?');
    }
    return words.join(', ');
}

/** A number with about `digits` digits, easy to read: 0.00125, 1.5e-9, 12300. */
export function formatNumber(value, digits = 4) {
    if (value === undefined || value === null || Number.isNaN(value)) {
        return '–';
    }
    if (!Number.isFinite(value)) {
        return value > 0 ? '∞' : '−∞';
    }
    const size = Math.abs(value);
    if (size === 0) {
        return '0';
    }
    if (size < 1e-4 || size >= 1e7) {
        const [mantissa, exponent] = value.toExponential(Math.max(digits - 1, 0)).split('e');
        const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
        return `${short}e${Number(exponent)}`.replaceAll('-', '−');
    }
    const decimals = Math.min(Math.max(digits - 1 - Math.floor(Math.log10(size)), 0), 12);
    const text = value.toFixed(decimals);
    return (text.includes('.') ? text.replace(/\.?0+$/, '') : text).replace('-', '−');
}

/** The same in at most `room` characters where that is possible. */
export function formatShort(value, room = 8) {
    for (let digits = 4; digits > 1; digits--) {
        const text = formatNumber(value, digits);
        if (text.length <= room) {
            return text;
        }
    }
    return formatNumber(value, 1);
}

export function formatUnit(value, unit, digits = 4) {
    return unit ? `${formatNumber(value, digits)} ${unit}` : formatNumber(value, digits);
}

/** Energies span many decades: uses the prefix that makes them short. */
export function formatEnergy(joules, digits = 3) {
    const size = Math.abs(joules);
    const prefixes = [
        [1e9, 'GJ'],
        [1e6, 'MJ'],
        [1e3, 'kJ'],
        [1, 'J'],
        [1e-3, 'mJ'],
        [1e-6, 'µJ'],
        [1e-9, 'nJ'],
    ];
    const found = size >= 1e12 ? undefined : prefixes.find(([scale]) => size >= scale * 0.99995);
    return found
        ? formatUnit(joules / found[0], found[1], digits)
        : formatUnit(joules, 'J', digits);
}

export function formatVector(vector, digits = 3) {
    return vector ? `(${Array.from(vector, (x) => formatNumber(x, digits)).join(', ')})` : '–';
}

export function length(vector) {
    return Math.hypot(vector[0], vector[1], vector[2]);
}

function signedEnergy(joules) {
    return (joules > 0 ? '+' : '') + formatEnergy(joules);
}

const sentences = {
    impulse: (a) => `${a} is pushed`,
    'set state': (a) => `${a} is set`,
    'motion fallback': (a) => `${a} uses another integrator than requested`,
    'tolerance missed': (a) => `${a} missed its tolerance`,
    impact: (a, b, event) =>
        event.approachSpeed > 0
            ? `${a} meets ${b} at ${formatUnit(event.approachSpeed, 'm/s', 3)}`
            : `${a} meets ${b}`,
    microcollision: (a, b) => `${a} stays in contact with ${b}`,
    'lasting contact': (a, b) => `${a} stops bouncing on ${b}`,
    rest: (a) => `${a} comes to rest`,
    wake: (a) => `${a} is released`,
    parted: (a, b) => `${a} and ${b} overlapped and were separated`,
};

/**
 * One line: which body did what; of two bodies the moving one comes first.
 * @param {(number: number) => string} nameOf
 * @param {(number: number) => boolean} isFixed
 */
export function eventMessage(event, nameOf, isFixed = () => false) {
    const name = (number) => (number >= 0 ? nameOf(number) : 'the world');
    const isTurned = event.bodyB >= 0 && isFixed(event.bodyA) && !isFixed(event.bodyB);
    const [a, b] = isTurned
        ? [name(event.bodyB), name(event.bodyA)]
        : [name(event.bodyA), name(event.bodyB)];
    const sentence = sentences[eventKind(event.kind).name];
    return sentence ? sentence(a, b, event) : `${a}: event of kind ${event.kind}`;
}

/** Second line: energy change and where it went, motion of the contact point, impact law. */
export function eventDetail(event) {
    const parts = [];
    const noise = 1e-10 * Math.max(event.energyBefore, 0); // rounding of the energies
    if (Math.abs(event.energyChange) > noise) {
        let text = signedEnergy(event.energyChange);
        if (event.energyBefore > 0) {
            const share = Math.abs(event.energyChange) / event.energyBefore;
            text += ` (${formatNumber(share * 100, 2)} % of ${formatEnergy(event.energyBefore)})`;
        }
        parts.push(text);
        if (event.frictionWork !== 0) {
            const normal = event.energyChange - event.frictionWork;
            parts.push(
                `impact ${signedEnergy(normal)}, friction ${signedEnergy(event.frictionWork)}`,
            );
        }
    }
    const history = historyWords(event.history ?? 0);
    if (history) {
        parts.push(`point ${history}`);
    }
    if (event.kind === kindOf.impact && impactLaws[event.law]) {
        parts.push(`${impactLaws[event.law]}’s law`);
    }
    return parts.join(' · ');
}

/** Ledger columns of energy added since the start, by cause (negative: removed). */
const energyMovers = {
    'work from outside': 'forces and user',
    'motor work': 'motors',
    'impact work': 'impacts',
    'friction work': 'friction',
    'microcollision work': 'microcollisions',
    dissipation: 'damping',
    'rest work': 'coming to rest',
    drift: 'numerics',
};

/**
 * Where the energy went: rows {label, value}, the largest first.
 * @param {{name: string, group: string}[]} columns @param {(index: number) => number} valueOf
 */
export function energyAccount(columns, valueOf) {
    const rows = [];
    columns.forEach(({ name, group }, index) => {
        const label = group === 'energy' ? energyMovers[name] : undefined;
        const value = label ? valueOf(index) : 0;
        if (Number.isFinite(value) && value !== 0) {
            rows.push({ label, value });
        }
    });
    return rows.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

/** Whether the complete ledger is available: recordings have only a part of it. */
export function hasLedger(columns, valueOf) {
    return columns.every(
        ({ name, group }, index) =>
            group !== 'energy' || !energyMovers[name] || Number.isFinite(valueOf(index)),
    );
}

/** The same accounting from the journal: energy removed by its events up to a time (sorted by time). */
export function eventAccount(events, time) {
    const sums = new Map();
    const add = (label, value) => sums.set(label, (sums.get(label) ?? 0) + value);
    for (const event of events) {
        if (event.time > time) {
            break;
        }
        add(eventKind(event.kind).label, event.energyChange - event.frictionWork);
        add('friction', event.frictionWork);
    }
    return Array.from(sums, ([label, value]) => ({ label, value }))
        .filter(({ value }) => Number.isFinite(value) && value !== 0)
        .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

/** "kg m^2/s" -> "kg m²/s". */
export function prettyUnit(unit) {
    return (unit ?? '').replaceAll('^2', '²').replaceAll('^3', '³').replaceAll('^-1', '⁻¹');
}
