// Springs as coils between their ends.

import * as THREE from 'three';
import { placeAnchor } from './rods.js';

const TURNS = 9;
const STRAIGHT = 0.12; // share of the length at each end that is not wound
const WIDTH = 0.022; // radius of a coil, of the scene's radius
const WIRE = 0.2; // radius of the wire, of the radius of the coil
const LENGTH = 24; // of the unscaled coil, in radii: at about this length the wire is round
const UP = new THREE.Vector3(0, 0, 1);

/** A line wound about z. */
class Coil extends THREE.Curve {
    getPoint(t, target = new THREE.Vector3()) {
        const wound = Math.min(1, Math.max(0, (t - STRAIGHT) / (1 - 2 * STRAIGHT)));
        const radius = Math.min(1, 12 * Math.min(wound, 1 - wound));
        const angle = 2 * Math.PI * TURNS * wound;
        return target.set(radius * Math.cos(angle), radius * Math.sin(angle), LENGTH * t);
    }
}

/**
 * @param {object} model @param {() => {radius: number}} getFrame size of the scene
 * @param {() => {mark: string}} getPalette
 */
export function createSprings(model, getFrame, getPalette) {
    const group = new THREE.Group();
    const material = new THREE.MeshLambertMaterial();
    const geometry = new THREE.TubeGeometry(new Coil(), TURNS * 20, WIRE, 6);
    const [from, to, way] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];

    return {
        group,
        update() {
            material.color.set(getPalette().mark);
            while (group.children.length > model.springs.length) {
                group.remove(group.children.at(-1));
            }
            while (group.children.length < model.springs.length) {
                const mesh = new THREE.Mesh(geometry, material);
                mesh.castShadow = true;
                mesh.frustumCulled = false;
                group.add(mesh);
            }
            const width = WIDTH * getFrame().radius;
            model.springs.forEach((spring, i) => {
                const mesh = group.children[i];
                const isThere =
                    placeAnchor(model, spring.bodyA, spring.anchorA, from) &&
                    placeAnchor(model, spring.bodyB, spring.anchorB, to);
                const length = way.subVectors(to, from).length();
                mesh.visible = isThere && length > 0;
                if (mesh.visible) {
                    mesh.position.copy(from);
                    mesh.quaternion.setFromUnitVectors(UP, way.divideScalar(length));
                    mesh.scale.set(width, width, length / LENGTH);
                }
            });
        },
    };
}
