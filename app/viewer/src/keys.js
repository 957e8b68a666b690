// The keyboard: space plays and pauses, arrows step, f follows, n goes to the next body, r resets,
// h resets the camera, l measures, digits switch overlays. The view itself, when it has the focus, turns by the
// arrows and zooms by + and -.

const TURN = Math.PI / 24; // by one press of an arrow
const ZOOM = 1.15;

/** Whether the key belongs to a text field. */
export function isTyping(event) {
    const { target } = event;
    return target instanceof HTMLElement &&
        (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
        target.type !== 'range' && target.type !== 'checkbox';
}

/**
 * Whether a control was reached by the keyboard: then the space bar presses it. After a click it
 * plays and pauses, whatever was clicked last.
 */
function createFocusWatch() {
    let isByKeys = false;
    window.addEventListener('pointerdown', () => (isByKeys = false), { capture: true });
    window.addEventListener('keydown', ({ key }) => (isByKeys = isByKeys || key === 'Tab'), {
        capture: true,
    });
    return (event) =>
        isByKeys &&
        event.target instanceof HTMLElement &&
        event.target.matches('button, summary, a, input');
}

/** Selects the next moving body, or the one before. */
function selectNext(model, way) {
    const bodies = [...model.bodies.values()].filter(({ type }) => type !== 'static');
    if (bodies.length === 0) {
        return;
    }
    const at = bodies.findIndex(({ number }) => number === model.selected);
    const next = at < 0 ? (way > 0 ? 0 : bodies.length - 1) : at + way;
    const body = bodies[(next + bodies.length) % bodies.length];
    model.select(body.number);
    model.emit('say', { text: `${body.name} is selected`, kind: 'hint', seconds: 2 });
}

/** Keys of the view when it has the focus. @returns {boolean} whether the key was one */
function lookBy(view, event) {
    const turns = {
        ArrowLeft: [TURN, 0],
        ArrowRight: [-TURN, 0],
        ArrowUp: [0, -TURN],
        ArrowDown: [0, TURN],
    };
    const zooms = { '+': 1 / ZOOM, '=': 1 / ZOOM, '-': ZOOM };
    if (turns[event.key]) {
        view.orbit(...turns[event.key], 1);
    } else if (zooms[event.key]) {
        view.orbit(0, 0, zooms[event.key]);
    } else {
        return false;
    }
    return true;
}

/** "undo" by ctrl z, "redo" by ctrl shift z or ctrl y; null: another key. */
function undoOf({ key, ctrlKey, metaKey, shiftKey }) {
    if (!ctrlKey && !metaKey) {
        return null;
    }
    const isRedo = (key.toLowerCase() === 'z' && shiftKey) || key === 'y';
    return isRedo ? 'redo' : key === 'z' ? 'undo' : null;
}

export function listenToKeys({ model, view, overlays, timeline, measure }) {
    const isOnControl = createFocusWatch();
    const actions = {
        ' ': () => timeline.toggle(),
        ArrowRight: (event) => timeline.step(event.shiftKey ? 10 : 1),
        ArrowLeft: (event) => timeline.step(event.shiftKey ? -10 : -1),
        ArrowUp: () => timeline.changeSpeed(1),
        ArrowDown: () => timeline.changeSpeed(-1),
        f: () => view?.follow(view.followed === null ? model.selected : null),
        h: () => view?.lookHome(),
        n: () => selectNext(model, 1),
        N: () => selectNext(model, -1),
        i: () => view?.change('isolate'),
        l: () => measure?.set(!measure.isOn),
        o: () => view?.change('ghost'),
        x: () => view?.change('hide'),
        X: () => view?.change('all'),
        r: () => model.do({ do: 'reset' }),
    };
    window.addEventListener('keydown', (event) => {
        const undo = model.scene && !isTyping(event) ? undoOf(event) : null;
        if (undo) {
            event.preventDefault();
            model.do({ do: undo });
            return;
        }
        if (isTyping(event) || event.ctrlKey || event.altKey || event.metaKey || !model.scene) {
            return;
        }
        if (event.target === view?.canvas && lookBy(view, event)) {
            event.preventDefault();
            return;
        }
        const action = actions[event.key];
        if (action && !(event.key === ' ' && isOnControl(event))) {
            // A focused button would be pressed by the space bar as well.
            event.preventDefault();
            action(event);
        } else if (/^[0-9]$/.test(event.key)) {
            overlays?.toggle((Number(event.key) + 9) % 10);
        }
    });
    window.addEventListener('keyup', (event) => {
        if (event.key === ' ' && !isTyping(event) && !isOnControl(event)) {
            event.preventDefault();
        }
    });
}
