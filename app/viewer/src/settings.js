// What the panels know of settings beyond their values: words, units, choices, ranges. Keys are
// those of scene files (docs/scene-format.md). A key that is not here is shown by its own name.

const rules = ['geometric', 'product', 'sum', 'mean', 'min', 'max'];
const laws = ['newton', 'poisson', 'stronge'];

export const settingWords = {
    world: {
        gravity: { label: 'gravity', unit: 'm/s²' },
        periodicBox: { label: 'periodic box', unit: 'm' },
    },
    step: {
        step: { label: 'step', unit: 's' },
        order: { label: 'order', choices: [2, 4, 6, 8, 10] },
        tolerance: { label: 'joint tolerance', unit: 'm, rad' },
        velocityTolerance: { label: 'velocity tolerance', unit: 'm/s' },
        accuracy: { label: 'accuracy', unit: 'm' },
        horizon: { label: 'horizon', unit: 's' },
        solver: { label: 'solver', choices: ['auto', 'iterative', 'direct', 'tree', 'cut'] },
        iterationsMax: { label: 'iterations at most' },
        halvingsMax: { label: 'halvings at most' },
        impulseMax: { label: 'largest impulse', unit: 'N s' },
        velocityCorrection: { label: 'velocity correction' },
        scheme: { label: 'scheme', choices: ['start', 'middle'] },
        method: {
            label: 'method',
            choices: ['impulses', 'penalty', 'multipliers', 'baraff', 'reduced'],
        },
    },
    event: {
        law: { label: 'law of impact', choices: laws },
        order: { label: 'order', choices: ['sequential', 'simultaneous'] },
        lasting: { label: 'lasting contact', choices: ['rest', 'microcollisions', 'none'] },
        combineRestitution: { label: 'restitution of two', choices: rules },
        combineFriction: { label: 'friction of two', choices: rules },
        tolerance: { label: 'tolerance', unit: 'm' },
        restTime: { label: 'rest after', unit: 's' },
        contactTime: { label: 'contact time', unit: 's' },
        eventsPerSecond: { label: 'events at most', unit: '1/s' },
    },
    contact: {
        tolerance: { label: 'tolerance', unit: 'm' },
        velocityTolerance: { label: 'velocity tolerance', unit: 'm/s' },
        shell: { label: 'shell', unit: 'm' },
        restSpeed: { label: 'no bounce below', unit: 'm/s' },
        law: { label: 'law of impact', choices: laws },
        combineRestitution: { label: 'restitution of two', choices: rules },
        combineFriction: { label: 'friction of two', choices: rules },
        sweepsMax: { label: 'sweeps at most' },
        warmStart: { label: 'warm start' },
        jointReaction: { label: 'joint reaction' },
        shockAfter: { label: 'shock after sweeps' },
        freezeSpeed: { label: 'freeze below', unit: 'm/s' },
        freezeTime: { label: 'freeze after', unit: 's' },
        partSpeed: { label: 'parting at most', unit: 'm/s' },
        contactTime: { label: 'contact time', choices: ['step', 'interpolation', 'bisection'] },
        method: { label: 'method', choices: ['impulses', 'penalty'] },
        cone: { label: 'cone of friction', choices: ['exact', 'pyramid'] },
        facets: { label: 'facets' },
    },
    material: {
        density: { label: 'density', unit: 'kg/m³' },
        restitution: { label: 'restitution', range: [0, 1] },
        friction: { label: 'friction', range: [0, 2] },
        stiction: { label: 'stiction', range: [0, 2] },
        rolling: { label: 'rolling', unit: 'm' },
        spinning: { label: 'spinning', unit: 'm' },
    },
    joint: {
        stiffness: { label: 'stiffness', units: { angle: 'N m/rad', travel: 'N/m' } },
        rest: { label: 'rest position', units: { angle: 'rad', travel: 'm' } },
        damping: { label: 'damping', units: { angle: 'N m s/rad', travel: 'N s/m' } },
        friction: { label: 'dry friction', units: { angle: 'N m', travel: 'N' } },
        lower: { label: 'lower limit', units: { angle: 'rad', travel: 'm' } },
        upper: { label: 'upper limit', units: { angle: 'rad', travel: 'm' } },
        restitution: { label: 'restitution of stops', range: [0, 1] },
    },
    motor: {
        gain: { label: 'gain' },
        integralTime: { label: 'integral time', unit: 's' },
        derivativeTime: { label: 'derivative time', unit: 's' },
        window: { label: 'window', unit: 's' },
        forceMax: { label: 'largest force', units: { angle: 'N m', travel: 'N' } },
    },
    spring: {
        stiffness: { label: 'stiffness', unit: 'N/m' },
        damping: { label: 'damping', unit: 'N s/m' },
        restLength: { label: 'rest length', unit: 'm' },
    },
};

/** Keys that say what something is and are no settings. */
const identity = new Set([
    'name',
    'number',
    'type',
    'kind',
    'freedoms',
    'motor',
    'freedom',
    'target',
    'joint',
]);

/** [key, words] of everything in an object that can be shown as a setting. */
export function listSettings(target, values) {
    return Object.keys(values ?? {})
        .filter((key) => !identity.has(key) && isSetting(values[key]))
        .map((key) => [key, { label: key, ...settingWords[target]?.[key] }]);
}

function isSetting(value) {
    const isVector =
        Array.isArray(value) && value.length === 3 && value.every((x) => typeof x === 'number');
    return value === null || isVector || ['number', 'boolean', 'string'].includes(typeof value);
}

/** The largest slider value about a value: 1, 2 or 5 times a power of ten, at least twice it. */
export function roundRange(value) {
    const wanted = Math.max(2 * Math.abs(value), 1e-9);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const factor = [1, 2, 5, 10].find((f) => f * power >= wanted * 0.999999) ?? 10;
    return factor * power;
}

/**
 * The range of a slider for a motor's set point: between the limits of its freedom where it has
 * them, a turn for angles, else about the present value.
 * @param {{type: string, target: number}} motor
 * @param {{kind?: string, lower?: number|null, upper?: number|null}} freedom
 */
export function motorRange(motor, freedom) {
    const target = motor.target ?? 0;
    const isPosition = motor.type === 'position';
    let lower = -Infinity;
    let upper = Infinity;
    if (isPosition) {
        lower = freedom.lower ?? -Infinity;
        upper = freedom.upper ?? Infinity;
        const free = freedom.kind === 'angle' ? Math.PI : Math.max(roundRange(target), 1);
        lower = Number.isFinite(lower)
            ? lower
            : Math.min(-free, Number.isFinite(upper) ? upper - 2 * free : -free);
        upper = Number.isFinite(upper) ? upper : Math.max(free, lower + free);
    } else {
        const size = Math.max(roundRange(target), freedom.kind === 'angle' ? 10 : 1);
        lower = -size;
        upper = size;
    }
    return [Math.min(lower, target), Math.max(upper, target)];
}

export function motorUnit(motor, freedom) {
    const base = freedom.kind === 'travel' ? 'm' : 'rad';
    return motor.type === 'position' ? base : `${base}/s`;
}
