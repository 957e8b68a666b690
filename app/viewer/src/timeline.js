// The timeline: play, pause, step, speed; the current time; when events happened.

import { icon, make } from './elements.js';
import { formatFactor, formatTime } from './format.js';
import { binEvents } from './marks.js';

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const PLAY = 'M4 2.5v11l9-5.5z';
const PAUSE = 'M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z';
const STEP = 'M3 2.5v11l7-5.5zM11 2.5h2v11h-2z';
const BACK = 'M13 2.5v11L6 8zM3 2.5h2v11H3z';
const RESET = 'M8 3a5 5 0 1 1-4.6 3l1.4.6A3.5 3.5 0 1 0 8 4.5V7L4.5 3.8 8 .8z';
const LOOP =
    'M4 4h7V2l3.5 3L11 8V6H4v2H2V6a2 2 0 0 1 2-2zM12 12H5v2l-3.5-3L5 8v2h7V8h2v2a2 2 0 0 1-2 2z';
const MARK_COLORS = { impact: '#c2414f', hand: '#0a5cff', rest: '#3a8f66', other: '#8b93a1' };
const SEEK_GAP = 60; // ms between two seeks while the pointer moves

export function createTimeline({ model, source }) {
    const element = document.getElementById('timeline');
    const button = (id, path, title, fn) => {
        const made = make('button', { id, title, 'aria-label': title }, icon(path));
        made.addEventListener('click', fn);
        return made;
    };
    const reset = button('reset', RESET, 'Restart (r)', () => model.do({ do: 'reset' }));
    const back = button('step-back', BACK, 'One frame back (←)', () => timeline.step(-1));
    const play = button('play', PLAY, 'Play (space)', () => timeline.toggle());
    const step = button('step', STEP, 'One frame forward (→)', () => timeline.step(1));
    const loop = button('loop', LOOP, 'Repeat when the end is reached', toggleLoop);
    const speed = make('select', {
        id: 'speed',
        title: 'Speed: simulated time per real time (↑ ↓)',
        'aria-label': 'Speed',
    });
    const scrub = make('div', {
        id: 'scrub',
        tabIndex: 0,
        role: 'slider',
        'aria-label': 'time',
        'aria-valuemin': '0',
        'aria-valuemax': '0',
        'aria-valuenow': '0',
    });
    const marks = make('canvas', { className: 'marks' });
    const past = make('div', { className: 'past' });
    const knob = make('div', { className: 'knob' });
    const time = make('output', { id: 'time' });
    const rate = make('span', { id: 'rate', title: 'Simulated time per real time' });
    const busy = make('span', { id: 'busy', hidden: true, title: 'computing' });
    const sentence = make('p', { id: 'sentence' });
    scrub.append(past, marks, knob);
    const replay = make('button', { id: 'replay', type: 'button' }, 'Replay');
    const goOn = make('button', { id: 'continue', type: 'button' }, 'Continue');
    replay.addEventListener('click', async () => {
        await model.do({ do: 'seek', time: 0 });
        await model.do({ do: 'play' });
    });
    goOn.addEventListener('click', () => model.do({ do: 'play' }));
    const ending = make(
        'div',
        { id: 'ending', role: 'status', hidden: true },
        sentence,
        replay,
        goOn,
    );
    document.getElementById('low').append(ending);
    element.append(
        reset,
        back,
        play,
        step,
        loop,
        speed,
        scrub,
        busy,
        time,
        rate,
    );

    let areMarksOld = true;
    let isDragged = false;
    let draggedTo = 0;
    let lastSeek = 0;
    let seekTimer = 0;

    const timeline = {
        element,

        toggle() {
            return model.do({ do: model.state.playing ? 'pause' : 'play' });
        },

        /** Steps frames forward, or back by a jump. */
        step(count) {
            if (count > 0 || !source.isLive) {
                return model.do({ do: 'step', count });
            }
            const { frameStep } = model.state;
            return model.do({ do: 'seek', time: Math.max(0, model.frameTime + count * frameStep) });
        },

        changeSpeed(direction) {
            const now = model.state.speed;
            const next =
                direction > 0
                    ? SPEEDS.find((value) => value > now * 1.01)
                    : [...SPEEDS].reverse().find((value) => value < now * 0.99);
            return next ? model.do({ do: 'speed', factor: next }) : undefined;
        },

        /** Called once per frame of the browser. */
        tick() {
            if (element.hidden) {
                return;
            }
            const span = spanOf();
            const shown = isDragged ? draggedTo : model.time;
            const share = span > 0 ? Math.min(1, Math.max(0, shown / span)) : 0;
            const place = `${(100 * share).toFixed(2)}%`;
            if (knob.style.left !== place) {
                knob.style.left = place;
                scrub.setAttribute('aria-valuenow', shown.toFixed(3));
                scrub.setAttribute('aria-valuetext', `${formatTime(shown, span)} s`);
            }
            past.style.width = `${(100 * Math.min(1, span > 0 ? model.state.endTime / span : 0)).toFixed(2)}%`;
            const text = `${formatTime(shown, span)} s`;
            if (time.textContent !== text) {
                time.textContent = text;
            }
            if (areMarksOld) {
                areMarksOld = false;
                drawMarks(span);
            }
        },
    };

    /** Length of the timeline: the duration of the scene, or of the frames if they are longer. */
    function spanOf() {
        return Math.max(model.scene?.duration ?? 0, model.state.endTime, model.frameTime);
    }

    function toggleLoop() {
        return model.do({ do: 'loop', on: !model.state.looping });
    }

    function drawMarks(span) {
        const scale = Math.min(2, window.devicePixelRatio);
        const [width, height] = [scrub.clientWidth * scale, scrub.clientHeight * scale];
        if (width === 0) {
            return;
        }
        marks.width = width;
        marks.height = height;
        const context = marks.getContext('2d');
        for (const { at, kind, height: share } of binEvents(
            model.events,
            span,
            Math.floor(width / 2),
        )) {
            context.fillStyle = MARK_COLORS[kind];
            const tall = Math.max(3 * scale, share * height * 0.8);
            context.fillRect(at * 2, height - tall, Math.max(1, scale), tall);
        }
    }

    function seek(event) {
        const box = scrub.getBoundingClientRect();
        const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
        draggedTo = Math.min(share * spanOf(), model.state.endTime);
        clearTimeout(seekTimer);
        const wait = Math.max(0, lastSeek + SEEK_GAP - performance.now());
        seekTimer = setTimeout(() => {
            lastSeek = performance.now();
            model.do({ do: 'seek', time: draggedTo });
        }, wait);
    }

    scrub.addEventListener('pointerdown', (event) => {
        isDragged = true;
        scrub.setPointerCapture(event.pointerId);
        seek(event);
    });
    scrub.addEventListener('pointermove', (event) => isDragged && seek(event));
    scrub.addEventListener('keydown', (event) => {
        const place = { Home: 0, End: model.state.endTime }[event.key];
        if (place !== undefined) {
            event.preventDefault();
            model.do({ do: 'seek', time: place });
        }
    });
    for (const type of ['pointerup', 'pointercancel']) {
        scrub.addEventListener(type, () => {
            isDragged = false;
        });
    }
    speed.addEventListener('change', () => {
        model.do({ do: 'speed', factor: Number(speed.value) });
    });

    function showSpeed(value) {
        const all = SPEEDS.some((known) => Math.abs(known - value) < 1e-9)
            ? SPEEDS
            : [...SPEEDS, value].sort((a, b) => a - b);
        const wanted = all.map(String).join();
        if (speed.dataset.all !== wanted) {
            speed.dataset.all = wanted;
            speed.replaceChildren(
                ...all.map((one) =>
                    make('option', { value: String(one) }, `${formatFactor(one)} ×`),
                ),
            );
        }
        if (document.activeElement !== speed) {
            speed.value = String(all.find((known) => Math.abs(known - value) < 1e-9));
        }
    }

    /** Where the time stands still: why, and what can be done about it. */
    function showEnding({ sentence: reason, ended, canAct }) {
        const text = ended ? 'The end of the scene.' : reason;
        if (sentence.textContent !== text) {
            sentence.textContent = text;
        }
        replay.hidden = !ended;
        goOn.hidden = !ended || !canAct; // a recording has nothing beyond its end
        ending.hidden = !text || !model.scene;
    }

    function showState() {
        const { state } = model;
        if (play.dataset.playing !== String(state.playing)) {
            play.dataset.playing = String(state.playing);
            play.replaceChildren(icon(state.playing ? PAUSE : PLAY));
            play.title = state.playing ? 'Pause (space)' : 'Play (space)';
            play.setAttribute('aria-label', play.title);
        }
        loop.classList.toggle('on', Boolean(state.looping));
        loop.setAttribute('aria-pressed', String(Boolean(state.looping)));
        busy.hidden = !state.busy;
        rate.textContent = state.playing ? `${formatFactor(state.realTime)} × real time` : 'paused';
        showEnding(state);
        showSpeed(state.speed);
        scrub.setAttribute('aria-valuemax', spanOf().toFixed(3));
    }

    model.on('state', showState);
    model.on('scene', () => {
        element.hidden = false;
        areMarksOld = true;
    });
    model.on('hello', (message) => {
        element.hidden = !message.scene;
        ending.hidden = true;
    });
    for (const type of ['events', 'drop']) {
        model.on(type, () => {
            areMarksOld = true;
        });
    }
    let lastSpan = 0;
    model.on('state', () => {
        if (spanOf() !== lastSpan) {
            lastSpan = spanOf();
            areMarksOld = true;
        }
    });
    new ResizeObserver(() => {
        areMarksOld = true;
    }).observe(scrub);
    return timeline;
}
