// Ambient occlusion: less light of the sky where something near covers it, in corners and below bodies.
//
// Depths and normals of what the camera sees are drawn first. From these a second pass estimates, for each
// pixel, how much of the sky is covered within a radius (McGuire et al., "Scalable Ambient Obscurance",
// 2012: points on a spiral about the pixel, each counted by its height above the surface). A third pass
// smooths the noise of the spirals without crossing edges. Materials multiply the light of the sky by the
// result; the light of the sun has its shadow. It costs a second drawing of all bodies, so it is off
// without a graphics processor.

import * as THREE from 'three';

export const OCCLUDED = 1; // the layer of what takes part
const RADIUS = 0.5; // in which things cover the sky, of the radius of the scene
const STRENGTH = 3.2;

const white = new THREE.DataTexture(new Uint8Array([255, 255, 255, 255]), 1, 1);
white.needsUpdate = true;
const shared = { openMap: { value: white }, openScale: { value: new THREE.Vector2(0, 0) } };

/** Lets a shader of a material darken the light of the sky. */
export function darken(shader) {
    Object.assign(shader.uniforms, shared);
    shader.fragmentShader = shader.fragmentShader
        .replace('#include <common>', '#include <common>\nuniform sampler2D openMap;\nuniform vec2 openScale;')
        .replace(
            '#include <aomap_fragment>',
            `#include <aomap_fragment>
            reflectedLight.indirectDiffuse *= texture2D(openMap, gl_FragCoord.xy * openScale).r;`,
        );
}

const VERTEX = `
varying vec2 place;
void main() {
    place = 0.5 * position.xy + 0.5;
    gl_Position = vec4(position.xy, 0.0, 1.0);
}`;

const PLACES = `
uniform sampler2D depthMap;
uniform mat4 fromClip;
varying vec2 place;
vec3 pointAt(vec2 at) {
    vec4 p = fromClip * vec4(2.0 * vec3(at, texture2D(depthMap, at).r) - 1.0, 1.0);
    return p.xyz / p.w;
}`;

const ESTIMATE = `
${PLACES}
uniform sampler2D normalMap;
uniform vec2 scale; // of a length at distance 1, in parts of the picture
uniform float radius;
const int COUNT = 24;
void main() {
    if (texture2D(depthMap, place).r >= 1.0) {
        gl_FragColor = vec4(1.0);
        return;
    }
    vec3 p = pointAt(place);
    vec3 n = normalize(2.0 * texture2D(normalMap, place).xyz - 1.0);
    vec2 reach = min(scale * radius / -p.z, vec2(0.4));
    float turn = 6.2831853 * fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715))));
    float sum = 0.0;
    for (int i = 0; i < COUNT; i++) {
        float part = (float(i) + 0.5) / float(COUNT);
        float angle = turn + part * 6.2831853 * 7.0;
        vec3 v = pointAt(place + part * reach * vec2(cos(angle), sin(angle))) - p;
        float square = dot(v, v) / (radius * radius);
        float height = dot(v, n) / radius - 0.004 * -p.z / radius;
        float near = max(1.0 - square, 0.0);
        sum += near * near * near * max(height, 0.0) / (square + 0.002);
    }
    float open = max(0.0, 1.0 - ${STRENGTH.toFixed(2)} * sum / float(COUNT));
    gl_FragColor = vec4(open, open, open, 1.0);
}`;

const SMOOTH = `
${PLACES}
uniform sampler2D openMap;
uniform vec2 pixel;
uniform float radius;
void main() {
    float depth = pointAt(place).z;
    float sum = 0.0;
    float weights = 0.0;
    for (int y = -3; y <= 3; y++) {
        for (int x = -3; x <= 3; x++) {
            vec2 at = place + pixel * vec2(float(x), float(y));
            float weight = max(0.0, 1.0 - abs(pointAt(at).z - depth) / (0.1 * radius)) + 1e-4;
            sum += weight * texture2D(openMap, at).r;
            weights += weight;
        }
    }
    gl_FragColor = vec4(vec3(sum / weights), 1.0);
}`;

function createPass(fragmentShader, names) {
    const uniforms = Object.fromEntries(names.map((name) => [name, { value: null }]));
    const material = new THREE.ShaderMaterial({ vertexShader: VERTEX, fragmentShader, uniforms, depthTest: false, depthWrite: false });
    const scene = new THREE.Scene();
    const geometry = new THREE.BufferGeometry(); // one triangle over the whole picture
    geometry.setAttribute('position', new THREE.Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3));
    const mesh = new THREE.Mesh(geometry, material);
    mesh.frustumCulled = false;
    scene.add(mesh);
    return { scene, uniforms };
}

/** @param {THREE.WebGLRenderer} renderer @param {boolean} isOn at the start */
export function createOcclusion(renderer, isOn) {
    const camera = new THREE.OrthographicCamera();
    const size = new THREE.Vector2();
    const normals = new THREE.MeshNormalMaterial({ side: THREE.DoubleSide });
    let targets = null;
    let passes = null;

    function makeTarget(options) {
        return new THREE.WebGLRenderTarget(size.x, size.y, { minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter, ...options });
    }

    function prepare() {
        renderer.getDrawingBufferSize(size);
        if (targets === null) {
            const depthTexture = new THREE.DepthTexture(size.x, size.y, THREE.UnsignedIntType);
            targets = { seen: makeTarget({ depthTexture }), rough: makeTarget({ depthBuffer: false }), open: makeTarget({ depthBuffer: false }) };
            passes = {
                estimate: createPass(ESTIMATE, ['depthMap', 'normalMap', 'fromClip', 'scale', 'radius']),
                smooth: createPass(SMOOTH, ['depthMap', 'openMap', 'fromClip', 'pixel', 'radius']),
            };
        }
        for (const target of Object.values(targets)) {
            if (target.width !== size.x || target.height !== size.y) {
                target.setSize(size.x, size.y);
            }
        }
    }

    function run(pass, target, values) {
        for (const [name, value] of Object.entries(values)) {
            pass.uniforms[name].value = value;
        }
        renderer.setRenderTarget(target);
        renderer.render(pass.scene, camera);
    }

    /** Draws depths and normals of the bodies that take part. */
    function drawSeen(scene, seenBy, plane) {
        const { background } = scene;
        const { autoUpdate } = renderer.shadowMap;
        normals.clippingPlanes = plane ? [plane] : null;
        scene.background = null;
        scene.overrideMaterial = normals;
        renderer.shadowMap.autoUpdate = false;
        seenBy.layers.set(OCCLUDED);
        renderer.setRenderTarget(targets.seen);
        renderer.clear();
        renderer.render(scene, seenBy);
        seenBy.layers.set(0);
        renderer.shadowMap.autoUpdate = autoUpdate;
        scene.overrideMaterial = null;
        scene.background = background;
    }

    return {
        isOn,

        /** No occlusion in what is drawn next. */
        clear() {
            shared.openMap.value = white;
            shared.openScale.value.set(0, 0);
        },

        /**
         * Computes the occlusion of what the camera sees; the next drawing uses it.
         * @param {{radius: number, plane: THREE.Plane|null, isFine: boolean}} options isFine: there is time for it
         */
        update(scene, seenBy, { radius, plane, isFine }) {
            if (!this.isOn || !isFine) {
                this.clear();
                return;
            }
            prepare();
            drawSeen(scene, seenBy, plane);
            const fromClip = seenBy.projectionMatrixInverse;
            const [sx, sy] = [seenBy.projectionMatrix.elements[0], seenBy.projectionMatrix.elements[5]];
            const reach = RADIUS * radius;
            const depthMap = targets.seen.depthTexture;
            run(passes.estimate, targets.rough, {
                depthMap, fromClip, normalMap: targets.seen.texture, scale: new THREE.Vector2(sx / 2, sy / 2), radius: reach,
            });
            run(passes.smooth, targets.open, {
                depthMap, fromClip, openMap: targets.rough.texture, pixel: new THREE.Vector2(1 / size.x, 1 / size.y), radius: reach,
            });
            renderer.setRenderTarget(null);
            shared.openMap.value = targets.open.texture;
            shared.openScale.value.set(1 / size.x, 1 / size.y);
        },
    };
}
