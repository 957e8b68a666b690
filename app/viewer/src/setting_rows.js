// Rows of settings in a panel, by the kind of their values.
import { FieldController } from './fields.js';
import { listSettings } from './settings.js';

/**
 * Rows for the settings of an object. `address` is what a command "set" needs besides key and
 * value; `read` returns the current object.
 */
export function addSettings(tools, folder, { target, values, address, read, kind }) {
    const rows = [];
    const described = tools.model.scene?.settings?.[target];
    for (const [key, words] of listSettings(target, values, described)) {
        const unit = words.units?.[kind ?? 'angle'] ?? words.unit;
        const isFixed = tools.isReadOnly(target, key);
        const apply = (value) => tools.set({ target, ...address, key, value });
        const make =
            Array.isArray(values[key]) || typeof values[key] === 'number' || values[key] === null
                ? makeNumberRow
                : makeChoiceRow;
        const row = make(folder, {
            key,
            words,
            unit,
            value: values[key],
            apply,
            show: () => read()?.[key],
        });
        row.isFixed = isFixed;
        rows.push(row);
    }
    return rows;
}

function makeNumberRow(folder, { key, words, unit, value, apply, show }) {
    if (words.choices || words.range) {
        return makeChoiceRow(folder, { key, words, unit, value, apply, show });
    }
    const size = Array.isArray(value) ? value.length : 1;
    const field = new FieldController(folder, {
        label: words.label,
        unit,
        size,
        key,
        title: words.title,
        apply: (values) => apply(size === 1 ? finiteOrNull(values[0]) : values),
    });
    return {
        refresh: () => {
            const shown = show();
            field.put(shown === null ? Infinity : shown);
        },
        setEditable: (isEditable) => field.setEditable(isEditable),
    };
}

function finiteOrNull(value) {
    return Number.isFinite(value) ? value : null;
}

/** Check boxes, lists and sliders of lil-gui. */
function makeChoiceRow(folder, { key, words, value, unit, apply, show }) {
    const holder = { value };
    let controller;
    if (words.range) {
        const [low, high] = words.range;
        controller = folder.add(holder, 'value', low, Math.max(high, value ?? 0));
    } else if (words.choices) {
        const choices = words.choices.includes(value) ? words.choices : [value, ...words.choices];
        controller = folder.add(holder, 'value', choices);
    } else {
        controller = folder.add(holder, 'value');
    }
    controller.name(unit ? `${words.label} (${unit})` : words.label);
    controller.domElement.dataset.key = key;
    controller.domElement.title = words.title ?? '';
    const refresh = () => {
        const shown = show();
        if (
            shown !== undefined &&
            shown !== holder.value &&
            !controller.domElement.contains(document.activeElement)
        ) {
            holder.value = shown;
            controller.updateDisplay();
        }
    };
    const send = async (wanted) => {
        const before = show();
        const isTaken = await apply(wanted);
        if (isTaken === false) {
            holder.value = before;
            controller.updateDisplay();
        }
    };
    if (words.range) {
        controller.onChange(send);
    } else {
        controller.onFinishChange(send);
    }
    return { refresh, setEditable: (isEditable) => controller.enable(isEditable) };
}
