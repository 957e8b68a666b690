// Computes the strength of a push.

/**
 * A time scale of a scene: the time of a fall through about the radius of the view. A push moves
 * the body by the length of its arrow in this time.
 */
export function sceneTime(radius, gravity) {
    const size = Math.hypot(...(gravity ?? [0, 0, 0]));
    return Math.sqrt(Math.max(radius, 1e-9) / Math.max(size, 1));
}

/**
 * Impulse (N s) for an arrow (m) drawn at a body of a mass.
 * @param {number[]} arrow @param {{mass: number, time: number, strength: number}} push
 */
export function impulseOf(arrow, { mass, time, strength }) {
    return arrow.map((value) => (value * mass * strength) / time);
}

/** The arrow of a click without a drag: into the body, a quarter of the view long. */
export function clickArrow(normal, radius) {
    return normal.map((value) => -value * radius * 0.25);
}

/** Time in which a dragged point should reach the pointer: a few frames, at any speed. */
export function dragDuration(state) {
    const frameStep = state.frameStep > 0 ? state.frameStep : 1 / 60;
    return Math.max(4 * frameStep, 1e-6);
}
