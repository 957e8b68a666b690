// Commands of sliders and pointers arrive faster than a simulation replies: in each lane one command
// is in flight, and a newer waiting command replaces an older one.

/**
 * @param {(command: object) => Promise<{ok: boolean, error?: string}>} send
 * @returns {(lane: string, command: object, isKept?: boolean) =>
 *           Promise<{ok: boolean, error?: string}|null>}
 *          null: a newer command replaced it. Kept ones are never replaced (the start and the
 *          end of a drag), and the order is kept.
 */
export function createLatest(send) {
    const lanes = new Map();

    async function run(lane) {
        lane.isBusy = true;
        while (lane.queue.length > 0) {
            const { command, settle } = lane.queue.shift();
            try {
                settle(await send(command));
            } catch (error) {
                settle({ ok: false, error: error.message });
            }
        }
        lane.isBusy = false;
    }

    return (name, command, isKept = false) => {
        if (!lanes.has(name)) {
            lanes.set(name, { isBusy: false, queue: [] });
        }
        const lane = lanes.get(name);
        const last = lane.queue.at(-1);
        if (last && !last.isKept && !isKept) {
            lane.queue.pop();
            last.settle(null);
        }
        return new Promise((settle) => {
            lane.queue.push({ command, settle, isKept });
            if (!lane.isBusy) {
                run(lane);
            }
        });
    };
}
