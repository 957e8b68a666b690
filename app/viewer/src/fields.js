// Rows that lil-gui lacks: typed numbers and vectors, which are applied and restored when refused,
// and plain text.
import { Controller } from 'lil-gui';

import { formatNumber, formatShort } from './words.js';

/** Parses typed text: also 1,5 and −3. NaN if it is not a number. */
export function parseNumber(text) {
    const plain = text.trim().replace('−', '-').replace(',', '.');
    if (plain === '') {
        return NaN;
    }
    if (/^[-+]?(inf|infinity|∞)$/i.test(plain)) {
        return plain.startsWith('-') ? -Infinity : Infinity;
    }
    return Number(plain);
}

/** One to four numbers in a row. */
export class FieldController extends Controller {
    /**
     * @param {import('lil-gui').GUI} parent
     * @param {{label: string, unit?: string, size?: number, key?: string, title?: string,
     *          apply?: (values: number[]) => Promise<boolean>|boolean|void}} options
     *        apply returns whether the values were accepted
     */
    constructor(parent, { label, unit = '', size = 1, key = '', title = '', apply = null }) {
        super(parent, { value: 0 }, 'value', 'hands-field');
        this.values = new Array(size).fill(NaN);
        this.apply = apply;
        this.inputs = this.values.map((_, place) => this.makeInput(place, key || label));
        this.$widget.append(...this.inputs);
        if (unit) {
            const tail = document.createElement('span');
            tail.className = 'hands-unit';
            tail.textContent = unit;
            this.$widget.append(tail);
        }
        this.$disable = this.inputs[0];
        this.domElement.dataset.key = key || label;
        this.domElement.title = title;
        this.domElement.classList.toggle('is-vector', size > 1);
        this.name(label);
        this.setEditable(apply !== null);
    }

    makeInput(place, key) {
        const input = document.createElement('input');
        input.type = 'text';
        input.inputMode = 'decimal';
        input.setAttribute('aria-label', this.values.length > 1 ? `${key} ${'xyzw'[place]}` : key);
        input.addEventListener('keydown', (event) => {
            event.stopPropagation(); // keys of the page are ignored while a number is typed
            if (event.key === 'Enter') {
                input.blur();
            } else if (event.key === 'Escape') {
                this.draw(place, true);
                this.mark(false);
                input.blur();
            }
        });
        input.addEventListener('focus', () => input.select());
        input.addEventListener('input', () => this.mark(input.value !== this.drawn(place)));
        input.addEventListener('blur', () => this.takeInput(place));
        return input;
    }

    /** A value that is typed and not applied yet looks different. */
    mark(isEdited) {
        this.domElement.classList.toggle('is-edited', isEdited && this.isEditable);
    }

    async takeInput(place) {
        this.mark(false);
        const text = this.inputs[place].value;
        const value = parseNumber(text);
        if (!this.isEditable || Number.isNaN(value) || text === this.drawn(place)) {
            this.draw(place, true);
            return;
        }
        const before = this.values;
        this.values = before.slice();
        this.values[place] = value;
        const isTaken = await this.apply?.(this.values.slice());
        if (isTaken === false) {
            this.values = before;
        }
        this.redraw(true);
    }

    /** Shows values (a number or numbers) unless they are being typed. */
    put(values) {
        const list = typeof values === 'number' ? [values] : Array.from(values ?? [NaN]);
        this.values = this.values.map((_, place) => list[place] ?? NaN);
        this.redraw(false);
        return this;
    }

    drawn(place) {
        const value = this.values[place];
        return this.values.length > 1 ? formatShort(value, 7) : formatNumber(value, 6);
    }

    draw(place, isForced) {
        const input = this.inputs[place];
        const text = this.drawn(place);
        if ((isForced || document.activeElement !== input) && input.value !== text) {
            input.value = text;
            input.title = `${this.values[place]}`;
        }
    }

    redraw(isForced) {
        this.inputs.forEach((_, place) => this.draw(place, isForced));
    }

    setEditable(isEditable) {
        this.isEditable = isEditable && this.apply !== null;
        for (const input of this.inputs) {
            input.readOnly = !this.isEditable;
        }
        this.domElement.classList.toggle('is-read-only', !this.isEditable);
        return this;
    }

    updateDisplay() {
        return this; // lil-gui calls this before the inputs exist
    }
}

/** Read-only text. */
export class TextController extends Controller {
    constructor(parent, { label, key = '', text = '' }) {
        super(parent, { value: '' }, 'value', 'hands-text');
        this.text = document.createElement('span');
        this.$widget.append(this.text);
        this.$disable = this.text;
        this.domElement.dataset.key = key || label;
        this.name(label);
        this.put(text);
    }

    put(text) {
        if (this.text.textContent !== text) {
            this.text.textContent = text;
            this.text.title = text;
        }
        return this;
    }

    updateDisplay() {
        return this;
    }
}

/** Buttons side by side: [[label, fn, className?], ...]. */
export class ButtonsController extends Controller {
    constructor(parent, buttons) {
        super(parent, { value: 0 }, 'value', 'hands-buttons');
        this.buttons = buttons.map(([label, fn, key]) => {
            const button = document.createElement('button');
            button.type = 'button';
            button.textContent = label;
            button.dataset.key = key ?? label;
            button.onclick = () => fn();
            return button;
        });
        this.$name.remove();
        this.$widget.append(...this.buttons);
        this.$disable = this.buttons[0];
    }

    updateDisplay() {
        return this;
    }
}
