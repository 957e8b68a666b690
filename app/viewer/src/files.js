// Files that are dropped onto the page or chosen: a scene, a mesh or a recording. They are sent to the
// simulation and run there.

import { make } from './elements.js';

const SIZE_MAX = 60 << 20; // bytes: the simulation takes 64 MB with the command
const MESHES = ['obj', 'stl', 'ply', 'gltf', 'glb'];
export const ACCEPTED = ['.json', '.rbr', ...MESHES.map((end) => `.${end}`)].join();

/** A name that scenes may have, from the name of a file. */
export function sceneName(fileName) {
    const stem = fileName.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, '');
    return stem.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '').slice(0, 60) || 'dropped';
}

/** What a file is, by its name: "scene", "mesh", "recording", or null. */
export function kindOf(fileName) {
    const end = /\.([^.]+)$/.exec(fileName)?.[1].toLowerCase();
    if (end === 'json') {
        return 'scene';
    }
    return end === 'rbr' ? 'recording' : MESHES.includes(end) ? 'mesh' : null;
}

/** The scene that shows a mesh: it turns in weightlessness. An open surface has no mass and stands. */
export function meshScene(name, file, isSolid) {
    const body = {
        name: 'mesh',
        ...(isSolid ? { spin: [0.1, 0.2, 0.6] } : { type: 'static' }),
        shapes: [{ geometry: { type: 'mesh', file } }],
    };
    return JSON.stringify(
        {
            rattleback: 1,
            name,
            title: file,
            engine: 'flight',
            duration: 60,
            world: { gravity: [0, 0, 0] },
            bodies: [body],
        },
        null,
        2,
    );
}

export function createFiles({ model, source, trouble }) {
    const place = make('div', { id: 'drop', hidden: true }, 'Drop a scene, a mesh or a recording');
    document.body.append(place);
    const say = (text) => model.emit('say', { text, kind: 'error', seconds: 10 });

    /** Sends an open command; a mistake is shown at its line. */
    async function send(command, bytes, text) {
        const reply = await source.send(command, bytes);
        if (!reply.ok && text !== undefined) {
            const found = /:(\d+):(\d+): /.exec(reply.error);
            const pointer = /(?:^|: )(\/[^:]*): /.exec(reply.error)?.[1] ?? '';
            const line = found ? Number(found[1]) : 0;
            trouble.show({ message: reply.error, line, place: pointer, text });
        }
        return reply;
    }

    const openers = {
        async scene(name, bytes) {
            const text = new TextDecoder().decode(bytes);
            return send({ do: 'open', scene: name, text }, new Uint8Array(0), text);
        },
        async mesh(name, bytes, fileName) {
            const file = `${sceneName(fileName)}.${fileName.split('.').pop().toLowerCase()}`;
            const command = { do: 'open', scene: name, file };
            const solid = { ...command, text: meshScene(name, file, true) };
            const reply = await source.send(solid, bytes);
            if (reply.ok) {
                return reply;
            }
            const open = { ...command, text: meshScene(name, file, false) };
            const second = await source.send(open, bytes);
            if (!second.ok) {
                say(second.error);
            }
            return second;
        },
        async recording(name, bytes) {
            const reply = await source.send({ do: 'open', scene: name, file: 'run.rbr' }, bytes);
            if (!reply.ok) {
                say(reply.error);
            }
            return reply;
        },
    };

    /** @param {File} file */
    async function open(file) {
        const kind = kindOf(file.name);
        if (!source.isLive) {
            return say('This page is a run that was written; it opens no other files.');
        }
        if (kind === null) {
            return say(`${file.name}: the end of its name must be one of ${ACCEPTED}`);
        }
        if (file.size > SIZE_MAX) {
            return say(`${file.name} has ${file.size} bytes; at most ${SIZE_MAX}`);
        }
        const bytes = new Uint8Array(await file.arrayBuffer());
        return openers[kind](sceneName(file.name), bytes, file.name);
    }

    let depth = 0; // of elements that were entered
    const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
    window.addEventListener('dragenter', (event) => {
        if (hasFiles(event)) {
            depth++;
            place.hidden = false;
        }
    });
    window.addEventListener('dragleave', () => {
        depth = Math.max(0, depth - 1);
        place.hidden = depth === 0;
    });
    window.addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault());
    window.addEventListener('drop', (event) => {
        if (!hasFiles(event)) {
            return;
        }
        event.preventDefault();
        depth = 0;
        place.hidden = true;
        const files = [...event.dataTransfer.files];
        if (files.length > 1) {
            say('Drop one file at a time; the first was opened.');
        }
        if (files.length > 0) {
            open(files[0]);
        }
    });

    /** A button that asks for a file: dropping needs a mouse. */
    function makeButton() {
        const input = make('input', { type: 'file', accept: ACCEPTED, hidden: true });
        const button = make('button', { type: 'button', className: 'open-file' }, 'Open a file');
        button.addEventListener('click', () => input.click());
        input.addEventListener('change', () => {
            if (input.files.length > 0) {
                open(input.files[0]);
            }
            input.value = '';
        });
        return [button, input];
    }
    return { open, makeButton };
}
