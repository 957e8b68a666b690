// The scene and the motion that this page has seen as a glTF file in its binary form (.glb), as
// `rattleback run --gltf` writes it: a node for each body, two tones, channels for bodies that move.

import { isOpenSurface, makeSurface, partsOf, PATTERNS } from './shapes.js';

const [FLOAT, UNSIGNED, VERTICES, INDICES] = [5126, 5125, 34962, 34963];
export const SEGMENTS = 32; // of round shapes
export const GROUND = 12; // half a side of a ground, in radii of the scene
const WIDTH = 7;
const ROOT = Math.SQRT1_2;

export const linear = (byte) => {
    const x = byte / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
};

/** Collects numbers and describes them. */
function createBuffer() {
    const parts = [];
    const views = [];
    const accessors = [];
    let size = 0;
    return {
        views,
        accessors,
        get size() {
            return size;
        },
        get parts() {
            return parts;
        },
        /** @param {Float32Array|Uint32Array} values @param {string} type e.g. "VEC3" */
        add(values, type, width, target) {
            parts.push(values);
            views.push({ buffer: 0, byteOffset: size, byteLength: values.byteLength, ...(target && { target }) });
            size += values.byteLength;
            const componentType = values instanceof Uint32Array ? UNSIGNED : FLOAT;
            accessors.push({ bufferView: views.length - 1, componentType, count: values.length / width, type });
            return accessors.length - 1;
        },
        bound(index, values, width) {
            const low = new Array(width).fill(Infinity);
            const high = new Array(width).fill(-Infinity);
            values.forEach((x, i) => {
                low[i % width] = Math.min(low[i % width], x);
                high[i % width] = Math.max(high[i % width], x);
            });
            Object.assign(accessors[index], { min: low, max: high });
            return index;
        },
    };
}

/** A square in the frame of a plane. */
export function squareOf({ normal, offset = 0 }, half) {
    const n = normal.map((x) => x / Math.hypot(...normal));
    const helper = Math.abs(n[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0];
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const raw = cross(n, helper);
    const right = raw.map((x) => (x / Math.hypot(...raw)) * half);
    const top = cross(n, right);
    const corner = (i, k) => n.map((x, c) => x * offset + i * right[c] + k * top[c]);
    return {
        positions: Float32Array.from([corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)].flat()),
        normals: Float32Array.from([n, n, n, n].flat()),
        tones: new Float32Array(4),
        indices: Uint32Array.from([0, 1, 2, 0, 2, 3]),
    };
}

/** Quaternions x, y, z, w with signs that make neighbors similar. */
export function rotationsOf(frames, number, first) {
    const out = new Float32Array(4 * frames.length);
    let last = first;
    frames.forEach(({ poses }, i) => {
        const at = number * WIDTH + 3;
        let q = Number.isNaN(poses[at] ?? NaN) ? last : [poses[at + 1], poses[at + 2], poses[at + 3], poses[at]];
        const side = q.reduce((sum, x, k) => sum + x * last[k], 0);
        q = side < 0 ? q.map((x) => -x) : q;
        out.set(q, 4 * i);
        last = q;
    });
    return out;
}

export function positionsOf(frames, number, first) {
    const out = new Float32Array(3 * frames.length);
    let last = first;
    frames.forEach(({ poses }, i) => {
        const at = number * WIDTH;
        last = Number.isNaN(poses[at] ?? NaN) ? last : [...poses.subarray(at, at + 3)];
        out.set(last, 3 * i);
    });
    return out;
}

export const isConstant = (values, width) => values.every((x, i) => x === values[i % width]);

/**
 * @param {{title: string, radius: number, bodies: object[], geometries: object[]}} scene bodies as in
 *     the model
 * @param {{time: number, poses: Float32Array}[]} frames at least one
 * @returns {Uint8Array}
 */
export function toGlb({ title, radius, bodies, geometries }, frames) {
    const buffer = createBuffer();
    const [nodes, meshes, materials, samplers, channels] = [[], [], [], [], []];
    const known = new Map(); // by key: an index

    const once = (key, make) => {
        if (!known.has(key)) {
            known.set(key, make());
        }
        return known.get(key);
    };

    function materialOf(color, { opacity, roughness }, doubleSided) {
        return once(`m ${color} ${opacity} ${roughness} ${doubleSided}`, () => {
            const rgb = [1, 3, 5].map((at) => linear(parseInt(color.slice(at, at + 2), 16)));
            const pbrMetallicRoughness = { baseColorFactor: [...rgb, opacity], metallicFactor: 0, roughnessFactor: roughness };
            return materials.push({ pbrMetallicRoughness, doubleSided, ...(opacity < 1 && { alphaMode: 'BLEND' }) }) - 1;
        });
    }

    /** Accessors of a geometry: positions, normals, and the corners of both tones. */
    function surfaceOf(index) {
        return once(`g ${index}`, () => {
            const shape = geometries[index];
            const surface = shape?.type === 'plane' ? squareOf(shape, GROUND * radius) : shape && makeSurface(shape, SEGMENTS);
            if (!surface) {
                return null;
            }
            const corners = [[], []];
            for (let i = 0; i + 2 < surface.indices.length; i += 3) {
                const tone = surface.tones[surface.indices[i]] > 0.5 ? 1 : 0;
                corners[tone].push(surface.indices[i], surface.indices[i + 1], surface.indices[i + 2]);
            }
            const places = Float32Array.from(surface.positions);
            return {
                POSITION: buffer.bound(buffer.add(places, 'VEC3', 3, VERTICES), places, 3),
                NORMAL: buffer.add(Float32Array.from(surface.normals), 'VEC3', 3, VERTICES),
                tones: corners.map((list) => (list.length > 0 ? buffer.add(Uint32Array.from(list), 'SCALAR', 1, INDICES) : -1)),
                isOpen: shape.type === 'mesh' && isOpenSurface(shape),
            };
        });
    }

    /** Patterns are not drawn: such bodies have their first color. */
    function meshOf(index, look) {
        const second = look.pattern === PATTERNS.none ? look.second : look.color;
        return once(`s ${index} ${look.color} ${second} ${look.opacity} ${look.roughness}`, () => {
            const surface = surfaceOf(index);
            if (!surface) {
                return -1;
            }
            const { POSITION, NORMAL, tones, isOpen } = surface;
            const colors = [look.color, second];
            const primitives = tones.flatMap((indices, tone) =>
                indices < 0 ? [] : [{ attributes: { POSITION, NORMAL }, indices, material: materialOf(colors[tone], look, isOpen) }],
            );
            return meshes.push({ primitives }) - 1;
        });
    }

    const times = Float32Array.from(frames, ({ time }) => time - frames[0].time);
    buffer.bound(buffer.add(times, 'SCALAR', 1), times, 1);

    function animate(node, path, values, type, width) {
        samplers.push({ input: 0, output: buffer.add(values, type, width), interpolation: 'LINEAR' });
        channels.push({ sampler: samplers.length - 1, target: { node, path } });
    }

    function addBody(body) {
        const children = partsOf(body).flatMap(({ geometry, look, position = [0, 0, 0], orientation = [1, 0, 0, 0] }) => {
            const mesh = meshOf(geometry, look);
            const [w, x, y, z] = orientation;
            return mesh < 0 ? [] : [nodes.push({ mesh, translation: [...position], rotation: [x, y, z, w] }) - 1];
        });
        const [w, x, y, z] = body.orientation;
        const places = positionsOf(frames, body.number, [...body.position]);
        const turns = rotationsOf(frames, body.number, [x, y, z, w]);
        const node = nodes.push({
            name: body.name,
            translation: [...places.subarray(0, 3)],
            rotation: [...turns.subarray(0, 4)],
            ...(children.length > 0 && { children }),
        }) - 1;
        if (!isConstant(places, 3) || !isConstant(turns, 4)) {
            animate(node, 'translation', places, 'VEC3', 3);
            animate(node, 'rotation', turns, 'VEC4', 4);
        }
        return node;
    }

    const all = bodies.filter((body) => [...body.position, ...body.orientation].every(Number.isFinite)).map(addBody);
    const root = nodes.push({ name: title, rotation: [-ROOT, 0, 0, ROOT], children: all }) - 1;
    const json = {
        asset: { version: '2.0', generator: 'rattleback' },
        scene: 0,
        scenes: [{ nodes: [root] }],
        nodes,
        ...(meshes.length > 0 && { meshes, materials }),
        ...(channels.length > 0 && { animations: [{ name: 'run', samplers, channels }] }),
        accessors: buffer.accessors,
        bufferViews: buffer.views,
        buffers: [{ byteLength: buffer.size }],
    };
    return packGlb(json, buffer);
}

function packGlb(json, { parts, size }) {
    const text = new TextEncoder().encode(JSON.stringify(json));
    const textSize = Math.ceil(text.length / 4) * 4;
    const bytes = new Uint8Array(28 + textSize + size);
    const view = new DataView(bytes.buffer);
    [0x46546c67, 2, bytes.length, textSize, 0x4e4f534a].forEach((word, i) => view.setUint32(4 * i, word, true));
    bytes.fill(0x20, 20, 20 + textSize);
    bytes.set(text, 20);
    view.setUint32(20 + textSize, size, true);
    view.setUint32(24 + textSize, 0x004e4942, true);
    let at = 28 + textSize;
    for (const part of parts) {
        bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
        at += part.byteLength;
    }
    return bytes;
}
