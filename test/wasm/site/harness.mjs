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

/** Serves a folder; counts bytes as they would be in gzip. isPlain: without the type of wasm, as simple servers do. */
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
      requests.push({ path: name, status: 200, bytes: name.endsWith('.png') ? bytes.length : gzipSync(bytes).length });
    } catch {
      response.writeHead(404).end('not there');
      requests.push({ path: name, status: 404, bytes: 0 });
    }
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  return { url: `http://127.0.0.1:${server.address().port}${PREFIX}`, requests,
    stop: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }) };
}

/** Waits until the bodies of a scene have moved. */
export async function waitForMotion(page, name) {
  await rb.waitForScene(page, name);
  await rb.until(page, () => window.rattleback.model.time > 0.02);
}
