// Panels of joints and springs: set points of motors, joints with their errors and limits, springs.
import { FieldController, TextController } from './fields.js';
import { addSettings } from './setting_rows.js';
import { motorRange, motorUnit } from './settings.js';
import { formatNumber, formatUnit } from './words.js';

const motorsMax = 24; // sliders; with more motors they are set in the panel of the joint
const choicesMax = 400; // entries of a list

/** All motors: {joint, number, freedom, motor, words}. */
function listMotors({ model }) {
    const motors = [];
    for (const entry of model.parameters?.joints ?? []) {
        const joint = model.joints.find(({ number }) => number === entry.number);
        (entry.freedoms ?? []).forEach((values, freedom) => {
            if (values?.motor) {
                const words = {
                    ...joint?.freedoms?.[freedom],
                    ...joint?.limits?.[freedom],
                    ...values,
                };
                motors.push({ joint, number: entry.number, freedom, motor: values.motor, words });
            }
        });
    }
    return motors;
}

function findFreedom({ model }, number, freedom) {
    const entry = model.parameters?.joints?.find((joint) => joint.number === number);
    return entry?.freedoms?.[freedom];
}

/** A slider for each motor's set point. */
export function createMotorPanel(tools, gui) {
    const motors = listMotors(tools).slice(0, motorsMax);
    if (motors.length === 0) {
        return null;
    }
    const folder = gui.addFolder('Motors');
    folder.domElement.dataset.panel = 'motors';
    const rows = [];
    for (const { joint, number, freedom, motor, words } of motors) {
        const read = () => findFreedom(tools, number, freedom)?.motor;
        const holder = { target: motor.target ?? 0 };
        const [low, high] = motorRange(motor, words);
        const label = joint?.name ?? `joint ${number}`;
        const many = (joint?.freedoms?.length ?? 1) > 1 ? ` ${words.kind ?? freedom}` : '';
        const slider = folder
            .add(holder, 'target', low, high)
            .name(`${label}${many} (${motorUnit(motor, words)})`);
        slider.decimals(3);
        slider.domElement.dataset.key = 'target';
        slider.domElement.dataset.joint = label;
        slider.onChange(async (value) => {
            const before = read()?.target;
            if (!(await tools.set({ target: 'motor', number, freedom, key: 'target', value }))) {
                holder.target = before;
                slider.updateDisplay();
            }
        });
        rows.push({
            refresh() {
                const target = read()?.target;
                const isHeld =
                    slider.domElement.contains(document.activeElement) ||
                    slider.domElement.querySelector('.lil-active');
                if (Number.isFinite(target) && target !== holder.target && !isHeld) {
                    holder.target = target;
                    slider.updateDisplay();
                }
            },
            setEditable: (isEditable) => slider.enable(isEditable),
        });
    }
    return { folder, rows };
}

/** Offers one of many in a list; those of the selected body first. */
function addChoice(folder, label, list, build) {
    const holder = { place: 0 };
    const options = Object.fromEntries(
        list
            .slice(0, choicesMax)
            .map(({ name, number }, place) => [name ?? `${label} ${number}`, place]),
    );
    const choice = folder.add(holder, 'place', options).name(label);
    choice.onChange(() => build(holder.place));
    return (place) => {
        holder.place = place;
        choice.updateDisplay();
        build(place);
    };
}

/** Which of a list belongs to a body; -1 if none does. */
function findOfBody(list, body) {
    return list.findIndex(({ bodyA, bodyB }) => bodyA === body || bodyB === body);
}

function buildJoint(tools, folder, joint) {
    const inner = folder.addFolder(joint.name ?? `joint ${joint.number}`);
    new TextController(inner, { label: 'type', key: 'type', text: joint.type });
    new TextController(inner, {
        label: 'bodies',
        key: 'bodies',
        text: `${tools.nameOf(joint.bodyA)} – ${tools.nameOf(joint.bodyB)}`,
    });
    const error = new TextController(inner, { label: 'error', key: 'error' });
    const force = new TextController(inner, { label: 'force', key: 'force' });
    const positions = (joint.freedoms ?? []).map(
        (freedom, place) =>
            new FieldController(inner, {
                label: freedom.kind ?? `freedom ${place}`,
                unit: freedom.kind === 'travel' ? 'm' : 'rad',
                key: `position${place}`,
            }),
    );
    const rows = [];
    (joint.freedoms ?? []).forEach((freedom, place) => {
        const values = findFreedom(tools, joint.number, place);
        if (!values) {
            return;
        }
        const read = () => findFreedom(tools, joint.number, place);
        const address = { number: joint.number, freedom: place };
        rows.push(
            ...addSettings(tools, inner, {
                target: 'joint',
                values,
                address,
                read,
                kind: freedom.kind,
            }),
        );
        if (values.motor) {
            const motor = inner.addFolder(`motor (${values.motor.type})`);
            rows.push(
                ...addSettings(tools, motor, {
                    target: 'motor',
                    values: values.motor,
                    address,
                    read: () => read()?.motor,
                    kind: freedom.kind,
                }),
            );
        }
    });
    const show = (state) => {
        const isThere = state !== undefined;
        error.put(
            isThere
                ? `${formatUnit(state.positionError, 'm', 3)}, ${formatUnit(state.angleError, 'rad', 3)}`
                : '–',
        );
        force.put(
            isThere
                ? `${formatUnit(Math.hypot(...state.force), 'N', 4)}, ${formatNumber(Math.hypot(...state.torque), 4)} N m`
                : '–',
        );
        positions.forEach((field, place) => field.put(isThere ? state.positions[place] : NaN));
    };
    return { inner, rows, show };
}

/** One joint at a time: its position, its error, and what acts along its degrees of freedom. */
export function createJointPanel(tools, gui) {
    const { model } = tools;
    const joints = model.joints ?? [];
    if (joints.length === 0) {
        return null;
    }
    const folder = gui.addFolder('Joints').close();
    folder.domElement.dataset.panel = 'joints';
    let shown = null;
    let joint = null;
    const panel = { folder, rows: [] };
    const build = (place) => {
        shown?.inner.destroy();
        joint = joints[place];
        shown = buildJoint(tools, folder, joint);
        panel.rows = shown.rows;
        panel.refreshAll?.();
    };
    const choose = addChoice(folder, 'joint', joints, build);
    build(0);
    const unlisten = model.on('select', (body) => {
        const place = body === null ? -1 : findOfBody(joints, body);
        if (place >= 0 && place < choicesMax) {
            choose(place);
        }
    });
    // Joint data is sent only to clients that request it.
    const ask = () => model.want?.('panels', { joints: !folder._closed });
    folder.onOpenClose((changed) => changed === folder && ask());
    panel.refresh = () =>
        shown.show(model.jointStates.find((state) => state.joint === joint.number));
    panel.close = () => {
        unlisten();
        model.want?.('panels', { joints: false });
    };
    return panel;
}

export function createSpringPanel(tools, gui) {
    const { model } = tools;
    const springs = model.springs ?? [];
    const read = (number) => model.parameters?.springs?.find((spring) => spring.number === number);
    if (springs.length === 0 || !read(springs[0].number)) {
        return null;
    }
    const folder = gui.addFolder('Springs').close();
    folder.domElement.dataset.panel = 'springs';
    const panel = { folder, rows: [] };
    let inner = null;
    const build = (place) => {
        inner?.destroy();
        const spring = springs[place];
        inner = folder.addFolder(spring.name ?? `spring ${spring.number}`);
        new TextController(inner, {
            label: 'bodies',
            key: 'bodies',
            text: `${tools.nameOf(spring.bodyA)} – ${tools.nameOf(spring.bodyB)}`,
        });
        panel.rows = addSettings(tools, inner, {
            target: 'spring',
            values: read(spring.number),
            address: { number: spring.number },
            read: () => read(spring.number),
        });
        panel.refreshAll?.();
    };
    if (springs.length > 1) {
        addChoice(folder, 'spring', springs, build);
    }
    build(0);
    return panel;
}
