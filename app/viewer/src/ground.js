// Planes drawn as ground and walls, with a grid that fades with distance.

import * as THREE from 'three';
import { darken, OCCLUDED } from './occlusion.js';
import { PATTERNS } from './shapes.js';

const VERTEX_HEAD = `
varying vec2 gridPlace;
`;
const VERTEX = `
gridPlace = position.xy;
`;
const FRAGMENT_HEAD = `
varying vec2 gridPlace;
#ifdef HAS_PLAIN_LIGHT
uniform vec3 plainLight;
#endif
uniform float cell;
uniform float fadeFrom;
uniform float fadeTo;
uniform float fillAlpha;
uniform vec2 gridOrigin;
uniform vec3 lineColor;
uniform vec3 fifthColor;
uniform vec3 secondColor;
uniform float pattern;
uniform float patternSize;

// Share of a pixel that lines of this distance cover.
float lines(vec2 place, float distance, float width)
{
    vec2 scaled = place / distance;
    vec2 slope = fwidth(scaled);
    vec2 from = abs(fract(scaled - 0.5) - 0.5);
    vec2 cover = clamp(width + 0.5 - from / max(slope, vec2(1e-9)), 0.0, 1.0);
    vec2 fading = clamp(1.0 - 2.0 * slope, 0.0, 1.0);
    return max(cover.x * fading.x, cover.y * fading.y);
}
`;
const FRAGMENT = `
vec2 place = gridPlace - gridOrigin;
float thin = lines(place, cell, 0.35);
float fifth = lines(place, cell * 5.0, 0.6);
float onLine = max(thin * 0.8, fifth);
#ifdef HAS_PATTERN
{
    onLine = 0.0;
    vec2 at = place / patternSize;
    vec2 w = max(fwidth(at), vec2(1e-5));
    vec2 even = 2.0 * (abs(fract((at - 0.5 * w) * 0.5) - 0.5) - abs(fract((at + 0.5 * w) * 0.5) - 0.5)) / w;
    float mean = smoothstep(0.3, 1.0, max(w.x, w.y));
    float parity = mix(pattern > 2.5 ? even.x : even.x * even.y, 0.0, mean);
    diffuseColor.rgb = mix(diffuseColor.rgb, secondColor, 0.5 - 0.5 * parity);
}
#endif
vec3 ink = mix(lineColor, fifthColor, step(thin, fifth));
diffuseColor.rgb = mix(diffuseColor.rgb, ink, onLine);
float fade = 1.0 - smoothstep(fadeFrom, fadeTo, length(gridPlace));
float fill = gl_FrontFacing ? fillAlpha : min(fillAlpha, 0.25); // what is above can be seen from below
diffuseColor.a = fade * max(fill, onLine * 0.85);
#ifdef HAS_PLAIN_LIGHT
diffuseColor.rgb *= plainLight;
#endif
`;

/** A length of 1, 2 or 5 times a power of ten, close to a given one. */
export function roundLength(length) {
    const power = 10 ** Math.floor(Math.log10(length));
    const share = length / power;
    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

/** light: what a white surface of this kind sends back; null: lights and shadows of the scene. */
function makeMaterial({ light, ...options }) {
    const pattern = options.look?.pattern ?? PATTERNS.none;
    const Material = light ? THREE.MeshBasicMaterial : THREE.MeshLambertMaterial;
    const material = new Material({
        color: options.look?.color ?? options.palette.ground,
        transparent: true,
        depthWrite: options.fillAlpha > 0.9,
        side: options.side ?? THREE.FrontSide,
        polygonOffset: true,
        polygonOffsetFactor: 1,
        polygonOffsetUnits: 1,
    });
    material.defines = {
        ...material.defines,
        ...(pattern > PATTERNS.plain && { HAS_PATTERN: '' }),
        ...(light && { HAS_PLAIN_LIGHT: '' }),
    };
    material.onBeforeCompile = (shader) => {
        Object.assign(shader.uniforms, {
            plainLight: { value: light },
            cell: { value: options.cell },
            fadeFrom: { value: options.fadeFrom },
            fadeTo: { value: options.fadeTo },
            fillAlpha: { value: options.fillAlpha },
            gridOrigin: { value: options.origin },
            lineColor: { value: new THREE.Color(options.palette.gridLine) },
            fifthColor: { value: new THREE.Color(options.palette.gridLineFifth) },
            secondColor: { value: new THREE.Color(options.look?.second ?? '#ffffff') },
            pattern: { value: pattern },
            patternSize: { value: options.look?.size ?? 1 },
        });
        shader.vertexShader = shader.vertexShader
            .replace('#include <common>', `#include <common>\n${VERTEX_HEAD}`)
            .replace('#include <begin_vertex>', `#include <begin_vertex>\n${VERTEX}`);
        shader.fragmentShader = shader.fragmentShader
            .replace('#include <common>', `#include <common>\n${FRAGMENT_HEAD}`)
            .replace('#include <color_fragment>', `#include <color_fragment>\n${FRAGMENT}`);
        if (!light) {
            darken(shader);
        }
    };
    return material;
}

/**
 * A plane as a large disc about the point nearest to the middle of the scene.
 * @param {THREE.Vector3} normal in world axes
 * @param {THREE.Vector3} point any point of the plane
 * @param {{center: number[], radius: number}} view @param {object} palette
 * @param {object|null} look of its body, if the scene gives it one
 * @param {THREE.Color|null} light of the plane, where it is the same everywhere
 */
export function createPlane(normal, point, view, { palette, look = null, light = null }) {
    const isGround = normal.z > 0.7;
    const center = new THREE.Vector3(...view.center);
    const foot = center.clone().addScaledVector(normal, point.clone().sub(center).dot(normal));
    const size = view.radius * (isGround ? 24 : 2.2);
    const rotation = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    const zero = new THREE.Vector3().sub(foot).applyQuaternion(rotation.clone().invert());
    const mesh = new THREE.Mesh(
        new THREE.CircleGeometry(size, 64),
        makeMaterial({
            palette,
            look,
            light,
            cell: roundLength(view.radius / 4),
            fadeFrom: size * (isGround ? 0.12 : 0.45),
            fadeTo: size,
            fillAlpha: isGround ? 1 : 0.45,
            origin: new THREE.Vector2(zero.x, zero.y),
        }),
    );
    mesh.position.copy(foot);
    mesh.quaternion.copy(rotation);
    mesh.receiveShadow = true;
    mesh.renderOrder = isGround ? -2 : 1;
    if (isGround) {
        mesh.layers.enable(OCCLUDED);
    }
    return mesh;
}

/** A grid below a scene that has no ground, seen from both sides. */
export function createFloorGrid(floor, view, { palette, light = null }) {
    const size = view.radius * 7;
    const center = new THREE.Vector2(view.center[0], view.center[1]);
    const mesh = new THREE.Mesh(
        new THREE.CircleGeometry(size, 64),
        makeMaterial({
            palette,
            light,
            cell: roundLength(view.radius / 4),
            fadeFrom: size * 0.15,
            fadeTo: size,
            fillAlpha: 0.88,
            origin: center.clone().negate(),
            side: THREE.DoubleSide,
        }),
    );
    mesh.position.set(center.x, center.y, floor);
    mesh.receiveShadow = true;
    mesh.renderOrder = -1;
    return mesh;
}

/** The edges of a periodic box about the origin; a length of 0 has no period. */
export function createPeriodicBox(lengths, view, palette) {
    const size = lengths.map((length) => (length > 0 ? length : 2 * view.radius));
    const box = new THREE.BoxGeometry(...size);
    const lines = new THREE.LineSegments(
        new THREE.EdgesGeometry(box),
        new THREE.LineBasicMaterial({ color: palette.mark, transparent: true, opacity: 0.55 }),
    );
    box.dispose();
    return lines;
}
