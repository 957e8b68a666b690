// The toolbar: what a drag on a body does.
import { icon, make } from './elements.js';

export const tools = [
    {
        name: 'drag',
        key: 'd',
        path: 'M5 14.5 2 9.6l1.2-.8L5 10.6V3h1.3v5H7V1.5h1.4V8h.7V2.3h1.3V8h.7V4h1.4v7l-1.2 3.5z',
        title: 'drag bodies (d)',
    },
    {
        name: 'push',
        key: 'p',
        path: 'M2.6 14.6 1.4 13.4 9.8 5H5V3h8v8h-2V6.2z',
        title: 'push bodies (p, or shift)',
    },
    {
        name: 'move',
        key: 'm',
        path:
            'M8 .8 10.6 4H8.8v3.2H12V5.4L15.2 8 12 10.6V8.8H8.8V12h1.8L8 15.2 5.4 12h1.8V8.8H4v1.8' +
            'L.8 8 4 5.4v1.8h3.2V4H5.4z',
        title: 'move the selected body with arrows (m)',
        kind: 'translate',
    },
    {
        name: 'turn',
        key: 't',
        path:
            'M8 2.2c1.6 0 3 .6 4.1 1.6L13.5 2.4V7H8.9l1.8-1.8A3.9 3.9 0 1 0 11.8 9h1.9' +
            'A5.8 5.8 0 1 1 8 2.2z',
        title: 'turn the selected body with rings (t)',
        kind: 'rotate',
    },
];

/** "translate" or "rotate" for tools with handles at the selected body, else null. */
export function handleKind(name) {
    return tools.find((tool) => tool.name === name)?.kind ?? null;
}

/**
 * @param {HTMLElement} element that becomes the bar
 * @param {{choose: (name: string) => void, setStrength: (factor: number) => void,
 *          toggleHelp: () => void}} actions
 */
export function createToolBar(element, { choose, setStrength, toggleHelp }) {
    const press = (button, fn) => {
        button.addEventListener('click', fn);
        return button;
    };
    const buttons = tools.map(({ name, path, title }) => {
        const properties = { id: `tool-${name}`, className: 'tool', type: 'button', title };
        const button = make('button', { ...properties, 'aria-label': title }, icon(path));
        return press(button, () => choose(name));
    });
    const range = { type: 'range', id: 'push-strength', min: '-1', max: '1', step: '0.05' };
    const slider = make('input', { ...range, value: '0', 'aria-label': 'strength of a push' });
    const factor = make('span', {}, '×1');
    slider.addEventListener('input', () => {
        const strength = 10 ** Number(slider.value);
        factor.textContent = `×${strength.toPrecision(2).replace(/\.0$/, '')}`;
        setStrength(strength);
    });
    const strength = make('label', { className: 'tool-strength' }, 'strength', slider, factor);
    strength.title = 'strength of a push';
    const help = make('button', { id: 'help-button', className: 'tool', type: 'button' }, '?');
    help.title = 'mouse and keys (?)';
    help.setAttribute('aria-label', help.title);
    element.classList.add('tools');
    element.append(...buttons, strength, press(help, toggleHelp));
    return {
        show(name) {
            buttons.forEach((button, i) =>
                button.setAttribute('aria-pressed', tools[i].name === name),
            );
            strength.hidden = name !== 'push';
        },
    };
}
