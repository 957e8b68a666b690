// Curves to compare with: runs that the user kept, and references from tables. By names of columns.

const KEPT_MAX = 4;
const ROWS_MAX = 1_000_000;

function rangeOf(values) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
        if (Number.isFinite(value)) {
            low = Math.min(low, value);
            high = Math.max(high, value);
        }
    }
    return { low, high };
}

/** Fields of a line of a table; quotes as in CSV. */
function splitLine(line) {
    return [...line.matchAll(/("(?:[^"]|"")*"|[^,;\t]*)(?:[,;\t]|$)/g)]
        .map(([, field]) => field.trim().replace(/^"(.*)"$/, '$1').replaceAll('""', '"'))
        .slice(0, line.split(/[,;\t]/).length);
}

/** "total [J]" is "total". */
const plain = (name) => name.replace(/\s*[[(][^\])]*[\])]\s*$/, '').trim();

/**
 * A table: the first column is the time, the first line has the names. Lines of comments begin with #.
 * @returns {{times: Float64Array, columns: {name: string, values: Float64Array}[]}}
 */
export function parseTable(text) {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
    const names = splitLine(lines[0] ?? '').map(plain);
    const rows = lines
        .slice(1, ROWS_MAX)
        .map((line) => splitLine(line).map((field) => (field === '' ? NaN : Number(field))))
        .filter(([time]) => Number.isFinite(time));
    return {
        times: Float64Array.from(rows, ([time]) => time),
        columns: names.slice(1).map((name, i) => ({ name, values: Float64Array.from(rows, (row) => row[i + 1] ?? NaN) })),
    };
}

export function createCurves(model) {
    let curves = []; // {name, times, values, low, high, isReference}
    let keptCount = 0;
    let sceneName = '';
    model.on('scene', ({ name }) => {
        if (name !== sceneName) {
            sceneName = name;
            curves = [];
            keptCount = 0;
        }
    });
    return {
        get count() {
            return curves.length;
        },
        of: (name) => curves.filter((curve) => curve.name === name),
        clear() {
            curves = [];
            keptCount = 0;
        },
        /** Keeps what was sampled so far. */
        keep() {
            const { samples, columns } = model;
            if (samples.count === 0 || keptCount === KEPT_MAX) {
                return;
            }
            keptCount++;
            const times = samples.time.slice(0, samples.count);
            columns.forEach(({ name }, i) => {
                const values = samples.values[i].slice(0, samples.count);
                curves.push({ name, times, values, isReference: false, ...rangeOf(values) });
            });
        },
        /** @returns {number} of columns that belong to a plot */
        addTable(file, text) {
            const { times, columns } = parseTable(text);
            const known = new Set(model.columns.map(({ name }) => name));
            const added = columns.filter(({ name }) => known.has(name) && times.length > 0);
            added.forEach(({ name, values }) => curves.push({ name, times, values, isReference: true, ...rangeOf(values) }));
            return added.length;
        },
    };
}
