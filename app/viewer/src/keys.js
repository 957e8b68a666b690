// The keyboard: space plays and pauses, arrows step, f follows, r resets, h resets the camera,
// digits switch overlays.

/** Whether the key belongs to a text field. */
export function isTyping(event) {
    const { target } = event;
    return target instanceof HTMLElement &&
        (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
        target.type !== 'range' && target.type !== 'checkbox';
}

export function listenToKeys({ model, view, overlays, timeline }) {
    const actions = {
        ' ': () => timeline.toggle(),
        ArrowRight: (event) => timeline.step(event.shiftKey ? 10 : 1),
        ArrowLeft: (event) => timeline.step(event.shiftKey ? -10 : -1),
        ArrowUp: () => timeline.changeSpeed(1),
        ArrowDown: () => timeline.changeSpeed(-1),
        f: () => view?.follow(view.followed === null ? model.selected : null),
        h: () => view?.lookHome(),
        r: () => model.do({ do: 'reset' }),
    };
    window.addEventListener('keydown', (event) => {
        if (isTyping(event) || event.ctrlKey || event.altKey || event.metaKey || !model.scene) {
            return;
        }
        const action = actions[event.key];
        if (action) {
            // A focused button would be pressed by the space bar as well.
            event.preventDefault();
            action(event);
        } else if (/^[1-9]$/.test(event.key)) {
            overlays?.toggle(Number(event.key) - 1);
        }
    });
    window.addEventListener('keyup', (event) => {
        if (event.key === ' ' && !isTyping(event)) {
            event.preventDefault();
        }
    });
}
