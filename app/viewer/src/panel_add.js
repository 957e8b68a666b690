// A small form for a new body.
import { ButtonsController, FieldController } from './fields.js';

/** Shapes: their sizes as rows [key, words], in units of a size that suits the scene. */
export const shapeForms = {
    sphere: { sizes: { radius: 1 } },
    box: { sizes: { size: [2, 2, 2] } },
    capsule: { sizes: { radius: 0.6, length: 1.5 } },
    cylinder: { sizes: { radius: 0.8, length: 2 } },
    cone: { sizes: { radius: 1, height: 2 } },
    ellipsoid: { sizes: { semiAxes: [1.5, 1, 0.6] } },
};

/** Two digits, like typed numbers. */
export function roundNicely(value) {
    return Number(value.toPrecision(2));
}

/** Sizes of a shape, scaled. */
export function defaultSizes(shape, scale) {
    const scaled = (value) =>
        Array.isArray(value) ? value.map(scaled) : roundNicely(value * scale);
    return Object.fromEntries(
        Object.entries(shapeForms[shape].sizes).map(([key, value]) => [key, scaled(value)]),
    );
}

/** The body in the format of scene files. */
export function bodyOf({ name, shape, sizes, material, position, velocity, spin }) {
    const part = { geometry: { type: shape, ...sizes } };
    if (material) {
        part.material = material;
    }
    return { name, position, velocity, spin, shapes: [part] };
}

/** A name that no body has yet. */
export function freeName(base, names) {
    let count = 1;
    while (names.has(`${base} ${count}`)) {
        count++;
    }
    return `${base} ${count}`;
}

export function createAddPanel(tools, gui) {
    const { model } = tools;
    const folder = gui.addFolder('Add a body').close();
    folder.domElement.dataset.panel = 'add';
    const view = model.scene.view ?? {};
    const scale = (view.radius ?? 1) / 12;
    const center = view.center ?? [0, 0, 0];
    const materials = (model.materials ?? []).map(({ name }) => name).filter(Boolean);
    const form = {
        shape: 'sphere',
        sizes: defaultSizes('sphere', scale),
        material: materials[0] ?? '',
        position: [center[0], center[1], center[2] + (view.radius ?? 1) * 0.6].map((x) =>
            Number(x.toPrecision(3)),
        ),
        velocity: [0, 0, 0],
        spin: [0, 0, 0],
    };
    folder
        .add(form, 'shape', Object.keys(shapeForms))
        .name('shape')
        .onChange(() => buildSizes());
    const sizesFolder = folder.addFolder('size');
    let fields = [];
    const buildSizes = () => {
        fields.forEach((field) => field.destroy());
        form.sizes = defaultSizes(form.shape, scale);
        fields = Object.entries(form.sizes).map(([key, value]) => {
            const size = Array.isArray(value) ? value.length : 1;
            const take = (values) => {
                form.sizes[key] = size === 1 ? values[0] : values;
                return true;
            };
            return new FieldController(sizesFolder, {
                label: key,
                unit: 'm',
                size,
                key: `add-${key}`,
                apply: take,
            }).put(value);
        });
    };
    buildSizes();
    if (materials.length > 0) {
        folder.add(form, 'material', materials);
    }
    const vector = (key, unit) => {
        const take = (values) => {
            form[key] = values;
            return true;
        };
        new FieldController(folder, {
            label: key,
            unit,
            size: 3,
            key: `add-${key}`,
            apply: take,
        }).put(form[key]);
    };
    vector('position', 'm');
    vector('velocity', 'm/s');
    vector('spin', 'rad/s');
    const add = async () => {
        const names = new Set([...model.bodies.values()].map(({ name }) => name));
        const name = freeName(`my ${form.shape}`, names);
        if (await tools.act({ do: 'add', body: bodyOf({ ...form, name }) })) {
            tools.say(`${name} was added.`);
        }
    };
    new ButtonsController(folder, [['add', add, 'add']]);
    return {
        folder,
        refresh() {
            folder.domElement.style.display = tools.canAct() ? '' : 'none';
        },
    };
}
