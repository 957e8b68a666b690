// Title of the scene, what it shows and why, and the connection state.

const byId = (id) => document.getElementById(id);

// A badge that says whether a certificate of the run holds; it opens the list of findings.
function showCertificate(certificate) {
    const badge = byId('certificate');
    badge.hidden = !certificate;
    if (certificate) {
        badge.classList.toggle('bad', !certificate.holds);
        badge.querySelector('summary').textContent = certificate.holds ? '✓ certified' : '✗ not certified';
        badge.title = `${certificate.file}: ${certificate.verdict}`;
        badge.querySelector('ul').replaceChildren(...[certificate.verdict, ...certificate.findings].map((text) => {
            const row = document.createElement('li');
            row.textContent = text;
            return row;
        }));
    }
}

export function createTitle({ model, source, view }) {
    const header = byId('title');
    const connection = byId('connection');
    byId('back').addEventListener('click', () => model.do({ do: 'close' }));

    function update() {
        const { scene } = model;
        header.hidden = scene === null;
        document.title = scene ? `${scene.title || scene.name} · Rattleback` : 'Rattleback';
        byId('back').hidden = !source.isLive || model.hello?.kind !== 'live';
        showCertificate(model.hello?.certificate);
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
