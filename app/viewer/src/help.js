// Overlay that explains mouse and keys.

const rows = [
    ['click', 'select a body; click empty space to deselect'],
    ['drag a body', 'pull it; joints and contacts still hold'],
    ['shift + click a body', 'push it where you click'],
    ['shift + drag', 'draw the push as an arrow'],
    ['drag elsewhere', 'rotate the view (right button: anywhere)'],
    ['wheel', 'zoom in, zoom out'],
    ['space', 'play, pause'],
    ['← →', 'one step back, forward'],
    ['d p m t', 'tools: drag, push, move, turn'],
    ['f', 'follow the selected body'],
    ['Delete', 'delete the selected body'],
    ['r', 'restart'],
    ['1 2 3 …', 'overlays: contacts, joints, axes …'],
    ['Esc', 'release, deselect, close this help'],
    ['?', 'show this help'],
];

/** Adds a hidden overlay to a parent. */
export function createHelp(parent) {
    const element = document.createElement('div');
    element.id = 'help';
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
    card.append(title, table);
    element.append(card);
    element.onclick = () => help.toggle(false);
    parent.append(element);
    const help = {
        element,
        get isOpen() {
            return !element.hidden;
        },
        toggle(isOpen = element.hidden) {
            element.hidden = !isOpen;
        },
    };
    return help;
}
