// Bundles the page into one file that needs nothing else: node build.mjs OUT.html
// With a folder (node build.mjs --site FOLDER): the page of the site, index.html, and worker.js with
// the loader of its engine.
//
// index.html has two places, for the style and for the script. The text of the element with the id
// "data" stays empty here: `rattleback run --html` puts the data of a run there.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const SIZE_MAX = 1_000_000; // bytes: a page without its data stays below

const here = dirname(fileURLToPath(import.meta.url));
const isSite = process.argv[2] === '--site';
const out = process.argv[isSite ? 3 : 2];
if (!out || process.argv.length > (isSite ? 4 : 3)) {
    console.error('usage: node build.mjs OUT.html | --site FOLDER');
    process.exit(2);
}

/** Bundles one entry file and returns its text. */
async function bundle(entry) {
    const result = await build({
        entryPoints: [join(here, entry)],
        absWorkingDir: here,
        bundle: true,
        charset: 'utf8',
        format: 'iife',
        legalComments: 'eof',
        minify: true,
        target: 'es2020',
        write: false,
    });
    return result.outputFiles[0].text;
}

/** Puts text in the place of a mark that must be there once. */
function insert(page, mark, text) {
    const parts = page.split(mark);
    if (parts.length !== 2) {
        throw new Error(`src/index.html: "${mark}" is there ${parts.length - 1} times, not once`);
    }
    return parts[0] + text + parts[1];
}

const [script, style] = await Promise.all([bundle('src/main.js'), bundle('src/style.css')]);
if (/<\/(script|style)/i.test(script + style)) {
    throw new Error('the bundle holds "</script" or "</style", which would end its element');
}
let page = readFileSync(join(here, 'src', 'index.html'), 'utf8');
if (isSite) { // before the script is in the page: it may contain the same words
    // the engine starts before the script of the page is read
    const engine = `<meta name="engine" id="engine" content="worker.js">
<script>
if (window.Worker) {
  window.earlyEngine = { worker: new Worker('worker.js'), events: [] };
  earlyEngine.worker.onmessage = earlyEngine.worker.onerror = function (event) { earlyEngine.events.push(event); };
}
</script>`;
    page = insert(page, "connect-src 'self' ws: wss:", "connect-src 'self'; worker-src 'self'; manifest-src 'self'");
    page = insert(page, '<title>', `${engine}\n<title>`);
}
page = insert(page, '/*STYLE*/', style.trim());
page = insert(page, '/*SCRIPT*/', script.trim());
if (page.split('id="data"></script>').length !== 2) {
    throw new Error('the page has no single place for data');
}
const size = Buffer.byteLength(page);
if (size > SIZE_MAX) {
    throw new Error(`the page has ${size} bytes; at most ${SIZE_MAX}`);
}
const file = isSite ? join(out, 'index.html') : out;
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, page);
if (isSite) {
    writeFileSync(join(out, 'worker.js'), await bundle('../browser/worker.js'));
}
console.log(`${file}: ${size} bytes`);
