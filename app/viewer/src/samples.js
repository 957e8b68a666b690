// Data of the plots: a table of numbers that grows with time.

/** A table whose rows have a time; columns of the scene message. */
export function createSamples() {
    const samples = {
        columns: [],
        count: 0,
        time: new Float64Array(1024),
        values: [], // one Float64Array per column; valid up to count

        reset(columns) {
            samples.columns = columns;
            samples.count = 0;
            samples.time = new Float64Array(1024);
            samples.values = columns.map(() => new Float64Array(1024));
        },

        take(message) {
            if (message.columns !== samples.columns.length) {
                throw new RangeError(
                    `samples: ${message.columns} columns, not the ` +
                        `${samples.columns.length} of the scene`,
                );
            }
            if (message.replacesAll) {
                samples.count = 0;
            }
            while (samples.count + message.rows > samples.time.length) {
                grow();
            }
            const width = message.columns + 1;
            const last = samples.count - 1;
            if (last >= 0 && message.rows > 0 && samples.time[last] === message.values[0]) {
                samples.count = last; // a row with the same time replaces it
            }
            for (let row = 0; row < message.rows; row++) {
                const at = samples.count + row;
                samples.time[at] = message.values[row * width];
                for (let column = 0; column < message.columns; column++) {
                    samples.values[column][at] = message.values[row * width + 1 + column];
                }
            }
            samples.count += message.rows;
        },

        /** Removes rows after a time. */
        drop(time) {
            while (samples.count > 0 && samples.time[samples.count - 1] > time) {
                samples.count--;
            }
        },

        latest(name) {
            let index = samples.columns.findIndex((column) => column.name === name);
            if (index < 0) {
                index = samples.columns.findIndex((column) => column.group === name);
            }
            return index < 0 || samples.count === 0
                ? NaN
                : samples.values[index][samples.count - 1];
        },
    };

    function grow() {
        const twice = (old) => {
            const values = new Float64Array(old.length * 2);
            values.set(old);
            return values;
        };
        samples.time = twice(samples.time);
        samples.values = samples.values.map(twice);
    }
    return samples;
}
