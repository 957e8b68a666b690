// Keeps moving bodies in view until the user takes control of the camera: the view grows to a
// larger sphere and never shrinks, so that it settles.

const GROWTH_MAX = 6; // times the radius at the start; bodies farther away are ignored
const OUT_SHARE = 0.25; // of the bodies may be out of view
const EDGE = 0.94; // of the window from its middle to its edge
const RATE = 3; // 1/s, of the remaining distance

/**
 * The smallest ball around a ball and a point.
 * @param {{center: number[], radius: number}} ball @param {number[]} point
 */
export function growBall({ center, radius }, point) {
    const way = point.map((x, i) => x - center[i]);
    const distance = Math.hypot(...way);
    if (distance <= radius) {
        return { center, radius };
    }
    const larger = (radius + distance) / 2;
    return {
        center: center.map((x, i) => x + (way[i] * (larger - radius)) / distance),
        radius: larger,
    };
}

/**
 * @param {{look: (view: object) => void}} stage
 * @param {{isIn: (point: number[], edge: number) => boolean}} window what is in view now
 */
export function createAttention(stage, window) {
    let start = null; // the view of the scene
    let goal = null; // ball that should be in view
    let now = null; // ball that is in view
    let isFree = true; // the user has not moved the camera
    let isHeld = false; // something is dragged: the view under the pointer must not move

    return {
        reset(view) {
            start = view;
            goal = now = { center: view.center, radius: view.radius };
            isFree = true;
        },

        release() {
            isFree = false;
        },

        get isFree() {
            return isFree && start !== null;
        },

        /** Looks again, after the window has changed. */
        look() {
            stage.look({ ...start, ...now });
        },

        hold(isOn) {
            isHeld = isOn;
        },

        /**
         * @param {number[][]} centers of the bodies that move @param {number} dt s
         * @returns {boolean} whether the camera was moved
         */
        update(centers, dt) {
            if (!isFree || isHeld || !start) {
                return false;
            }
            const out = centers.filter((point) => !window.isIn(point, EDGE));
            if (out.length > OUT_SHARE * centers.length) {
                for (const point of out) {
                    const larger = growBall(goal, point);
                    goal = larger.radius <= GROWTH_MAX * start.radius ? larger : goal;
                }
            }
            const left = goal.radius - now.radius;
            if (left <= 0) {
                return false;
            }
            const share = left < 0.003 * goal.radius ? 1 : 1 - Math.exp(-RATE * dt);
            now =
                share === 1
                    ? goal
                    : {
                          center: now.center.map((x, i) => x + share * (goal.center[i] - x)),
                          radius: now.radius + share * left,
                      };
            stage.look({ ...start, ...now });
            return true;
        },
    };
}
