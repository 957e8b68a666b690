// Camera, light and the canvas. z is up.

import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { edgeRate, useSunShadows } from './shadows.js';

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;
const FIELD_OF_VIEW = 35; // degrees, vertical, as in the pictures of the program
const ROOM = 1.02; // a little more than the scene
const FREE_MIN = 0.2; // of the window: a smaller free part does not count
const [SLOW, FAST] = [45, 18]; // ms from drawing to drawing
const LIGHT = { sun: [0.86, 0.82, 0.75], sky: [0.36, 0.39, 0.44], ground: [0.18, 0.17, 0.155] };
const SUN_WAY = { up: 0.85, left: 0.5, behind: 0.35 };
const SUN = new THREE.Vector3(0.42, -0.55, 1).normalize(); // from the scene to the light

/**
 * Rendering capabilities of the browser.
 * @returns {{trouble: string|null, isSoftware: boolean, context?: WebGL2RenderingContext}} trouble: why it cannot draw;
 *     context: for the stage, where it is drawn in software: there another one takes a tenth of a second
 */
export function probeWebGL() {
    const context = document.createElement('canvas').getContext('webgl2', { alpha: true, antialias: false });
    if (!context) {
        return {
            isSoftware: false,
            trouble:
                'This browser cannot show 3D graphics: WebGL 2 ' +
                'is missing or disabled. Timeline, plots and journal still work.',
        };
    }
    const info = context.getExtension('WEBGL_debug_renderer_info');
    const name = info ? context.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
    if (SOFTWARE.test(name)) {
        return { trouble: null, isSoftware: true, context };
    }
    context.getExtension('WEBGL_lose_context')?.loseContext(); // with a graphics processor edges are smoothed
    return { trouble: null, isSoftware: false };
}

/** The sky, from above to the horizon. */
function createSky(palette) {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [4, 256];
    const context = canvas.getContext('2d');
    const gradient = context.createLinearGradient(0, 0, 0, 256);
    gradient.addColorStop(0, palette.skyTop);
    gradient.addColorStop(0.7, palette.skyHorizon);
    context.fillStyle = gradient;
    context.fillRect(0, 0, 4, 256);
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.generateMipmaps = false;
    texture.minFilter = THREE.LinearFilter;
    return texture;
}

/**
 * Adapts the quality to the drawing time: fewer pixels while something moves, all of them when
 * everything is still.
 */
function createQuality(renderer, isSoftware) {
    const best = isSoftware ? 1 : Math.min(2, window.devicePixelRatio);
    const ratios = [best, best * 0.75, best * 0.5];
    let level = isSoftware ? 1 : 0;
    let mean = 0;
    let count = 0;
    let current = best;

    function use(ratio) {
        if (ratio !== current) {
            current = ratio;
            renderer.setPixelRatio(ratio);
        }
    }
    return {
        best,
        /** @param {number} gap ms from the last drawing to this, while things move */
        take(gap) {
            if (gap === 0) {
                return;
            }
            mean += (Math.min(gap, 1000) - mean) * 0.15;
            count++;
            if (count > 12 && mean > SLOW && level + 1 < ratios.length) {
                level++;
                count = 0;
            } else if (count > 120 && mean < FAST && level > 0) {
                level--;
                count = 0;
            }
        },
        moving: () => use(ratios[level]),
        still: () => use(best),
        get isReduced() {
            return current !== best;
        },
    };
}

/**
 * Whether the last drawing is complete: with software rendering nothing may queue up.
 * @param {WebGL2RenderingContext|null} context null: not needed with a graphics processor
 */
function createFence(context) {
    let sync = null;
    if (!context) {
        return { raise() {}, isOpen: () => true };
    }
    return {
        raise() {
            sync = context.fenceSync(context.SYNC_GPU_COMMANDS_COMPLETE, 0);
            context.flush();
        },
        isOpen() {
            if (sync && context.getSyncParameter(sync, context.SYNC_STATUS) === context.SIGNALED) {
                context.deleteSync(sync);
                sync = null;
            }
            return sync === null || context.isContextLost();
        },
    };
}

/**
 * @param {HTMLElement} element where the canvas goes
 * @param {{isSoftware: boolean, context?: WebGL2RenderingContext}} webgl of probeWebGL; software: simpler light
 * @param {() => DOMRect|null} getFree the part of the window that no panel covers
 */
export function createStage(element, { isSoftware, context }, getFree = () => null) {
    const renderer = new THREE.WebGLRenderer({
        antialias: !isSoftware,
        alpha: true, // for pictures
        ...(context && { context, canvas: context.canvas }),
    });
    const quality = createQuality(renderer, isSoftware);
    const shadowSize = 2048; // texels
    // without a graphics processor a shadow costs as much as everything else together
    renderer.shadowMap.enabled = !isSoftware;
    if (!isSoftware) {
        useSunShadows(renderer);
    }
    renderer.localClippingEnabled = true; // of sections
    renderer.setPixelRatio(quality.best);
    element.append(renderer.domElement);

    const scene = new THREE.Scene();
    const camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.1, 1000);
    camera.up.set(0, 0, 1);
    const controls = new OrbitControls(camera, renderer.domElement);
    controls.zoomToCursor = true;
    controls.screenSpacePanning = true;

    const hemisphere = new THREE.HemisphereLight('#ffffff', '#b9ae9d', 1.55);
    const sun = new THREE.DirectionalLight('#fffaf0', 2.1);
    const toSun = SUN.clone();
    if (!isSoftware) {
        // the light of the program's renderer, app/render/picture_light.c: parts of the light that a
        // white surface sends back, hence the factor
        hemisphere.color.setRGB(...LIGHT.sky);
        hemisphere.groundColor.setRGB(...LIGHT.ground);
        sun.color.setRGB(...LIGHT.sun);
        hemisphere.intensity = sun.intensity = Math.PI;
    }
    hemisphere.position.set(0, 0, 1); // where the sky is
    scene.add(hemisphere);
    sun.castShadow = !isSoftware;
    sun.shadow.mapSize.set(shadowSize, shadowSize);
    sun.shadow.intensity = 0.92;
    scene.add(sun, sun.target);

    let radius = 1; // of the scene
    let sky = null;
    let isSkyDrawn = !isSoftware;
    let lastSize = { width: 0, height: 0 };
    let free = { width: 1, height: 1 }; // share of the window that is free

    const stage = {
        renderer,
        scene,
        camera,
        controls,
        quality,
        fence: createFence(isSoftware ? renderer.getContext() : null),

        /** Size of the scene: for light, shadow and how near and far the camera may go. */
        setSize(size) {
            radius = size > 0 ? size : 1;
            controls.minDistance = radius * 0.02;
            controls.maxDistance = radius * 60;
        },

        /** Places the camera so that it sees a ball {center, radius} from a direction. */
        look(view) {
            const half = (FIELD_OF_VIEW / 2) * (Math.PI / 180);
            const narrow = Math.max(1, 16 / 9 / ((camera.aspect * free.width) / free.height));
            const distance = ((view.radius / Math.sin(half)) * narrow * ROOM) / free.height;
            const direction = new THREE.Vector3(
                ...(view.direction ?? [0.5, -0.8, 0.4]),
            ).normalize();
            if (!isSoftware) {
                placeSun(direction);
            }
            controls.target.set(...view.center);
            camera.position.copy(controls.target).addScaledVector(direction, distance);
            controls.update();
        },

        /** Adapts near and far planes, light and shadow to the current view. */
        aim() {
            const distance = camera.position.distanceTo(controls.target);
            camera.near = Math.max(distance * 0.01, radius * 1e-3);
            camera.far = distance + radius * 80;
            camera.updateProjectionMatrix();
            aimShadow(distance);
        },

        /** @returns {boolean} whether the canvas is empty now */
        resize() {
            const [width, height] = [element.clientWidth || 1, element.clientHeight || 1];
            const isOther = width !== lastSize.width || height !== lastSize.height;
            if (isOther) {
                lastSize = { width, height };
                renderer.setSize(width, height, false); // clears the picture
            }
            camera.aspect = width / height;
            // The middle of the view is the middle of what panels leave free.
            const window = element.getBoundingClientRect();
            const found = getFree();
            const isFit =
                found && found.width > FREE_MIN * width && found.height > FREE_MIN * height;
            const part = isFit ? found : window;
            free = { width: part.width / width || 1, height: part.height / height || 1 };
            const x = window.left + width / 2 - (part.left + part.width / 2);
            const y = window.top + height / 2 - (part.top + part.height / 2);
            camera.setViewOffset(width, height, x, y, width, height);
            return isOther;
        },

        /** Colors of the surroundings. */
        setPalette(palette) {
            sky?.dispose();
            sky = createSky(palette);
            stage.showSky(isSkyDrawn);
        },

        /**
         * Draws the sky, or leaves it to the page, which has the same behind the canvas: in software it would take as long as
         * everything else. Files need it.
         */
        showSky(isOn) {
            isSkyDrawn = isOn;
            scene.background = isOn ? sky : null;
        },

        get isSkyDrawn() {
            return isSkyDrawn;
        },

        /** The light that a white plane sends back, where it is the same everywhere: without shadows; null: with them. */
        lightOn(normal) {
            if (!isSoftware) {
                return null;
            }
            const light = hemisphere.groundColor.clone().lerp(hemisphere.color, 0.5 + 0.5 * normal.z);
            light.multiplyScalar(hemisphere.intensity);
            const part = sun.intensity * Math.max(0, normal.dot(toSun));
            return light.add(sun.color.clone().multiplyScalar(part)).multiplyScalar(1 / Math.PI);
        },
    };

    /** To the left behind the camera of the scene, as in pictures of the program. */
    function placeSun(toCamera) {
        const flat = new THREE.Vector3(toCamera.x, toCamera.y, 0);
        const behind = flat.lengthSq() > 1e-6 ? flat.normalize() : new THREE.Vector3(0, -1, 0);
        const left = new THREE.Vector3().crossVectors(behind, camera.up);
        toSun.copy(camera.up).multiplyScalar(SUN_WAY.up);
        toSun.addScaledVector(left, SUN_WAY.left).addScaledVector(behind, SUN_WAY.behind).normalize();
    }

    /** The frustum of the shadow follows the view, in whole texels so that edges do not crawl. */
    function aimShadow(distance) {
        const half = Math.min(radius * 3, Math.max(radius * 1.8, distance * 0.4));
        const shadow = sun.shadow.camera;
        const depth = radius * 12;
        const texel = (2 * half) / shadowSize;
        const frame = new THREE.Matrix4().lookAt(toSun, new THREE.Vector3(), camera.up);
        const back = frame.clone().transpose();
        const at = controls.target.clone().applyMatrix4(back);
        at.x = Math.round(at.x / texel) * texel;
        at.y = Math.round(at.y / texel) * texel;
        sun.target.position.copy(at.applyMatrix4(frame));
        sun.position.copy(sun.target.position).addScaledVector(toSun, depth / 2);
        sun.target.updateMatrixWorld();
        if (shadow.right !== half || shadow.far !== depth) {
            shadow.left = shadow.bottom = -half;
            shadow.right = shadow.top = half;
            shadow.near = 0;
            shadow.far = depth;
            shadow.updateProjectionMatrix();
        }
        sun.shadow.radius = edgeRate(depth, 2 * half);
        sun.shadow.normalBias = texel * 1.5;
        sun.shadow.bias = -0.0004;
    }
    return stage;
}
