// Light or dark: as the system says, until the user chooses.

import { createEmitter } from './emitter.js';
import { icon, make } from './elements.js';

const KEY = 'rattleback-theme';
const HALF_MOON = 'M8 1.5a6.5 6.5 0 1 0 0 13zM8 0a8 8 0 1 1 0 16A8 8 0 0 1 8 0z';

/** A page from a file, or one without the right to store, has no memory. */
function recall() {
    try {
        return window.localStorage.getItem(KEY);
    } catch {
        return null;
    }
}

function remember(choice) {
    try {
        window.localStorage.setItem(KEY, choice);
    } catch {
        // the choice lasts as long as the page
    }
}

/** @returns {{isDark: boolean, toggle: () => void, onChange: Function, makeButton: Function}} */
export function createTheme(root = document.documentElement) {
    const emitter = createEmitter();
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    let choice = recall(); // 'light', 'dark' or null: as the system

    const theme = {
        get isDark() {
            return choice === 'dark' || (choice !== 'light' && system.matches);
        },
        toggle() {
            choice = theme.isDark ? 'light' : 'dark';
            remember(choice);
            show();
        },
        onChange: (fn) => emitter.on('change', fn),
        /** Value of a color of the page now, e.g. "--ink". */
        color: (name) => getComputedStyle(root).getPropertyValue(name).trim(),
        /** A switch; there may be several. */
        makeButton() {
            const button = make(
                'button',
                { className: 'tool theme', type: 'button' },
                icon(HALF_MOON),
            );
            const name = () => {
                button.title = theme.isDark ? 'Light colors' : 'Dark colors';
                button.setAttribute('aria-label', button.title);
            };
            button.addEventListener('click', () => theme.toggle());
            theme.onChange(name);
            name();
            return button;
        },
    };

    function show() {
        root.dataset.theme = theme.isDark ? 'dark' : 'light';
        emitter.emit('change', theme.isDark);
    }

    system.addEventListener('change', () => choice === null && show());
    show();
    return theme;
}
