// Joints: small marks at their anchors, and rods where they hold a body from a distance. The
// pictures of the program show the same (app/render/picture_links.c).

import * as THREE from 'three';
import { createBatch, createShaft } from './arrows.js';

const LINKS_MAX = 4000; // above this number no joints are drawn
const MARK = 0.017; // radius of a mark, of the scene's radius
const MARK_OF_BODY = 0.3; // but at most this fraction of a body
const ROD = 0.008; // radius of a rod, of the scene's radius
const REACH = 1.02; // an anchor farther from a body than this times its radius is distant
const HAS_NO_POINT = ['translation', 'direction', 'double-rotation'];
const FIXED_IN_BOTH = ['ball', 'hinge', 'hinge-points', 'universal', 'fixed', 'distance'];
const UP = new THREE.Vector3(0, 0, 1);

const pose = new Float64Array(7);
const turn = new THREE.Quaternion();

/**
 * World coordinates of a point of a body, or of the world (body -1).
 * @returns {boolean} false: the body does not exist
 */
export function placeAnchor(model, body, anchor, target) {
    target.set(...(anchor ?? [0, 0, 0]));
    if (body < 0) {
        return true;
    }
    if (!model.pose(body, pose)) {
        return false;
    }
    target.applyQuaternion(turn.set(pose[4], pose[5], pose[6], pose[3]));
    target.set(target.x + pose[0], target.y + pose[1], target.z + pose[2]);
    return true;
}

export function createRods(model, solids, getFrame, getPalette) {
    const group = new THREE.Group();
    const material = new THREE.MeshLambertMaterial();
    const rods = createBatch(group, createShaft(), material, { castShadow: true });
    const balls = createBatch(group, new THREE.SphereGeometry(1, 16, 10), material, {
        castShadow: true,
    });
    const [pointA, pointB, center, way] = [0, 1, 2, 3].map(() => new THREE.Vector3());
    const [scale, rotation] = [new THREE.Vector3(), new THREE.Quaternion()];

    function addRod(from, to, radius) {
        const length = way.subVectors(to, from).length();
        if (length > 0) {
            rotation.setFromUnitVectors(UP, way.divideScalar(length));
            rods.add(from, rotation, scale.set(radius, radius, length), getPalette().mark);
        }
    }

    /** A rod from the center of a body to an anchor outside it. @returns {number} body's radius */
    function hold(number, anchor, point, radius) {
        const body = model.bodies.get(number);
        if (!body || body.type !== 'dynamic') {
            return Infinity;
        }
        const size = solids.radius(body);
        if (
            Math.hypot(...anchor) > REACH * size &&
            placeAnchor(model, number, body.center, center)
        ) {
            addRod(center, point, radius);
        }
        return size > 0 ? size : Infinity;
    }

    function addJoint(joint, unit) {
        const { bodyA, bodyB, anchorA, anchorB, type } = joint;
        if (
            !anchorA ||
            !anchorB ||
            HAS_NO_POINT.includes(type) ||
            !placeAnchor(model, bodyA, anchorA, pointA) ||
            !placeAnchor(model, bodyB, anchorB, pointB)
        ) {
            return;
        }
        let size = hold(bodyB, anchorB, pointB, ROD * unit);
        if (FIXED_IN_BOTH.includes(type)) {
            size = Math.min(size, hold(bodyA, anchorA, pointA, ROD * unit));
        }
        if (type === 'distance') {
            addRod(pointA, pointB, ROD * unit);
        }
        const radius = Math.min(MARK * unit, MARK_OF_BODY * size);
        balls.add(
            type === 'distance' ? pointA : pointB,
            rotation.identity(),
            scale.setScalar(radius),
            getPalette().mark,
        );
    }

    return {
        group,
        update() {
            rods.begin();
            balls.begin();
            if (model.joints.length <= LINKS_MAX) {
                model.joints.forEach((joint) => addJoint(joint, getFrame().radius));
            }
            rods.end();
            balls.end();
        },
    };
}
