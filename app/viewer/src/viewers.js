// Several viewers of one simulation: who is in control, and handing it over. Hidden while there is one.

import { make } from './elements.js';

/** What is shown: {text, button: [label, command] or null, askers: numbers that wait for me}. */
export function describeViewers({ viewers, control, asking }, me) {
    const count = `${viewers.length} viewers`;
    const take = { do: 'control', action: 'take' };
    if (control === 0) {
        return { text: `${count}, all may act`, button: ['Take control', take], askers: [] };
    }
    if (control === me) {
        const release = { do: 'control', action: 'release' };
        const text = `${count}, you are in control`;
        return { text, button: ['Release', release], askers: asking.filter((n) => n !== me) };
    }
    const hasAsked = asking.includes(me);
    return {
        text: `${count}, viewer ${control} is in control${hasAsked ? '; you have asked' : ''}`,
        button: hasAsked ? null : ['Ask for control', { do: 'control', action: 'ask' }],
        askers: [],
    };
}

export function createViewers({ model }) {
    const text = make('span');
    const buttons = make('span', { className: 'buttons' });
    const element = make('div', { id: 'viewers', role: 'status', hidden: true }, text, buttons);
    document.getElementById('title').append(element);

    function makeButton(label, command) {
        const button = make('button', { type: 'button' }, label);
        button.addEventListener('click', () => model.do(command));
        return button;
    }

    function show() {
        const { viewers } = model;
        const isShared = viewers.viewers.length > 1 || viewers.control !== 0;
        element.hidden = !isShared;
        if (!isShared) {
            return;
        }
        const shown = describeViewers(viewers, model.hello?.client);
        text.textContent = shown.text;
        buttons.replaceChildren(
            ...(shown.button ? [makeButton(...shown.button)] : []),
            ...shown.askers.map((to) =>
                makeButton(`Give to viewer ${to}`, { do: 'control', action: 'give', to }),
            ),
        );
    }
    model.on('viewers', show);
    model.on('hello', show);
    return { show };
}
