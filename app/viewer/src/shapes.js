// Triangles of every shape, colors, bounds. Only arrays of numbers: no WebGL, no elements.
//
// A surface is {positions, normals, tones, indices}: three indices make a triangle. A tone is 0 or
// 1: which of the two colors of a marked body the triangle has, so that its rotation can be seen.

/** The same colors are in app/render/palette.c. */
export const PALETTE = {
    dynamic: [
        '#d1495b',
        '#2e86ab',
        '#edae49',
        '#3a9d6e',
        '#8d5fa3',
        '#e07a3f',
        '#4d6cc1',
        '#7fb04a',
        '#c55f97',
        '#2aa6a1',
    ],
    kinematic: '#5b6b7c',
    static: '#c9c4b8',
    mark: '#3b4350', // joints, springs, struts
    ground: '#dcdad4',
    gridLine: '#b9b6ae',
    gridLineFifth: '#a19d94',
    skyTop: '#b9cbdc',
    skyHorizon: '#eef2f5',
};

/** The same in a dark page; bodies keep their colors. */
export const PALETTE_DARK = {
    ...PALETTE,
    static: '#8c8980',
    mark: '#a9b4c4',
    ground: '#474b52',
    gridLine: '#5b6068',
    gridLineFifth: '#6d737c',
    skyTop: '#11161d',
    skyHorizon: '#2b333d',
};

const ROUGHNESS = 0.62; // of bodies whose scene does not say
const OPEN_TEST_MAX = 600_000; // corners
const WHITE_SHARE = 0.55; // fraction of white in the second tone
const CREASE = Math.cos((32 * Math.PI) / 180); // faces that meet at a smaller angle are smoothed

/** Color of a body, #rrggbb. */
export function colorOf(number, type) {
    return type === 'dynamic'
        ? PALETTE.dynamic[number % PALETTE.dynamic.length]
        : (PALETTE[type] ?? PALETTE.static);
}

/** Patterns of two colors, by the words of the scene; the shader of solids.js knows their numbers. */
export const PATTERNS = { none: 0, plain: 1, checker: 2, stripes: 3 };

/**
 * How a body looks: as its scene says, or by its number. second is the color of marks and patterns.
 * @param {object} body @param {object} given the body, or one of its visuals
 */
export function lookOf(body, given = body) {
    const isColor = (text) => /^#[0-9a-f]{6}$/i.test(text ?? '');
    const clamp = (value, usual) =>
        Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : usual;
    const color = isColor(given.color)
        ? given.color.toLowerCase()
        : colorOf(body.number, body.type);
    const { texture } = given;
    const size = Number(texture?.size);
    const pattern = size > 0 ? (PATTERNS[texture.type] ?? PATTERNS.none) : PATTERNS.none;
    const isMarked = pattern === PATTERNS.none ? body.type !== 'static' : pattern > PATTERNS.plain;
    const usual = isMarked ? secondTone(color) : color;
    return {
        color,
        second: isMarked && isColor(texture?.color) ? texture.color.toLowerCase() : usual,
        pattern,
        size: size > 0 ? size : 1,
        opacity: clamp(given.opacity, 1),
        roughness: clamp(given.roughness, ROUGHNESS),
    };
}

/**
 * Shapes and visuals of a body with their looks, all that is drawn of it.
 * @returns {{geometry: number, position?: number[], orientation?: number[], look: object}[]}
 */
export function partsOf(body) {
    const list = (value) => (Array.isArray(value) ? value.filter((one) => one && typeof one === 'object') : []);
    const own = lookOf(body);
    return [
        ...list(body.shapes).map((shape) => ({ ...shape, look: own })),
        ...list(body.visuals).map((shape) => ({ ...shape, look: lookOf(body, shape) })),
    ];
}

/** Whether a surface of triangles has an edge that belongs to one of them only. */
export function isOpenSurface({ indices }) {
    if (!indices || indices.length > OPEN_TEST_MAX) {
        return Boolean(indices); // too many to look: drawing both sides is right for all
    }
    const edges = new Map();
    for (let i = 0; i + 2 < indices.length; i += 3) {
        for (let k = 0; k < 3; k++) {
            const [a, b] = [indices[i + k], indices[i + ((k + 1) % 3)]];
            const key = a < b ? a * 0x4000000 + b : b * 0x4000000 + a;
            edges.set(key, (edges.get(key) ?? 0) + 1);
        }
    }
    return [...edges.values()].some((count) => count === 1);
}

/** The lighter color of the markings. */
export function secondTone(color) {
    const channel = (at) => {
        const value = parseInt(color.slice(at, at + 2), 16);
        return Math.round(value + WHITE_SHARE * (255 - value))
            .toString(16)
            .padStart(2, '0');
    };
    return `#${channel(1)}${channel(3)}${channel(5)}`;
}

// --------------------------------------------------------------------------- surfaces of revolution

/** Collects triangles. */
function createSurface() {
    const positions = [];
    const normals = [];
    const tones = [];
    return {
        corner(position, normal) {
            positions.push(...position);
            normals.push(...normal);
        },
        tone(value) {
            tones.push(value, value, value);
        },
        finish() {
            return {
                positions: new Float32Array(positions),
                normals: new Float32Array(normals),
                tones: new Uint8Array(tones),
            };
        },
    };
}

function isSame(a, b) {
    return Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) < 1e-12;
}

function addTriangle(surface, corners, normals, toneOf) {
    if (
        isSame(corners[0], corners[1]) ||
        isSame(corners[1], corners[2]) ||
        isSame(corners[2], corners[0])
    ) {
        return;
    }
    const middle = [0, 1, 2].map((i) => (corners[0][i] + corners[1][i] + corners[2][i]) / 3);
    for (let i = 0; i < 3; i++) {
        surface.corner(corners[i], normals[i]);
    }
    surface.tone(toneOf(middle));
}

/**
 * Rotates a profile about z. It goes from top to bottom; a point is {r, z} with the normal
 * {nr, nz}; a point listed twice with two normals is an edge.
 */
function revolve(line, segments, toneOf) {
    const surface = createSurface();
    const at = (point, k) => {
        const angle = (2 * Math.PI * (k % segments)) / segments;
        const [c, s] = [Math.cos(angle), Math.sin(angle)];
        return [
            [point.r * c, point.r * s, point.z],
            [point.nr * c, point.nr * s, point.nz],
        ];
    };
    for (let i = 0; i + 1 < line.length; i++) {
        for (let k = 0; k < segments; k++) {
            const [a, na] = at(line[i], k);
            const [b, nb] = at(line[i + 1], k);
            const [c, nc] = at(line[i + 1], k + 1);
            const [d, nd] = at(line[i], k + 1);
            addTriangle(surface, [a, b, c], [na, nb, nc], toneOf);
            addTriangle(surface, [a, c, d], [na, nc, nd], toneOf);
        }
    }
    return surface.finish();
}

const toneByOctant = (p) => (p[0] * p[1] * p[2] < 0 ? 1 : 0);
const toneByQuarter = (p) => (p[0] * p[1] < 0 ? 1 : 0);

/** Points of a quarter circle about (0, z), from one angle above the equator to another. */
function arc(radius, z, from, to, count) {
    const points = [];
    for (let i = 0; i <= count; i++) {
        const angle = from + ((to - from) * i) / count;
        const [c, s] = [Math.abs(angle) === Math.PI / 2 ? 0 : Math.cos(angle), Math.sin(angle)];
        points.push({ r: radius * c, z: z + radius * s, nr: c, nz: s });
    }
    return points;
}

function sphereSurface({ radius }, segments) {
    const line = arc(radius, 0, Math.PI / 2, -Math.PI / 2, segments / 2);
    return revolve(line, segments, toneByOctant);
}

function ellipsoidSurface({ semiAxes }, segments) {
    const surface = sphereSurface({ radius: 1 }, segments);
    for (let i = 0; i < surface.positions.length; i += 3) {
        let square = 0;
        for (let k = 0; k < 3; k++) {
            surface.positions[i + k] *= semiAxes[k];
            surface.normals[i + k] /= semiAxes[k];
            square += surface.normals[i + k] ** 2;
        }
        const scale = 1 / Math.sqrt(square);
        for (let k = 0; k < 3; k++) {
            surface.normals[i + k] *= scale;
        }
    }
    return surface;
}

function capsuleSurface({ radius, length }, segments) {
    const line = [
        ...arc(radius, length / 2, Math.PI / 2, 0, segments / 4),
        ...arc(radius, -length / 2, 0, -Math.PI / 2, segments / 4),
    ];
    return revolve(line, segments, toneByQuarter);
}

function cylinderSurface({ radius, length }, segments) {
    const z = length / 2;
    return revolve(
        [
            { r: 0, z, nr: 0, nz: 1 },
            { r: radius, z, nr: 0, nz: 1 },
            { r: radius, z, nr: 1, nz: 0 },
            { r: radius, z: -z, nr: 1, nz: 0 },
            { r: radius, z: -z, nr: 0, nz: -1 },
            { r: 0, z: -z, nr: 0, nz: -1 },
        ],
        segments,
        toneByQuarter,
    );
}

function coneSurface({ radius, height }, segments) {
    const slant = Math.hypot(radius, height);
    const [nr, nz] = [height / slant, radius / slant];
    return revolve(
        [
            { r: 0, z: height / 2, nr, nz },
            { r: radius, z: -height / 2, nr, nz },
            { r: radius, z: -height / 2, nr: 0, nz: -1 },
            { r: 0, z: -height / 2, nr: 0, nz: -1 },
        ],
        segments,
        toneByQuarter,
    );
}

// ------------------------------------------------------------------------------- boxes and meshes

function boxSurface({ size }) {
    const surface = createSurface();
    for (let axis = 0; axis < 3; axis++) {
        for (const sign of [1, -1]) {
            const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
            const corner = (a, b) => {
                const point = [0, 0, 0];
                point[axis] = (sign * size[axis]) / 2;
                point[u] = (a * sign * size[u]) / 2;
                point[v] = (b * size[v]) / 2;
                return point;
            };
            const normal = [0, 0, 0];
            normal[axis] = sign;
            const corners = [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
            for (const triple of [
                [0, 1, 2],
                [0, 2, 3],
            ]) {
                triple.forEach((i) => surface.corner(corners[i], normal));
                surface.tone(0);
            }
        }
    }
    return surface.finish();
}

/** Vertices at the same position get the same number. */
function weld(positions) {
    const numbers = new Map();
    const welded = new Uint32Array(positions.length / 3);
    for (let i = 0; i < welded.length; i++) {
        const key = `${positions[3 * i]},${positions[3 * i + 1]},${positions[3 * i + 2]}`;
        if (!numbers.has(key)) {
            numbers.set(key, i);
        }
        welded[i] = numbers.get(key);
    }
    return welded;
}

/** Unit normals of triangles; zero for those without an area. */
function faceNormals(positions, indices) {
    const normals = new Float64Array(indices.length);
    for (let t = 0; t < indices.length; t += 3) {
        const [a, b, c] = [3 * indices[t], 3 * indices[t + 1], 3 * indices[t + 2]];
        const u = [0, 1, 2].map((i) => positions[b + i] - positions[a + i]);
        const v = [0, 1, 2].map((i) => positions[c + i] - positions[a + i]);
        const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        const length = Math.hypot(...n);
        for (let i = 0; i < 3; i++) {
            normals[t + i] = length > 0 ? n[i] / length : 0;
        }
    }
    return normals;
}

/** Angle of a triangle at one of its corners: its weight in the normal there. */
function cornerAngle(positions, indices, corner) {
    const t = corner - (corner % 3);
    const [a, b, c] = [corner, t + ((corner + 1 - t) % 3), t + ((corner + 2 - t) % 3)].map(
        (k) => 3 * indices[k],
    );
    const u = [0, 1, 2].map((i) => positions[b + i] - positions[a + i]);
    const v = [0, 1, 2].map((i) => positions[c + i] - positions[a + i]);
    const product = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    const lengths = Math.hypot(...u) * Math.hypot(...v);
    return lengths > 0 ? Math.acos(Math.min(1, Math.max(-1, product / lengths))) : 0;
}

/**
 * Triangles with normals that are smooth where faces meet at a small angle, and sharp at edges.
 * @param {ArrayLike<number>} positions @param {ArrayLike<number>} indices
 */
export function creasedSurface(positions, indices) {
    const welded = weld(positions);
    const normals = faceNormals(positions, indices);
    const corners = new Map(); // vertex -> the corners there
    for (let k = 0; k < indices.length; k++) {
        const vertex = welded[indices[k]];
        if (corners.has(vertex)) {
            corners.get(vertex).push(k);
        } else {
            corners.set(vertex, [k]);
        }
    }
    const angles = new Float64Array(indices.length);
    for (let k = 0; k < indices.length; k++) {
        angles[k] = cornerAngle(positions, indices, k);
    }
    const surface = {
        positions: new Float32Array(indices.length * 3),
        normals: new Float32Array(indices.length * 3),
        tones: new Uint8Array(indices.length),
    };
    for (let k = 0; k < indices.length; k++) {
        const own = k - (k % 3);
        const sum = [0, 0, 0];
        for (const other of corners.get(welded[indices[k]])) {
            const t = other - (other % 3);
            const product =
                normals[own] * normals[t] +
                normals[own + 1] * normals[t + 1] +
                normals[own + 2] * normals[t + 2];
            if (product >= CREASE) {
                for (let i = 0; i < 3; i++) {
                    sum[i] += angles[other] * normals[t + i];
                }
            }
        }
        const length = Math.hypot(...sum);
        for (let i = 0; i < 3; i++) {
            surface.positions[3 * k + i] = positions[3 * indices[k] + i];
            surface.normals[3 * k + i] = length > 0 ? sum[i] / length : normals[own + i];
        }
    }
    return surface;
}

function meshSurface({ positions, indices }) {
    return creasedSurface(positions, indices);
}

/** A table of vertices that are equal in all components. */
class VertexTable {
    constructor(capacity) {
        let size = 16;
        while (size < 2 * capacity) {
            size *= 2;
        }
        this.slots = new Int32Array(size).fill(-1);
        this.mask = size - 1;
    }

    /** Number of an equal vertex inserted before, or of this one. */
    find(words, i, width) {
        let hash = 2166136261;
        for (let k = 0; k < width; k++) {
            hash = Math.imul(hash ^ words[i * width + k], 16777619);
            hash ^= hash >>> 15;
        }
        for (let slot = hash & this.mask; ; slot = (slot + 1) & this.mask) {
            const other = this.slots[slot];
            if (other < 0) {
                this.slots[slot] = i;
                return i;
            }
            let k = 0;
            while (k < width && words[other * width + k] === words[i * width + k]) {
                k++;
            }
            if (k === width) {
                return other;
            }
        }
    }
}

/**
 * The same triangles with each vertex stored once, so that it is computed once.
 * @returns {{positions: Float32Array, normals: Float32Array, tones: Uint8Array, indices: Uint32Array}}
 */
export function indexSurface({ positions, normals, tones }) {
    const width = 7;
    const corners = tones.length;
    const floats = new Float32Array(corners * width);
    for (let i = 0; i < corners; i++) {
        for (let k = 0; k < 3; k++) {
            floats[i * width + k] = positions[3 * i + k] + 0; // no negative zero
            floats[i * width + 3 + k] = Math.round(normals[3 * i + k] * 4096) / 4096 + 0;
        }
        floats[i * width + 6] = tones[i];
    }
    const words = new Int32Array(floats.buffer);
    const table = new VertexTable(corners);
    const indices = new Uint32Array(corners);
    const numbers = new Int32Array(corners).fill(-1);
    const kept = [];
    for (let i = 0; i < corners; i++) {
        const same = table.find(words, i, width);
        if (numbers[same] < 0) {
            numbers[same] = kept.length;
            kept.push(i);
        }
        indices[i] = numbers[same];
    }
    const pick = (values, target, size) => {
        kept.forEach((from, to) => {
            for (let k = 0; k < size; k++) {
                target[to * size + k] = values[from * size + k];
            }
        });
        return target;
    };
    return {
        positions: pick(positions, new Float32Array(3 * kept.length), 3),
        normals: pick(normals, new Float32Array(3 * kept.length), 3),
        tones: pick(tones, new Uint8Array(kept.length), 1),
        indices,
    };
}

const SURFACES = {
    sphere: sphereSurface,
    box: boxSurface,
    capsule: capsuleSurface,
    cylinder: cylinderSurface,
    cone: coneSurface,
    ellipsoid: ellipsoidSurface,
    mesh: meshSurface,
};

/**
 * @param {object} geometry of the scene message
 * @param {number} segments of round shapes, a multiple of 4
 * @returns {{positions: Float32Array, normals: Float32Array, tones: Uint8Array,
 *     indices: Uint32Array}|null} null: not drawn from triangles (planes), or a mesh that has not arrived
 */
export function makeSurface(geometry, segments) {
    const make = SURFACES[geometry.type];
    if (!make || (geometry.type === 'mesh' && !geometry.positions)) {
        return null;
    }
    return indexSurface(make(geometry, segments));
}

/**
 * Segments of round shapes so that all of them together stay drawable: a ball of n segments has
 * about n*n triangles.
 * @param {number} count round shapes of the scene @param {number} budget triangles
 */
export function chooseSegments(count, budget) {
    return [64, 48, 32, 24, 16, 12, 8].find((n) => n * n * count <= budget) ?? 6;
}

// ----------------------------------------------------------------------------------------- bounds

/** Half extents of a rotated round or flat disc, about its center. */
const EXTENTS = {
    sphere: (g) => [g.radius, g.radius, g.radius],
    box: (g, m) => rows(m, (r) => sum3(r, (x, i) => (Math.abs(x) * g.size[i]) / 2)),
    capsule: (g, m) => rows(m, (r) => g.radius + (Math.abs(r[2]) * g.length) / 2),
    cylinder: (g, m) => rows(m, (r) => discExtent(r, g.radius) + (Math.abs(r[2]) * g.length) / 2),
    ellipsoid: (g, m) => rows(m, (r) => Math.sqrt(sum3(r, (x, i) => (x * g.semiAxes[i]) ** 2))),
};

function rows(m, fn) {
    return [fn([m[0], m[1], m[2]]), fn([m[3], m[4], m[5]]), fn([m[6], m[7], m[8]])];
}

function sum3(r, fn) {
    return fn(r[0], 0) + fn(r[1], 1) + fn(r[2], 2);
}

function discExtent(row, radius) {
    return radius * Math.sqrt(Math.max(0, row[0] * row[0] + row[1] * row[1]));
}

/** Rotation matrix, by rows, of a quaternion w, x, y, z. */
export function matrixOf(q) {
    const [w, x, y, z] = q;
    return [
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    ];
}

function boundsOfPoints(points, m) {
    const bounds = { min: [Infinity, Infinity, Infinity], max: [-Infinity, -Infinity, -Infinity] };
    for (let i = 0; i < points.length; i += 3) {
        for (let k = 0; k < 3; k++) {
            const value =
                m[3 * k] * points[i] + m[3 * k + 1] * points[i + 1] + m[3 * k + 2] * points[i + 2];
            bounds.min[k] = Math.min(bounds.min[k], value);
            bounds.max[k] = Math.max(bounds.max[k], value);
        }
    }
    return bounds;
}

function coneBounds(geometry, m) {
    const { radius, height } = geometry;
    const bounds = { min: [], max: [] };
    rows(m, (r) => {
        const [apex, base] = [(r[2] * height) / 2, (-r[2] * height) / 2];
        const disc = discExtent(r, radius);
        bounds.min.push(Math.min(apex, base - disc));
        bounds.max.push(Math.max(apex, base + disc));
    });
    return bounds;
}

/**
 * The axis-aligned box of a rotated geometry about its own origin; null for planes and for meshes
 * that have not arrived.
 * @param {object} geometry @param {number[]} m rotation matrix by rows
 */
export function boundsOf(geometry, m) {
    if (geometry.type === 'cone') {
        return coneBounds(geometry, m);
    }
    if (geometry.type === 'mesh') {
        return geometry.positions ? boundsOfPoints(geometry.positions, m) : null;
    }
    const extents = EXTENTS[geometry.type]?.(geometry, m);
    return extents ? { min: extents.map((e) => -e), max: extents } : null;
}

/** Largest distance of a point of the geometry from its own origin; 0 for planes. */
export function radiusOf(geometry) {
    switch (geometry.type) {
        case 'sphere':
            return geometry.radius;
        case 'box':
            return Math.hypot(...geometry.size) / 2;
        case 'capsule':
            return geometry.radius + geometry.length / 2;
        case 'cylinder':
            return Math.hypot(geometry.radius, geometry.length / 2);
        case 'cone':
            return Math.hypot(geometry.radius, geometry.height / 2);
        case 'ellipsoid':
            return Math.max(...geometry.semiAxes);
        case 'mesh': {
            let square = 0;
            const points = geometry.positions ?? [];
            for (let i = 0; i < points.length; i += 3) {
                square = Math.max(square, points[i] ** 2 + points[i + 1] ** 2 + points[i + 2] ** 2);
            }
            return Math.sqrt(square);
        }
        default:
            return 0;
    }
}
