// Pictures and films of the view as files: PNG with or without its surroundings, WebM while it plays,
// glTF with the motion that the page has seen.

import { saveFile } from './export.js';
import { toGlb } from './gltf.js';

const RATE = 30; // pictures per second
const KINDS = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'];

export function createFilm({ model, view, history }) {
    let recorder = null;
    const nameOf = (ending) => `${model.scene.name}.${ending}`;

    const film = {
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
            const kind = KINDS.find((one) => window.MediaRecorder?.isTypeSupported(one));
            if (!kind || !view.canvas.captureStream) {
                model.emit('say', { text: 'This browser cannot record films.', kind: 'error' });
                return;
            }
            const parts = [];
            const name = nameOf('webm');
            const stream = view.canvas.captureStream(RATE);
            recorder = new MediaRecorder(stream, { mimeType: kind, videoBitsPerSecond: 8e6 });
            recorder.ondataavailable = ({ data }) => data.size > 0 && parts.push(data);
            recorder.onstop = () => {
                recorder = null;
                stream.getTracks().forEach((track) => track.stop());
                saveFile(name, new Blob(parts, { type: 'video/webm' }));
                model.emit('film', false);
            };
            recorder.start(1000);
            view.requestDraw();
            model.emit('film', true);
        },

        saveGltf() {
            const { scene, bodies, geometries } = model;
            const frames = history.frames.length > 0 ? history.frames : [{ time: 0, poses: new Float32Array(0) }];
            const bytes = toGlb(
                { title: scene.title || scene.name, radius: view.frame.radius, bodies: [...bodies.values()], geometries },
                frames,
            );
            saveFile(nameOf('glb'), new Blob([bytes], { type: 'model/gltf-binary' }));
        },
    };
    model.on('scene', () => recorder?.stop());
    return film;
}
