// Overlay that explains mouse and keys.

const rows = [
    ['click', 'select a body; click empty space to deselect'],
    ['drag a body', 'pull it; joints and contacts still hold'],
    ['shift + click a body', 'push it where you click'],
    ['shift + drag', 'draw the push as an arrow'],
    ['drag elsewhere', 'rotate the view (right button: anywhere)'],
    ['wheel, two fingers', 'zoom in, zoom out'],
    ['space', 'play, pause'],
    ['← →', 'one step back, forward'],
    ['d p m t', 'tools: drag, push, move, turn'],
    ['n', 'select the next body (shift: the one before)'],
    ['f', 'follow the selected body'],
    ['x i o', 'hide the selected body, show it alone, make it transparent'],
    ['shift + x', 'show all bodies again'],
    ['l', 'measure: click two points for a distance, three for an angle'],
    ['h', 'reset the view'],
    ['g j', 'plots, journal'],
    ['Tab', 'go to the next control; in the view: arrows turn, + − zoom'],
    ['Delete', 'delete the selected body'],
    ['ctrl z, ctrl shift z', 'undo, redo what you did'],
    ['r', 'restart'],
    ['1 2 3 …', 'overlays: contacts, joints, axes …'],
    ['Esc', 'release, deselect, close this help'],
    ['?', 'show this help'],
];

/** Adds a hidden overlay to a parent. */
export function createHelp(parent) {
    const element = document.createElement('div');
    element.id = 'help';
    element.setAttribute('role', 'dialog');
    element.setAttribute('aria-modal', 'true');
    element.setAttribute('aria-label', 'Mouse and keys');
    element.hidden = true;
    const card = document.createElement('div');
    card.className = 'help-card';
    const table = document.createElement('table');
    for (const [what, does] of rows) {
        const row = table.insertRow();
        const key = document.createElement('kbd');
        key.textContent = what;
        row.insertCell().append(key);
        row.insertCell().textContent = does;
    }
    const title = document.createElement('h2');
    title.textContent = 'Mouse and keys';
    const close = document.createElement('button');
    close.type = 'button';
    close.className = 'help-close';
    close.textContent = 'Close';
    card.append(close, title, table);
    element.append(card);
    let before = null; // what had the focus
    element.onclick = ({ target }) => {
        if (target === element || target === close) {
            help.toggle(false);
        }
    };
    // the dialog has one control: Tab stays on it
    element.onkeydown = (event) => event.key === 'Tab' && event.preventDefault();
    parent.append(element);
    const help = {
        element,
        get isOpen() {
            return !element.hidden;
        },
        toggle(isOpen = element.hidden) {
            if (isOpen === !element.hidden) {
                return;
            }
            element.hidden = !isOpen;
            if (isOpen) {
                before = document.activeElement;
                close.focus();
            } else {
                before?.focus?.();
            }
        },
    };
    return help;
}
