// The example of the README in a page: the installed files from a plain file server, without a bundler, in chromium.
// RB_TARBALL names the package.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { closeBrowser, openBrowser } from '../../viewer/harness.mjs';

const TYPES = { html: 'text/html', js: 'text/javascript', wasm: 'application/wasm' };
const folder = mkdtempSync(join(tmpdir(), 'rattleback-npm-page-'));
let server;
let browser;

before(async () => {
  writeFileSync(join(folder, 'package.json'), '{"name": "user", "version": "1.0.0", "type": "module", "private": true}');
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', resolve(process.env.RB_TARBALL)], { cwd: folder });
  server = createServer((request, response) => {
    try {
      const path = normalize(new URL(request.url, 'http://x').pathname);
      const bytes = readFileSync(join(folder, path));
      response.writeHead(200, { 'content-type': TYPES[path.split('.').pop()] ?? 'text/plain' }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  browser = await openBrowser();
});

after(async () => {
  await closeBrowser();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

test('the example of the README prints in a page what it says', async () => {
  const text = readFileSync(join(folder, 'node_modules/rattleback/README.md'), 'utf8');
  const [, code] = /```js\n([\s\S]*?)```/.exec(text);
  const [, line] = /It prints `([^`]+)`/.exec(text);
  const imports = JSON.stringify({ imports: { rattleback: './node_modules/rattleback/index.js' } });
  writeFileSync(join(folder, 'index.html'), `<!DOCTYPE html>
<title>README</title><link rel="icon" href="data:,">
<script type="importmap">${imports}</script>
<script type="module">
${code}</script>
`);
  const page = await browser.newPage();
  const [said, troubles] = [[], []];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('requestfailed', (request) => troubles.push(request.url()));
  await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
  for (let i = 0; i < 600 && said.length < 2 && troubles.length === 0; i++) {
    await page.waitForTimeout(50);
  }
  assert.deepEqual(troubles, []);
  assert.equal(said[0], line);
  const node = execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, encoding: 'utf8' }).trim().split('\n');
  assert.deepEqual(said, node, 'the page and Node print the same bits');
});
