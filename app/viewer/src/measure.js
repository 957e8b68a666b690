// Measuring by clicks: two points give a distance, three the angle at the second. Points stay on the
// bodies they were put on.

import * as THREE from 'three';
import { createMarks } from './arrows.js';
import { make } from './elements.js';
import { formatUnit } from './words.js';

const COLOR = '#0a7d4f';
const THIN = 0.0016; // of the distance of the camera
const POINTS_MAX = 3;

/** Angle at the second of three points, rad. */
export function angleOf([a, b, c]) {
    const [p, q] = [a, c].map((end) => end.map((x, i) => x - b[i]));
    const cross = [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
    return Math.atan2(Math.hypot(...cross), p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
}

/** What the points say. */
export function describe(points) {
    const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));
    if (points.length < 2) {
        return points.length === 1 ? 'Click a second point.' : 'Click a point.';
    }
    const [a, b, c] = points;
    const first = formatUnit(distance(a, b), 'm', 4);
    if (!c) {
        const way = b.map((x, i) => formatUnit(x - a[i], 'm', 3)).join(', ');
        return `${first} (${way})`;
    }
    const degrees = formatUnit((angleOf(points) * 180) / Math.PI, '°', 4);
    return `${degrees} · ${first}, ${formatUnit(distance(b, c), 'm', 4)}`;
}

export function createMeasure({ model, view }) {
    const marks = createMarks(view.scene);
    const label = make('div', { id: 'measure', className: 'pointer-label', role: 'status', hidden: true });
    document.body.append(label);
    const pose = new Float64Array(7);
    const [vector, turn] = [new THREE.Vector3(), new THREE.Quaternion()];
    let isOn = false;
    let points = []; // {body: number or null, local}

    function worldOf({ body, local }) {
        if (body === null) {
            return local;
        }
        if (!model.pose(body, pose)) {
            return null;
        }
        vector.set(...local).applyQuaternion(turn.set(pose[4], pose[5], pose[6], pose[3]));
        return [vector.x + pose[0], vector.y + pose[1], vector.z + pose[2]];
    }

    function draw() {
        const places = points.map(worldOf);
        if (places.includes(null)) {
            points = []; // a body is gone
            places.length = 0;
        }
        const size = THIN * view.camera.position.distanceTo(view.controls.target);
        marks.begin();
        places.forEach((place, i) => {
            marks.ball(place, 2.4 * size, COLOR);
            if (i > 0) {
                marks.line(places[i - 1], place, 0.9 * size, COLOR);
            }
        });
        marks.end();
        label.hidden = !isOn || !model.scene;
        const text = describe(places);
        if (label.textContent !== text) {
            label.textContent = text;
        }
        const at = places[1] ?? places[0];
        const place = at ? view.project(vector.set(...at)) : null;
        const free = document.getElementById('free').getBoundingClientRect();
        const [x, y] = place?.isVisible ? [place.x + 10, place.y + 10] : [free.left + 8, free.top + 8];
        label.style.transform = `translate(${Math.min(x, window.innerWidth - label.offsetWidth - 8)}px, ${y}px)`;
    }

    view.onDraw(draw);
    model.on('scene', () => {
        points = [];
    });

    return {
        get isOn() {
            return isOn;
        },
        get points() {
            return points.map(worldOf);
        },
        set(on) {
            isOn = on;
            points = [];
            view.requestDraw();
            model.emit('measure', on);
        },
        /** Takes a click on a body or a ground. @returns {boolean} whether it was for measuring */
        take({ body, point }) {
            if (!isOn || !point) {
                return isOn;
            }
            points = points.length === POINTS_MAX ? [] : points;
            const world = point.toArray();
            if (body && body.type !== 'static' && model.pose(body.number, pose)) {
                turn.set(pose[4], pose[5], pose[6], pose[3]).invert();
                vector.set(world[0] - pose[0], world[1] - pose[1], world[2] - pose[2]).applyQuaternion(turn);
                points.push({ body: body.number, local: vector.toArray() });
            } else {
                points.push({ body: null, local: world });
            }
            view.requestDraw();
            return true;
        },
    };
}
