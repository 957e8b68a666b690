// Adds the interactive parts to the page: panels, drawers with plots and journal, and the pointer
// tools.
import { createJournal } from './journal.js';
import { isTyping } from './keys.js';
import { icon, make } from './elements.js';
import { createPanels } from './panels.js';
import { createPlots } from './plots.js';
import { createPointer } from './pointer.js';

/** A drawer and the button that opens it. */
function makeDrawer({ id, label, key, onOpen }) {
    const drawer = make('section', {
        id,
        className: 'drawer',
        hidden: true,
        'aria-label': label,
    });
    const button = make(
        'button',
        { id: `open-${id}`, className: 'drawer-button', type: 'button' },
        label,
    );
    button.title = `${label} (${key})`;
    const toggle = (isOpen = drawer.hidden) => {
        drawer.hidden = !isOpen;
        button.setAttribute('aria-pressed', isOpen);
        document.body.classList.toggle(`has-${id}`, isOpen);
        onOpen?.(isOpen);
    };
    button.addEventListener('click', () => toggle());
    toggle(false);
    return { drawer, button, toggle, key };
}

const UNDO = 'M6 2v3h4a4.5 4.5 0 1 1 0 9H5v-2h5a2.5 2.5 0 1 0 0-5H6v3L1.5 6z';
const REDO = 'M10 2v3H6a4.5 4.5 0 1 0 0 9h5v-2H6a2.5 2.5 0 1 1 0-5h4v3l4.5-4z';

/** Buttons that take back what the user did, and do it again. */
function makeUndo(model) {
    const kinds = [
        ['undo', UNDO, 'Undo (ctrl z)'],
        ['redo', REDO, 'Redo (ctrl shift z)'],
    ];
    return kinds.map(([name, path, title]) => {
        const properties = { id: name, className: 'tool', type: 'button', title };
        const button = make('button', { ...properties, 'aria-label': title }, icon(path));
        const show = () => {
            button.disabled = !(model.state[name] > 0);
            button.hidden = !model.isLive || model.state.canAct === false;
        };
        button.addEventListener('click', () => model.do({ do: name }));
        model.on('state', show);
        model.on('scene', show);
        show();
        return button;
    });
}

/** Phones, and windows in which panels and a drawer leave nothing of the view. */
export function isSmall() {
    return window.innerWidth <= 700 || window.innerHeight <= 600;
}

/** Opens and closes drawers by their keys. */
function listen(drawers) {
    window.addEventListener('keydown', (event) => {
        const found = drawers.find(({ key }) => key === event.key);
        if (found && !isTyping(event) && !event.ctrlKey && !event.metaKey && !event.altKey) {
            found.toggle();
        }
    });
}

/**
 * @param {{model: object, view: object|null, source: object, element: (id: string) => HTMLElement}} app
 */
export function createHands(app) {
    const { model, view, source } = app;
    let hands = null;
    const plotsDrawer = makeDrawer({
        id: 'plots',
        label: 'Plots',
        key: 'g',
        onOpen(isOpen) {
            makeRoom(isOpen, 'plots');
            hands?.plots.refresh();
        },
    });
    const journalDrawer = makeDrawer({
        id: 'journal',
        label: 'Journal',
        key: 'j',
        onOpen(isOpen) {
            makeRoom(isOpen, 'journal');
            hands?.journal.refresh();
        },
    });
    /** A small window has room for one of them. */
    function makeRoom(isOpen, name) {
        if (!isOpen || !hands || !isSmall()) {
            return;
        }
        const others = {
            plots: () => plotsDrawer.toggle(false),
            journal: () => journalDrawer.toggle(false),
            panels: () => hands.panels.close(),
        };
        Object.keys(others)
            .filter((other) => other !== name)
            .forEach((other) => others[other]());
    }
    app.element('drawers').append(journalDrawer.drawer, plotsDrawer.drawer);
    const tools = app.element('tools');
    const showScene = () => {
        document.body.classList.toggle('has-scene', model.scene !== null);
    };
    model.on('hello', showScene);
    model.on('scene', showScene);
    showScene();
    listen([plotsDrawer, journalDrawer]);

    hands = {
        panels: createPanels({
            model,
            view,
            source,
            cameras: app.cameras,
            measure: app.measure,
            film: app.film,
            history: app.history,
            element: app.element('panels'),
            onOpen: () => makeRoom(true, 'panels'),
        }),
        plots: createPlots({
            model,
            view,
            source,
            theme: app.theme,
            element: plotsDrawer.drawer,
            goToEvent: (index) => hands.journal.go(index),
        }),
        journal: createJournal({ model, view, source, element: journalDrawer.drawer }),
        pointer: null,
        openPlots: plotsDrawer.toggle,
        openJournal: journalDrawer.toggle,
    };
    if (view) {
        hands.pointer = createPointer({ model, view, source, element: tools });
        hands.pointer.measure = app.measure;
    }
    tools.append(
        ...makeUndo(model),
        journalDrawer.button,
        plotsDrawer.button,
        app.theme.makeButton(),
    );
    return hands;
}
