// Pointer actions in the view: click selects, drag pulls a body, shift pushes it, tools show
// handles. Everything else is left to the camera.
import { Plane, Quaternion, Raycaster, Vector2, Vector3 } from 'three';

import { createMarks } from './arrows.js';
import { make } from './elements.js';
import { createHelp } from './help.js';
import { isTyping } from './keys.js';
import { Manipulator } from './manipulator.js';
import { clickArrow, dragDuration, impulseOf, sceneTime } from './pushing.js';
import { createLatest } from './sending.js';
import { createToolBar, handleKind, tools } from './tools.js';
import { formatUnit } from './words.js';

const clickDistance = 4; // px: a shorter motion is a click
const moveInterval = 16; // ms between two moves of a drag
const markColor = '#d1242f';
const hoverInterval = 100; // ms between checks of what is below the pointer

class Pointer {
    constructor({ model, view, element }) {
        this.model = model;
        this.view = view;
        this.element = element;
        this.tool = 'drag';
        this.strength = 1;
        this.press = null; // what the current button press started
        this.latest = createLatest((command) => model.do(command));
        this.ray = new Raycaster();
        this.pointer = new Vector2();
        this.marks = createMarks(view.scene);
        this.manipulator = new Manipulator({ model, view, latest: this.latest });
        this.help = createHelp(document.body);
        this.bar = createToolBar(element, {
            choose: (name) => this.choose(name),
            setStrength: (factor) => (this.strength = factor),
            toggleHelp: () => this.help.toggle(),
        });
        this.choose('drag');
        this.makeLabel();
        this.listen();
    }

    // ------------------------------------------------------------------------------------ tools

    makeLabel() {
        this.label = make('div', { className: 'pointer-label', hidden: true });
        document.body.append(this.label);
    }

    /** Chooses a tool: "drag", "push", "move" or "turn". */
    choose(name) {
        this.tool = name;
        this.bar.show(name);
        this.showHandles();
    }

    canAct() {
        return this.model.isLive && this.model.state.canAct !== false && this.model.scene !== null;
    }

    showHandles() {
        this.manipulator.show(handleKind(this.tool), this.model.selected);
    }

    showState() {
        const canAct = this.canAct();
        this.element.classList.toggle('is-read-only', !canAct);
        if (this.wasAble !== canAct) {
            this.wasAble = canAct;
            this.showHandles();
        }
    }

    // ----------------------------------------------------------------------------------- events

    listen() {
        const { view, model } = this;
        const canvas = view.canvas;
        canvas.style.touchAction = 'none';
        canvas.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
        window.addEventListener('pointermove', (event) => this.moved(event));
        window.addEventListener('pointerup', (event) => this.up(event));
        window.addEventListener('pointercancel', () => this.cancel());
        window.addEventListener('blur', () => this.cancel());
        window.addEventListener('keydown', (event) => this.keyed(event));
        model.on('select', () => this.showHandles());
        model.on('scene', () => this.takeScene());
        model.on('hello', () => this.showState());
        model.on('state', () => this.showState());
        model.on('bodies', () => this.showHandles());
        const loop = () => {
            this.frame();
            requestAnimationFrame(loop);
        };
        requestAnimationFrame(loop);
        // Where drawing is slow, a drag must still receive pointer positions often enough.
        setInterval(() => {
            if (this.press?.isActive || this.manipulator.isHeld) {
                this.frame();
            }
        }, moveInterval);
        this.showState();
    }

    takeScene() {
        this.cancel();
        this.showHandles();
        this.showState();
    }

    keyed(event) {
        if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) {
            return;
        }
        const tool = tools.find(({ key }) => key === event.key);
        if (event.key === '?') {
            this.help.toggle();
        } else if (event.key === 'Escape') {
            this.escape();
        } else if (
            (event.key === 'Delete' || event.key === 'Backspace') &&
            this.canAct() &&
            this.model.selected !== null
        ) {
            this.model.do({ do: 'delete', body: this.model.selected });
        } else if (tool && this.canAct()) {
            this.choose(tool.name);
        } else {
            return;
        }
        event.preventDefault();
    }

    escape() {
        if (this.help.isOpen) {
            this.help.toggle(false);
        } else if (this.press?.isActive || this.manipulator.isHeld) {
            this.cancel();
        } else {
            this.model.highlight(null);
            this.model.select(null);
        }
    }

    /** A press on the view. Left button on a moving body: handled here; everything else: by the camera. */
    down(event) {
        if (
            event.button !== 0 ||
            this.press ||
            this.manipulator.isHovered ||
            event.isPrimary === false
        ) {
            return;
        }
        const hit = this.view.pick(event.clientX, event.clientY);
        const body = hit ? this.model.bodies.get(hit.body) : null;
        const isPush = event.shiftKey || this.tool === 'push';
        const isHandle = handleKind(this.tool) !== null && !event.shiftKey;
        const isOurs = body?.type === 'dynamic' && this.canAct() && !isHandle;
        this.press = {
            id: event.pointerId,
            start: [event.clientX, event.clientY],
            at: [event.clientX, event.clientY],
            body,
            point: hit?.point?.clone() ?? null,
            normal: hit?.normal?.clone() ?? null,
            kind: !isOurs ? 'look' : isPush ? 'push' : 'drag',
            hasMoved: false,
            isActive: false,
        };
        if (isOurs) {
            this.view.controls.enabled = false;
            this.view.canvas.setPointerCapture?.(event.pointerId);
            this.press.local = this.toLocal(body, this.press.point);
        }
    }

    moved(event) {
        const { press } = this;
        if (!press) {
            this.hover(event);
            return;
        }
        if (event.pointerId !== press.id) {
            return;
        }
        press.at = [event.clientX, event.clientY];
        const way = Math.hypot(press.at[0] - press.start[0], press.at[1] - press.start[1]);
        if (!press.hasMoved && way > clickDistance) {
            press.hasMoved = true;
            if (press.kind === 'drag') {
                this.startDrag(press);
            } else if (press.kind === 'push') {
                press.isActive = true;
            }
        }
    }

    up(event) {
        const { press } = this;
        if (!press || event.pointerId !== press.id) {
            return;
        }
        this.press = null;
        this.view.controls.enabled = true;
        if (press.kind === 'push') {
            this.push(press);
        } else if (press.kind === 'drag' && press.isActive) {
            this.endDrag();
        } else if (!press.hasMoved && !this.measure?.take(press)) {
            this.select(press);
        }
        this.hideMarks();
    }

    /** Releases without an action. */
    cancel() {
        const { press } = this;
        this.press = null;
        if (press) {
            this.view.controls.enabled = true;
            if (press.kind === 'drag' && press.isActive) {
                this.endDrag();
            }
        }
        this.manipulator.release();
        this.hideMarks();
    }

    hideMarks() {
        this.marks.begin();
        this.marks.end();
        this.label.hidden = true;
        this.view.requestDraw?.();
    }

    select(press) {
        const isGround = press.body?.shapes?.some(
            (shape) => this.model.geometries[shape.geometry]?.type === 'plane',
        );
        this.model.select(press.body && !isGround ? press.body.number : null);
    }

    hover(event) {
        const now = performance.now();
        if (
            event.target !== this.view.canvas ||
            event.buttons !== 0 ||
            now - (this.hoveredAt ?? 0) < hoverInterval
        ) {
            return;
        }
        this.hoveredAt = now;
        const hit = this.model.scene ? this.view.pick(event.clientX, event.clientY) : null;
        const body = hit ? this.model.bodies.get(hit.body) : null;
        const isOurs = body?.type === 'dynamic' && this.canAct();
        const isPush = this.tool === 'push' || event.shiftKey;
        this.view.canvas.style.cursor = !isOurs
            ? ''
            : isPush
              ? 'crosshair'
              : this.tool === 'drag'
                ? 'grab'
                : 'pointer';
    }

    // ------------------------------------------------------------------------------------ places

    /** The pointer position in the plane through a point that faces the camera. */
    planePoint([clientX, clientY], through) {
        const box = this.view.canvas.getBoundingClientRect();
        this.pointer.set(
            ((clientX - box.left) / box.width) * 2 - 1,
            1 - ((clientY - box.top) / box.height) * 2,
        );
        this.ray.setFromCamera(this.pointer, this.view.camera);
        const facing = this.view.camera.getWorldDirection(new Vector3());
        const plane = new Plane().setFromNormalAndCoplanarPoint(facing, through);
        return this.ray.ray.intersectPlane(plane, new Vector3()) ?? through.clone();
    }

    poseOf(body) {
        const pose = new Array(7).fill(0);
        this.model.pose(body.number, pose);
        const [x, y, z, qw, qx, qy, qz] = pose;
        return { position: new Vector3(x, y, z), orientation: new Quaternion(qx, qy, qz, qw) };
    }

    toLocal(body, point) {
        const { position, orientation } = this.poseOf(body);
        return point.clone().sub(position).applyQuaternion(orientation.invert());
    }

    toWorld(body, local) {
        const { position, orientation } = this.poseOf(body);
        return local.clone().applyQuaternion(orientation).add(position);
    }

    viewRadius() {
        return this.model.scene?.view?.radius ?? 1;
    }

    /** The length in the world of a number of pixels at a point. */
    pixels(count, point) {
        const { camera, canvas } = this.view;
        const distance = camera.position.distanceTo(point);
        const height = 2 * distance * Math.tan(((camera.fov ?? 35) * Math.PI) / 360);
        return (count * height) / Math.max(canvas.clientHeight, 1);
    }

    // ------------------------------------------------------------------------------------ actions

    async startDrag(press) {
        press.isActive = true;
        press.depth = this.toWorld(press.body, press.local);
        if (!this.model.state.playing) {
            this.model.emit('say', {
                text:
                    'Paused: the body will follow when the simulation plays (space). ' +
                    'Use the move (m) and turn (t) tools to move it now.',
                kind: 'hint',
            });
        }
        const command = {
            do: 'drag-start',
            body: press.body.number,
            point: press.depth.toArray(),
            kind: 'point',
        };
        const reply = await this.latest('drag', command, true);
        if (!reply.ok && this.press === press) {
            press.isActive = false;
            press.kind = 'look';
            this.hideMarks();
        }
    }

    endDrag() {
        this.latest('drag', { do: 'drag-end' }, true);
    }

    pushImpulse(press) {
        const { model } = this;
        const from = this.toWorld(press.body, press.local);
        const normal = press.normal ?? this.view.camera.getWorldDirection(new Vector3()).negate();
        const arrow = press.hasMoved
            ? this.planePoint(press.at, from).sub(from).toArray()
            : clickArrow(normal.toArray(), this.viewRadius());
        const gravity = model.parameters?.world?.gravity ?? model.scene?.gravity;
        const time = sceneTime(this.viewRadius(), gravity);
        const mass = press.body.mass > 0 ? press.body.mass : 1;
        return {
            from,
            arrow,
            mass,
            impulse: impulseOf(arrow, { mass, time, strength: this.strength }),
        };
    }

    async push(press) {
        const { from, impulse } = this.pushImpulse(press);
        if (this.model.selected !== press.body.number) {
            this.model.select(press.body.number);
        }
        await this.model.do({
            do: 'push',
            body: press.body.number,
            point: from.toArray(),
            impulse,
        });
    }

    // ------------------------------------------------------------------------------------- frames

    frame() {
        this.manipulator.update();
        const { press } = this;
        if (!press?.isActive) {
            return;
        }
        if (!this.model.bodies.has(press.body.number)) {
            this.cancel();
        } else if (press.kind === 'drag') {
            this.frameDrag(press);
        } else if (press.kind === 'push') {
            this.framePush(press);
        }
    }

    frameDrag(press) {
        const held = this.toWorld(press.body, press.local);
        const target = this.planePoint(press.at, press.depth);
        const size = this.pixels(1.5, target);
        this.marks.begin();
        this.marks.line(held.toArray(), target.toArray(), size, markColor);
        this.marks.ball(held.toArray(), 3 * size, markColor);
        this.marks.ball(target.toArray(), 3 * size, markColor);
        this.marks.end();
        if (this.model.state.playing) {
            const command = {
                do: 'drag-move',
                point: target.toArray(),
                duration: dragDuration(this.model.state),
            };
            this.latest('drag', command);
        }
        this.view.requestDraw?.();
    }

    framePush(press) {
        const { from, arrow, mass, impulse } = this.pushImpulse(press);
        this.marks.begin();
        this.marks.arrow(from.toArray(), arrow, this.pixels(2, from), markColor);
        this.marks.end();
        const size = Math.hypot(...impulse);
        this.label.hidden = false;
        this.label.textContent = `${formatUnit(size, 'N s', 3)}  (${formatUnit(size / mass, 'm/s', 3)})`;
        this.label.style.transform = `translate(${press.at[0] + 14}px, ${press.at[1] + 10}px)`;
        this.view.requestDraw?.();
    }
}

export function createPointer(context) {
    return new Pointer(context);
}
