import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findEdges } from '../src/edges.js';
import {
    boundsOf,
    chooseSegments,
    colorOf,
    creasedSurface,
    indexSurface,
    lookOf,
    makeSurface,
    matrixOf,
    PALETTE,
    partsOf,
    PATTERNS,
    radiusOf,
    secondTone,
} from '../src/shapes.js';

const SHAPES = [
    { type: 'sphere', radius: 0.7 },
    { type: 'box', size: [0.3, 1.1, 2] },
    { type: 'capsule', radius: 0.2, length: 1.5 },
    { type: 'cylinder', radius: 0.4, length: 0.9 },
    { type: 'cone', radius: 0.5, height: 1.2 },
    { type: 'ellipsoid', semiAxes: [1, 0.3, 0.6] },
];

/** Volumes in closed form. */
const VOLUMES = {
    sphere: (g) => (4 / 3) * Math.PI * g.radius ** 3,
    box: (g) => g.size[0] * g.size[1] * g.size[2],
    capsule: (g) => Math.PI * g.radius ** 2 * (g.length + (4 / 3) * g.radius),
    cylinder: (g) => Math.PI * g.radius ** 2 * g.length,
    cone: (g) => (Math.PI * g.radius ** 2 * g.height) / 3,
    ellipsoid: (g) => (4 / 3) * Math.PI * g.semiAxes[0] * g.semiAxes[1] * g.semiAxes[2],
};

function* triangles({ positions, indices }) {
    const point = (i) => Array.from(positions.subarray(3 * indices[i], 3 * indices[i] + 3));
    for (let i = 0; i < indices.length; i += 3) {
        yield [point(i), point(i + 1), point(i + 2)];
    }
}

function cross(a, b) {
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const minus = (a, b) => a.map((x, i) => x - b[i]);

function volumeOf(surface) {
    let sum = 0;
    for (const [a, b, c] of triangles(surface)) {
        sum += dot(a, cross(b, c)) / 6;
    }
    return sum;
}

/** A mesh of a box without normals, from its surface. */
function meshOf(surface) {
    return { type: 'mesh', positions: surface.positions, indices: surface.indices };
}

/** A generator of numbers from 0 to 1 that is the same every time. */
function createRandom(seed) {
    let state = seed;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
    };
}

function randomRotation(random) {
    const q = [0, 1, 2, 3].map(() => random() - 0.5);
    const length = Math.hypot(...q);
    return q.map((x) => x / length);
}

for (const shape of SHAPES) {
    test(`the triangles of a ${shape.type} enclose its volume`, () => {
        const volume = VOLUMES[shape.type](shape);
        const error = Math.abs(volumeOf(makeSurface(shape, 64)) - volume) / volume;
        assert.ok(error < (shape.type === 'box' ? 1e-6 : 0.006), `off by ${error}`);
    });

    test(`normals of a ${shape.type} are units that point outwards`, () => {
        const surface = makeSurface(shape, 24);
        const { normals, indices } = surface;
        let i = 0;
        for (const [a, b, c] of triangles(surface)) {
            const face = cross(minus(b, a), minus(c, a));
            for (let k = 0; k < 3; k++) {
                const normal = Array.from(
                    normals.subarray(3 * indices[i + k], 3 * indices[i + k] + 3),
                );
                assert.ok(Math.abs(Math.hypot(...normal) - 1) < 1e-5);
                assert.ok(dot(normal, face) > 0, `${shape.type}: a normal points inwards`);
            }
            i += 3;
        }
        assert.ok(i > 0);
    });

    test(`a triangle of a ${shape.type} has one tone, and round shapes have both`, () => {
        const { tones, indices } = makeSurface(shape, 24);
        for (let i = 0; i < indices.length; i += 3) {
            assert.equal(tones[indices[i]], tones[indices[i + 1]]);
            assert.equal(tones[indices[i]], tones[indices[i + 2]]);
        }
        assert.equal(new Set(tones).size, shape.type === 'box' ? 1 : 2);
    });

    test(`bounds of a turned ${shape.type} are those of its points`, () => {
        const random = createRandom(7);
        const surface = makeSurface(shape, 64);
        for (let turn = 0; turn < 50; turn++) {
            const m = matrixOf(randomRotation(random));
            const exact = boundsOf(shape, m);
            const points = boundsOf(meshOf(surface), m);
            for (let k = 0; k < 3; k++) {
                assert.ok(
                    points.min[k] >= exact.min[k] - 1e-6 && points.max[k] <= exact.max[k] + 1e-6,
                    'a point is outside',
                );
                assert.ok(
                    points.min[k] <= exact.min[k] + 0.01 && points.max[k] >= exact.max[k] - 0.01,
                    'the bounds are not tight',
                );
            }
        }
        assert.ok(Math.abs(radiusOf(shape) - radiusOf(meshOf(surface))) < 1e-2);
    });
}

test('a mesh of a box has sharp edges, one of a ball is smooth', () => {
    const box = makeSurface(SHAPES[1], 8);
    const sharp = creasedSurface(box.positions, box.indices);
    for (let i = 0; i < sharp.normals.length; i += 3) {
        const largest = Math.max(...sharp.normals.subarray(i, i + 3).map(Math.abs));
        assert.ok(Math.abs(largest - 1) < 1e-6, 'a normal of a box is not along an axis');
    }
    const ball = makeSurface({ type: 'sphere', radius: 1 }, 48);
    const smooth = creasedSurface(ball.positions, ball.indices);
    for (let i = 0; i < smooth.normals.length; i += 3) {
        const cosine = dot(smooth.normals.subarray(i, i + 3), smooth.positions.subarray(i, i + 3));
        assert.ok(cosine > 0.995, `a normal of a ball is off: ${cosine}`);
    }
});

test('an indexed surface has the same triangles with fewer vertices', () => {
    const ball = makeSurface({ type: 'sphere', radius: 1 }, 32);
    const plain = creasedSurface(ball.positions, ball.indices);
    const indexed = indexSurface(plain);
    assert.ok(indexed.tones.length < plain.tones.length / 4);
    for (let i = 0; i < plain.tones.length; i++) {
        for (let k = 0; k < 3; k++) {
            assert.ok(indexed.positions[3 * indexed.indices[i] + k] === plain.positions[3 * i + k]);
            assert.ok(
                Math.abs(indexed.normals[3 * indexed.indices[i] + k] - plain.normals[3 * i + k]) <
                    3e-4,
            );
        }
    }
});

test('a plane and a mesh still to come have no triangles', () => {
    assert.equal(makeSurface({ type: 'plane', normal: [0, 0, 1], offset: 0 }, 8), null);
    assert.equal(makeSurface({ type: 'mesh', of: 'hull' }, 8), null);
    assert.equal(boundsOf({ type: 'mesh' }, matrixOf([1, 0, 0, 0])), null);
});

test('many round bodies get fewer segments', () => {
    assert.equal(chooseSegments(1, 2e6), 64);
    for (const count of [10, 100, 1000, 10000]) {
        const n = chooseSegments(count, 2e6);
        assert.ok(n === 12 || n * n * count <= 2e6);
        assert.equal(n % 4, 0);
    }
});

test('colors follow number and type', () => {
    assert.equal(colorOf(11, 'dynamic'), PALETTE.dynamic[1]);
    assert.equal(colorOf(11, 'static'), PALETTE.static);
    assert.equal(secondTone('#000000'), '#8c8c8c');
    assert.equal(secondTone('#ffffff'), '#ffffff');
});

test('edges are where the normals of a surface jump, or where it ends', () => {
    const count = (geometry, segments = 16) => findEdges(makeSurface(geometry, segments)).length / 6;
    assert.equal(count({ type: 'box', size: [1, 2, 3] }), 12);
    assert.equal(count({ type: 'sphere', radius: 1 }), 0);
    assert.equal(count({ type: 'sphere', radius: 1 }, 8), 0);
    assert.equal(count({ type: 'capsule', radius: 1, length: 2 }, 8), 0);
    assert.equal(count({ type: 'cylinder', radius: 1, length: 2 }, 8), 16, 'two rims');
    assert.equal(count({ type: 'cone', radius: 1, height: 2 }, 8), 8, 'one rim');
    const square = { type: 'mesh', positions: [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0], indices: [0, 1, 2, 0, 2, 3] };
    assert.equal(count(square), 4, 'not the diagonal');
    const ends = findEdges(makeSurface({ type: 'box', size: [1, 2, 3] }, 8));
    for (let i = 0; i < ends.length; i += 6) {
        const way = [0, 1, 2].map((k) => Math.abs(ends[i + k] - ends[i + 3 + k]));
        assert.equal(way.filter((x) => x > 0).length, 1, 'edges of a box are along its axes');
    }
});

test('looks of visuals and textures, and what a hostile scene gives', () => {
    const body = { number: 1, type: 'dynamic', color: '#102030', texture: { type: 'checker', size: 0.5, color: '#FFFFFF' } };
    assert.deepEqual(lookOf(body), { color: '#102030', second: '#ffffff', pattern: PATTERNS.checker, size: 0.5, opacity: 1, roughness: 0.62 });
    const plain = lookOf(body, { color: '#102030', texture: { type: 'plain', size: 0.1 }, opacity: 0.5 });
    assert.deepEqual([plain.second, plain.pattern, plain.opacity], ['#102030', PATTERNS.plain, 0.5]);
    assert.notEqual(lookOf({ number: 0, type: 'dynamic' }).second, lookOf({ number: 0, type: 'dynamic' }).color, 'marks');
    assert.equal(lookOf({ number: 0, type: 'static' }).second, lookOf({ number: 0, type: 'static' }).color, 'no marks');
    for (const texture of [{ type: 'checker', size: 0 }, { type: 'checker', size: NaN }, { type: 'checker', size: -1 }, { type: 'wood', size: 1 }, 7, null]) {
        const look = lookOf({ number: 0, type: 'dynamic', texture });
        assert.equal(look.pattern, PATTERNS.none);
        assert.ok(look.size > 0);
    }
    for (const wrong of [7, 'x', {}, [null, 7], null]) {
        assert.deepEqual(partsOf({ number: 0, type: 'dynamic', shapes: wrong, visuals: wrong }), []);
    }
    const parts = partsOf({ ...body, shapes: [{ geometry: 0 }], visuals: [{ geometry: 1, color: '#abcdef' }] });
    assert.deepEqual(parts.map(({ geometry, look }) => [geometry, look.color]), [[0, '#102030'], [1, '#abcdef']]);
    const color = lookOf({ number: 0, type: 'dynamic', texture: { type: 'stripes', size: 1, color: 'url(x)' } }).second;
    assert.match(color, /^#[0-9a-f]{6}$/);
});
