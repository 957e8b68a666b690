// Arrows, balls and lines in varying numbers, drawn over the bodies.

import * as THREE from 'three';

const UP = new THREE.Vector3(0, 0, 1);

/** A cylinder along z from 0 to 1, of radius 1: a rod, or an arrow without its head. */
export function createShaft() {
    return new THREE.CylinderGeometry(1, 1, 1, 8, 1).rotateX(Math.PI / 2).translate(0, 0, 0.5);
}

function createHead() {
    return new THREE.ConeGeometry(1, 1, 12, 1).rotateX(Math.PI / 2).translate(0, 0, -0.5);
}

/** Its tip at the origin, open at z = 1. */
function createOpenCone() {
    return new THREE.ConeGeometry(1, 1, 24, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
}

/** Instances of one geometry that grow in number as needed. */
export function createBatch(parent, geometry, material, { order = 0, castShadow = false } = {}) {
    let mesh = null;
    let count = 0;
    const matrix = new THREE.Matrix4();
    const shade = new THREE.Color();

    function reserve(capacity) {
        const old = mesh;
        mesh = new THREE.InstancedMesh(geometry, material, capacity);
        mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * capacity), 3);
        mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
        mesh.instanceColor.setUsage(THREE.DynamicDrawUsage);
        mesh.frustumCulled = false;
        mesh.renderOrder = order;
        mesh.castShadow = castShadow;
        if (old) {
            mesh.instanceMatrix.array.set(old.instanceMatrix.array);
            mesh.instanceColor.array.set(old.instanceColor.array);
            parent.remove(old);
            old.dispose();
        }
        parent.add(mesh);
    }

    return {
        begin() {
            count = 0;
        },
        add(position, rotation, scale, color) {
            if (!mesh || count === mesh.instanceMatrix.count) {
                reserve(mesh ? 2 * count : 64);
            }
            mesh.setMatrixAt(count, matrix.compose(position, rotation, scale));
            mesh.setColorAt(count, shade.set(color));
            count++;
        },
        end() {
            if (mesh) {
                mesh.count = count;
                mesh.visible = count > 0;
                mesh.instanceMatrix.needsUpdate = true;
                mesh.instanceColor.needsUpdate = true;
            }
        },
    };
}

/**
 * Marks that are visible through bodies: faint where a body hides them.
 * @param {THREE.Object3D} parent
 */
export function createMarks(parent) {
    const group = new THREE.Group();
    parent.add(group);
    const solid = new THREE.MeshLambertMaterial({ emissive: '#ffffff', emissiveIntensity: 0.12 });
    const ghost = new THREE.MeshBasicMaterial({
        transparent: true,
        opacity: 0.28,
        depthTest: false,
        depthWrite: false,
    });
    const kinds = {
        shaft: createShaft(),
        head: createHead(),
        ball: new THREE.SphereGeometry(1, 16, 10),
    };
    const clear = new THREE.MeshBasicMaterial({
        transparent: true,
        opacity: 0.22,
        depthWrite: false,
        side: THREE.DoubleSide,
    });
    const cones = createBatch(group, createOpenCone(), clear, { order: 6 });
    const batches = Object.fromEntries(
        Object.entries(kinds).map(([name, geometry]) => [
            name,
            [
                createBatch(group, geometry, ghost, { order: 8 }),
                createBatch(group, geometry, solid, { order: 9 }),
            ],
        ]),
    );
    const all = [...Object.values(batches).flat(), cones];
    const rotation = new THREE.Quaternion();
    const scale = new THREE.Vector3();
    const way = new THREE.Vector3();
    const start = new THREE.Vector3();

    const put = (name, position, color) => {
        batches[name].forEach((batch) => batch.add(position, rotation, scale, color));
    };

    return {
        group,
        begin: () => all.forEach((batch) => batch.begin()),
        end: () => all.forEach((batch) => batch.end()),

        /** @param {number[]} at @param {number} radius @param {string} color */
        ball(at, radius, color) {
            rotation.identity();
            scale.setScalar(radius);
            put('ball', start.set(at[0], at[1], at[2]), color);
        },

        /** A cone that opens from a point along a unit vector: its height, and its radius there. */
        cone(at, axis, height, radius, color) {
            rotation.setFromUnitVectors(UP, way.set(axis[0], axis[1], axis[2]));
            scale.set(radius, radius, height);
            cones.add(start.set(at[0], at[1], at[2]), rotation, scale, color);
        },

        /** A line with a thickness. */
        line(from, to, radius, color) {
            way.set(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
            const length = way.length();
            if (!(length > 1e-12)) {
                return;
            }
            rotation.setFromUnitVectors(UP, way.divideScalar(length));
            scale.set(radius, radius, length);
            put('shaft', start.set(from[0], from[1], from[2]), color);
        },

        /** An arrow from a point along a vector. */
        arrow(from, vector, radius, color) {
            way.set(vector[0], vector[1], vector[2]);
            const length = way.length();
            if (!(length > 1e-12)) {
                return;
            }
            rotation.setFromUnitVectors(UP, way.divideScalar(length));
            const head = Math.min(length * 0.6, radius * 6);
            start.set(from[0], from[1], from[2]);
            scale.set(radius, radius, Math.max(length - head * 0.9, 1e-9));
            put('shaft', start, color);
            scale.set(head * 0.42, head * 0.42, head);
            put('head', start.addScaledVector(way, length), color);
        },
    };
}

/** Lines of one pixel, any number of them, with a color for each end. */
export function createLines(parent) {
    const material = new THREE.LineBasicMaterial({ vertexColors: true, transparent: true });
    const lines = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    lines.frustumCulled = false;
    lines.renderOrder = 7;
    parent.add(lines);
    let positions = new Float32Array(0);
    let colors = new Float32Array(0);
    let count = 0;

    function grow() {
        const capacity = Math.max(1024, (2 * positions.length) / 3);
        const [oldPositions, oldColors] = [positions, colors];
        positions = new Float32Array(3 * capacity);
        colors = new Float32Array(4 * capacity);
        positions.set(oldPositions);
        colors.set(oldColors);
        lines.geometry.dispose();
        lines.geometry = new THREE.BufferGeometry();
        lines.geometry.setAttribute('position', new THREE.BufferAttribute(positions, 3));
        lines.geometry.setAttribute('color', new THREE.BufferAttribute(colors, 4));
        lines.geometry.boundingSphere = new THREE.Sphere(); // needed for sorting; never culled
    }

    function end(point, color, alpha) {
        positions.set(point, 3 * count);
        colors[4 * count] = color.r;
        colors[4 * count + 1] = color.g;
        colors[4 * count + 2] = color.b;
        colors[4 * count + 3] = alpha;
        count++;
    }

    return {
        begin() {
            count = 0;
        },
        add(a, b, color, alphaA = 1, alphaB = alphaA) {
            if (3 * (count + 2) > positions.length) {
                grow();
            }
            end(a, color, alphaA);
            end(b, color, alphaB);
        },
        end() {
            lines.visible = count > 0;
            lines.geometry.setDrawRange(0, count);
            if (count > 0) {
                lines.geometry.attributes.position.needsUpdate = true;
                lines.geometry.attributes.color.needsUpdate = true;
            }
        },
    };
}
