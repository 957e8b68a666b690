// The panel of the view: cameras, a section, measuring, the comparison with the branch before, and
// pictures and films as files. It acts on the page only, so it works in recordings too.

import { ButtonsController } from './fields.js';
import { FORMATS } from './film.js';

const AXES = { none: -1, x: 0, y: 1, z: 2 };

export function createViewPanel(tools, gui) {
    const { model, view, cameras, measure, film, history } = tools;
    if (!view || !film) {
        return null;
    }
    const folder = gui.addFolder('View').close();
    folder.domElement.dataset.panel = 'view';
    const state = {
        section: 'none',
        at: 0,
        flip: false,
        measure: measure.isOn,
        compare: view.isSplit,
    };
    const { center, radius } = view.frame;
    const shown = view.section;
    if (shown) {
        Object.assign(state, { section: 'xyz'[shown.axis], at: shown.at - center[shown.axis], flip: shown.isFlipped });
    }

    // cameras
    let rows = [];
    const cameraFolder = folder.addFolder('cameras');
    new ButtonsController(cameraFolder, [['save this camera', () => cameras.save(), 'save-camera'], ['home', () => view.lookHome(), 'home']]);
    function listCameras() {
        rows.forEach((row) => row.destroy());
        rows = cameras.list.map(
            (_, i) =>
                new ButtonsController(cameraFolder, [
                    [`camera ${i + 1}`, () => cameras.go(i), `camera-${i + 1}`],
                    ['forget', () => cameras.remove(i), `forget-${i + 1}`],
                ]),
        );
    }
    listCameras();

    // section
    const cut = () => {
        const axis = AXES[state.section];
        view.setSection(axis < 0 ? null : { axis, at: center[axis] + state.at, isFlipped: state.flip });
    };
    folder.add(state, 'section', Object.keys(AXES)).name('section across').onChange(cut);
    folder.add(state, 'at', -radius, radius, radius / 100).name('at, from the center (m)').onChange(cut);
    folder.add(state, 'flip').name('other side').onChange(cut);

    // looks and groups
    state.occlusion = view.hasOcclusion;
    state.edges = view.hasEdges;
    folder.add(state, 'occlusion').name('dark corners').onChange((on) => { view.hasOcclusion = on; });
    folder.add(state, 'edges').name('edges').onChange((on) => { view.hasEdges = on; });
    const groups = new Map(); // name: how many bodies
    for (const { viewGroup } of model.bodies.values()) {
        if (viewGroup) {
            groups.set(viewGroup, (groups.get(viewGroup) ?? 0) + 1);
        }
    }
    const groupFolder = groups.size > 0 ? folder.addFolder('groups') : null;
    const groupRows = [...groups].map(([name, count]) => {
        const row = { isOn: view.solids.isGroupShown(name) };
        const box = groupFolder.add(row, 'isOn').name(`${name} (${count})`).onChange((on) => view.changeGroup(name, on ? 'show' : 'hide'));
        new ButtonsController(groupFolder, [[`${name} alone`, () => view.changeGroup(name, 'alone'), `alone-${name}`]]);
        return { name, row, box };
    });

    // measuring
    const measuring = folder.add(state, 'measure').name('measure by clicks (l)').onChange((on) => measure.set(on));

    // comparison
    const comparing = folder.add(state, 'compare').name('branch before, beside').onChange((on) => view.setSplit(on));

    // files
    new ButtonsController(folder, [
        ['picture', () => film.savePicture(false), 'save-png'],
        ['clear picture', () => film.savePicture(true), 'save-clear-png'],
    ]);
    new ButtonsController(folder, [
        ['glTF', () => film.saveGltf(), 'save-glb'],
        ['USD', () => film.saveUsd(), 'save-usda'],
    ]);
    folder.add(film, 'format', FORMATS).name('film as');
    const filming = new ButtonsController(folder, [['record film', () => film.toggle(), 'record']]);

    function refresh() {
        state.measure = measure.isOn;
        state.compare = view.isSplit;
        measuring.updateDisplay();
        comparing.updateDisplay();
        for (const { name, row, box } of groupRows) {
            row.isOn = view.solids.isGroupShown(name);
            box.updateDisplay();
        }
        comparing.domElement.style.display = history.hasBranch ? '' : 'none';
        filming.buttons[0].textContent = film.isRecording ? 'stop and save' : 'record film';
        filming.buttons[0].setAttribute('aria-pressed', film.isRecording);
    }
    const ends = [
        model.on('cameras', listCameras),
        ...['measure', 'film', 'branch', 'shown'].map((type) => model.on(type, refresh)),
    ];
    return { folder, refresh, close: () => ends.forEach((end) => end?.()) };
}
