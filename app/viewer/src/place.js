// The scene in the address of the site: #NAME opens it, and opening one by a click sets it. So a scene
// can be linked to, and the back button of the browser works.

const NAME = /^#([A-Za-z0-9_-][A-Za-z0-9._-]{0,62})$/;

/** Name of the scene in the fragment of an address; null: none. */
export function sceneOf(hash) {
    return NAME.exec(hash)?.[1] ?? null;
}

export function followAddress({ model, gallery }) {
    let isAsked = false; // the scene of the address has been asked for

    async function follow() {
        const wanted = sceneOf(window.location.hash);
        if (wanted === (model.scene?.name ?? null)) {
            return;
        }
        isAsked = true;
        const reply = await model.do(wanted ? { do: 'open', scene: wanted } : { do: 'close' });
        if (!reply?.ok && !model.scene) {
            gallery.show(true);
        }
    }

    model.on('hello', (message) => {
        if (!message.scene && !isAsked && sceneOf(window.location.hash)) {
            follow();
        } else if (!message.scene && isAsked && window.location.hash !== '') {
            history.pushState(null, '', window.location.pathname + window.location.search);
        }
        isAsked = true;
    });
    model.on('scene', (message) => {
        if (sceneOf(window.location.hash) !== message.name && sceneOf(`#${message.name}`)) {
            history.pushState(null, '', `#${message.name}`);
        }
    });
    window.addEventListener('popstate', follow);
}
