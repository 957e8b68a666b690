// Poses of bodies in the last two frames, and between them.

const WIDTH = 7; // x, y, z, w, x, y, z
const GAP_MIN = 1 / 240; // s of wall time between frames
const GAP_MAX = 0.25;

/**
 * @param {() => number} now wall time in s
 * @param {(() => number)|undefined} getTime simulated time to show, if the source
 *     provides it; otherwise time advances from frame to frame at the rate they arrive
 */
export function createPoses(now, getTime) {
    let before = new Float32Array(64 * WIDTH).fill(NaN);
    let after = new Float32Array(64 * WIDTH).fill(NaN);
    let timeBefore = 0;
    let timeAfter = 0;
    let arrival = 0; // wall time of the newest frame
    let gap = 1 / 60; // s of wall time from frame to frame, smoothed
    let period = [0, 0, 0]; // m, edges of a periodic box about the origin; 0: none
    let isGoing = true; // time runs; otherwise the newest frame is shown at once
    let lastBodies = new Uint32Array(0); // those of the newest frame: what `before` lacks; null: many

    function grow(number) {
        const needed = (number + 1) * WIDTH;
        if (needed <= after.length) {
            return;
        }
        const size = Math.max(needed, after.length * 2);
        const [oldBefore, oldAfter] = [before, after];
        before = new Float32Array(size).fill(NaN);
        after = new Float32Array(size).fill(NaN);
        before.set(oldBefore);
        after.set(oldAfter);
    }

    function copyPose(from, to, number) {
        for (let i = number * WIDTH; i < (number + 1) * WIDTH; i++) {
            to[i] = from[i];
        }
    }

    /** Interpolates a coordinate along the shorter path through a periodic box, wrapped into it. */
    function between(a, b, part, length) {
        if (!(length > 0)) {
            return a + part * (b - a);
        }
        const way = b - a - length * Math.round((b - a) / length);
        const x = a + part * way;
        return x - length * Math.floor(x / length + 0.5);
    }

    /** Fraction of the time between the two frames, 0 to 1. */
    function share() {
        if (timeAfter === timeBefore || !isGoing) {
            return 1;
        }
        const part = getTime
            ? (getTime() - timeBefore) / (timeAfter - timeBefore)
            : (now() - arrival) / gap;
        return Math.min(1, Math.max(0, part));
    }

    return {
        clear() {
            before.fill(NaN);
            after.fill(NaN);
            timeBefore = timeAfter = 0;
            lastBodies = new Uint32Array(0);
        },

        remove(number) {
            if ((number + 1) * WIDTH <= after.length) {
                before.fill(NaN, number * WIDTH, (number + 1) * WIDTH);
                after.fill(NaN, number * WIDTH, (number + 1) * WIDTH);
            }
        },

        setPeriod(lengths) {
            period = lengths ?? [0, 0, 0];
        },

        setMoving(isOn) {
            isGoing = isOn;
        },

        take(frame, limit = Infinity) {
            const wall = now();
            const { poses, hasJumped } = frame;
            // of all others both poses are the same
            if (lastBodies === null) {
                before.set(after);
            } else {
                for (const number of lastBodies) {
                    copyPose(after, before, number);
                }
            }
            const { bodies } = frame;
            grow(bodies.length - 1);
            let isRow = bodies.length > 0; // bodies 0, 1, 2 and so on
            for (let i = 0; i < bodies.length; i++) {
                if (bodies[i] >= limit) {
                    throw new RangeError(`frame: there is no body ${bodies[i]}`);
                }
                if (bodies[i] !== i) {
                    isRow = false;
                    grow(bodies[i]);
                }
            }
            const [old, next] = [before, after]; // of this function: faster than those outside
            if (isRow) {
                next.set(poses);
            }
            for (let i = 0; i < bodies.length; i++) {
                const at = bodies[i] * WIDTH;
                for (let k = 0; k < WIDTH && !isRow; k++) {
                    next[at + k] = poses[i * WIDTH + k];
                }
                if (hasJumped || Number.isNaN(old[at])) {
                    copyPose(next, old, bodies[i]);
                }
            }
            if (frame.hasJumped || frame.time < timeAfter) {
                before.set(after);
                timeBefore = frame.time;
            } else {
                timeBefore = timeAfter;
                const passed = Math.min(GAP_MAX, Math.max(GAP_MIN, wall - arrival));
                gap += 0.15 * (passed - gap);
            }
            timeAfter = frame.time;
            arrival = wall;
            // the arrays of the frame may be used again
            lastBodies = bodies.length * WIDTH * 4 > after.length ? null : bodies.slice();
        },

        time() {
            return timeBefore + share() * (timeAfter - timeBefore);
        },

        newestTime() {
            return timeAfter;
        },

        /** Fraction of the time between the two frames that has passed: changes while time runs. */
        share,

        isMoving() {
            return share() < 1;
        },

        /** Some numbers of a pose in the newest frame, from the first of them; NaN: there is no such body. */
        newest(number, first, count) {
            const out = [];
            const at = number * WIDTH + first;
            for (let i = 0; i < count; i++) {
                out.push(at + i < after.length ? after[at + i] : NaN);
            }
            return out;
        },

        /** Poses of the bodies below a number in the newest frame; NaN: there is no such body. */
        newestOf(count) {
            if (count > 0) {
                grow(count - 1);
            }
            return after.slice(0, count * WIDTH);
        },

        /**
         * Matrices of the poses that are shown, in columns, 16 numbers for each body, of which the zeros of a pose must be there
         * already; zeros where there is no body. One loop for all: fifty thousand take two milliseconds.
         */
        writeMatrices(numbers, out, part = share()) {
            const [old, next] = [before, after]; // of this function: faster than those outside
            for (let i = 0; i < numbers.length; i++) {
                const at = numbers[i] * WIDTH;
                const to = 16 * i;
                const isThere = at + WIDTH <= next.length && !Number.isNaN(next[at]);
                if (!isThere) {
                    out.fill(0, to, to + 16);
                    continue;
                }
                let w = old[at + 3];
                let x = old[at + 4];
                let y = old[at + 5];
                let z = old[at + 6];
                const product = w * next[at + 3] + x * next[at + 4] + y * next[at + 5] + z * next[at + 6];
                const rest = product < 0 ? part - 1 : 1 - part;
                w = w * rest + part * next[at + 3];
                x = x * rest + part * next[at + 4];
                y = y * rest + part * next[at + 5];
                z = z * rest + part * next[at + 6];
                const s = 2 / (w * w + x * x + y * y + z * z);
                out[to] = 1 - s * (y * y + z * z);
                out[to + 1] = s * (x * y + w * z);
                out[to + 2] = s * (x * z - w * y);
                out[to + 4] = s * (x * y - w * z);
                out[to + 5] = 1 - s * (x * x + z * z);
                out[to + 6] = s * (y * z + w * x);
                out[to + 8] = s * (x * z + w * y);
                out[to + 9] = s * (y * z - w * x);
                out[to + 10] = 1 - s * (x * x + y * y);
                out[to + 12] = old[at] + part * (next[at] - old[at]);
                out[to + 13] = old[at + 1] + part * (next[at + 1] - old[at + 1]);
                out[to + 14] = old[at + 2] + part * (next[at + 2] - old[at + 2]);
                out[to + 15] = 1;
            }
        },

        /** Whether bodies leave a periodic box on one side and come back on the other. */
        get isPeriodic() {
            return period.some((length) => length > 0);
        },

        /** @param {number} part of the time between the frames: share(), which takes longer than the rest */
        shown(number, target, part = share()) {
            const at = number * WIDTH;
            if (at + WIDTH > after.length || Number.isNaN(after[at])) {
                return false;
            }
            for (let i = 0; i < 3; i++) {
                target[i] = between(before[at + i], after[at + i], part, period[i]);
            }
            let product = 0;
            for (let i = 3; i < 7; i++) {
                product += before[at + i] * after[at + i];
            }
            const sign = product < 0 ? -1 : 1;
            let square = 0;
            for (let i = 3; i < 7; i++) {
                target[i] = before[at + i] * (1 - part) * sign + part * after[at + i];
                square += target[i] * target[i];
            }
            const scale = 1 / Math.sqrt(square);
            for (let i = 3; i < 7; i++) {
                target[i] *= scale;
            }
            return true;
        },
    };
}
