// Cameras that the user saved, for each scene. The browser keeps them where it may.

const KEY = 'rattleback-cameras';
const COUNT_MAX = 20;

/** Cameras from a stored text; whatever does not look like one is left out. */
export function parseCameras(text) {
    const isPoint = (p) => Array.isArray(p) && p.length === 3 && p.every(Number.isFinite);
    try {
        const list = JSON.parse(text ?? '[]');
        return (Array.isArray(list) ? list : [])
            .filter((one) => isPoint(one?.position) && isPoint(one?.target))
            .map(({ position, target }) => ({ position, target }))
            .slice(0, COUNT_MAX);
    } catch {
        return [];
    }
}

export function createCameras({ model, view }) {
    const keyOf = () => `${KEY}:${model.scene?.name ?? ''}`;
    let list = [];

    function read() {
        try {
            list = parseCameras(window.localStorage.getItem(keyOf()));
        } catch {
            list = []; // a page from a file has no memory
        }
    }

    function write() {
        try {
            window.localStorage.setItem(keyOf(), JSON.stringify(list));
        } catch {
            // they last as long as the page
        }
        model.emit('cameras', list);
    }

    model.on('scene', ({ name }) => {
        if (name !== view.camerasOf) {
            view.camerasOf = name;
            read();
        }
    });
    return {
        get list() {
            return list;
        },
        save() {
            list = [...list, view.getCamera()].slice(-COUNT_MAX);
            write();
        },
        go: (index) => list[index] && view.setCamera(list[index]),
        remove(index) {
            list = list.filter((_, i) => i !== index);
            write();
        },
    };
}
