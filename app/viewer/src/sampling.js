// Samples over time: searching, interpolating, and thinning for a screen. No DOM.

/** First index of `count` rising times that is at or after `time`. */
export function lowerBound(times, count, time) {
    let low = 0;
    let high = count;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (times[middle] < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** The value at a time, on the straight line between the samples around it; NaN without samples. */
export function valueAt(times, values, count, time) {
    if (count === 0) {
        return NaN;
    }
    const after = lowerBound(times, count, time);
    if (after >= count) {
        return values[count - 1];
    }
    if (after === 0 || times[after] === time) {
        return values[after];
    }
    const share = (time - times[after - 1]) / (times[after] - times[after - 1]);
    return values[after - 1] + share * (values[after] - values[after - 1]);
}

/** Value as stored at the last sample not after the time. */
export function indexAt(times, count, time) {
    const after = lowerBound(times, count, time);
    return after < count && times[after] === time ? after : Math.max(after - 1, 0);
}

function thinColumn(values, bounds, transform, out) {
    for (let bucket = 0; bucket + 1 < bounds.length; bucket++) {
        let least = Infinity;
        let greatest = -Infinity;
        let leastAt = -1;
        let greatestAt = -1;
        for (let i = bounds[bucket]; i < bounds[bucket + 1]; i++) {
            const value = transform ? transform(values[i]) : values[i];
            if (value < least) {
                least = value;
                leastAt = i;
            }
            if (value > greatest) {
                greatest = value;
                greatestAt = i;
            }
        }
        if (leastAt < 0) {
            out[2 * bucket] = null;
            out[2 * bucket + 1] = null;
            continue;
        }
        out[2 * bucket] = leastAt <= greatestAt ? least : greatest;
        out[2 * bucket + 1] = leastAt <= greatestAt ? greatest : least;
    }
}

/**
 * Samples from..to (indices) for `pixels` columns of a screen: [times, values...]. When there are
 * many, each bucket keeps its minimum and maximum, so that no spike is lost.
 * @param {Float64Array} times
 * @param {Float64Array[]} columns
 * @param {{from: number, to: number, pixels: number, transform?: (value: number) => number}} range
 */
export function thin(times, columns, { from, to, pixels, transform }) {
    const count = to - from;
    if (count <= 2 * pixels) {
        const slice = (values) =>
            Array.from(values.subarray(from, to), (value) => {
                const shown = transform ? transform(value) : value;
                return Number.isFinite(shown) ? shown : null;
            });
        return [times.slice(from, to), ...columns.map(slice)];
    }
    const bounds = new Int32Array(pixels + 1);
    for (let bucket = 0; bucket <= pixels; bucket++) {
        bounds[bucket] = from + Math.floor((bucket * count) / pixels);
    }
    const shownTimes = new Float64Array(2 * pixels);
    for (let bucket = 0; bucket < pixels; bucket++) {
        shownTimes[2 * bucket] = times[bounds[bucket]];
        shownTimes[2 * bucket + 1] = times[bounds[bucket + 1] - 1];
    }
    return [
        shownTimes,
        ...columns.map((values) => {
            const out = new Array(2 * pixels);
            thinColumn(values, bounds, transform, out);
            return out;
        }),
    ];
}

/**
 * Calls fn at most once in `interval` ms, and always once after the last request.
 * @returns {() => void}
 */
export function throttle(fn, interval, clock = () => performance.now(), later = setTimeout) {
    let last = -Infinity;
    let isWaiting = false;
    return () => {
        if (isWaiting) {
            return;
        }
        const wait = last + interval - clock();
        isWaiting = true;
        later(
            () => {
                isWaiting = false;
                last = clock();
                fn();
            },
            Math.max(wait, 0),
        );
    };
}
