// The journal as a list: which bodies collided and the energy lost; a click jumps to the moment.
// Only the visible rows exist, so 65,536 entries cost as much as forty.
import { make } from './elements.js';
import { indexAt, lowerBound, throttle } from './sampling.js';
import {
    energyAccount,
    eventAccount,
    eventDetail,
    eventKind,
    eventKinds,
    eventMessage,
    formatEnergy,
    formatNumber,
    hasLedger,
} from './words.js';

const rowHeight = 44; // px, as in hands.css
const margin = 6; // rows beyond the edges

/**
 * The indices of the events that pass the filter, updated without examining an event twice.
 */
export class EventFilter {
    constructor() {
        this.kinds = null; // Set of kinds, or null for all
        this.body = null; // number, or null for all
        this.reset();
    }

    reset() {
        this.indices = [];
        this.seen = 0;
        this.lastTime = -Infinity;
        this.counts = new Array(eventKinds.length).fill(0);
    }

    choose(kinds, body) {
        this.kinds = kinds;
        this.body = body;
        this.reset();
    }

    passes(event) {
        return (
            (this.kinds === null || this.kinds.has(event.kind)) &&
            (this.body === null || event.bodyA === this.body || event.bodyB === this.body)
        );
    }

    /** Examines new events; starts over when some were discarded. */
    look(events, first = 0) {
        const isSame = first === this.first && events.length >= this.seen;
        if (!isSame) {
            this.reset();
            this.first = first;
        }
        for (; this.seen < events.length; this.seen++) {
            const event = events[this.seen];
            this.counts[event.kind] = (this.counts[event.kind] ?? 0) + 1;
            if (this.passes(event)) {
                this.indices.push(this.seen);
            }
        }
        return this.indices;
    }
}

/** First and last row (exclusive) to make for a scroll position. */
export function visibleRows(scrollTop, height, count) {
    const first = Math.max(Math.floor(scrollTop / rowHeight) - margin, 0);
    const end = Math.min(Math.ceil((scrollTop + height) / rowHeight) + margin, count);
    return [Math.min(first, count), end];
}

class Journal {
    constructor({ model, element }) {
        this.model = model;
        this.element = element;
        this.filter = new EventFilter();
        this.chosen = -1;
        this.isAtEnd = true; // new events are scrolled into view
        this.rows = new Map(); // event -> its row
        this.makeFrame();
        this.refresh = throttle(() => this.redraw(), 200);
        for (const type of ['events', 'samples', 'frame']) {
            model.on(type, () => this.refresh());
        }
        model.on('drop', () => {
            this.filter.reset();
            this.chosen = -1;
            this.refresh();
        });
        model.on('state', () => this.takeState());
        model.on('bodies', () => this.fillBodies());
        model.on('scene', () => this.takeScene());
        model.on('select', () => this.takeSelection());
        new ResizeObserver(() => this.refresh()).observe(this.scroll);
        this.takeScene();
    }

    makeFrame() {
        this.account = make('div', { className: 'journal-account' });
        const head = make('div', { className: 'journal-head' });
        this.kindChoice = make('select', { className: 'journal-kind' });
        this.kindChoice.title = 'event kinds to list';
        this.kindChoice.setAttribute('aria-label', 'event kinds to list');
        this.bodyChoice = make('select', { className: 'journal-body' });
        this.bodyChoice.title = 'body to list';
        this.bodyChoice.setAttribute('aria-label', 'body to list');
        this.count = make('span', { className: 'journal-count' });
        this.kindChoice.onchange = () => this.choose();
        this.bodyChoice.onchange = () => this.choose();
        head.append(this.kindChoice, this.bodyChoice, this.count);
        this.scroll = make('div', { className: 'journal-scroll' });
        this.scroll.tabIndex = 0;
        this.scroll.setAttribute('role', 'region');
        this.scroll.setAttribute('aria-label', 'events; arrows go from one to the next');
        this.space = make('div', { className: 'journal-space' });
        this.empty = make('p', { className: 'journal-empty' }, 'Nothing has happened yet.');
        this.space.append(this.empty);
        this.scroll.append(this.space);
        this.scroll.addEventListener('scroll', () => {
            const rest = this.space.offsetHeight - this.scroll.scrollTop - this.scroll.clientHeight;
            this.isAtEnd = rest < rowHeight / 2;
            this.drawRows();
        });
        this.scroll.addEventListener('keydown', (event) => this.takeKey(event));
        this.element.classList.add('journal');
        this.element.replaceChildren(this.account, head, this.scroll);
    }

    takeScene() {
        this.filter.choose(null, null);
        this.chosen = -1;
        this.isAtEnd = true;
        this.kindChoice.replaceChildren(new Option('all kinds', ''));
        this.fillBodies();
        this.refresh();
    }

    /** Names of moving bodies; with very many only the selected one is offered. */
    fillBodies() {
        const before = this.bodyChoice.value;
        const options = [new Option('all bodies', '')];
        const bodies = [...this.model.bodies.values()];
        const selected = this.model.selected;
        if (selected !== null && selected !== undefined) {
            options.push(new Option(`selected: ${this.nameOf(selected)}`, `${selected}`));
        }
        for (const body of bodies.length <= 200 ? bodies : []) {
            options.push(new Option(body.name, `${body.number}`));
        }
        this.bodyChoice.replaceChildren(...options);
        this.bodyChoice.value = options.some((option) => option.value === before) ? before : '';
    }

    takeSelection() {
        const before = this.bodyChoice.value;
        this.fillBodies();
        if (before !== this.bodyChoice.value) {
            this.choose();
        }
    }

    /** The highlight of an event is valid only at its time. */
    takeState() {
        if (this.model.state.playing && this.chosen >= 0) {
            this.chosen = -1;
            this.model.highlight(null);
            this.refresh();
        }
    }

    choose() {
        const kind = this.kindChoice.value;
        const body = this.bodyChoice.value;
        this.filter.choose(
            kind === '' ? null : new Set([Number(kind)]),
            body === '' ? null : Number(body),
        );
        this.redraw();
    }

    nameOf(number) {
        return this.model.known.get(number)?.name ?? `body ${number}`;
    }

    isVisible() {
        return this.scroll.clientHeight > 0 && this.scroll.clientWidth > 0;
    }

    redraw() {
        if (!this.isVisible()) {
            return;
        }
        const events = this.model.events;
        this.filter.look(events, this.model.firstEvent ?? 0);
        this.fillKinds();
        const count = this.filter.indices.length;
        const left =
            this.model.firstEvent > 0
                ? `; ${formatNumber(this.model.firstEvent, 7)} earlier ones were discarded`
                : '';
        this.count.textContent = `${count}${count === events.length ? '' : ` of ${events.length}`}${left}`;
        this.space.style.height = `${count * rowHeight}px`;
        if (this.isAtEnd && !this.scroll.matches(':hover')) {
            this.scroll.scrollTop = this.scroll.scrollHeight;
        }
        this.drawRows();
        this.drawAccount();
    }

    fillKinds() {
        const present = this.filter.counts
            .map((count, kind) => (count > 0 ? kind : -1))
            .filter((kind) => kind >= 0);
        const key = present.join();
        if (
            this.kindChoice.dataset.key !== key ||
            this.kindChoice.options.length <= present.length
        ) {
            const before = this.kindChoice.value;
            this.kindChoice.dataset.key = key;
            this.kindChoice.replaceChildren(
                new Option('all kinds', ''),
                ...present.map((kind) => new Option(eventKind(kind).label, `${kind}`)),
            );
            this.kindChoice.value = before;
        }
    }

    /** Rows that stay visible keep their elements: a click may begin on one and end later. */
    drawRows() {
        const { indices } = this.filter;
        const { scrollTop, clientHeight } = this.scroll;
        const [first, end] = visibleRows(scrollTop, clientHeight, indices.length);
        const rows = new Map();
        for (let place = first; place < end; place++) {
            const index = indices[place];
            const event = this.model.events[index];
            const row = this.rows.get(event) ?? this.makeRow(event);
            row.dataset.index = index;
            row.style.transform = `translateY(${place * rowHeight}px)`;
            row.classList.toggle('is-chosen', index === this.chosen);
            rows.set(event, row);
        }
        for (const [event, row] of this.rows) {
            if (rows.get(event) !== row) {
                row.remove();
            }
        }
        let next = this.empty.nextSibling; // in order of time in the page too
        for (const row of rows.values()) {
            if (row === next) {
                next = next.nextSibling;
            } else {
                this.space.insertBefore(row, next);
            }
        }
        this.rows = rows;
        this.empty.hidden = indices.length > 0;
    }

    makeRow(event) {
        const kind = eventKind(event.kind);
        const sentence = eventMessage(
            event,
            (number) => this.nameOf(number),
            (number) => this.model.known.get(number)?.type === 'static',
        );
        const detail = eventDetail(event);
        const time = make('span', { className: 'entry-time' }, `${formatNumber(event.time, 6)} s`);
        const row = make(
            'div',
            { className: 'entry', title: `${sentence}\n${detail}` },
            make('div', { className: 'entry-top' }, time, sentence),
            make('div', { className: 'entry-detail' }, detail || kind.label),
        );
        row.dataset.kind = kind.name;
        row.style.borderLeftColor = kind.color;
        row.onclick = () => this.go(Number(row.dataset.index));
        return row;
    }

    takeKey(event) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step || this.filter.indices.length === 0) {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
        const { indices } = this.filter;
        const at = lowerBound(indices, indices.length, this.chosen);
        const next = Math.max(0, Math.min(indices.length - 1, this.chosen < 0 ? 0 : at + step));
        const top = next * rowHeight;
        if (
            top < this.scroll.scrollTop ||
            top + rowHeight > this.scroll.scrollTop + this.scroll.clientHeight
        ) {
            this.scroll.scrollTop = top - this.scroll.clientHeight / 2;
        }
        this.go(indices[next]);
    }

    /** Goes to the time of an event: pauses and highlights what happened. */
    async go(index) {
        const event = this.model.events[index];
        if (!event) {
            return;
        }
        if (this.model.state?.playing) {
            await this.model.do({ do: 'pause' });
        }
        this.chosen = index;
        this.drawRows();
        const bodies = [event.bodyA, event.bodyB].filter((number) => number >= 0);
        await this.model.do({ do: 'seek', time: event.time });
        this.model.highlight({ ...event, bodies });
    }

    /** The totals: where the energy went up to the time shown. */
    drawAccount() {
        const samples = this.model.samples;
        if (!samples || samples.count === 0) {
            this.account.replaceChildren();
            return;
        }
        const at = indexAt(samples.time, samples.count, this.model.time);
        const columns = this.model.columns ?? [];
        const valueOf = (index) => samples.values[index]?.[at];
        const rows = hasLedger(columns, valueOf)
            ? energyAccount(columns, valueOf)
            : eventAccount(this.model.events, this.model.time);
        const shown = rows.slice(0, 6).map(({ label, value }) => {
            const item = make('span', {
                className: value < 0 ? 'account-item is-taken' : 'account-item is-given',
            });
            item.append(
                make('span', { className: 'account-label' }, label),
                ` ${value > 0 ? '+' : ''}${formatEnergy(value)}`,
            );
            return item;
        });
        const head = make(
            'span',
            { className: 'account-head' },
            rows.length > 0 ? 'Where the energy went:' : 'No energy was added or removed so far.',
        );
        this.account.replaceChildren(head, ...shown);
    }
}

export function createJournal(context) {
    return new Journal(context);
}
