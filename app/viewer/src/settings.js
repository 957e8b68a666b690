// Descriptions of settings for the panels. For worlds, engines and contacts the server sends them
// with the scene: key, type, range, unit, meaning. For materials, joints, motors and springs they
// are here. A key without a description is shown by its own name.

const settingWords = {
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

/** Keys that identify an object and are not settings. */
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

/** "restSpeed" in plain words: "rest speed". */
export function labelOf(key) {
    return key.replace(/([a-z])([A-Z])/g, (_, a, b) => `${a} ${b.toLowerCase()}`);
}

function choicesOf({ type, words, low, high, step }) {
    if (type === 'word') {
        return words;
    }
    return step > 0
        ? Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step)
        : undefined;
}

/** The data of a row for a setting described by the server. */
function wordsOf(setting) {
    const unit = setting.unit.replaceAll('^2', '²').replaceAll('^3', '³');
    return {
        label: labelOf(setting.key),
        unit: unit || undefined,
        title: setting.meaning,
        choices: choicesOf(setting),
    };
}

/**
 * [key, words] of everything in an object that can be shown as a setting.
 * @param {{key: string, type: string, unit: string, meaning: string}[]} [described] by the server
 */
export function listSettings(target, values, described = []) {
    const sent = new Map(described.map((setting) => [setting.key, wordsOf(setting)]));
    return Object.keys(values ?? {})
        .filter((key) => (sent.has(key) || !identity.has(key)) && isSetting(values[key]))
        .map((key) => [key, { label: key, ...(sent.get(key) ?? settingWords[target]?.[key]) }]);
}

function isSetting(value) {
    const isVector =
        Array.isArray(value) && value.length === 3 && value.every((x) => typeof x === 'number');
    return value === null || isVector || ['number', 'boolean', 'string'].includes(typeof value);
}

/** The maximum of a slider for a value: 1, 2 or 5 times a power of ten, at least twice the value. */
export function roundRange(value) {
    const wanted = Math.max(2 * Math.abs(value), 1e-9);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const factor = [1, 2, 5, 10].find((f) => f * power >= wanted * 0.999999) ?? 10;
    return factor * power;
}

/**
 * The range of a slider for a motor's set point: between the limits of its degree of freedom if it
 * has them, a full turn for angles, otherwise around the current value.
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
