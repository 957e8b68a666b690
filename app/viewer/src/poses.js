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
    let lastBodies = new Uint32Array(0); // those of the newest frame: what `before` lacks

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
            for (const number of lastBodies) {
                copyPose(after, before, number);
            }
            for (let i = 0; i < frame.bodies.length; i++) {
                const number = frame.bodies[i];
                if (number >= limit) {
                    throw new RangeError(`frame: there is no body ${number}`);
                }
                grow(number);
                for (let k = 0; k < WIDTH; k++) {
                    after[number * WIDTH + k] = frame.poses[i * WIDTH + k];
                }
                if (frame.hasJumped || Number.isNaN(before[number * WIDTH])) {
                    copyPose(after, before, number);
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
            lastBodies = frame.bodies;
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

        newest(number) {
            if ((number + 1) * WIDTH > after.length) {
                return new Array(WIDTH).fill(NaN);
            }
            return Array.from(after.subarray(number * WIDTH, (number + 1) * WIDTH));
        },

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
