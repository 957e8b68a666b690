// Plots as files: a table of all samples, and a drawing.

const [WIDTH, HEIGHT] = [960, 540]; // of the drawing
const AREA = { left: 80, right: 20, top: 20, bottom: 46 };
const LEGEND = 20; // height of a row

const escape = (text) =>
    String(text).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** A field of a table: quoted where it must be. */
const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/**
 * A table with a line for every sample, with all digits.
 * @param {ArrayLike<number>} times @param {{name: string, unit: string, values: ArrayLike<number>}[]} series
 * @param {{from: number, to: number}} range of samples
 */
export function toCsv(times, series, { from, to }) {
    const head = ['time [s]', ...series.map(({ name, unit }) => `${name}${unit ? ` [${unit}]` : ''}`)];
    const lines = [head.map(field).join()];
    for (let i = from; i < to; i++) {
        lines.push([times[i], ...series.map(({ values }) => values[i])].map(String).join());
    }
    return `${lines.join('\n')}\n`;
}

/** Round numbers between two: [1, 1.5, 2]. */
export function ticksOf(low, high, count = 6) {
    const step = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(step));
    const unit = [1, 2, 5, 10].find((factor) => factor * power >= step * 0.999) * power;
    const ticks = [];
    for (let k = Math.ceil(low / unit - 1e-9); k * unit <= high + 1e-9 * unit; k++) {
        ticks.push(Number((k * unit).toPrecision(12)));
    }
    return ticks;
}

/** Low and high of finite values; never equal. */
function rangeOf(series, from, to) {
    let [low, high] = [Infinity, -Infinity];
    for (const { values } of series) {
        for (let i = from; i < to; i++) {
            if (Number.isFinite(values[i])) {
                low = Math.min(low, values[i]);
                high = Math.max(high, values[i]);
            }
        }
    }
    if (low > high) {
        return [0, 1];
    }
    return low < high ? [low, high] : [low - 1, high + 1];
}

/** A line of a drawing; breaks where a value is not finite. */
function pathOf(times, values, { from, to }, x, y) {
    let path = '';
    let isDown = false;
    const stride = Math.max(1, Math.floor((to - from) / 4000));
    for (let i = from; i < to; i += i + stride < to ? stride : Math.max(1, to - 1 - i)) {
        if (Number.isFinite(values[i])) {
            path += `${isDown ? 'L' : 'M'}${x(times[i]).toFixed(2)} ${y(values[i]).toFixed(2)}`;
        }
        isDown = Number.isFinite(values[i]);
    }
    return path;
}

/**
 * A drawing of the same, in SVG, with axes and a legend. Logarithmic: values that are not positive are left out.
 * @param {{title: string, isLog: boolean, from: number, to: number}} options
 */
export function toSvg(times, series, { title, isLog, from, to }) {
    const scaled = isLog
        ? series.map((one) => ({
              ...one,
              values: Array.from(one.values, (v) => (v > 0 ? Math.log10(v) : NaN)),
          }))
        : series;
    const [low, high] = rangeOf(scaled, from, to);
    const [begin, end] = [times[from], Math.max(times[to - 1], times[from] + 1e-12)];
    const bottom = HEIGHT - AREA.bottom;
    const x = (t) => AREA.left + ((t - begin) / (end - begin)) * (WIDTH - AREA.left - AREA.right);
    const y = (v) => bottom - ((v - low) / (high - low)) * (bottom - AREA.top);
    const line = (x1, y1, x2, y2) =>
        `<line x1="${x1.toFixed(2)}" y1="${y1.toFixed(2)}" x2="${x2.toFixed(2)}" y2="${y2.toFixed(2)}" stroke="#dde2e8"/>`;
    const text = (px, py, anchor, words) =>
        `<text x="${px.toFixed(2)}" y="${py.toFixed(2)}" text-anchor="${anchor}">${escape(words)}</text>`;
    const grid = [
        ...ticksOf(begin, end).map(
            (t) => line(x(t), AREA.top, x(t), bottom) + text(x(t), bottom + 18, 'middle', t),
        ),
        ...ticksOf(low, high).map(
            (v) =>
                line(AREA.left, y(v), WIDTH - AREA.right, y(v)) +
                text(AREA.left - 8, y(v) + 4, 'end', isLog ? `1e${v}` : v),
        ),
    ];
    const units = [...new Set(series.map(({ unit }) => unit || '1'))].join(', ');
    const total = HEIGHT + 10 + LEGEND * series.length;
    return [
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${total}" font-family="sans-serif" font-size="13">`,
        `<title>${escape(title)}</title>`,
        `<rect width="${WIDTH}" height="${total}" fill="#fff"/>`,
        ...grid,
        text(WIDTH / 2, HEIGHT - 8, 'middle', 'time [s]'),
        text(8, 14, 'start', units),
        ...scaled.map(
            ({ values, color }) =>
                `<path d="${pathOf(times, values, { from, to }, x, y)}" fill="none" stroke="${escape(color)}" stroke-width="1.5"/>`,
        ),
        ...series.map(
            ({ name, unit, color }, i) =>
                `<rect x="${AREA.left}" y="${HEIGHT + LEGEND * i}" width="18" height="4" fill="${escape(color)}"/>` +
                text(AREA.left + 26, HEIGHT + LEGEND * i + 6, 'start', unit ? `${name} [${unit}]` : name),
        ),
        '</svg>',
        '',
    ].join('\n');
}

/** Lets the browser save a text. */
export function saveText(name, type, text) {
    saveFile(name, new Blob([text], { type }));
}

/** Lets the browser save bytes. */
export function saveFile(name, blob) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
