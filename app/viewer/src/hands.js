// Adds the interactive parts to the page: panels, drawers with plots and journal, and the pointer
// tools.
import { createJournal } from './journal.js';
import { isTyping } from './keys.js';
import { make } from './elements.js';
import { createPanels } from './panels.js';
import { createPlots } from './plots.js';
import { createPointer } from './pointer.js';

/** A drawer and the button that opens it. */
function makeDrawer({ id, label, key, onOpen }) {
    const drawer = make('section', { id, className: 'drawer', hidden: true });
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
        onOpen?.();
    };
    button.addEventListener('click', () => {
        button.blur();
        toggle();
    });
    toggle(false);
    return { drawer, button, toggle, key };
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
        onOpen: () => hands?.plots.refresh(),
    });
    const journalDrawer = makeDrawer({
        id: 'journal',
        label: 'Journal',
        key: 'j',
        onOpen: () => hands?.journal.refresh(),
    });
    app.element('drawers').append(journalDrawer.drawer, plotsDrawer.drawer);
    const tools = make('nav', { id: 'tools' });
    document.body.append(tools);
    const showScene = () => {
        document.body.classList.toggle('has-scene', model.scene !== null);
    };
    model.on('hello', showScene);
    model.on('scene', showScene);
    showScene();
    listen([plotsDrawer, journalDrawer]);

    hands = {
        panels: createPanels({ model, view, source, element: app.element('panels') }),
        plots: createPlots({ model, view, source, element: plotsDrawer.drawer }),
        journal: createJournal({ model, view, source, element: journalDrawer.drawer }),
        pointer: null,
        openPlots: plotsDrawer.toggle,
        openJournal: journalDrawer.toggle,
    };
    if (view) {
        hands.pointer = createPointer({ model, view, source, element: tools });
    }
    tools.append(journalDrawer.button, plotsDrawer.button);
    return hands;
}
