// What mouse and keys do, over the view.

const rows = [
    ['click', 'select a body; on empty ground: none'],
    ['drag a body', 'pull it; joints and contacts hold'],
    ['shift + click a body', 'push it where you click'],
    ['shift + drag', 'draw the push as an arrow'],
    ['drag elsewhere', 'turn the view (right button: everywhere)'],
    ['wheel', 'nearer, farther'],
    ['space', 'play, pause'],
    ['← →', 'a step back, forward'],
    ['d p m t', 'tools: drag, push, move, turn'],
    ['f', 'follow the selected body'],
    ['Delete', 'delete the selected body'],
    ['r', 'start again'],
    ['1 2 3 …', 'overlays: contacts, joints, axes …'],
    ['Esc', 'let go, deselect, close this'],
    ['?', 'this help'],
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
