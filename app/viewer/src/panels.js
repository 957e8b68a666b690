// The panels at the right: world, engine, materials, the selected body, joints, motors, springs,
// and a form for a new body. Values are applied while the simulation runs; a refused value is
// reset.
import GUI from 'lil-gui';

import { createBodyPanel } from './panel_body.js';
import { createAddPanel } from './panel_add.js';
import { createViewPanel } from './panel_view.js';
import { createJointPanel, createMotorPanel, createSpringPanel } from './panel_joints.js';
import { createLatest } from './sending.js';
import { addSettings } from './setting_rows.js';

/** What all panels need: sending, refusing, and whether anything may be changed. */
function createTools({ model, view, cameras, measure, film, history }) {
    const latest = createLatest((command) => model.do(command));
    return {
        model,
        view,
        cameras,
        measure,
        film,
        history,
        canAct: () => model.isLive && model.state.canAct !== false,
        isReadOnly: (target, key) =>
            model.parameters?.readOnly?.includes(`${target}.${key}`) ?? false,
        nameOf: (number) =>
            number < 0 ? 'world' : (model.known.get(number)?.name ?? `body ${number}`),
        /** Sends "set"; false if refused. A newer value replaces one that still waits. */
        async set(command) {
            const key = JSON.stringify({ ...command, value: 0 });
            const reply = await latest(key, { do: 'set', ...command });
            return reply === null ? true : reply.ok;
        },
        async act(command) {
            return (await model.do(command)).ok;
        },
        say: (text) => model.emit('say', { text, kind: 'hint' }),
    };
}

const engineNames = { step: 'Step engine', event: 'Event engine', flight: 'Flight' };

/** Folders of plain settings: world, engine, contacts. */
function createSettingsPanel(tools, gui, section, title) {
    const values = tools.model.parameters?.[section];
    if (!values || Object.keys(values).length === 0) {
        return null;
    }
    const folder = gui.addFolder(title).close();
    folder.domElement.dataset.panel = section;
    const rows = addSettings(tools, folder, {
        target: section,
        values,
        address: {},
        read: () => tools.model.parameters?.[section],
    });
    return { rows, folder };
}

/** One material at a time: scenes may have many. */
function createMaterialPanel(tools, gui) {
    const materials = () =>
        (tools.model.parameters?.materials ?? tools.model.materials ?? []).filter(
            ({ name }) => name,
        );
    if (materials().length === 0) {
        return null;
    }
    const folder = gui.addFolder('Materials').close();
    folder.domElement.dataset.panel = 'materials';
    const holder = { material: materials()[0].name };
    const panel = { folder, rows: [] };
    let inner = null;
    const build = () => {
        inner?.destroy();
        inner = folder.addFolder(holder.material);
        const read = () => materials().find(({ name }) => name === holder.material);
        panel.rows = addSettings(tools, inner, {
            target: 'material',
            values: read(),
            address: { name: holder.material },
            read,
        });
        panel.refresh?.();
    };
    if (materials().length > 1) {
        folder
            .add(
                holder,
                'material',
                materials().map(({ name }) => name),
            )
            .onChange(build);
    }
    build();
    return panel;
}

class Panels {
    constructor(context) {
        this.model = context.model;
        this.element = context.element;
        this.element.classList.add('panels');
        this.tools = createTools(context);
        this.gui = null;
        this.shape = '';
        this.onOpen = context.onOpen;
        this.isOpen = undefined; // until the user opens or closes them
        const { model } = this;
        model.on('scene', () => this.build());
        model.on('hello', () => this.build());
        model.on('parameters', () => this.takeParameters());
        model.on('state', () => this.refresh());
        model.on('detail', () => this.body?.refresh());
        model.on('select', () => this.body?.refresh());
        model.on('bodies', () => this.body?.refresh());
        model.on('joints', () => this.joints?.refresh());
        model.on('links', () => this.build());
        model.on('frame', () => this.body?.follow?.());
        this.build();
    }

    /** Keys of the parameters: panels are rebuilt only when these change. */
    shapeOf(parameters) {
        const keys = (value) =>
            Object.entries(value ?? {}).map(([key, inner]) =>
                inner && typeof inner === 'object' && !Array.isArray(inner)
                    ? [key, keys(inner)]
                    : key,
            );
        const { materials, joints, springs, ...rest } = parameters ?? {};
        return JSON.stringify([
            keys(rest),
            materials?.length,
            joints?.map(({ number }) => number),
            springs?.length,
        ]);
    }

    takeParameters() {
        if (this.shapeOf(this.model.parameters) !== this.shape) {
            this.build();
        } else {
            this.refresh();
        }
    }

    build() {
        const open = new Set(
            this.gui?.folders
                .filter((folder) => !folder._closed)
                .map((folder) => folder.domElement.dataset.panel),
        );
        this.joints?.close?.();
        this.viewPanel?.close();
        this.gui?.destroy();
        this.gui = null;
        this.panels = [];
        this.body = this.joints = null;
        this.shape = this.shapeOf(this.model.parameters);
        if (!this.model.scene) {
            return;
        }
        const gui = new GUI({
            container: this.element,
            autoPlace: false,
            title: 'Panels',
        });
        this.gui = gui;
        const { tools, model } = this;
        this.body = createBodyPanel(tools, gui);
        this.joints = createJointPanel(tools, gui);
        this.panels = [
            this.body,
            createMotorPanel(tools, gui),
            this.joints,
            createSpringPanel(tools, gui),
            createSettingsPanel(tools, gui, 'world', 'World'),
            createMaterialPanel(tools, gui),
            createSettingsPanel(tools, gui, 'step', 'Step engine'),
            createSettingsPanel(tools, gui, 'event', 'Event engine'),
            createSettingsPanel(tools, gui, 'contact', 'Contacts'),
            model.isLive ? createAddPanel(tools, gui) : null,
            (this.viewPanel = createViewPanel(tools, gui)),
        ].filter(Boolean);
        for (const panel of this.panels) {
            panel.refreshAll = () => this.refresh();
            if (open.has(panel.folder.domElement.dataset.panel)) {
                panel.folder.open();
            }
        }
        if (this.isOpen === false || (this.isOpen === undefined && window.innerWidth < 900)) {
            gui.close();
        }
        gui.onOpenClose((changed) => {
            if (changed === gui) {
                this.isOpen = !gui._closed;
                this.showRoom();
                if (this.isOpen) {
                    this.onOpen?.();
                }
            }
        });
        this.showRoom();
        gui.title(
            model.scene.engine
                ? `Panels · ${engineNames[model.scene.engine] ?? model.scene.engine}`
                : 'Panels',
        );
        this.refresh();
    }

    close() {
        this.gui?.close();
    }

    /** Closed panels leave their column to the view. */
    showRoom() {
        document.body.classList.toggle('has-panels', this.gui !== null && !this.gui._closed);
    }

    refresh() {
        const canAct = this.tools.canAct();
        this.element.classList.toggle('is-read-only', !canAct);
        for (const panel of this.panels ?? []) {
            for (const row of panel.rows ?? []) {
                row.setEditable(canAct && !row.isFixed);
                row.refresh();
            }
            panel.refresh?.();
        }
    }
}

export function createPanels(context) {
    return new Panels(context);
}
