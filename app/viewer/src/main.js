// Assembles the page: a source of messages, the model, and the parts that show it.

import { createCameras } from './cameras.js';
import { createEditor } from './editor.js';
import { createFiles } from './files.js';
import { createFilm } from './film.js';
import { make } from './elements.js';
import { createGallery } from './gallery.js';
import { createHands } from './hands.js';
import { createHistory } from './history.js';
import { listenToKeys } from './keys.js';
import { followAddress } from './place.js';
import { createMeasure } from './measure.js';
import { createModel } from './model.js';
import { createOverlays } from './overlays.js';
import { addressOf, createLiveSource } from './source_live.js';
import { createPageSource, decodeBase64, splitRecords, unzip } from './source_page.js';
import { probeWebGL } from './stage.js';
import { createStatistics } from './statistics.js';
import { createTimeline } from './timeline.js';
import { createTheme } from './theme.js';
import { createTitle } from './title.js';
import { createTrouble } from './trouble.js';
import { createView } from './view3d.js';
import { createViewers } from './viewers.js';

const byId = (id) => document.getElementById(id);

/** The run stored in this page, or the simulation that served it. */
async function openSource() {
    const text = byId('data').textContent.trim();
    if (text === '') {
        // the site names the worker of its engine; a page of the program has none
        return createLiveSource(byId('engine')?.content ?? '');
    }
    return createPageSource(splitRecords(await unzip(decodeBase64(text))));
}

/** Shows a message to the user for some seconds. */
function createMessages() {
    const element = byId('message');
    let timer = 0;
    return (text, kind = 'note', seconds = 6) => {
        clearTimeout(timer);
        element.textContent = text;
        element.className = kind;
        element.hidden = text === '';
        if (seconds > 0 && text !== '') {
            timer = setTimeout(() => {
                element.hidden = true;
            }, seconds * 1000);
        }
    };
}

/** After the first visit the site works without a network, where the browser allows it. */
function workOffline() {
    if ('serviceWorker' in navigator && window.isSecureContext) {
        // after the first picture: it fetches every scene
        setTimeout(() => navigator.serviceWorker.register('offline.js').catch(() => {}), 3000);
    }
}

/** A sentence instead of the view, with the picture of the scene that the program drew. */
function showTrouble(trouble, { model }) {
    const view = byId('view');
    const picture = make('img', { alt: '', hidden: true });
    picture.addEventListener('error', () => {
        picture.hidden = true;
    });
    view.classList.add('trouble');
    view.replaceChildren(make('p', {}, trouble), picture);
    model.on('scene', ({ name }) => {
        picture.hidden = !model.isLive;
        picture.src = model.isLive ? addressOf(`picture/${encodeURIComponent(name)}.png`) : '';
    });
}

function start(source, say) {
    const model = createModel(source);
    const theme = createTheme();
    const app = { model, source, say, theme, element: byId, view: null, overlays: null };
    model.on('say', ({ text, kind, seconds }) => say(text, kind, seconds));

    const webgl = probeWebGL();
    if (webgl.trouble) {
        showTrouble(webgl.trouble, app);
    } else {
        app.view = createView({
            model,
            element: byId('view'),
            webgl,
            theme,
            free: byId('free'),
        });
        app.overlays = createOverlays(app);
        app.history = app.view.history = createHistory(model);
        app.cameras = createCameras(app);
        app.measure = createMeasure(app);
        app.film = createFilm(app);
    }
    app.title = createTitle(app);
    app.timeline = createTimeline(app);
    app.viewers = createViewers(app);
    app.trouble = createTrouble(app);
    app.files = createFiles(app);
    app.gallery = createGallery(app);
    if (source.isEngine) {
        app.editor = createEditor(app);
        followAddress(app);
        workOffline();
    }
    Object.assign(app, createHands(app));
    listenToKeys(app);

    const statistics = createStatistics(app);
    window.rattleback = { ...app, stats: statistics.values, ready: false };
    model.on('scene', () => {
        window.rattleback.ready = false;
    });

    let last = performance.now();
    const loop = (time) => {
        requestAnimationFrame(loop);
        const begin = performance.now();
        const isDrawn = app.view ? app.view.tick((time - last) / 1000) : false;
        app.timeline.tick();
        statistics.take(app.view?.drawGap ?? 0, performance.now() - begin, isDrawn);
        last = time;
        const isSeen = model.scene && model.frameCount > 0 && (isDrawn || !app.view);
        if (isSeen && !window.rattleback.ready) {
            window.rattleback.ready = true;
            source.send({ do: 'ready' }); // the clock starts when it can be seen
        }
    };
    requestAnimationFrame(loop);
    source.start?.();
}

async function main() {
    const say = createMessages();
    try {
        start(await openSource(), say);
    } catch (error) {
        say(`This page cannot be shown: ${error.message}`, 'error', 0);
        throw error;
    }
}

main();
