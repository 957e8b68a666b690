// Title of the scene, what it shows and why, and the connection state.

const byId = (id) => document.getElementById(id);

export function createTitle({ model, source, view }) {
    const header = byId('title');
    const connection = byId('connection');
    byId('back').addEventListener('click', () => model.do({ do: 'close' }));

    function update() {
        const { scene } = model;
        header.hidden = scene === null;
        document.title = scene ? `${scene.title || scene.name} · Rattleback` : 'Rattleback';
        byId('back').hidden = !source.isLive || model.hello?.kind !== 'live';
        if (scene) {
            byId('title-text').textContent = scene.title || scene.name;
            byId('shows').textContent = scene.shows ?? '';
            byId('why').textContent = scene.why ?? '';
            byId('about').hidden = !scene.shows && !scene.why;
        }
    }

    model.on('hello', update);
    model.on('scene', update);
    model.on('connection', ({ isOpen, sentence }) => {
        connection.hidden = isOpen;
        connection.textContent = sentence;
        header.classList.toggle('alone', !isOpen && model.scene === null);
        header.hidden = isOpen && model.scene === null;
        document.body.classList.toggle('disconnected', !isOpen);
    });
    byId('title-text').addEventListener('dblclick', () => view?.lookHome());
    return { update };
}
