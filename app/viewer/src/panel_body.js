// The panel of the selected body: its properties and state; while paused it can be moved.
import { ButtonsController, FieldController, TextController } from './fields.js';
import { fromAngles, rotate, toAngles } from './rotation.js';
import { formatEnergy, formatUnit, formatVector, length } from './words.js';

/** Tiny angles are rounding errors. */
function dropNoise(value) {
    return Math.abs(value) < 1e-9 ? 0 : value;
}

/** Rows that place the body, with what to read from a detail and what to send. */
const stateRows = [
    {
        key: 'position',
        label: 'position',
        unit: 'm',
        read: (detail) => detail.position,
        write: (v) => ({ position: v }),
    },
    {
        key: 'angles',
        label: 'roll pitch yaw',
        unit: '°',
        read: (detail) => (detail.orientation ? toAngles(detail.orientation).map(dropNoise) : null),
        write: (v) => ({ orientation: fromAngles(v) }),
    },
    {
        key: 'velocity',
        label: 'velocity',
        unit: 'm/s',
        read: (detail) => detail.velocity,
        write: (v) => ({ velocity: v }),
    },
    {
        key: 'angularVelocity',
        label: 'spin',
        unit: 'rad/s',
        read: (detail) => detail.angularVelocity,
        write: (v) => ({ angularVelocity: v }),
    },
];

const textRows = [
    { key: 'kinetic', label: 'kinetic energy', text: (detail) => formatEnergy(detail.kinetic, 4) },
    {
        key: 'momentum',
        label: 'momentum',
        text: (detail) => `${formatVector(detail.momentum)} kg m/s`,
    },
    {
        key: 'contactForce',
        label: 'contact force',
        text: (detail) =>
            `${formatUnit(length(detail.contactForce), 'N', 4)} ${formatVector(detail.contactForce)}`,
    },
];

/** Center of mass in the world: from the detail, otherwise from the pose shown. */
function centerOf(tools, body) {
    const { detail } = tools.model;
    if (detail?.center) {
        return detail.center;
    }
    const pose = [0, 0, 0, 1, 0, 0, 0];
    tools.model.pose(body.number, pose);
    const turned = rotate(pose.slice(3), body.center ?? [0, 0, 0]);
    return turned.map((value, i) => value + pose[i]);
}

function createPushRows(tools, folder, selected) {
    const push = { impulse: [0, 0, 0], spin: [0, 0, 0] };
    const inner = folder.addFolder('Push').close();
    inner.domElement.dataset.panel = 'push';
    const keep = (name) => (values) => {
        push[name] = values;
        return true;
    };
    const impulse = new FieldController(inner, {
        label: 'impulse',
        unit: 'N s',
        size: 3,
        key: 'impulse',
        apply: keep('impulse'),
    });
    const spin = new FieldController(inner, {
        label: 'turning',
        unit: 'N m s',
        size: 3,
        key: 'spinImpulse',
        apply: keep('spin'),
    });
    impulse.put(push.impulse);
    spin.put(push.spin);
    const buttons = new ButtonsController(inner, [
        [
            'push at center',
            () => {
                const body = selected();
                return tools.act({
                    do: 'push',
                    body: body.number,
                    point: centerOf(tools, body),
                    impulse: push.impulse,
                });
            },
            'push',
        ],
        [
            'turn',
            () => tools.act({ do: 'spin', body: selected().number, impulse: push.spin }),
            'spin',
        ],
    ]);
    return { inner, buttons };
}

export function createBodyPanel(tools, gui) {
    const { model, view } = tools;
    const folder = gui.addFolder('Body');
    folder.domElement.dataset.panel = 'body';
    const selected = () => model.bodies.get(model.selected);
    const hint = new TextController(folder, {
        label: '',
        key: 'hint',
        text: 'Click a body to see its values.',
    });
    const name = new TextController(folder, { label: 'name', key: 'name' });
    const mass = new FieldController(folder, {
        label: 'mass',
        unit: 'kg',
        key: 'mass',
        async apply([value]) {
            const number = model.selected;
            const isTaken = await tools.set({ target: 'body', number, key: 'mass', value });
            if (isTaken) {
                model.bodies.get(number).mass = value;
            }
            return isTaken;
        },
    });
    const fields = stateRows.map((row) => ({
        row,
        field: new FieldController(folder, {
            label: row.label,
            unit: row.unit,
            size: 3,
            key: row.key,
            apply: (values) =>
                tools.act({ do: 'place', body: model.selected, ...row.write(values) }),
        }),
    }));
    const texts = textRows.map((row) => ({
        row,
        text: new TextController(folder, { label: row.label, key: row.key }),
    }));
    const followButton = new ButtonsController(folder, [
        [
            'follow',
            () => {
                view?.follow?.(view.followed === model.selected ? null : model.selected);
                panel.refresh();
            },
            'follow',
        ],
        ['deselect', () => model.select(null), 'deselect'],
    ]);
    const showing = new ButtonsController(folder, [
        ['hide', () => view?.change('hide'), 'hide'],
        ['alone', () => view?.change('isolate'), 'isolate'],
        ['clear', () => view?.change('ghost'), 'ghost'],
        ['show all', () => view?.change('all'), 'all'],
    ]);
    const actions = new ButtonsController(folder, [
        [
            'stop',
            () =>
                tools.act({
                    do: 'place',
                    body: model.selected,
                    velocity: [0, 0, 0],
                    angularVelocity: [0, 0, 0],
                }),
            'stop',
        ],
        ['delete', () => tools.act({ do: 'delete', body: model.selected }), 'delete'],
    ]);
    const push = createPushRows(tools, folder, selected);

    const panel = {
        folder,
        refresh() {
            const body = selected();
            const canAct = tools.canAct();
            const isDynamic = body?.type === 'dynamic';
            const isPaused = !model.state.playing;
            const isEditable = canAct && isPaused && isDynamic;
            hint.put(
                body ? 'Paused: these values can be edited.' : 'Click a body to see its values.',
            );
            hint.domElement.style.display = body && !isEditable ? 'none' : '';
            const parts = [
                name,
                mass,
                ...fields.map(({ field }) => field),
                ...texts.map(({ text }) => text),
                followButton,
                showing,
            ];
            for (const part of parts) {
                part.domElement.style.display = body ? '' : 'none';
            }
            actions.domElement.style.display = body && canAct && isDynamic ? '' : 'none';
            push.inner.domElement.style.display = body && canAct && isDynamic ? '' : 'none';
            if (!body) {
                return;
            }
            name.put(`${body.name} (${body.type})`);
            mass.setEditable(canAct && isDynamic);
            mass.domElement.style.display = isDynamic ? '' : 'none';
            mass.put(body.mass);
            followButton.buttons[0].textContent =
                view?.followed === model.selected ? 'stop following' : 'follow';
            panel.showDetail(body, isEditable);
        },
        showDetail(body, isEditable) {
            const detail =
                model.detail?.body === body.number ? model.detail : poseDetail(model, body);
            for (const { row, field } of fields) {
                field.setEditable(isEditable);
                const values = row.read(detail);
                field.domElement.style.display = values ? '' : 'none';
                field.put(values ?? [NaN, NaN, NaN]);
            }
            for (const { row, text } of texts) {
                const value = detail[row.key];
                const isThere = value !== undefined && value !== null && body.type === 'dynamic';
                text.domElement.style.display = isThere ? '' : 'none';
                text.put(isThere ? row.text(detail) : '');
            }
        },
        /** On a page there are no details: poses of frames are shown. */
        follow() {
            if (!model.isLive && selected()) {
                panel.showDetail(selected(), false);
            }
        },
    };
    return panel;
}

function poseDetail(model, body) {
    const pose = new Array(7).fill(NaN);
    model.pose(body.number, pose);
    return Number.isNaN(pose[0]) ? {} : { position: pose.slice(0, 3), orientation: pose.slice(3) };
}
