// Plots of the samples: tabs for the groups of columns, time to the right, a line at the time
// shown. A list at the side is both legend and selection.
import uPlot from 'uplot';

import { createCauses, findCauses } from './causes.js';
import { createCurves } from './curves.js';
import { make } from './elements.js';
import { saveText, toCsv, toSvg } from './export.js';
import { indexAt, lowerBound, thin, throttle, valueAt } from './sampling.js';
import { formatNumber, formatUnit, prettyUnit } from './words.js';

const redrawInterval = 200; // ms
const CAUSE_PIXELS = 4; // on both sides of a click
const seriesMax = 8; // shown initially in a group; more can be selected

export const groups = [
    { key: 'energy', label: 'Energy', isLog: false },
    { key: 'momentum', label: 'Momentum', isLog: false },
    { key: 'error', label: 'Joint error', isLog: true },
    { key: 'probe', label: 'Probes', isLog: false },
];

const palette = [
    '#0969da',
    '#bc4c00',
    '#1a7f37',
    '#8250df',
    '#cf222e',
    '#1b7c83',
    '#9a6700',
    '#bf3989',
    '#57606a',
    '#54aeff',
    '#fb8f44',
    '#4ac26b',
];

export function columnColor(indexInGroup) {
    return palette[indexInGroup % palette.length];
}

/**
 * Which columns of a group are drawn: those the user chose, and of the others the first few that
 * were ever nonzero.
 * @param {number[]} members indices of columns
 * @param {Map<number, boolean>} choices of the user
 * @param {(index: number) => boolean} isAlive whether a column was ever nonzero
 */
export function chooseColumns(members, choices, isAlive) {
    let shown = 0;
    return members.filter((index) => {
        const chosen = choices.get(index) ?? (isAlive(index) && shown < seriesMax);
        shown += chosen ? 1 : 0;
        return chosen;
    });
}

/** Tracks which columns were ever nonzero, examining each sample once. */
class Liveliness {
    constructor() {
        this.reset();
    }
    reset() {
        this.alive = [];
        this.seen = 0;
    }
    look(samples) {
        if (samples.count < this.seen) {
            this.reset();
        }
        samples.values.forEach((values, index) => {
            for (let i = this.seen; i < samples.count && !this.alive[index]; i++) {
                this.alive[index] = values[i] !== 0 && Number.isFinite(values[i]);
            }
        });
        this.seen = samples.count;
    }
}

class Plots {
    constructor({ model, view, element, theme, goToEvent }) {
        this.model = model;
        this.theme = theme;
        this.element = element;
        this.group = 'energy';
        this.choices = new Map();
        this.liveliness = new Liveliness();
        this.zoom = null;
        this.chart = null;
        this.chartKey = '';
        this.describeCauses = createCauses(model, {
            go: (index) => goToEvent?.(index),
            close: () => this.closeCauses(),
        });
        this.curves = createCurves(model);
        this.makeFrame();
        this.refresh = throttle(() => this.redraw(), redrawInterval);
        for (const type of ['samples', 'drop']) {
            model.on(type, () => this.refresh());
        }
        model.on('scene', () => this.takeScene());
        view?.onFrame?.(() => this.moveNow());
        theme?.onChange(() => {
            this.chartKey = ''; // a chart has the colors of its making
            this.refresh();
        });
        new ResizeObserver(() => this.refresh()).observe(this.canvasBox);
        this.takeScene();
    }

    makeFrame() {
        const head = make('div', { className: 'plots-head' });
        this.tabs = make('div', { className: 'plots-tabs' });
        this.hint = make(
            'span',
            { className: 'plots-hint' },
            'click: go to time, causes of a step · drag: zoom · double click: reset zoom',
        );
        const exports = ['svg', 'csv'].map((kind) => {
            const title = kind === 'svg' ? 'Save the plot as a drawing' : 'Save its values as a table';
            const button = make(
                'button',
                { type: 'button', className: 'plots-tab', 'data-export': kind, title },
                kind.toUpperCase(),
            );
            button.addEventListener('click', () => this.save(kind));
            return button;
        });
        head.append(this.tabs, this.hint, ...this.makeCurveButtons(), ...exports);
        const body = make('div', { className: 'plots-body' });
        this.canvasBox = make('div', { className: 'plots-canvas' });
        this.list = make('div', { className: 'plots-list', tabIndex: 0 });
        this.list.setAttribute('role', 'region');
        this.list.setAttribute('aria-label', 'columns of the plot');
        this.causes = make('div', { className: 'plots-list plots-causes', hidden: true, tabIndex: 0 });
        this.causes.setAttribute('role', 'region');
        this.causes.setAttribute('aria-label', 'causes of the energy step');
        body.append(this.canvasBox, this.list, this.causes);
        this.element.classList.add('plots');
        this.element.replaceChildren(head, body);
    }

    /** Keep this run, add a reference from a table, forget both. */
    makeCurveButtons() {
        const file = make('input', { type: 'file', accept: '.csv,text/csv', hidden: true, 'aria-label': 'table with reference curves' });
        const button = (key, label, title, fn) => {
            const made = make('button', { type: 'button', className: 'plots-tab', 'data-curves': key, title }, label);
            made.addEventListener('click', async () => {
                await fn();
                this.forget.hidden = this.curves.count === 0;
                this.chartKey = '';
                this.redraw();
            });
            return made;
        };
        this.forget = button('forget', 'Forget', 'Remove kept runs and references', () => this.curves.clear());
        this.forget.hidden = true;
        file.addEventListener('change', async () => {
            const [chosen] = file.files;
            if (chosen) {
                const count = this.curves.addTable(chosen.name, await chosen.text());
                const text = count > 0 ? `${chosen.name}: ${count === 1 ? 'one column' : `${count} columns`}, dotted` : `${chosen.name} has no column with a name of a plot`;
                this.model.emit('say', { text, kind: count > 0 ? 'hint' : 'error' });
            }
            file.value = '';
            this.forget.hidden = this.curves.count === 0;
            this.chartKey = '';
            this.redraw();
        });
        return [
            button('keep', 'Keep', 'Keep this run in the plots, dashed, to compare it with another', () => this.curves.keep()),
            button('reference', 'Reference', 'Add curves of a table: a column of times, columns with names of the plots', () => file.click()),
            this.forget,
            file,
        ];
    }

    columns() {
        return this.model.columns ?? [];
    }

    takeScene() {
        this.closeCauses();
        this.choices.clear();
        this.liveliness.reset();
        this.zoom = null;
        this.chartKey = '';
        const present = new Set(this.columns().map((column) => column.group));
        if (!present.has(this.group)) {
            this.group = groups.find(({ key }) => present.has(key))?.key ?? 'energy';
        }
        this.tabs.replaceChildren(
            ...groups
                .filter(({ key }) => present.has(key))
                .map(({ key, label }) => {
                    const tab = make('button', { className: 'plots-tab', type: 'button' }, label);
                    tab.dataset.group = key;
                    tab.setAttribute('aria-pressed', key === this.group);
                    tab.onclick = () => this.show(key);
                    return tab;
                }),
        );
        this.refresh();
    }

    /** Shows the tab of a group. */
    show(group) {
        this.closeCauses();
        this.group = group;
        for (const tab of this.tabs.children) {
            tab.setAttribute('aria-pressed', tab.dataset.group === group);
        }
        this.redraw();
    }

    /** Lists what changed the energy between two times. */
    showCauses(from, to) {
        const causes = findCauses(this.model, from, to);
        if (causes) {
            this.causes.replaceChildren(...this.describeCauses(causes));
            this.causes.hidden = false;
            this.list.hidden = true;
        }
    }

    closeCauses() {
        if (this.causes) {
            this.causes.hidden = true;
            this.list.hidden = false;
        }
    }

    /** What is shown, as a file: {name, text}. */
    export(kind) {
        const { samples, scene } = this.model;
        const members = this.members();
        const shown = chooseColumns(members, this.choices, (i) => this.liveliness.alive[i] === true);
        const series = shown.map((index) => ({
            name: this.columns()[index].name,
            unit: this.columns()[index].unit ?? '',
            color: columnColor(members.indexOf(index)),
            values: samples.values[index],
        }));
        const range = this.zoom
            ? {
                  from: lowerBound(samples.time, samples.count, this.zoom[0]),
                  to: Math.min(lowerBound(samples.time, samples.count, this.zoom[1]) + 1, samples.count),
              }
            : { from: 0, to: samples.count };
        const isLog = groups.find(({ key }) => key === this.group)?.isLog;
        const title = `${scene.title || scene.name}: ${this.group}`;
        const text =
            kind === 'csv'
                ? toCsv(samples.time, series, range)
                : toSvg(samples.time, series, { title, isLog, ...range });
        return { name: `${scene.name}-${this.group}.${kind}`, text };
    }

    save(kind) {
        if (this.model.scene && this.model.samples.count > 0) {
            this.liveliness.look(this.model.samples);
            const { name, text } = this.export(kind);
            saveText(name, kind === 'csv' ? 'text/csv' : 'image/svg+xml', text);
        }
    }

    members() {
        const members = [];
        this.columns().forEach((column, index) => {
            if (column.group === this.group) {
                members.push(index);
            }
        });
        return members;
    }

    isVisible() {
        return this.canvasBox.clientWidth > 40 && this.canvasBox.clientHeight > 40;
    }

    redraw() {
        const samples = this.model.samples;
        if (!this.isVisible() || !samples) {
            return;
        }
        this.liveliness.look(samples);
        const members = this.members();
        const shown = chooseColumns(
            members,
            this.choices,
            (i) => this.liveliness.alive[i] === true,
        );
        const key = `${this.group}:${members.join()}:${shown.join()}`;
        if (key !== this.chartKey) {
            this.chartKey = key;
            this.makeList(members, shown);
            this.makeChart(members, shown);
        }
        this.fitSize();
        this.chart?.setData(this.data(samples, shown));
        this.moveNow();
    }

    data(samples, shown) {
        const from = this.zoom
            ? Math.max(lowerBound(samples.time, samples.count, this.zoom[0]) - 1, 0)
            : 0;
        const end = this.zoom
            ? lowerBound(samples.time, samples.count, this.zoom[1]) + 1
            : samples.count;
        const isLog = groups.find(({ key }) => key === this.group)?.isLog;
        return thin(
            samples.time,
            shown.map((index) => samples.values[index]),
            {
                from,
                to: Math.min(end, samples.count),
                pixels: Math.max(this.canvasBox.clientWidth, 100),
                transform: isLog ? (value) => (value > 0 ? value : NaN) : undefined,
            },
        );
    }

    makeList(members, shown) {
        this.values = new Map();
        const rows = members.map((index, place) => {
            const column = this.columns()[index];
            const row = make('label', { className: 'plots-row' });
            row.title = `${column.name}${column.unit ? ` in ${column.unit}` : ''}`;
            const box = make('input');
            box.type = 'checkbox';
            box.checked = shown.includes(index);
            box.onchange = () => {
                this.choices.set(index, box.checked);
                this.redraw();
            };
            const dot = make('span', { className: 'plots-dot' });
            dot.style.background = columnColor(place);
            const value = make('span', { className: 'plots-value' });
            this.values.set(index, value);
            row.append(box, dot, make('span', { className: 'plots-name' }, column.name), value);
            return row;
        });
        this.list.replaceChildren(...rows);
    }

    makeChart(members, shown) {
        this.chart?.destroy();
        this.chart = null;
        this.canvasBox.replaceChildren();
        if (shown.length === 0) {
            const text =
                members.length > 0
                    ? 'Nothing to show yet: all values are zero.'
                    : 'Nothing was sampled.';
            this.canvasBox.append(make('p', { className: 'plots-empty' }, text));
            return;
        }
        const isLog = groups.find(({ key }) => key === this.group)?.isLog;
        const inks = {
            text: this.theme?.color('--soft') ?? '#57606a',
            grid: this.theme?.color('--grid') ?? '#e6e9ed',
            tick: this.theme?.color('--line') ?? '#d0d7de',
        };
        const units = [...new Set(shown.map((index) => this.columns()[index].unit ?? ''))];
        const scales = { x: { time: false, range: (u, min, max) => this.timeRange(min, max) } };
        for (const unit of units) {
            scales[`y${unit}`] = isLog
                ? { distr: 3, log: 10 }
                : { range: (u, min, max) => this.valueRange(shown, unit, min, max) };
        }
        const axis = (unit, place) => ({
            scale: `y${unit}`,
            side: place === 0 ? 3 : 1,
            label: prettyUnit(unit) || '1',
            labelSize: 18,
            size: 62,
            stroke: inks.text,
            grid: { show: place === 0, stroke: inks.grid, width: 1 },
            ticks: { stroke: inks.tick, width: 1 },
            values: (u, ticks) => ticks.map((tick) => (tick === null ? '' : formatNumber(tick, 3))),
        });
        const options = {
            width: this.canvasBox.clientWidth,
            height: this.canvasBox.clientHeight,
            padding: [8, 8, 0, 0],
            legend: { show: false },
            cursor: { points: { size: 6 }, drag: { x: true, y: false, setScale: false } },
            scales,
            axes: [
                {
                    stroke: inks.text,
                    size: 30,
                    grid: { stroke: inks.grid, width: 1 },
                    ticks: { stroke: inks.tick, width: 1 },
                    values: (u, ticks) => ticks.map((tick) => formatUnit(tick, 's', 5)),
                },
                ...units.slice(0, 3).map(axis),
            ],
            series: [
                {},
                ...shown.map((index) => ({
                    label: this.columns()[index].name,
                    scale: `y${this.columns()[index].unit ?? ''}`,
                    stroke: columnColor(members.indexOf(index)),
                    width: 1.5,
                    spanGaps: false,
                    points: { show: false },
                })),
            ],
            hooks: {
                draw: [(u) => this.drawCurves(u, members, shown)],
                setCursor: [() => this.showValues()],
                setSelect: [(u) => this.takeZoom(u)],
            },
        };
        this.chart = new uPlot(options, [[], ...shown.map(() => [])], this.canvasBox);
        this.listen();
    }

    /** Kept runs and references count for the range of values. */
    valueRange(shown, unit, min, max) {
        let [low, high] = [min ?? Infinity, max ?? -Infinity];
        for (const index of shown.filter((i) => (this.columns()[i].unit ?? '') === unit)) {
            for (const curve of this.curves.of(this.columns()[index].name)) {
                [low, high] = [Math.min(low, curve.low), Math.max(high, curve.high)];
            }
        }
        return low <= high ? uPlot.rangeNum(low, high, 0.1, true) : [0, 1];
    }

    drawCurves(chart, members, shown) {
        const { ctx, bbox } = chart;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        ctx.lineWidth = 1.5 * devicePixelRatio;
        for (const index of shown) {
            const { name, unit = '' } = this.columns()[index];
            for (const { times, values, isReference } of this.curves.of(name)) {
                ctx.setLineDash((isReference ? [2, 3] : [7, 4]).map((x) => x * devicePixelRatio));
                ctx.strokeStyle = columnColor(members.indexOf(index));
                ctx.beginPath();
                const stride = Math.max(1, Math.floor(times.length / 4000));
                for (let i = 0; i < times.length; i += stride) {
                    const y = chart.valToPos(values[i], `y${unit}`, true);
                    if (Number.isFinite(y)) {
                        ctx.lineTo(chart.valToPos(times[i], 'x', true), y);
                    }
                }
                ctx.stroke();
            }
        }
        ctx.restore();
    }

    timeRange(min, max) {
        if (this.zoom) {
            return this.zoom;
        }
        return [min ?? 0, max > min ? max : (min ?? 0) + 1e-3];
    }

    listen() {
        const over = this.chart.over;
        this.now = make('div', { className: 'plots-now' });
        over.append(this.now);
        let downAt = null;
        over.addEventListener('pointerdown', (event) => {
            downAt = event.clientX;
        });
        over.addEventListener('click', (event) => {
            if (downAt !== null && Math.abs(event.clientX - downAt) < 4 && event.detail < 2) {
                const left = event.clientX - over.getBoundingClientRect().left;
                const at = (px) => Math.max(this.chart.posToVal(px, 'x'), 0);
                this.model.do({ do: 'seek', time: at(left) });
                if (this.group === 'energy') {
                    this.showCauses(at(left - CAUSE_PIXELS), at(left + CAUSE_PIXELS));
                }
            }
        });
        over.addEventListener('dblclick', () => {
            this.zoom = null;
            this.redraw();
        });
        over.addEventListener('pointerleave', () => this.showValues());
    }

    takeZoom(chart) {
        const { left, width } = chart.select;
        if (width > 4) {
            this.zoom = [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')];
            chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            this.redraw();
        }
    }

    fitSize() {
        const { clientWidth: width, clientHeight: height } = this.canvasBox;
        if (this.chart && (this.chart.width !== width || this.chart.height !== height)) {
            this.chart.setSize({ width, height });
        }
    }

    /** Values at the cursor, or at the time shown. */
    showValues() {
        const samples = this.model.samples;
        if (!samples || !this.values || samples.count === 0) {
            return;
        }
        const left = this.chart?.cursor.left ?? -1;
        const time = left >= 0 ? this.chart.posToVal(left, 'x') : this.model.time;
        const at = indexAt(samples.time, samples.count, time);
        for (const [index, cell] of this.values) {
            const text = formatUnit(
                samples.values[index]?.[at],
                prettyUnit(this.columns()[index].unit),
            );
            if (cell.textContent !== text) {
                cell.textContent = text;
            }
        }
        const when = left >= 0 ? `at ${formatUnit(samples.time[at], 's', 5)}` : 'now';
        this.list.dataset.when = when;
    }

    /** The line at the time shown; moved by its style, so that a frame needs no redraw. */
    moveNow() {
        if (!this.chart || !this.now || !this.isVisible()) {
            return;
        }
        const x = this.chart.valToPos(this.model.time, 'x');
        const isInside = x >= 0 && x <= this.chart.over.clientWidth;
        this.now.style.display = isInside ? '' : 'none';
        this.now.style.transform = `translateX(${x}px)`;
        if (performance.now() - (this.shownAt ?? 0) > redrawInterval) {
            this.shownAt = performance.now();
            this.showValues();
        }
    }

    /** For tests: a column (name or index) at a time, interpolated. */
    value(column, time = this.model.time) {
        const index =
            typeof column === 'number'
                ? column
                : this.columns().findIndex(({ name }) => name === column);
        const samples = this.model.samples;
        return samples?.values[index]
            ? valueAt(samples.time, samples.values[index], samples.count, time)
            : NaN;
    }
}

export function createPlots(context) {
    return new Plots(context);
}
