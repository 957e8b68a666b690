// Names in the view: of bodies, at their centers, and of the axes of the world.

import * as THREE from 'three';
import { make } from './elements.js';

const LABELS_MAX = 60; // more cannot be read

export function createLabels(model, view) {
    const layer = make('div', { id: 'labels', 'aria-hidden': 'true' });
    document.getElementById('view').append(layer);
    const point = new THREE.Vector3();
    const pool = [];
    let used = 0;

    function put(text, at, className) {
        const place = view.project(at);
        if (!place.isVisible || used >= LABELS_MAX) {
            return;
        }
        if (used === pool.length) {
            pool.push(make('span'));
            layer.append(pool.at(-1));
        }
        const label = pool[used++];
        if (label.textContent !== text) {
            label.textContent = text;
        }
        label.className = className;
        label.hidden = false;
        label.style.transform = `translate(${place.x.toFixed(1)}px, ${place.y.toFixed(1)}px) translate(-50%, -50%)`;
    }

    return {
        /** @param {{bodies: boolean, axes: number}} what axes: length of those of the world; 0: none */
        draw({ bodies, axes }) {
            used = 0;
            if (axes > 0) {
                ['x', 'y', 'z'].forEach((name, i) => {
                    put(name, point.set(0, 0, 0).setComponent(i, axes * 1.12), 'axis');
                });
            }
            for (const body of bodies ? model.bodies.values() : []) {
                const isNamed = body.type !== 'static' && view.solids.isShown(body.number);
                if (isNamed && view.centerOf(body.number, point)) {
                    put(body.name, point, '');
                }
            }
            for (let i = used; i < pool.length; i++) {
                pool[i].hidden = true;
            }
        },
    };
}
