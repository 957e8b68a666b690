// Readable numbers.

/** A time in s with the digits that matter for a span. */
export function formatTime(time, span) {
    if (!Number.isFinite(time)) {
        return '–';
    }
    const digits = span > 0 ? Math.min(6, Math.max(2, 3 - Math.floor(Math.log10(span)))) : 2;
    return time.toFixed(digits);
}

/** A factor such as a speed: 1, 0.05, 2.5, 0.002. */
export function formatFactor(value) {
    if (!Number.isFinite(value)) {
        return '–';
    }
    return String(Number(value.toPrecision(2)));
}

/** A count with its noun. */
export function formatCount(count, one, many) {
    return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
