// The service worker of the site: after the first visit it works without a network. VERSION and FILES
// are put in by tools/build_site.mjs; a new version of the site replaces the old cache.

const VERSION = '/*VERSION*/';
const FILES = [/*FILES*/]; // page, engine, scenes and their meshes; pictures and documents when seen

self.addEventListener('install', (event) => {
    event.waitUntil(
        caches
            .open(VERSION)
            .then((cache) => cache.addAll(FILES))
            .then(() => self.skipWaiting()),
    );
});

self.addEventListener('activate', (event) => {
    event.waitUntil(
        caches
            .keys()
            .then((names) =>
                Promise.all(
                    names
                        .filter((name) => name.startsWith('rattleback-') && name !== VERSION)
                        .map((name) => caches.delete(name)),
                ),
            )
            .then(() => self.clients.claim()),
    );
});

async function answer(request) {
    const cache = await caches.open(VERSION);
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) {
        return kept;
    }
    const response = await fetch(request);
    if (response.ok && response.type === 'basic') {
        await cache.put(request, response.clone());
    }
    return response;
}

self.addEventListener('fetch', (event) => {
    const isOurs =
        event.request.method === 'GET' && event.request.url.startsWith(self.registration.scope);
    if (isOurs) {
        event.respondWith(answer(event.request));
    }
});
