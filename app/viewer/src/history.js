// What this page has seen: the poses of all bodies at the frames that arrived, for files with the
// motion and for the comparison with the branch before. An action in the past begins another branch;
// what was there is kept as the branch before.

const WIDTH = 7; // x, y, z, w, x, y, z
const NUMBERS_MAX = 12_000_000; // of both branches: 48 MB

/** Index of the last time that is not above a given one; -1: none. */
export function lastAt(times, time) {
    let low = 0;
    let high = times.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1;
}

export function createHistory(model) {
    let frames = []; // {time, poses}, times ascending
    let before = []; // the branch before
    let isFull = false;

    function take() {
        const time = model.frameTime;
        if (isFull || (frames.length > 0 && time <= frames.at(-1).time)) {
            return; // rewound: these frames are there already
        }
        if ((frames.length + before.length + 1) * model.bodyLimit * WIDTH > NUMBERS_MAX) {
            isFull = true;
            return;
        }
        frames.push({ time, poses: model.newestPoses() });
    }

    function reset() {
        frames = [];
        before = [];
        isFull = false;
    }

    model.on('scene', reset);
    model.on('frame', take);
    model.on('drop', ({ time }) => {
        const end = lastAt(frames.map((one) => one.time), time) + 1;
        if (end < frames.length) {
            before = frames;
            frames = frames.slice(0, end);
            isFull = false;
            model.emit('branch', before);
        }
    });

    return {
        get frames() {
            return frames;
        },
        get hasBranch() {
            return before.length > 0;
        },
        /** Writes the pose of a body in the branch before, at a time; false: it did not exist. */
        poseBefore(number, time, target) {
            const frame = before[Math.max(0, lastAt(before.map((one) => one.time), time + 1e-9))];
            const at = number * WIDTH;
            if (!frame || at + WIDTH > frame.poses.length || Number.isNaN(frame.poses[at])) {
                return false;
            }
            target.set(frame.poses.subarray(at, at + WIDTH));
            return true;
        },
    };
}
