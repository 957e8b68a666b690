// Computes the strength of a push.

/**
 * A length of time that suits a scene: in it something falls about the radius of the view. An
 * arrow of some length means a push after which the body would go that far in this time.
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

/** The arrow that a click without drawing stands for: into the body, a quarter of the view long. */
export function clickArrow(normal, radius) {
    return normal.map((value) => -value * radius * 0.25);
}

/** Time in which a dragged point is to reach the pointer: a few frames, whatever the speed is. */
export function dragDuration(state) {
    const frameStep = state.frameStep > 0 ? state.frameStep : 1 / 60;
    return Math.max(4 * frameStep, 1e-6);
}
