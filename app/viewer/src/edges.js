// Lines along the edges where flat faces meet: one draw call for each geometry, moved with the instances
// of its surface.

import * as THREE from 'three';

const SHARP = 0.9; // normals of a vertex with a smaller cosine belong to different faces
const CORNERS_MAX = 400_000; // of a surface: larger ones have no lines
const SEGMENTS_MAX = 1_000_000; // of all instances of a surface
const DARK = 0.35; // color of a line, of that of its body
const OPACITY = 0.5;

export function createEdgeMaterial() {
    return new THREE.ShaderMaterial({
        transparent: true,
        depthWrite: false,
        clipping: true,
        vertexShader: `
            #include <clipping_planes_pars_vertex>
            attribute mat4 instanceMatrix;
            attribute vec3 firstColor;
            varying vec3 lineColor;
            void main() {
                lineColor = ${DARK} * firstColor;
                vec4 mvPosition = modelViewMatrix * instanceMatrix * vec4(position, 1.0);
                #include <clipping_planes_vertex>
                mvPosition.xyz *= 0.9985; // in front of the faces
                gl_Position = projectionMatrix * mvPosition;
            }`,
        fragmentShader: `
            #include <clipping_planes_pars_fragment>
            varying vec3 lineColor;
            void main() {
                #include <clipping_planes_fragment>
                gl_FragColor = vec4(lineColor, ${OPACITY});
                #include <colorspace_fragment>
            }`,
    });
}

/**
 * Segments of a surface along which its normals jump, or where it ends: x, y, z of both ends.
 * @param {{positions: Float32Array, normals: Float32Array, indices: Uint32Array}} surface
 * @returns {number[]}
 */
export function findEdges({ positions, normals, indices }) {
    const places = new Map(); // vertices at the same position have the same number
    const numbers = new Uint32Array(positions.length / 3);
    for (let i = 0; i < numbers.length; i++) {
        const key = `${positions[3 * i]},${positions[3 * i + 1]},${positions[3 * i + 2]}`;
        if (!places.has(key)) {
            places.set(key, i);
        }
        numbers[i] = places.get(key);
    }
    const cosine = (a, b) =>
        normals[3 * a] * normals[3 * b] + normals[3 * a + 1] * normals[3 * b + 1] + normals[3 * a + 2] * normals[3 * b + 2];
    const sides = new Map(); // edge: the vertices of its first side, or null: it is not an edge of the body
    for (let t = 0; t + 2 < indices.length; t += 3) {
        for (let k = 0; k < 3; k++) {
            const [a, b] = [indices[t + k], indices[t + ((k + 1) % 3)]];
            const [low, high] = numbers[a] < numbers[b] ? [a, b] : [b, a];
            const key = numbers[low] * 0x4000000 + numbers[high];
            const other = sides.get(key);
            if (other === undefined) {
                sides.set(key, [low, high]);
            } else if (other && (cosine(other[0], low) > SHARP || cosine(other[1], high) > SHARP)) {
                sides.set(key, null);
            }
        }
    }
    const segments = [];
    for (const ends of sides.values()) {
        for (const i of ends ?? []) {
            segments.push(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
        }
    }
    return segments;
}

/** Lines that move with the instances of a mesh; null: it has no edges, or too many. */
export function createEdges(surface, mesh, material) {
    if (surface.indices.length > CORNERS_MAX) {
        return null;
    }
    const segments = findEdges(surface);
    if (segments.length === 0 || (segments.length / 6) * mesh.count > SEGMENTS_MAX) {
        return null;
    }
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.instanceCount = mesh.count;
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(segments, 3));
    geometry.setAttribute('instanceMatrix', mesh.instanceMatrix);
    geometry.setAttribute('firstColor', mesh.geometry.getAttribute('firstColor'));
    const lines = new THREE.LineSegments(geometry, material);
    lines.frustumCulled = false; // bodies may be anywhere
    lines.raycast = () => {};
    return lines;
}
