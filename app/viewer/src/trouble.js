// The scene file was saved with a mistake: what is wrong, and the lines about it. The scene goes on as
// it was until the file is right again.

import { make } from './elements.js';
import { excerpt, lineOf, offsetOfPointer } from './json_place.js';

/** Line of a trouble in its text; 0: none is known. */
export function lineOfTrouble({ line, place, text }) {
    if (line > 0) {
        return line;
    }
    const offset = text && place ? offsetOfPointer(text, place) : -1;
    return offset >= 0 ? lineOf(text, offset).line : 0;
}

export function createTrouble({ model }) {
    const message = make('p', {});
    const lines = make('pre', { tabIndex: 0, 'aria-label': 'The lines about the mistake' });
    const close = make('button', { type: 'button' }, 'Close');
    const element = make(
        'section',
        { id: 'trouble', role: 'alert', 'aria-label': 'A mistake in the scene', hidden: true },
        make('div', { className: 'bar' }, message, close),
        lines,
    );
    document.body.append(element);
    close.addEventListener('click', () => {
        element.hidden = true;
    });

    function show(trouble) {
        const line = lineOfTrouble(trouble);
        message.textContent = trouble.message;
        lines.replaceChildren(
            ...excerpt(trouble.text ?? '', line).map(({ number, text, isHere }) =>
                make(
                    'span',
                    { className: isHere ? 'here' : '', 'data-line': `${number}` },
                    `${String(number).padStart(4)}  ${text}`,
                ),
            ),
        );
        lines.hidden = line === 0;
        element.hidden = false;
    }

    model.on('trouble', show);
    model.on('hello', () => {
        element.hidden = true;
    });
    return { show };
}
