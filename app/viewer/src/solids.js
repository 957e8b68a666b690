// All bodies as instances: one draw call for each distinct geometry, however many bodies share it.

import * as THREE from 'three';
import { createEdgeMaterial, createEdges } from './edges.js';
import { darken, OCCLUDED } from './occlusion.js';
import { chooseSegments, isOpenSurface, lookOf, makeSurface, partsOf, radiusOf } from './shapes.js';

const HIDDEN = new THREE.Matrix4().makeScale(0, 0, 0);
const [BUDGET, BUDGET_SOFTWARE] = [2_000_000, 40_000]; // triangles of round shapes
const HAS_NO_SHAPE = 0.015; // radius of a body without shapes, of the scene's radius

const GHOST = 0.25; // opacity of bodies that the user made transparent

// The same patterns are in app/render/palette.c: cubes and layers in the frame of the shape. A pattern
// that is finer than the pixels fades to the mean of its colors.
export const PATTERN = `
float secondShare(vec3 place, float kind)
{
    vec3 w = max(fwidth(place), vec3(1e-5));
    vec3 even = 2.0 * (abs(fract((place - 0.5 * w) * 0.5) - 0.5) - abs(fract((place + 0.5 * w) * 0.5) - 0.5)) / w;
    return 0.5 - 0.5 * (kind > 2.5 ? even.z : even.x * even.y * even.z);
}
`;

/**
 * Two colors of each instance; the tone of a triangle or the pattern says which. Opacity, roughness and
 * pattern are those of the instance.
 */
function createMaterial(isSoftware, options) {
    const material = isSoftware
        ? new THREE.MeshLambertMaterial(options)
        : new THREE.MeshStandardMaterial({ ...options, metalness: 0 });
    material.onBeforeCompile = (shader) => {
        shader.vertexShader = shader.vertexShader
            .replace(
                '#include <common>',
                `#include <common>
                attribute float tone;
                attribute vec3 firstColor;
                attribute vec3 secondColor;
                attribute vec4 look; // opacity, roughness, pattern and its size
                varying vec3 bodyColor;
                varying vec3 bodySecond;
                varying vec4 bodyLook;
                varying vec3 bodyPlace;`,
            )
            .replace(
                '#include <begin_vertex>',
                `#include <begin_vertex>
                bodyLook = look;
                bodyPlace = (position - 1e-3 * look.w * normal) / look.w; // faces may be where a pattern changes
                bodySecond = secondColor;
                bodyColor = look.z > 0.5 ? firstColor : mix(firstColor, secondColor, tone);`,
            );
        shader.fragmentShader = shader.fragmentShader
            .replace(
                '#include <common>',
                `#include <common>
                varying vec3 bodyColor;
                varying vec3 bodySecond;
                varying vec4 bodyLook;
                varying vec3 bodyPlace;
                ${PATTERN}`,
            )
            .replace(
                '#include <roughnessmap_fragment>',
                `#include <roughnessmap_fragment>
                roughnessFactor = bodyLook.y;`,
            )
            .replace(
                '#include <color_fragment>',
                `#include <color_fragment>
                diffuseColor.rgb = bodyColor;
                if (bodyLook.z > 1.5) {
                    diffuseColor.rgb = mix(bodyColor, bodySecond, secondShare(bodyPlace, bodyLook.z));
                }
                diffuseColor.a = bodyLook.x;`,
            );
        if (!options.transparent) {
            darken(shader);
        }
    };
    return material;
}

export function createSolids(model, isSoftware) {
    const group = new THREE.Group();
    const materials = new Map(); // by what differs in the shader
    const edgeMaterial = createEdgeMaterial();
    const hidden = new Set(); // numbers of bodies
    let section = null; // a THREE.Plane: what is behind it is not shown
    const ghosts = new Set();
    let only = null; // number of the one body that is shown
    const hiddenGroups = new Set(); // names
    let onlyGroup = null;
    let hasEdges = !isSoftware;
    const pose = new Float64Array(7);
    const bodyMatrix = new THREE.Matrix4();
    const matrix = new THREE.Matrix4();
    const position = new THREE.Vector3();
    const rotation = new THREE.Quaternion();
    const one = new THREE.Vector3(1, 1, 1);
    const size = new THREE.Vector3();
    const radii = new Map(); // number -> farthest point of a body
    let meshes = []; // {mesh, instances: [{body, local}], numbers: of the bodies, if shapes are at their origins}
    let byBody = new Map(); // number -> [{entry, index}]
    let outlines = new Map(); // geometry index -> BufferGeometry

    function clear() {
        for (const { mesh, edges } of meshes) {
            group.remove(mesh);
            mesh.geometry.dispose();
            mesh.dispose();
            if (edges) {
                group.remove(edges);
                edges.geometry.dispose();
            }
        }
        outlines.forEach((geometry) => geometry.dispose());
        meshes = [];
        byBody = new Map();
        outlines = new Map();
        radii.clear();
    }

    /** Size of a growing ball relative to the start. */
    function grown(body, index) {
        const { radius } = model.geometries[index];
        return size.setScalar(radius > 0 ? 1 + (body.growth * model.time) / radius : 1);
    }

    function materialOf(isClear, isDouble) {
        const key = `${isClear} ${isDouble}`;
        if (!materials.has(key)) {
            const options = { transparent: isClear, depthWrite: !isClear };
            const material = createMaterial(isSoftware, options);
            material.userData.isDouble = isDouble;
            cut(material);
            materials.set(key, material);
        }
        return materials.get(key);
    }

    /** A section shows the inside of bodies. */
    function cut(material) {
        material.clippingPlanes = section ? [section] : null;
        material.clipShadows = true;
        material.side = material.userData.isDouble || section ? THREE.DoubleSide : THREE.FrontSide;
        material.needsUpdate = true;
    }

    function opacityOf(body, look) {
        return ghosts.has(body.number) ? Math.min(GHOST, look.opacity) : look.opacity;
    }

    function isGroupShown(name) {
        return !hiddenGroups.has(name) && (onlyGroup === null || onlyGroup === name);
    }

    function isShown(number) {
        return (
            !hidden.has(number) &&
            (only === null || only === number) &&
            ((hiddenGroups.size === 0 && onlyGroup === null) ||
                isGroupShown(model.bodies.get(number)?.viewGroup))
        );
    }

    /** What is drawn of a body; a small ball if it has neither shapes nor visuals. */
    function drawnOf(body) {
        const parts = partsOf(body);
        const all = parts.length > 0 ? parts : [{ geometry: -1, look: lookOf(body) }];
        return all.filter(({ look }) => look.opacity > 0);
    }

    /** Which bodies use which geometry: [geometry index, isClear, instances]. */
    function collect() {
        const uses = new Map();
        for (const body of model.bodies.values()) {
            for (const shape of drawnOf(body)) {
                const { look } = shape;
                const isClear = opacityOf(body, look) < 1;
                const local = new THREE.Matrix4();
                const [w, x, y, z] = shape.orientation ?? [1, 0, 0, 0];
                const place = shape.position || (shape.geometry < 0 && body.center) || [0, 0, 0];
                local.compose(
                    new THREE.Vector3(...place),
                    new THREE.Quaternion(x, y, z, w),
                    one,
                );
                const key = `${shape.geometry} ${isClear}`;
                if (!uses.has(key)) {
                    uses.set(key, { index: shape.geometry, isClear, instances: [] });
                }
                const isPlain = place.every((v) => v === 0) && x === 0 && y === 0 && z === 0 && !body.growth;
                uses.get(key).instances.push({ body, local, look, isPlain });
            }
        }
        return [...uses.values()];
    }

    function addColors(geometry, instances) {
        const first = new Float32Array(3 * instances.length);
        const second = new Float32Array(3 * instances.length);
        const looks = new Float32Array(4 * instances.length);
        const color = new THREE.Color();
        instances.forEach(({ body, look }, i) => {
            looks.set([opacityOf(body, look), look.roughness, look.pattern, look.size], 4 * i);
            color.set(look.color).toArray(first, 3 * i);
            color.set(look.second).toArray(second, 3 * i);
        });
        geometry.setAttribute('firstColor', new THREE.InstancedBufferAttribute(first, 3));
        geometry.setAttribute('secondColor', new THREE.InstancedBufferAttribute(second, 3));
        geometry.setAttribute('look', new THREE.InstancedBufferAttribute(looks, 4));
    }

    function isRound(index) {
        return index < 0 || !['box', 'mesh', 'plane'].includes(model.geometries[index]?.type);
    }

    function addMesh({ index, isClear, instances }, viewRadius, segments) {
        const shape =
            index < 0
                ? { type: 'sphere', radius: HAS_NO_SHAPE * viewRadius }
                : model.geometries[index];
        const surface = shape ? makeSurface(shape, segments) : null;
        if (!surface) {
            return;
        }
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute('position', new THREE.BufferAttribute(surface.positions, 3));
        geometry.setAttribute('normal', new THREE.BufferAttribute(surface.normals, 3));
        geometry.setAttribute('tone', new THREE.BufferAttribute(surface.tones, 1));
        geometry.setIndex(new THREE.BufferAttribute(surface.indices, 1));
        addColors(geometry, instances);
        const isDouble = shape.type === 'mesh' && isOpenSurface(shape);
        const material = materialOf(isClear, isDouble);
        const mesh = new THREE.InstancedMesh(geometry, material, instances.length);
        mesh.renderOrder = isClear ? 2 : 0;
        mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
        mesh.castShadow = !isClear;
        mesh.receiveShadow = true;
        mesh.frustumCulled = false;
        mesh.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity); // bodies may be anywhere
        if (!isClear) {
            mesh.layers.enable(OCCLUDED);
        }
        const edges = hasEdges && !isClear ? createEdges(surface, mesh, edgeMaterial) : null;
        if (edges) {
            group.add(edges);
        }
        const isPlain = instances.every((instance) => instance.isPlain);
        const numbers = isPlain ? Uint32Array.from(instances, ({ body }) => body.number) : null;
        const entry = { mesh, edges, index, instances, numbers };
        mesh.userData.entry = entry;
        instances.forEach(({ body }, i) => {
            if (!byBody.has(body.number)) {
                byBody.set(body.number, []);
            }
            byBody.get(body.number).push({ entry, index: i });
        });
        meshes.push(entry);
        group.add(mesh);
    }

    /** The matrix of a shape of the body whose pose was read; null: of one that is not shown. */
    function writeMatrix(instance, index, out, at) {
        if (!instance) {
            HIDDEN.toArray(out, at);
            return;
        }
        const { body, local } = instance;
        position.set(pose[0], pose[1], pose[2]);
        rotation.set(pose[4], pose[5], pose[6], pose[3]);
        bodyMatrix.compose(position, rotation, one);
        matrix.multiplyMatrices(bodyMatrix, local);
        if (body.growth) {
            matrix.scale(grown(body, index));
        }
        matrix.toArray(out, at);
    }

    /** The geometry of an outline: one normal at each position, so that it does not tear. */
    function outlineOf(entry) {
        if (!outlines.has(entry.index)) {
            const source = entry.mesh.geometry.getAttribute('position');
            const normal = entry.mesh.geometry.getAttribute('normal');
            const sums = new Map();
            const keyOf = (i) => `${source.getX(i)},${source.getY(i)},${source.getZ(i)}`;
            for (let i = 0; i < source.count; i++) {
                const sum = sums.get(keyOf(i)) ?? new THREE.Vector3();
                sum.x += normal.getX(i);
                sum.y += normal.getY(i);
                sum.z += normal.getZ(i);
                sums.set(keyOf(i), sum);
            }
            const normals = new Float32Array(3 * source.count);
            for (let i = 0; i < source.count; i++) {
                sums.get(keyOf(i))
                    .clone()
                    .normalize()
                    .toArray(normals, 3 * i);
            }
            const geometry = new THREE.BufferGeometry();
            geometry.setAttribute('position', source);
            geometry.setAttribute('normal', new THREE.BufferAttribute(normals, 3));
            geometry.setIndex(entry.mesh.geometry.index);
            outlines.set(entry.index, geometry);
        }
        return outlines.get(entry.index);
    }

    return {
        group,
        isShown,
        isGhost: (number) => ghosts.has(number),
        /** How many bodies are hidden, alone or transparent by the user. */
        get changeCount() {
            const alone = only === null && onlyGroup === null ? 0 : 1;
            return hidden.size + ghosts.size + hiddenGroups.size + alone;
        },
        hide: (number) => hidden.add(number),
        /** Shows one body alone; the same again, or null: all. */
        isolate(number) {
            only = only === number ? null : number;
        },
        /** Makes a body transparent, or opaque again; rebuild after it. */
        toggleGhost(number) {
            if (!ghosts.delete(number)) {
                ghosts.add(number);
            }
        },
        isGroupShown,
        /** Shows or hides all bodies of a group of the scene. */
        showGroup(name, isOn) {
            onlyGroup = null;
            if (isOn) {
                hiddenGroups.delete(name);
            } else {
                hiddenGroups.add(name);
            }
        },
        /** Shows one group alone; the same again: all. */
        isolateGroup(name) {
            onlyGroup = onlyGroup === name ? null : name;
        },
        get hasEdges() {
            return hasEdges;
        },
        /** Lines where faces meet at an angle; rebuild after it. */
        set hasEdges(isOn) {
            hasEdges = isOn;
        },
        showAll() {
            hidden.clear();
            ghosts.clear();
            hiddenGroups.clear();
            only = onlyGroup = null;
        },

        /** Rebuilds all instances: another scene, bodies added or deleted, a mesh arrived. */
        rebuild(viewRadius) {
            clear();
            const uses = collect();
            let roundCount = 0;
            uses.forEach(({ index, instances }) => {
                roundCount += isRound(index) ? instances.length : 0;
            });
            const segments = chooseSegments(roundCount, isSoftware ? BUDGET_SOFTWARE : BUDGET);
            uses.forEach((use) => addMesh(use, viewRadius, segments));
        },

        get section() {
            return section;
        },

        /** Shows only what is in front of a plane; null: everything. */
        setSection(plane) {
            section = plane;
            materials.forEach(cut);
            edgeMaterial.clippingPlanes = plane ? [plane] : null;
        },

        /** Updates the pose of every body: that of the model, or of another source. */
        update(poseOf = model.pose) {
            const share = model.share();
            const areAllShown = this.changeCount === ghosts.size;
            for (const { mesh, index, instances, numbers } of meshes) {
                const { array } = mesh.instanceMatrix;
                mesh.instanceMatrix.needsUpdate = true;
                const isSimple = numbers && areAllShown && poseOf === model.pose;
                if (isSimple && model.writeMatrices(numbers, array)) {
                    continue;
                }
                for (let i = 0; i < instances.length; i++) {
                    const { number } = instances[i].body;
                    const isThere = poseOf(number, pose, share) && (areAllShown || isShown(number));
                    writeMatrix(isThere ? instances[i] : null, index, array, 16 * i);
                }
            }
        },

        /** The first body and point hit by a ray. */
        cast(raycaster) {
            const hit = raycaster
                .intersectObjects(group.children, false)
                .find(({ point }) => !section || section.distanceToPoint(point) >= 0);
            if (!hit) {
                return null;
            }
            const { entry } = hit.object.userData;
            entry.mesh.getMatrixAt(hit.instanceId, matrix);
            const normal = hit.face.normal.clone().transformDirection(matrix);
            return {
                body: entry.instances[hit.instanceId].body.number,
                point: hit.point,
                normal,
                distance: hit.distance,
            };
        },

        /** Shapes of a body for an outline: geometry and matrix of each. */
        outlines(number) {
            return (byBody.get(number) ?? []).map(({ entry, index }) => {
                const world = new THREE.Matrix4();
                entry.mesh.getMatrixAt(index, world);
                return { geometry: outlineOf(entry), matrix: world };
            });
        },

        /** Points on the surface of a body, in world coordinates, at most about count. */
        surfacePoints(number, count) {
            const points = [];
            for (const { entry, index } of byBody.get(number) ?? []) {
                const source = entry.mesh.geometry.getAttribute('position');
                entry.mesh.getMatrixAt(index, matrix);
                const corners = entry.mesh.geometry.index;
                const stride = 3 * Math.max(1, Math.floor(corners.count / 3 / count));
                for (let i = 0; i + 2 < corners.count; i += stride) {
                    const point = new THREE.Vector3();
                    for (let k = 0; k < 3; k++) {
                        point.add(position.fromBufferAttribute(source, corners.getX(i + k)));
                    }
                    points.push(point.divideScalar(3).applyMatrix4(matrix));
                }
            }
            return points;
        },

        /** Distance of the farthest point of a body from its frame's origin. */
        radius(body) {
            if (radii.has(body.number)) {
                return radii.get(body.number);
            }
            let radius = 0;
            for (const shape of partsOf(body)) {
                const geometry = model.geometries[shape.geometry];
                const away = Math.hypot(...(shape.position ?? [0, 0, 0]));
                radius = Math.max(radius, geometry ? away + radiusOf(geometry) : 0);
            }
            radii.set(body.number, radius);
            return radius;
        },
    };
}
