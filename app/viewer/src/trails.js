// Paths of bodies. Positions are stored for every body while frames arrive, so that a trail is
// available as soon as it is switched on.

import * as THREE from 'three';
import { colorOf } from './shapes.js';

const LENGTH = 600; // points of a trail
const BODY_MAX = 300; // bodies with a trail when all are shown
const PLACE_MAX = 150000; // of all together

export function createTrails(model, view) {
    let trails = new Map(); // number -> {points: Float32Array, count}
    let lastTime = -Infinity;
    let moving = null; // bodies that are not static; null: not known
    const color = new THREE.Color();
    const center = new THREE.Vector3();

    /** Center of mass of a body in the newest frame. */
    function newestCenter(body) {
        const [x, y, z] = body.position;
        const [qw, qx, qy, qz] = body.orientation;
        center.set(...(body.center ?? [0, 0, 0]));
        center.applyQuaternion(new THREE.Quaternion(qx, qy, qz, qw));
        return center.set(center.x + x, center.y + y, center.z + z);
    }

    function add(body, length) {
        const point = newestCenter(body);
        if (Number.isNaN(point.x)) {
            return;
        }
        let trail = trails.get(body.number);
        if (!trail) {
            trail = { points: new Float32Array(3 * length), length, count: 0 };
            trails.set(body.number, trail);
        }
        point.toArray(trail.points, 3 * (trail.count % trail.length));
        trail.count++;
    }

    function take() {
        const time = model.frameTime;
        if (time <= lastTime) {
            trails = new Map();
        }
        lastTime = time;
        moving ??= [...model.bodies.values()].filter((body) => body.type !== 'static');
        const length = Math.max(
            60,
            Math.min(LENGTH, Math.floor(PLACE_MAX / Math.max(1, moving.length))),
        );
        const first = moving.slice(0, BODY_MAX);
        const selected = model.bodies.get(model.selected);
        first.forEach((body) => add(body, length));
        if (selected && selected.type !== 'static' && !first.includes(selected)) {
            add(selected, length);
        }
    }

    function drawOne(lines, number) {
        const trail = trails.get(number);
        const body = model.bodies.get(number);
        if (!trail || !body) {
            return;
        }
        color.set(colorOf(number, body.type));
        const used = Math.min(trail.count, trail.length);
        const point = (i) => {
            const at = 3 * ((trail.count - used + i) % trail.length);
            return trail.points.subarray(at, at + 3);
        };
        for (let i = 0; i + 1 < used; i++) {
            lines.add(
                point(i),
                point(i + 1),
                color,
                0.05 + (0.9 * i) / used,
                0.05 + (0.9 * (i + 1)) / used,
            );
        }
        const now = used > 0 ? view.centerOf(number, center) : null;
        if (now) {
            lines.add(point(used - 1), [now.x, now.y, now.z], color, 0.95);
        }
    }

    model.on('frame', (frame) => {
        if (frame.hasJumped) {
            lastTime = Infinity;
        }
        take();
    });
    model.on('scene', () => {
        trails = new Map();
        lastTime = -Infinity;
        moving = null;
    });
    model.on('bodies', () => {
        moving = null;
    });

    return {
        /** @param {object} lines @param {'none'|'selected'|'all'} which */
        draw(lines, which) {
            if (which === 'all') {
                [...trails.keys()].forEach((number) => drawOne(lines, number));
            } else if (which === 'selected' && model.selected !== null) {
                drawOne(lines, model.selected);
            }
        },
    };
}
