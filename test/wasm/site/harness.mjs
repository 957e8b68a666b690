// A plain file server for the site, under a path of its own as hosting services have it, and chromium.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join, normalize, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as rb from '../../viewer/harness.mjs';

export * from '../../viewer/harness.mjs';
export const site = resolve(process.env.RB_SITE ?? 'build/site');
export const PREFIX = '/some/place/';

const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript', json: 'application/json', png: 'image/png',
  css: 'text/css', svg: 'image/svg+xml', wasm: 'application/wasm' };

const zipped = new Map(); // name: bytes in gzip

/** Size of a file as a server would send it. Packing takes longer than a page may, so not while one loads. */
function sizeOf(name, bytes) {
  if (!zipped.has(name)) {
    zipped.set(name, name.endsWith('.png') ? bytes.length : gzipSync(bytes).length);
  }
  return zipped.get(name);
}

/** Serves a folder; `bytes` of a request are those in gzip. isPlain: without the type of wasm, as simple servers do. */
export async function serve({ isPlain = false } = {}) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
    if (!path.startsWith(PREFIX)) {
      response.writeHead(404).end('outside of the site');
      requests.push({ path, status: 404, bytes: 0 });
      return;
    }
    const name = normalize(path.slice(PREFIX.length) || 'index.html');
    try {
      const bytes = await readFile(join(site, name.endsWith('/') ? `${name}index.html` : name));
      const type = TYPES[name.split('.').pop()];
      const isTold = type && !(isPlain && name.endsWith('.wasm'));
      response.writeHead(200, isTold ? { 'content-type': type } : {}).end(bytes);
      requests.push({ path: name, status: 200, get bytes() { return sizeOf(name, bytes); } });
    } catch {
      response.writeHead(404).end('not there');
      requests.push({ path: name, status: 404, bytes: 0 });
    }
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  return { url: `http://127.0.0.1:${server.address().port}${PREFIX}`, requests,
    stop: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }) };
}

/** For openPage: notes the time of the first picture in which the bodies have moved, ms since the navigation began, when it is drawn. */
export function noteMotion() {
  const look = () => {
    const { model, view } = window.rattleback ?? {};
    if (model?.scene && view?.drawCount > 1 && model.time > 0.02) {
      const context = view.renderer.getContext();
      context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, new Uint8Array(4)); // waits for the drawing
      window.firstMotion = performance.now();
    } else {
      window.setTimeout(look, 10);
    }
  };
  look();
}

/** Waits until the bodies of a scene have moved. */
export async function waitForMotion(page, name) {
  await rb.waitForScene(page, name);
  await rb.until(page, () => window.rattleback.model.time > 0.02);
}
