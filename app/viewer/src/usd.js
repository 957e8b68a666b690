// The scene and the motion that this page has seen as USD text (.usda), as `rattleback run --usd` writes it: a class for
// each geometry, a node for each body, samples for bodies that move. Patterns are not drawn.

import { GROUND, isConstant, linear, positionsOf, rotationsOf, SEGMENTS, squareOf } from './gltf.js';
import { isOpenSurface, makeSurface, partsOf, PATTERNS } from './shapes.js';

const RATE = 30; // codes of time per second
const ORDER = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]';
const BINDING = 'prepend apiSchemas = ["MaterialBindingAPI"]';

const number = (x) => String(Math.fround(x) === x ? Number(x.toPrecision(9)) : x);
const tuple = (values) => `(${Array.from(values, number).join(', ')})`;
const list = (values) => `[${values.join(', ')}]`;

/** A name has letters, digits and underscores only; its number makes it unique. */
const nameOf = (kind, index, name) => `${kind}${index}_${String(name).slice(0, 40).replace(/[^A-Za-z0-9]/g, '_')}`;

/** A text between quotes: what could end it is left out. */
const quote = (text) => `"${String(text).replace(/["\\\p{Cc}]/gu, ' ')}"`;

/** Rows of three numbers. */
const rows = (values) => list(Array.from({ length: values.length / 3 }, (_, i) => tuple(values.subarray(3 * i, 3 * i + 3))));

/** The inside of a mesh: points, faces, and the faces of the second tone. */
function describe(surface, isOpen) {
    const count = surface.indices.length / 3;
    const marks = [];
    for (let i = 0; i < count; i++) {
        if (surface.tones[surface.indices[3 * i]] > 0.5) {
            marks.push(i);
        }
    }
    const subset = `    def GeomSubset "marks"
    {
        uniform token elementType = "face"
        uniform token familyName = "materialBind"
        int[] indices = ${list(marks)}
    }
`;
    return `    uniform token subdivisionScheme = "none"
${isOpen ? '    uniform bool doubleSided = 1\n' : ''}    int[] faceVertexCounts = ${list(new Array(count).fill(3))}
    int[] faceVertexIndices = ${list(Array.from(surface.indices))}
    point3f[] points = ${rows(Float32Array.from(surface.positions))}
    normal3f[] normals = ${rows(Float32Array.from(surface.normals))} (
        interpolation = "vertex"
    )
${marks.length > 0 ? subset : ''}`;
}

/**
 * @param {{title: string, radius: number, bodies: object[], geometries: object[]}} scene bodies as in the model
 * @param {{time: number, poses: Float32Array}[]} frames at least one
 * @returns {string}
 */
export function toUsd({ title, radius, bodies, geometries }, frames) {
    const materials = new Map(); // what it looks like: number
    const classes = new Map(); // number of a geometry: its text, or null
    const hasMarks = new Set();
    const codes = frames.map(({ time }) => number((time - frames[0].time) * RATE));

    const materialOf = (color, { opacity, roughness }) => {
        const key = JSON.stringify([color, opacity, roughness]);
        if (!materials.has(key)) {
            materials.set(key, materials.size);
        }
        return `rel material:binding = </World/Materials/M${materials.get(key)}>`;
    };

    function hasClass(index) {
        if (!classes.has(index)) {
            const shape = geometries[index];
            const surface = shape?.type === 'plane' ? squareOf(shape, GROUND * radius) : shape && makeSurface(shape, SEGMENTS);
            const text = surface ? describe(surface, shape.type === 'plane' || (shape.type === 'mesh' && isOpenSurface(shape))) : null;
            classes.set(index, text);
            if (text?.includes('GeomSubset')) {
                hasMarks.add(index);
            }
        }
        return classes.get(index) !== null;
    }

    function shapeOf({ geometry, look, position = [0, 0, 0], orientation = [1, 0, 0, 0] }, i) {
        if (!hasClass(geometry)) {
            return '';
        }
        const second = look.pattern === PATTERNS.none ? look.second : look.color;
        const marks = `            over "marks" (
                ${BINDING}
            )
            {
                ${materialOf(second, look)}
            }
`;
        return `        def Mesh "S${i}" (
            inherits = </G${geometry}>
            ${BINDING}
        )
        {
            ${materialOf(look.color, look)}
            double3 xformOp:translate = ${tuple(position)}
            quatf xformOp:orient = ${tuple(orientation)}
            ${ORDER}
${hasMarks.has(geometry) ? marks : ''}        }
`;
    }

    /** A pose, or its samples. */
    function samples(type, what, values, width, toText) {
        const at = (i) => toText(values.subarray(width * i, width * (i + 1)));
        if (isConstant(values, width)) {
            return `        ${type} xformOp:${what} = ${at(0)}\n`;
        }
        return `        ${type} xformOp:${what}.timeSamples = {\n${codes.map((code, i) => `            ${code}: ${at(i)},\n`).join('')}        }\n`;
    }

    function bodyOf(body) {
        const [w, x, y, z] = body.orientation;
        const places = positionsOf(frames, body.number, [...body.position]);
        const turns = rotationsOf(frames, body.number, [x, y, z, w]);
        return `    def Xform "${nameOf('B', body.number, body.name)}"
    {
${samples('double3', 'translate', places, 3, tuple)}${samples('quatf', 'orient', turns, 4, (q) => tuple([q[3], q[0], q[1], q[2]]))}        ${ORDER}
${partsOf(body).map(shapeOf).join('')}    }
`;
    }

    const nodes = bodies.filter((body) => [...body.position, ...body.orientation].every(Number.isFinite)).map(bodyOf);
    const finishes = [...materials].map(([key, i]) => {
        const [color, opacity, roughness] = JSON.parse(key);
        const rgb = [1, 3, 5].map((at) => linear(parseInt(color.slice(at, at + 2), 16)));
        return `        def Material "M${i}"
        {
            token outputs:surface.connect = </World/Materials/M${i}/Shader.outputs:surface>
            def Shader "Shader"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor = ${tuple(rgb)}
                float inputs:opacity = ${opacity}
                float inputs:roughness = ${roughness}
                token outputs:surface
            }
        }
`;
    });
    const shapes = [...classes].filter(([, text]) => text !== null).map(([i, text]) => `class Mesh "G${i}"\n{\n${text}}\n\n`);
    return `#usda 1.0
(
    defaultPrim = "World"
    doc = ${quote(title)}
    metersPerUnit = 1
    upAxis = "Z"
    timeCodesPerSecond = ${RATE}
    framesPerSecond = ${RATE}
    startTimeCode = ${codes[0]}
    endTimeCode = ${codes.at(-1)}
)

${shapes.join('')}def Xform "World"
{
${nodes.join('')}    def Scope "Materials"
    {
${finishes.join('')}    }
}
`;
}
