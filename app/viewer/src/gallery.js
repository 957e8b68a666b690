// All scenes as cards, by theme; a click opens one.

import { make } from './elements.js';
import { formatCount } from './format.js';
import { sceneOf } from './place.js';
import { addressOf } from './source_live.js';

const THEMES_FIRST = ['toys'];

/** Groups of scenes by theme, in order of first appearance. */
export function groupByTheme(scenes) {
    const groups = new Map();
    for (const scene of scenes) {
        const theme = scene.theme || 'more';
        if (!groups.has(theme)) {
            groups.set(theme, []);
        }
        groups.get(theme).push(scene);
    }
    const rank = (theme) => (THEMES_FIRST.includes(theme) ? 0 : 1);
    return [...groups.entries()].sort((a, b) => rank(a[0]) - rank(b[0]));
}

/** Whether a card contains all words. */
export function matches(scene, words) {
    const text = [scene.name, scene.title, scene.theme, scene.shows, scene.engine]
        .join(' ')
        .toLowerCase();
    return words
        .toLowerCase()
        .split(/\s+/)
        .every((word) => text.includes(word));
}

export function createGallery({ model, source, theme, files }) {
    const element = document.getElementById('gallery');
    const search = make('input', {
        type: 'search',
        id: 'search',
        placeholder: 'Search scenes',
        'aria-label': 'Search scenes',
    });
    const count = make('span', { className: 'count' });
    const groups = make('div', { className: 'groups' });
    element.append(
        make(
            'div',
            { className: 'head' },
            make('h1', {}, 'Rattleback'),
            make('p', {}, 'Accurate rigid-body dynamics. Pick a scene to run it.'),
            ...(source.isEngine ? [make('a', { href: 'docs/index.html' }, 'Documents')] : []),
            search,
            count,
            ...files.makeButton(),
            theme.makeButton(),
        ),
        groups,
    );
    let scenes = null;
    let isOpening = false;

    function makeCard(scene) {
        const picture = make('img', {
            alt: '',
            loading: 'lazy',
            width: 480,
            height: 270,
            src: addressOf(`picture/${encodeURIComponent(scene.name)}.png`),
        });
        picture.addEventListener('error', () => picture.remove(), { once: true });
        const facts = [
            scene.engine,
            scene.bodies > 0 && formatCount(scene.bodies, 'body', 'bodies'),
            scene.duration > 0 && `${scene.duration} s`,
        ]
            .filter(Boolean)
            .join(' · ');
        const card = make(
            'button',
            { className: 'card', 'data-scene': scene.name, title: scene.name },
            make('div', { className: 'picture' }, picture),
            make('h3', {}, scene.title || scene.name),
            make('p', {}, scene.shows ?? ''),
            make('small', {}, facts),
        );
        card.addEventListener('click', () => open(scene, card));
        return card;
    }

    async function open(scene, card) {
        if (isOpening) {
            return;
        }
        isOpening = true;
        card.classList.add('opening');
        await model.do({ do: 'open', scene: scene.name });
        card.classList.remove('opening');
        isOpening = false;
    }

    function fill() {
        const chosen = scenes.filter((scene) => matches(scene, search.value.trim()));
        count.textContent =
            chosen.length === scenes.length
                ? formatCount(scenes.length, 'scene', 'scenes')
                : `${chosen.length} of ${formatCount(scenes.length, 'scene', 'scenes')}`;
        groups.replaceChildren(
            ...groupByTheme(chosen).map(([theme, list]) =>
                make(
                    'section',
                    {},
                    make('h2', {}, theme),
                    make('div', { className: 'cards' }, ...list.map(makeCard)),
                ),
            ),
        );
    }

    async function load() {
        try {
            const response = await fetch(addressOf('scenes.json'));
            if (!response.ok) {
                throw new Error(`${response.status} ${response.statusText}`);
            }
            const list = await response.json();
            scenes = Array.isArray(list) ? list : list.scenes;
            fill();
        } catch (error) {
            groups.replaceChildren(
                make('p', {}, `The list of scenes could not be loaded: ${error.message}`),
            );
        }
    }

    function show(isShown) {
        element.hidden = !isShown;
        if (isShown && scenes === null) {
            load();
        }
    }

    search.addEventListener('input', () => scenes && fill());
    if (source.isLive) {
        // the site opens the scene of its address first
        let isExpecting = source.isEngine && sceneOf(window.location.hash) !== null;
        model.on('hello', (message) => {
            show(!message.scene && !isExpecting);
            isExpecting = false;
        });
        model.on('scene', () => show(false));
    }
    return { show };
}
