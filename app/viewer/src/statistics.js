// How fast the page is: for diagnosis and for tests.

const WINDOW = 120; // drawn frames that count
const WARM_UP = 5; // first frames of a scene that do not: shaders are compiled

/** Values of the last drawn frames. */
export function createRing(size = WINDOW) {
    const values = new Float64Array(size);
    let count = 0;
    return {
        add(value) {
            values[count++ % size] = value;
        },
        mean() {
            const used = Math.min(count, size);
            let sum = 0;
            for (let i = 0; i < used; i++) {
                sum += values[i];
            }
            return used > 0 ? sum / used : 0;
        },
        max() {
            return count > 0 ? Math.max(...values.subarray(0, Math.min(count, size))) : 0;
        },
        /** The value with a share of the others below it; NaN: there is none. */
        quantile(share) {
            const sorted = values.slice(0, Math.min(count, size)).sort();
            return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
        },
        get count() {
            return count;
        },
        clear() {
            count = 0;
        },
    };
}

export function createStatistics({ model, source }) {
    const gaps = createRing();
    const works = createRing();
    let warmUp = WARM_UP;
    const messages = createRing();
    let lastWork = 0; // ms spent on messages until the last frame of the simulation
    model.on('scene', () => {
        warmUp = WARM_UP;
        [gaps, works, messages].forEach((ring) => ring.clear());
    });
    model.on('frame', () => {
        const { work = 0 } = source.stats;
        if (warmUp === 0) {
            messages.add(work - lastWork);
        }
        lastWork = work;
    });
    const values = {
        drawn: 0,
        /** ms from a drawn frame to the next, mean and largest of the last ones. */
        get frameTime() {
            return gaps.mean();
        },
        get frameTimeMax() {
            return gaps.max();
        },
        /** ms of that spent by this page, on poses and drawing. */
        get workTime() {
            return works.mean();
        },
        get workTimeMax() {
            return works.max();
        },
        /** ms of this page for a picture of a new frame, messages included: the middle one, and the least. */
        get pageTime() {
            return works.quantile(0.5) + messages.quantile(0.5);
        },
        get pageTimeMin() {
            return works.quantile(0) + messages.quantile(0);
        },
        /** How many pictures and frames these are of. */
        get pageCount() {
            return Math.min(works.count, messages.count);
        },
        get messages() {
            return source.stats.messages;
        },
        get bytes() {
            return source.stats.bytes;
        },
        get bytesPerBodyFrame() {
            return model.bytes.records > 0 ? model.bytes.frame / model.bytes.records : 0;
        },
    };
    return {
        values,
        /** @param {number} gap ms since the last drawing, 0: long ago @param {number} work ms */
        take(gap, work, isDrawn) {
            if (isDrawn) {
                values.drawn++;
            }
            if (isDrawn && warmUp > 0) {
                warmUp--;
            } else if (isDrawn) {
                works.add(work);
                if (gap > 0) {
                    gaps.add(gap);
                }
            }
        },
    };
}
