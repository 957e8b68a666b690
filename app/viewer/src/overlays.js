// Overlays for what a body does not show: contacts, impulses, joints, axes, bounds, trails, rays.
// Each has a switch and a key.

import * as THREE from 'three';
import { createLines, createMarks } from './arrows.js';
import { make } from './elements.js';
import { findAfter } from './model.js';
import { formatUnit } from './words.js';
import { frictionOf } from './friction.js';
import { boundsOf, colorOf, matrixOf } from './shapes.js';
import { createLabels } from './labels.js';
import { createTrails } from './trails.js';

const COLORS = {
    contact: '#111827',
    sticking: '#b45309',
    normal: '#64748b',
    force: '#e11d48',
    impulse: '#f59e0b',
    joint: '#3b4350',
    axis: '#0f766e',
    error: '#dc2626',
    jointForce: '#7c3aed',
    spring: '#3b4350',
    x: '#dc2626',
    y: '#16a34a',
    z: '#2563eb',
    bounds: '#334155',
    ray: '#38bdf8',
    reverseRay: '#a78bfa',
    missedRay: '#cbd5e1',
    hit: '#f59e0b',
    shortest: '#dc2626',
    highlight: '#ff8a00',
};
/** On a dark ground. */
const COLORS_DARK = {
    ...COLORS,
    contact: '#f1f5f9',
    sticking: '#fbbf24',
    normal: '#b6c2d2',
    joint: '#cbd5e1',
    axis: '#5eead4',
    jointForce: '#c4a1ff',
    force: '#ff6b86',
    spring: '#cbd5e1',
    bounds: '#cbd5e1',
    missedRay: '#64748b',
};
const THIN = 0.0016; // thickness of marks, of the distance of the camera
const ARROW_MAX = 0.3; // longest arrow, of the radius of the scene
const FADES = 0.6; // s of real time for which an impulse is visible
const REFERENCE_DECAY = 0.985; // of the largest force seen, from drawing to drawing
const EVENT_MARK_MAX = 400;

/** Name of each overlay, its title and what the server must send for it. */
const KINDS = [
    { name: 'contacts', title: 'Contacts', help: 'points, normals and forces of contacts' },
    { name: 'impulses', title: 'Impulses', help: 'impulses of recent events' },
    { name: 'joints', title: 'Joints', help: 'points, axes, forces and errors of joints' },
    { name: 'axes', title: 'Axes', help: 'axes of the bodies' },
    { name: 'bounds', title: 'Bounds', help: 'bounding boxes of the bodies' },
    { name: 'trail', title: 'Trail', help: 'path of the selected body' },
    { name: 'trails', title: 'All trails', help: 'paths of all bodies' },
    { name: 'rays', title: 'Rays', help: 'rays of the pair that touches next, and where they hit' },
    { name: 'labels', title: 'Labels', help: 'names of the bodies' },
    { name: 'cones', title: 'Cones', help: 'friction cones of contacts: a force on the cone slides' },
];

/** 1, 2 or 5 times a power of ten, not below a number. */
export function roundUp(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-12)) * power;
}

/**
 * Scales vectors so that the largest recent one has a length that fits the scene: linearly, with a
 * round number for the longest arrow, so that lengths can be compared and read.
 */
export function createScale() {
    let reference = 0;
    return {
        /** What an arrow of the greatest length stands for; 0: nothing was seen yet. */
        get full() {
            return reference > 0 ? roundUp(reference) : 0;
        },
        take(vectors) {
            reference *= REFERENCE_DECAY;
            for (const v of vectors) {
                reference = Math.max(reference, Math.hypot(v[0], v[1], v[2]));
            }
        },
        /** The vector to draw for one of a given size. */
        apply(v, longest) {
            const scale = reference > 0 ? longest / this.full : 0;
            return [v[0] * scale, v[1] * scale, v[2] * scale];
        },
        reset() {
            reference = 0;
        },
    };
}

export function createOverlays({ model, view, theme }) {
    const element = document.getElementById('overlays');
    const group = new THREE.Group();
    view.scene.add(group);
    const marks = createMarks(group);
    const lines = createLines(group);
    const trails = createTrails(model, view);
    const labels = createLabels(model, view);
    const isOn = Object.fromEntries(KINDS.map(({ name }) => [name, false]));
    const contactScale = createScale();
    const impulseScale = createScale();
    const jointScale = createScale();
    const legend = make('div', { id: 'scale', role: 'status', hidden: true });
    document.getElementById('low').append(legend);
    const pose = new Float64Array(7);
    const color = new THREE.Color();
    let colors = COLORS;
    let thickness = 1;
    let longest = 1;

    /** Normal and force point from A to B; for a body on the ground, those acting on the body are shown. */
    function drawContacts() {
        contactScale.take(model.contacts.map((contact) => contact.force));
        for (const { bodyA, bodyB, point, normal, force, isSticking } of model.contacts) {
            const isOnA =
                model.bodies.get(bodyA)?.type === 'dynamic' &&
                model.bodies.get(bodyB)?.type !== 'dynamic';
            const sign = isOnA ? -1 : 1;
            marks.ball(point, thickness * 2.2, isSticking ? colors.sticking : colors.contact);
            const tip = point.map((x, i) => x + sign * normal[i] * longest * 0.12);
            marks.line(point, tip, thickness * 0.6, colors.normal);
            const shown = contactScale.apply(force, sign * longest);
            marks.arrow(point, shown, thickness, colors.force);
        }
    }

    /** Forces on a body lie inside of the cone about its normal while it sticks, and on it while it slides. */
    function drawCones() {
        const height = longest * 0.35;
        for (const { bodyA, bodyB, point, normal } of model.contacts) {
            const friction = frictionOf(model, bodyA, bodyB);
            if (friction > 0) {
                const isOnA = model.bodies.get(bodyA)?.type === 'dynamic' && model.bodies.get(bodyB)?.type !== 'dynamic';
                const axis = isOnA ? normal.map((x) => -x) : normal;
                marks.cone(point, axis, height, height * friction, colors.sticking);
            }
        }
    }

    /** Events within the last moment of real time, at the current speed. */
    function drawImpulses() {
        const { time, events, state } = model;
        const fades = FADES * Math.max(state.speed, 1e-6);
        const end = findAfter(events, time);
        const start = Math.max(findAfter(events, time - fades), end - EVENT_MARK_MAX);
        const recent = events.slice(start, end).filter((event) => Math.hypot(...event.impulse) > 0);
        impulseScale.take(recent.map((event) => event.impulse));
        for (const event of recent) {
            const left = 1 - (time - event.time) / fades;
            const width = thickness * (0.3 + 1.2 * left);
            const vector = impulseScale.apply(event.impulse, longest * (0.4 + 0.6 * left));
            color.set(colors.impulse).lerp(new THREE.Color('#ffffff'), 0.6 * (1 - left));
            const shade = `#${color.getHexString()}`;
            marks.ball(event.point, width * 1.8, shade);
            marks.arrow(event.point, vector, width, shade);
        }
    }

    function drawJoints() {
        jointScale.take(model.jointStates.map((joint) => joint.force));
        for (const joint of model.jointStates) {
            const { pointA, pointB, axis } = joint;
            marks.ball(pointA, thickness * 3, colors.joint);
            marks.ball(pointB, thickness * 3, colors.joint);
            // A rod has the length it should have; a joint whose points should coincide is open.
            const apart = Math.hypot(...pointA.map((x, i) => x - pointB[i]));
            const isOpen = Math.abs(apart - Math.abs(joint.positionError)) < 0.01 * apart;
            marks.line(pointA, pointB, thickness * 1.2, isOpen ? colors.error : colors.joint);
            if (Math.hypot(...axis) > 0.5) {
                const half = longest * 0.3;
                marks.line(
                    pointB.map((x, i) => x - axis[i] * half),
                    pointB.map((x, i) => x + axis[i] * half),
                    thickness,
                    colors.axis,
                );
            }
            marks.arrow(
                pointB,
                jointScale.apply(joint.force, longest),
                thickness,
                colors.jointForce,
            );
        }
    }

    function drawAxes() {
        // those of the world, at its origin
        ['x', 'y', 'z'].forEach((name, i) => {
            const way = [0, 0, 0];
            way[i] = longest;
            marks.arrow([0, 0, 0], way, thickness * 1.4, colors[name]);
        });
        for (const body of model.bodies.values()) {
            if (body.type === 'static' || !model.pose(body.number, pose)) {
                continue;
            }
            const m = matrixOf([pose[3], pose[4], pose[5], pose[6]]);
            const length = Math.max(view.solids.radius(body), longest * 0.05) * 1.2;
            ['x', 'y', 'z'].forEach((name, i) => {
                marks.arrow(
                    [pose[0], pose[1], pose[2]],
                    [m[i] * length, m[3 + i] * length, m[6 + i] * length],
                    thickness,
                    colors[name],
                );
            });
        }
    }

    function drawBounds() {
        for (const body of model.bodies.values()) {
            const bounds = model.pose(body.number, pose) ? bodyBounds(body, pose) : null;
            if (bounds) {
                color.set(body.type === 'static' ? colors.bounds : colorOf(body.number, body.type));
                addBox(bounds, color);
            }
        }
    }

    function bodyBounds(body) {
        const bounds = {
            min: [Infinity, Infinity, Infinity],
            max: [-Infinity, -Infinity, -Infinity],
        };
        const m = matrixOf([pose[3], pose[4], pose[5], pose[6]]);
        for (const shape of body.shapes ?? []) {
            const geometry = model.geometries[shape.geometry];
            const place = shape.position ?? [0, 0, 0];
            const own = geometry
                ? boundsOf(geometry, product(m, matrixOf(shape.orientation ?? [1, 0, 0, 0])))
                : null;
            for (let i = 0; own && i < 3; i++) {
                const middle =
                    pose[i] +
                    m[3 * i] * place[0] +
                    m[3 * i + 1] * place[1] +
                    m[3 * i + 2] * place[2];
                bounds.min[i] = Math.min(bounds.min[i], middle + own.min[i]);
                bounds.max[i] = Math.max(bounds.max[i], middle + own.max[i]);
            }
        }
        return Number.isFinite(bounds.min[0]) ? bounds : null;
    }

    function addBox({ min, max }, shade) {
        const corner = (k) => [
            k & 1 ? max[0] : min[0],
            k & 2 ? max[1] : min[1],
            k & 4 ? max[2] : min[2],
        ];
        for (let k = 0; k < 8; k++) {
            for (const bit of [1, 2, 4]) {
                if (!(k & bit)) {
                    lines.add(corner(k), corner(k | bit), shade, 0.9);
                }
            }
        }
    }

    function drawHighlight() {
        const what = model.highlighted;
        if (!what?.point) {
            return;
        }
        marks.ball(what.point, thickness * 4, colors.highlight);
        const vector = what.impulse && Math.hypot(...what.impulse) > 0 ? what.impulse : what.normal;
        if (vector) {
            const size = Math.hypot(...vector) || 1;
            marks.arrow(
                what.point,
                vector.map((x) => (x / size) * longest),
                thickness * 1.6,
                colors.highlight,
            );
        }
    }

    function drawTrails() {
        trails.draw(lines, isOn.trails ? 'all' : isOn.trail ? 'selected' : 'none');
    }

    /** Thin lines, dots where they hit; the shortest, which sets the contact time, is thick. */
    function drawRays() {
        for (const ray of model.rays) {
            const aim = ray.isReverse ? colors.reverseRay : colors.ray;
            lines.add(ray.start, ray.end, color.set(ray.isHit ? aim : colors.missedRay), 0.8);
            if (ray.isHit && !ray.isShortest) {
                marks.ball(ray.end, thickness * (ray.isRefined ? 0.5 : 0.8), colors.hit);
            }
            if (ray.isShortest) {
                marks.line(ray.start, ray.end, thickness * 0.8, colors.shortest);
                marks.ball(ray.end, thickness * 2.2, colors.shortest);
            }
        }
    }

    const drawers = {
        contacts: drawContacts,
        impulses: drawImpulses,
        joints: drawJoints,
        axes: drawAxes,
        bounds: drawBounds,
        rays: drawRays,
        cones: drawCones,
    };

    function draw() {
        colors = theme.isDark ? COLORS_DARK : COLORS;
        thickness = THIN * view.camera.position.distanceTo(view.controls.target);
        longest = ARROW_MAX * view.frame.radius;
        marks.begin();
        lines.begin();
        for (const [name, fn] of Object.entries(drawers)) {
            if (isOn[name]) {
                fn();
            }
        }
        drawTrails();
        drawHighlight();
        labels.draw({ bodies: isOn.labels, axes: isOn.axes ? longest : 0 });
        marks.end();
        lines.end();
        showScale();
    }

    /** How long an arrow of a round size is, in the middle of the view. */
    function showScale() {
        const scales = [
            ['contacts', contactScale, 'N', colors.force, 'contact force'],
            ['impulses', impulseScale, 'N s', colors.impulse, 'impulse'],
            ['joints', jointScale, 'N', colors.jointForce, 'joint force'],
        ].filter(([name, scale]) => isOn[name] && scale.full > 0);
        const { camera, canvas, controls } = view;
        const far = camera.position.distanceTo(controls.target);
        const tall = 2 * far * Math.tan((camera.fov * Math.PI) / 360);
        const pixels = Math.round((longest / tall) * canvas.clientHeight);
        const key = JSON.stringify([pixels, scales.map(([name, scale]) => [name, scale.full]), colors.force]);
        legend.hidden = scales.length === 0;
        if (legend.dataset.key === key) {
            return;
        }
        legend.dataset.key = key;
        legend.replaceChildren(
            ...scales.map(([name, scale, unit, shade, label]) => {
                const bar = make('span', { className: 'bar' });
                bar.style.width = `${Math.min(pixels, 200)}px`;
                bar.style.background = shade;
                const text = `${label} ${formatUnit(scale.full, unit, 3)}`;
                return make('span', { className: 'scale', 'data-scale': name }, bar, text);
            }),
        );
    }

    const buttons = KINDS.map(({ name, title, help }, i) => {
        const button = make(
            'button',
            { 'data-overlay': name, title: `${help} (${(i + 1) % 10})`, 'aria-pressed': 'false' },
            make('kbd', {}, String((i + 1) % 10)),
            title,
        );
        button.addEventListener('click', () => set(name, !isOn[name]));
        return button;
    });
    element.append(...buttons);

    function set(name, on) {
        isOn[name] = on;
        const button = buttons[KINDS.findIndex((kind) => kind.name === name)];
        button.setAttribute('aria-pressed', String(on));
        model.want('overlays', {
            contacts: isOn.contacts || isOn.cones,
            joints: isOn.joints,
            rays: isOn.rays,
        });
        view.requestDraw();
    }

    view.onDraw(draw);
    model.on('scene', () => {
        element.hidden = false;
        // only where contact is found by them
        buttons[KINDS.findIndex(({ name }) => name === 'rays')].hidden =
            model.scene?.detector !== 'rays';
        [contactScale, impulseScale, jointScale].forEach((scale) => scale.reset());
        legend.hidden = true;
    });
    model.on('hello', (message) => {
        element.hidden = !message.scene;
    });
    return {
        isOn,
        set,
        /** Switches the overlay of an index in the list. */
        toggle(index) {
            if (KINDS[index]) {
                set(KINDS[index].name, !isOn[KINDS[index].name]);
            }
        },
    };
}

/** Product of two matrices by rows. */
function product(a, b) {
    const c = new Array(9);
    for (let i = 0; i < 3; i++) {
        for (let k = 0; k < 3; k++) {
            c[3 * i + k] = a[3 * i] * b[k] + a[3 * i + 1] * b[3 + k] + a[3 * i + 2] * b[6 + k];
        }
    }
    return c;
}
