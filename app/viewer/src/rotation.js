// Orientations as quaternions [w, x, y, z] and as angles for input. No DOM.

const degree = Math.PI / 180;

export function normalize(q) {
    const size = Math.hypot(...q);
    return size > 0 ? q.map((value) => value / size) : [1, 0, 0, 0];
}

export function multiply(a, b) {
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ];
}

export function rotate(q, v) {
    const [, x, y, z] = multiply(multiply(q, [0, ...v]), [q[0], -q[1], -q[2], -q[3]]);
    return [x, y, z];
}

/** Degrees [roll, pitch, yaw]: turned by yaw about z, then by pitch about y, then roll about x. */
export function toAngles(q) {
    const [w, x, y, z] = normalize(q);
    const sine = Math.max(-1, Math.min(1, 2 * (w * y - z * x)));
    let roll = 0;
    let yaw;
    if (Math.abs(sine) > 1 - 1e-12) {
        // At the pole only the combination of yaw and roll is defined: all of it counts as yaw.
        yaw = -2 * Math.sign(sine) * Math.atan2(x, w);
    } else {
        roll = Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y));
        yaw = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
    }
    return [roll / degree, Math.asin(sine) / degree, yaw / degree];
}

export function fromAngles([roll, pitch, yaw]) {
    const about = (axis, angle) => {
        const q = [Math.cos((angle * degree) / 2), 0, 0, 0];
        q[axis] = Math.sin((angle * degree) / 2);
        return q;
    };
    return normalize(multiply(multiply(about(3, yaw), about(2, pitch)), about(1, roll)));
}
