// Arrows and rings at the selected body. While the simulation runs they pull it with a velocity
// joint; while it is paused they place it directly.
import { Object3D, Vector3 } from 'three';
import { TransformControls } from 'three/addons/controls/TransformControls.js';

import { dragDuration } from './pushing.js';

const dragKinds = { translate: 'translate', rotate: 'rotate' };

export class Manipulator {
    /** @param {{model: object, view: object, latest: Function}} context */
    constructor({ model, view, latest }) {
        this.model = model;
        this.view = view;
        this.latest = latest;
        this.kind = null; // "translate", "rotate" or null
        this.body = null; // number
        this.isHeld = false;
        this.isDragging = false; // an action "drag" is open
        this.pose = new Array(7).fill(0);
        this.proxy = new Object3D(); // at the center of mass
        this.controls = new TransformControls(view.camera, view.canvas);
        this.controls.attach(this.proxy);
        this.controls.detach();
        this.controls.setSize(0.8);
        this.helper = this.controls.getHelper();
        view.scene.add(this.proxy, this.helper);
        this.controls.addEventListener('dragging-changed', ({ value }) =>
            value ? this.start() : this.end(),
        );
        this.controls.addEventListener('objectChange', () => this.move());
        this.controls.addEventListener('change', () => view.requestDraw?.());
    }

    /** Shows handles of a kind at a body, or none. */
    show(kind, number) {
        const body = this.model.bodies.get(number);
        const canAct = this.model.isLive && this.model.state.canAct !== false;
        const isThere = kind !== null && body?.type === 'dynamic' && canAct;
        this.kind = isThere ? kind : null;
        this.body = isThere ? number : null;
        if (!isThere) {
            this.release();
            this.controls.detach();
        } else {
            this.controls.setMode(kind);
            this.controls.setSpace(kind === 'rotate' ? 'local' : 'world');
            this.followBody();
            this.controls.attach(this.proxy);
        }
        this.view.requestDraw?.();
    }

    /** Whether the pointer is over a handle: then the handle gets the press. */
    get isHovered() {
        return this.kind !== null && this.controls.axis !== null;
    }

    centerOffset(orientation) {
        const body = this.model.bodies.get(this.body);
        return new Vector3(...(body?.center ?? [0, 0, 0])).applyQuaternion(orientation);
    }

    followBody() {
        if (this.body === null || this.isHeld || !this.model.pose(this.body, this.pose)) {
            return;
        }
        const [x, y, z, qw, qx, qy, qz] = this.pose;
        this.proxy.quaternion.set(qx, qy, qz, qw);
        this.proxy.position.set(x, y, z).add(this.centerOffset(this.proxy.quaternion));
        this.proxy.updateMatrixWorld();
    }

    /** Called every frame. */
    update() {
        this.followBody();
        if (this.isHeld && this.isDragging && this.model.state.playing) {
            this.sendMove();
        }
    }

    start() {
        this.isHeld = true;
        this.view.controls.enabled = false;
        this.isDragging = false;
        if (this.model.state.playing) {
            this.startDrag();
        }
    }

    async startDrag() {
        this.isDragging = true;
        const point = this.proxy.position.toArray();
        const command = { do: 'drag-start', body: this.body, point, kind: dragKinds[this.kind] };
        const reply = await this.latest('drag', command, true);
        if (!reply.ok) {
            this.isDragging = false;
        }
    }

    target() {
        const q = this.proxy.quaternion;
        const position = this.proxy.position.clone().sub(this.centerOffset(q));
        return { position: position.toArray(), orientation: [q.w, q.x, q.y, q.z] };
    }

    sendMove() {
        const { position, orientation } = this.target();
        const part = this.kind === 'rotate' ? { orientation } : { position };
        this.latest('drag', { do: 'drag-move', ...part, duration: dragDuration(this.model.state) });
    }

    move() {
        if (!this.isHeld) {
            return;
        }
        if (this.isDragging) {
            this.sendMove();
        } else if (!this.model.state.playing) {
            const { position, orientation } = this.target();
            const part = this.kind === 'rotate' ? { position, orientation } : { position };
            this.latest('place', { do: 'place', body: this.body, ...part });
        }
    }

    end() {
        this.view.controls.enabled = true;
        this.release();
    }

    release() {
        if (this.isDragging) {
            this.latest('drag', { do: 'drag-end' }, true);
        }
        this.isDragging = false;
        this.isHeld = false;
    }
}
