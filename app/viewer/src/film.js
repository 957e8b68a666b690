// Pictures and films of the view as files: PNG with or without its surroundings, WebM, MP4 and GIF while it plays,
// glTF and USD with the motion that the page has seen.

import { saveFile, saveText } from './export.js';
import { createGif } from './gif.js';
import { toGlb } from './gltf.js';
import { toUsd } from './usd.js';

const RATE = 30; // pictures per second
const KINDS = {
    WebM: ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'],
    MP4: ['video/mp4;codecs=avc1.640028', 'video/mp4;codecs=avc1.42E01E', 'video/mp4;codecs=vp9', 'video/mp4'],
};
const GIF = { width: 640, gap: 1 / 15, count: 900 }; // pixels, s, pictures: a minute

export const FORMATS = ['WebM', 'MP4', 'GIF'];

export function createFilm({ model, view, history }) {
    let recorder = null;
    const nameOf = (ending) => `${model.scene.name}.${ending}`;

    /** The recording has ended: it becomes a file, unless it is empty. */
    function finish(name, blob) {
        recorder = null;
        view.setFilming(false);
        if (blob) {
            saveFile(name, blob);
        }
        model.emit('film', false);
    }

    /** A film by the browser, which packs it while it plays. */
    function recordVideo() {
        const kind = KINDS[film.format].find((one) => window.MediaRecorder?.isTypeSupported(one));
        if (!kind || !view.canvas.captureStream) {
            model.emit('say', { text: `This browser cannot record films as ${film.format}; try another format.`, kind: 'error' });
            return null;
        }
        const parts = [];
        const name = nameOf(film.format.toLowerCase());
        const stream = view.canvas.captureStream(RATE);
        const media = new MediaRecorder(stream, { mimeType: kind, videoBitsPerSecond: 8e6 });
        media.ondataavailable = ({ data }) => data.size > 0 && parts.push(data);
        media.onstop = () => {
            stream.getTracks().forEach((track) => track.stop());
            finish(name, new Blob(parts, { type: kind.split(';')[0] }));
        };
        media.start(1000);
        return media;
    }

    /** A moving GIF of what is drawn. */
    function recordGif() {
        const name = nameOf('gif');
        const scale = Math.min(1, GIF.width / view.canvas.clientWidth);
        const [width, height] = [view.canvas.clientWidth, view.canvas.clientHeight].map((size) => Math.max(1, Math.round(size * scale)));
        const canvas = Object.assign(document.createElement('canvas'), { width, height });
        const context = canvas.getContext('2d', { willReadFrequently: true });
        const gif = createGif(width, height);
        let shown = null; // the picture that waits for its time: {pixels, time}
        const push = (now) => shown && gif.add(shown.pixels, (now - shown.time) / 1000);
        const end = view.onDrawn(() => {
            const now = performance.now();
            if (shown && now - shown.time < 1000 * GIF.gap) {
                return;
            }
            push(now);
            context.drawImage(view.canvas, 0, 0, width, height);
            shown = { pixels: context.getImageData(0, 0, width, height).data, time: now };
            if (gif.count >= GIF.count) {
                recorder.stop();
            }
        });
        return {
            stop() {
                end();
                push(Math.min(performance.now(), (shown?.time ?? 0) + 1000));
                finish(name, gif.count > 0 ? gif.finish() : null);
            },
        };
    }

    /** The scene and the frames that the page has seen. */
    function seen() {
        const { scene, bodies, geometries } = model;
        const frames = history.frames.length > 0 ? history.frames : [{ time: 0, poses: new Float32Array(0) }];
        return [
            { title: scene.title || scene.name, radius: view.frame.radius, bodies: [...bodies.values()], geometries },
            frames,
        ];
    }

    const film = {
        format: 'WebM', // of FORMATS

        get isRecording() {
            return recorder !== null;
        },

        /** @param {boolean} isClear without sky and ground, which become transparent */
        async savePicture(isClear) {
            const blob = await view.takePicture(isClear);
            saveFile(nameOf('png'), blob);
        },

        /** Begins to record the view, or ends it and saves the film. */
        toggle() {
            if (recorder) {
                recorder.stop();
                return;
            }
            recorder = film.format === 'GIF' ? recordGif() : recordVideo();
            if (recorder) {
                view.setFilming(true);
                model.emit('film', true);
            }
        },

        saveGltf() {
            saveFile(nameOf('glb'), new Blob([toGlb(...seen())], { type: 'model/gltf-binary' }));
        },

        saveUsd() {
            saveText(nameOf('usda'), 'text/plain', toUsd(...seen()));
        },
    };
    model.on('scene', () => recorder?.stop());
    return film;
}
