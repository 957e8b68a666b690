// Draws the simulation: bodies, ground, camera; finds what is under the pointer. Redraws only when
// something has changed.

import * as THREE from 'three';
import { createAttention } from './attention.js';
import { make } from './elements.js';
import { createOcclusion } from './occlusion.js';
import { createFloorGrid, createPeriodicBox, createPlane } from './ground.js';
import { createRods } from './rods.js';
import { createSolids } from './solids.js';
import { createSprings } from './springs.js';
import { lookOf, PALETTE, PALETTE_DARK } from './shapes.js';
import { createStage } from './stage.js';

const OUTLINE = { select: '#0a5cff', highlight: '#ff8a00' };
const ATTENTION_MAX = 200;
const VIEW_AT_START = { center: [0, 0, 0], radius: 1, direction: [0.5, -0.8, 0.4] };

/** Expands a surface by some pixels and draws its inside: the part that shows is an outline. */
function createOutlineMaterial(color) {
    return new THREE.ShaderMaterial({
        side: THREE.BackSide,
        uniforms: {
            color: { value: new THREE.Color(color) },
            size: { value: new THREE.Vector2(1, 1) },
        },
        vertexShader: `
            uniform vec2 size;
            void main() {
                vec4 place = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
                vec4 ahead = projectionMatrix * modelViewMatrix * vec4(position + normal * 1e-3, 1.0);
                vec2 way = (ahead.xy / ahead.w - place.xy / place.w) * size;
                float len = length(way);
                place.xy += (len > 1e-9 ? way / len : vec2(0.0)) / size * 5.0 * place.w;
                gl_Position = place;
            }`,
        fragmentShader: `
            uniform vec3 color;
            void main() {
                gl_FragColor = vec4(color, 1.0);
                #include <colorspace_fragment>
            }`,
    });
}

/** @param {{model: object, element: HTMLElement, webgl: object, theme: object, free: HTMLElement}} app webgl: of probeWebGL */
export function createView({ model, element, webgl, theme, free }) {
    const { isSoftware } = webgl;
    const stage = createStage(element, webgl, () => free.getBoundingClientRect());
    const { renderer, scene, camera, controls, quality } = stage;
    const solids = createSolids(model, isSoftware);
    const occlusion = createOcclusion(renderer, !isSoftware);
    const springs = createSprings(model, () => frame, palette);
    const rods = createRods(model, solids, () => frame, palette);
    const surroundings = new THREE.Group();
    const outlineGroup = new THREE.Group();
    const raycaster = new THREE.Raycaster();
    const pose = new Float64Array(7);
    const center = new THREE.Vector3();
    const lastCenter = new THREE.Vector3();
    const outlineMaterials = {
        select: createOutlineMaterial(OUTLINE.select),
        highlight: createOutlineMaterial(OUTLINE.highlight),
    };
    const place = new THREE.Vector3();
    const attention = createAttention(stage, {
        isIn(point, edge) {
            place.set(point[0], point[1], point[2]).project(camera);
            return Math.abs(place.x) <= edge && Math.abs(place.y) <= edge && place.z < 1;
        },
    });
    const frameFns = new Set();
    const drawFns = new Set();
    const drawnFns = new Set();
    let followed = null;
    let watched = null; // bodies that the camera keeps in view; null: not chosen yet
    let lastDraw = 0; // ms; 0: there has been nothing to draw since
    let isDirty = true;
    let isStale = true; // instances must be rebuilt
    let section = null; // {axis, at, isFlipped}
    let poseBefore = null; // of the branch that is shown beside this one
    let frame = VIEW_AT_START;
    const splitLine = make(
        'div',
        { id: 'split', hidden: true },
        make('span', {}, 'branch before'),
        make('span', {}, 'this branch'),
    );
    element.append(splitLine);
    scene.add(solids.group, springs.group, rods.group, surroundings, outlineGroup);

    Object.assign(renderer.domElement, { tabIndex: 0 });
    renderer.domElement.setAttribute('role', 'application');
    renderer.domElement.setAttribute(
        'aria-label',
        'the scene in 3D: arrows turn the view, plus and minus zoom, n selects the next body',
    );

    const view = {
        canvas: renderer.domElement,
        camera,
        scene,
        controls,
        renderer,
        solids,
        drawCount: 0,
        drawGap: 0, // ms from the drawing before to the last; 0: there was nothing to draw between

        /** Center and size of the scene: {center, radius, direction, floor}. */
        get frame() {
            return frame;
        },

        get followed() {
            return followed;
        },

        requestDraw() {
            isDirty = true;
        },

        /** fn(dt in s) before every frame of the browser; returns a function that ends it. */
        onFrame(fn) {
            frameFns.add(fn);
            return () => frameFns.delete(fn);
        },

        /** fn() before every drawing. */
        onDraw(fn) {
            drawFns.add(fn);
            return () => drawFns.delete(fn);
        },

        /** fn() after every drawing, while the canvas holds it. */
        onDrawn(fn) {
            drawnFns.add(fn);
            return () => drawnFns.delete(fn);
        },

        /** World coordinates of a body's center of mass as shown; null if it does not exist. */
        centerOf(number, target = new THREE.Vector3()) {
            const body = model.bodies.get(number);
            if (!body || !model.pose(number, pose)) {
                return null;
            }
            target.set(...(body.center ?? [0, 0, 0]));
            target.applyQuaternion(new THREE.Quaternion(pose[4], pose[5], pose[6], pose[3]));
            return target.add(new THREE.Vector3(pose[0], pose[1], pose[2]));
        },

        /** What is at a point of the window: {body, point, normal, distance} or null. */
        pick(clientX, clientY) {
            const box = renderer.domElement.getBoundingClientRect();
            const place = new THREE.Vector2(
                ((clientX - box.left) / box.width) * 2 - 1,
                1 - ((clientY - box.top) / box.height) * 2,
            );
            camera.updateMatrixWorld();
            raycaster.setFromCamera(place, camera);
            const hit = solids.cast(raycaster);
            const ground = castPlanes();
            return ground && (!hit || ground.distance < hit.distance) ? ground : hit;
        },

        /** Window coordinates of a point: {x, y, isVisible}. */
        project(point) {
            const box = renderer.domElement.getBoundingClientRect();
            camera.updateMatrixWorld();
            const place = point.clone().project(camera);
            return {
                x: box.left + ((place.x + 1) / 2) * box.width,
                y: box.top + ((1 - place.y) / 2) * box.height,
                isVisible: Math.abs(place.x) <= 1 && Math.abs(place.y) <= 1 && place.z < 1,
            };
        },

        /** A point of the window at which a body is picked, near its center of mass. */
        screenOf(number) {
            update();
            const middle = view.centerOf(number);
            if (!middle) {
                return null;
            }
            const first = view.project(middle);
            if (view.pick(first.x, first.y)?.body === number) {
                return first;
            }
            for (const point of solids.surfacePoints(number, 200)) {
                const place = view.project(point);
                if (place.isVisible && view.pick(place.x, place.y)?.body === number) {
                    return place;
                }
            }
            return first;
        },

        /** Keeps the camera with a body; null ends it. */
        follow(number) {
            followed = number !== null && view.centerOf(number, lastCenter) ? number : null;
            if (followed !== null) {
                attention.release();
                const shift = lastCenter.clone().sub(controls.target);
                controls.target.add(shift);
                camera.position.add(shift);
            }
            isDirty = true;
            model.emit('follow', followed);
        },

        /** Turns the camera about what it looks at, and changes its distance by a factor. */
        orbit(yaw, pitch, factor) {
            attention.release();
            const way = camera.position.clone().sub(controls.target);
            const ball = new THREE.Spherical().setFromVector3(
                new THREE.Vector3(way.x, way.z, -way.y),
            );
            ball.theta += yaw;
            ball.phi = Math.min(Math.PI - 0.01, Math.max(0.01, ball.phi + pitch));
            ball.radius = Math.min(
                controls.maxDistance,
                Math.max(controls.minDistance, ball.radius * factor),
            );
            const out = new THREE.Vector3().setFromSpherical(ball);
            camera.position.copy(controls.target).add(new THREE.Vector3(out.x, -out.z, out.y));
            controls.update();
            isDirty = true;
        },

        /** Hides a body, shows it alone, makes it transparent: "hide", "isolate", "ghost"; "all" ends it. */
        change(what, number = model.selected) {
            const changes = {
                hide: () => solids.hide(number),
                isolate: () => solids.isolate(number),
                ghost: () => solids.toggleGhost(number),
                all: () => solids.showAll(),
            };
            if (what !== 'all' && number === null) {
                return;
            }
            changes[what]();
            isStale = isDirty = true;
            model.emit('shown', solids.changeCount);
        },

        /** Shows or hides a group of the scene; alone: shows it without the others, or all again. */
        changeGroup(name, what) {
            if (what === 'alone') {
                solids.isolateGroup(name);
            } else {
                solids.showGroup(name, what === 'show');
            }
            isStale = isDirty = true;
            model.emit('shown', solids.changeCount);
        },

        get hasOcclusion() {
            return occlusion.isOn;
        },

        set hasOcclusion(isOn) {
            occlusion.isOn = isOn;
            isDirty = true;
        },

        get hasEdges() {
            return solids.hasEdges;
        },

        set hasEdges(isOn) {
            solids.hasEdges = isOn;
            isStale = isDirty = true;
        },

        getCamera: () => ({
            position: camera.position.toArray(),
            target: controls.target.toArray(),
        }),

        setCamera({ position, target }) {
            view.follow(null);
            attention.release();
            camera.position.set(...position);
            controls.target.set(...target);
            controls.update();
            isDirty = true;
        },

        get section() {
            return section;
        },

        /** Cuts the bodies by a plane across an axis: {axis: 0 to 2, at: m, isFlipped}; null: whole. */
        setSection(wanted) {
            section = wanted;
            const sign = wanted?.isFlipped ? -1 : 1;
            const normal = new THREE.Vector3().setComponent(wanted?.axis ?? 0, -sign);
            solids.setSection(wanted ? new THREE.Plane(normal, sign * wanted.at) : null);
            isDirty = true;
        },

        get isSplit() {
            return poseBefore !== null;
        },

        /** Shows another motion of the same bodies at the left, this one at the right. */
        setSplit(isOn) {
            poseBefore = isOn && view.history?.hasBranch ? view.history.poseBefore : null;
            splitLine.hidden = !view.isSplit;
            view.resize();
        },

        /** Films have the sky, which the page may have behind the canvas otherwise. */
        setFilming(isOn) {
            stage.showSky(isOn || !isSoftware);
            isDirty = true;
        },

        /** The view as a PNG; clear: without sky and ground, which are transparent. */
        async takePicture(isClear) {
            const wasDrawn = stage.isSkyDrawn;
            stage.showSky(!isClear);
            if (isClear) {
                surroundings.visible = outlineGroup.visible = false;
            }
            renderer.setPixelRatio(quality.best);
            draw(true);
            const blob = new Promise((done) => { renderer.domElement.toBlob(done, 'image/png'); });
            stage.showSky(wasDrawn);
            surroundings.visible = outlineGroup.visible = true;
            draw(); // before the browser shows it
            return blob;
        },

        /** Resets the camera. */
        lookHome() {
            followed = null;
            lookAtStart();
            isDirty = true;
            model.emit('follow', null);
        },
    };

    function castPlanes() {
        const hit = raycaster
            .intersectObjects(surroundings.children, false)
            .find((one) => one.object.userData.body !== undefined);
        return hit
            ? {
                  body: hit.object.userData.body,
                  point: hit.point,
                  normal: hit.object.userData.normal.clone(),
                  distance: hit.distance,
              }
            : null;
    }

    function clearSurroundings() {
        for (const object of [...surroundings.children]) {
            surroundings.remove(object);
            object.geometry.dispose();
            object.material.dispose();
        }
    }

    /** Planes of bodies, a floor where there is none, the periodic box. */
    function buildSurroundings() {
        clearSurroundings();
        for (const body of model.bodies.values()) {
            for (const shape of body.shapes ?? []) {
                const geometry = model.geometries[shape.geometry];
                const isDrawn = solids.isShown(body.number) && body.opacity !== 0;
                if (geometry?.type === 'plane' && isDrawn) {
                    addPlane(body, shape, geometry);
                }
            }
        }
        if (Number.isFinite(frame.floor ?? NaN)) {
            const light = stage.lightOn(camera.up);
            surroundings.add(createFloorGrid(frame.floor, frame, { palette: palette(), light }));
        }
        const lengths = model.scene?.periodicBox;
        if (Array.isArray(lengths) && lengths.some((length) => length > 0)) {
            surroundings.add(createPeriodicBox(lengths, frame, palette()));
        }
    }

    function addPlane(body, shape, geometry) {
        const bodyPose = [...body.position, ...body.orientation];
        const values = bodyPose.every(Number.isFinite) ? bodyPose : [0, 0, 0, 1, 0, 0, 0];
        const turn = new THREE.Quaternion(values[4], values[5], values[6], values[3]);
        const [w, x, y, z] = shape.orientation ?? [1, 0, 0, 0];
        const local = new THREE.Quaternion(x, y, z, w);
        const axis = new THREE.Vector3(...geometry.normal).normalize();
        const point = axis
            .clone()
            .multiplyScalar(geometry.offset ?? 0)
            .applyQuaternion(local)
            .add(new THREE.Vector3(...(shape.position ?? [0, 0, 0])))
            .applyQuaternion(turn)
            .add(new THREE.Vector3(values[0], values[1], values[2]));
        const normal = axis.applyQuaternion(local).applyQuaternion(turn);
        const look = body.color || body.texture ? lookOf(body) : null;
        const light = stage.lightOn(normal);
        const mesh = createPlane(normal, point, frame, { palette: palette(), look, light });
        mesh.userData = { body: body.number, normal };
        surroundings.add(mesh);
    }

    function drawOutlines() {
        outlineGroup.clear();
        const wanted = (model.highlighted?.bodies ?? []).map((number) => [number, 'highlight']);
        if (model.selected !== null) {
            wanted.push([model.selected, 'select']);
        }
        for (const [number, kind] of wanted) {
            for (const { geometry, matrix } of solids.outlines(number)) {
                const mesh = new THREE.Mesh(geometry, outlineMaterials[kind]);
                mesh.matrixAutoUpdate = false;
                mesh.matrix.copy(matrix);
                mesh.frustumCulled = false;
                outlineGroup.add(mesh);
            }
        }
    }

    function rebuild() {
        if (!isStale) {
            return;
        }
        isStale = false;
        solids.rebuild(frame.radius);
        buildSurroundings();
    }

    function update() {
        rebuild();
        solids.update();
        springs.update();
        rods.update();
        drawOutlines();
    }

    function lookAtStart() {
        stage.setSize(frame.radius);
        stage.look(frame);
        attention.reset(frame);
    }

    /** Keeps moving bodies in view; checks a limited number of bodies. */
    function attend(dt) {
        const centers = [];
        const stride = Math.ceil(model.bodies.size / ATTENTION_MAX);
        watched ??= [...model.bodies.values()].filter(
            (body, i) => i % stride === 0 && body.type === 'dynamic',
        );
        for (const { number } of watched) {
            if (view.centerOf(number, center)) {
                centers.push([center.x, center.y, center.z]);
            }
        }
        camera.updateMatrixWorld();
        if (attention.update(centers, dt)) {
            isDirty = true;
        }
    }

    function moveWithBody() {
        if (followed !== null && view.centerOf(followed, center)) {
            const shift = center.clone().sub(lastCenter);
            controls.target.add(shift);
            camera.position.add(shift);
            lastCenter.copy(center);
        }
    }

    /** Called once per frame of the browser. @returns {boolean} whether something was drawn */
    view.tick = (dt) => {
        frameFns.forEach((fn) => fn(dt));
        if (model.scene === null) {
            return false; // the gallery is in front
        }
        const isWanted = isDirty || model.isMoving();
        const isToRefine = quality.isReduced && !model.state.playing;
        if (!isWanted && !isToRefine) {
            lastDraw = 0;
            return false;
        }
        if (!stage.fence.isOpen()) {
            return false; // the last drawing is not complete
        }
        const now = performance.now();
        view.drawGap = lastDraw > 0 ? now - lastDraw : 0;
        lastDraw = now;
        if (isWanted) {
            quality.take(view.drawGap);
            quality.moving();
        } else {
            quality.still();
        }
        isDirty = model.isMoving(); // the final interpolated pose is drawn too
        attend(Math.max(dt, view.drawGap / 1000));
        draw();
        return true;
    };

    /** isFine: there is time for all of it. */
    function draw(isFine = !quality.isReduced) {
        moveWithBody();
        update();
        stage.aim();
        drawFns.forEach((fn) => fn());
        if (poseBefore) {
            drawSplit();
        } else {
            occlusion.update(scene, camera, { radius: frame.radius, plane: solids.section, isFine });
            renderer.render(scene, camera);
        }
        stage.fence.raise();
        view.drawCount++;
        drawnFns.forEach((fn) => fn());
    }

    /** Both branches at the same time of the scene, from the same camera. */
    function drawSplit() {
        occlusion.clear();
        const [width, height] = [element.clientWidth, element.clientHeight];
        const half = Math.floor(free.getBoundingClientRect().right / 2); // panels cover what is right of it
        const offset = camera.view?.offsetY ?? 0;
        splitLine.style.left = `${half}px`;
        // a narrower window needs more distance for the same content
        const narrow = (across) => Math.max(1, 16 / 9 / (across / height));
        const place = camera.position.clone();
        camera.position
            .sub(controls.target)
            .multiplyScalar(narrow(half) / narrow(2 * half))
            .add(controls.target);
        camera.aspect = half / height;
        renderer.setScissorTest(true);
        for (const [left, size, poseOf] of [
            [0, half, (number, target) => poseBefore(number, model.time, target)],
            [half, width - half, model.pose],
        ]) {
            camera.setViewOffset(half, height, 0, offset, size, height);
            solids.update(poseOf);
            springs.group.visible = rods.group.visible = left > 0; // these are of this branch
            outlineGroup.visible = left > 0;
            renderer.setViewport(left, 0, size, height);
            renderer.setScissor(left, 0, size, height);
            renderer.render(scene, camera);
        }
        renderer.setScissorTest(false);
        renderer.setViewport(0, 0, width, height);
        camera.position.copy(place);
        camera.updateMatrixWorld();
        stage.resize(); // the camera for the whole window: for picking
        camera.updateProjectionMatrix();
    }

    view.resize = () => {
        const isEmpty = stage.resize();
        const size = new THREE.Vector2(element.clientWidth, element.clientHeight);
        outlineMaterials.select.uniforms.size.value.copy(size);
        outlineMaterials.highlight.uniforms.size.value.copy(size);
        if (attention.isFree) {
            attention.look();
        }
        if (isEmpty && model.scene !== null && model.frameCount > 0) {
            draw(); // before the browser shows an empty canvas
        }
        isDirty = true;
    };

    /** Sky, ground and grid in the colors of the page. */
    function palette() {
        return theme.isDark ? PALETTE_DARK : PALETTE;
    }

    function showTheme() {
        stage.setPalette(palette());
        isStale = isDirty = true;
    }

    theme.onChange(showTheme);
    showTheme();
    controls.addEventListener('change', view.requestDraw);
    const observer = new ResizeObserver(view.resize);
    observer.observe(element);
    observer.observe(free);
    controls.addEventListener('start', () => attention.release());
    renderer.domElement.addEventListener('pointerdown', () => attention.hold(true));
    for (const type of ['pointerup', 'pointercancel', 'blur']) {
        window.addEventListener(type, () => attention.hold(false));
    }
    renderer.domElement.addEventListener('wheel', () => attention.release(), { passive: true });
    view.resize();
    lookAtStart();

    let isFirstFrame = true;
    model.on('scene', (message) => {
        const wanted = message.view ?? VIEW_AT_START;
        const isOther = message.name !== view.sceneName;
        view.sceneName = message.name;
        frame = { ...VIEW_AT_START, ...wanted };
        if (isOther) {
            solids.showAll();
            view.setSection(null);
            followed = null;
        }
        view.setSplit(false);
        if (isOther || attention.isFree) {
            lookAtStart(); // the file of a scene may have changed a lot
        }
        isFirstFrame = true;
        watched = null;
        isStale = isDirty = true;
    });
    for (const type of ['bodies', 'mesh']) {
        model.on(type, () => {
            watched = null;
            isStale = isDirty = true;
        });
    }
    model.on('frame', () => {
        isStale = isStale || isFirstFrame; // planes are placed by the first frame
        isFirstFrame = false;
        isDirty = true;
    });
    for (const type of [
        'select',
        'highlight',
        'contacts',
        'joints',
        'rays',
        'links',
        'events',
        'state',
        'drop',
    ]) {
        model.on(type, view.requestDraw);
    }
    return view;
}
