// The scene as text: edit it and run it again. Only where the engine runs in the page.

import { make } from './elements.js';

const LINE = /:(\d+):(\d+): /; // "name:line:column: message"

/** Offset of a line and column (from 1) in a text. */
export function offsetOf(text, line, column) {
    let at = 0;
    for (let i = 1; i < line; i++) {
        const end = text.indexOf('\n', at);
        if (end < 0) {
            return text.length;
        }
        at = end + 1;
    }
    return Math.min(text.length, at + Math.max(0, column - 1));
}

export function createEditor({ model }) {
    const area = make('textarea', {
        spellcheck: false,
        'aria-label': 'The scene as JSON',
        autocapitalize: 'off',
        autocomplete: 'off',
    });
    const trouble = make('p', { className: 'trouble', role: 'alert' });
    const run = make('button', { className: 'run', title: 'Ctrl-Enter' }, 'Run');
    const close = make('button', { className: 'close' }, 'Close');
    const panel = make(
        'section',
        { id: 'editor', 'aria-label': 'Scene editor', hidden: true },
        make('div', { className: 'bar' }, make('h2', {}, 'Scene'), run, close),
        trouble,
        area,
    );
    const button = make('button', { id: 'edit', title: 'Edit the scene as JSON' }, 'Edit');
    document.getElementById('title').querySelector('.bar').append(button);
    document.body.append(panel);
    let text = null; // of the scene that is open, as it was written; null: not known yet
    let textName = null;

    async function load() {
        const { name } = model.scene;
        if (textName !== name) {
            const response = await fetch(`scenes/${encodeURIComponent(name)}.json`);
            text = response.ok ? await response.text() : '';
            textName = name;
        }
        area.value = text;
    }

    /** It takes the place of the panels. */
    function setOpen(isOpen) {
        panel.hidden = !isOpen;
        document.body.classList.toggle('has-editor', isOpen);
    }

    async function show() {
        trouble.textContent = '';
        setOpen(true);
        try {
            await load();
        } catch (error) {
            trouble.textContent = `The scene could not be loaded: ${error.message}`;
        }
        area.focus();
        area.setSelectionRange(0, 0);
    }

    async function start() {
        const name = model.scene?.name ?? textName;
        const given = area.value;
        run.disabled = true;
        const reply = await model.source.send({ do: 'open', scene: name, text: given });
        run.disabled = false;
        trouble.textContent = reply.ok ? '' : reply.error;
        if (reply.ok) {
            text = given;
            textName = name;
            return;
        }
        const place = LINE.exec(reply.error);
        if (place) {
            const at = offsetOf(given, Number(place[1]), Number(place[2]));
            area.focus();
            area.setSelectionRange(at, Math.min(given.length, at + 1));
        }
    }

    button.addEventListener('click', () => (panel.hidden ? show() : setOpen(false)));
    close.addEventListener('click', () => {
        setOpen(false);
        button.focus();
    });
    run.addEventListener('click', start);
    panel.addEventListener('keydown', (event) => {
        event.stopPropagation(); // keys of the page are letters here
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            start();
        } else if (event.key === 'Escape') {
            close.click();
        }
    });
    model.on('hello', (message) => {
        if (!message.scene) {
            setOpen(false);
        }
    });
    return { show, element: panel };
}
