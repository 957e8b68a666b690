// Runs scenes in the WebAssembly engine and in the program and compares the hashes of their last states.
//
//   node test/wasm/scenes.mjs [--all] [NAME...]
//
// Without names: every scene of scenes/ whose native run takes at most LIMIT seconds of wall time, or
// all with --all. RB_PROGRAM and RB_WASM name the program and the module.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createEngine, EngineError } from '../../app/browser/engine.js';

const LIMIT = 0.5; // s
const COUNT_MIN = 40; // scenes
const root = fileURLToPath(new URL('../..', import.meta.url));
const program = process.env.RB_PROGRAM ?? `${root}build/release/rattleback`;
const wasm = process.env.RB_WASM ?? `${root}build/wasm/rattleback.wasm`;
const words = process.argv.slice(2);
const isAll = words.includes('--all');
const given = words.filter((word) => !word.startsWith('--'));
const names = given.length > 0 ? given
  : readdirSync(`${root}scenes`).filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -5)).sort();

/** The summary of a native run; exit 1 to 3 still print one. */
function runNative(name) {
  const options = { encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'ignore'] };
  const limit = isAll || given.length > 0 ? 600 : LIMIT + 0.5;
  try {
    return JSON.parse(execFileSync(program, ['run', `scenes/${name}.json`, '--json'],
      { ...options, cwd: root, timeout: limit * 1000, killSignal: 'SIGKILL' }));
  } catch (error) {
    if (error.signal) {
      return null; // too long
    }
    return JSON.parse(error.stdout);
  }
}

/** Opens a world; files that the scene names come from the folder of scenes. */
export function open(engine, name, text = readFileSync(`${root}scenes/${name}.json`, 'utf8')) {
  for (;;) {
    try {
      return engine.openWorld(text, { name });
    } catch (error) {
      const missing = error instanceof EngineError ? engine.missingFile : '';
      if (missing === '') {
        throw error;
      }
      engine.putFile(missing, readFileSync(`${root}scenes/${missing}`));
    }
  }
}

const module = await WebAssembly.compile(readFileSync(wasm));
let compared = 0;
const wrong = [];
const skipped = [];
for (const name of names) {
  const native = runNative(name);
  if (native === null || (!isAll && given.length === 0 && native.wallTime > LIMIT)) {
    skipped.push(name);
    continue;
  }
  // one module a scene, as the pages do
  const engine = await createEngine(module);
  const world = open(engine, name);
  const start = performance.now();
  world.run();
  const seconds = (performance.now() - start) / 1000;
  const { hash } = world;
  compared++;
  if (hash !== native.hash) {
    wrong.push(name);
  }
  console.log(`${hash === native.hash ? 'same ' : 'WRONG'} ${name} ${hash}${hash === native.hash ? '' : ` native ${native.hash}`}`
    + ` ${seconds.toFixed(3)} s, native ${native.wallTime?.toFixed?.(3)} s`);
}
console.log(`${compared} scenes compared, ${wrong.length} differ${skipped.length > 0 ? `; too long for this level: ${skipped.join(' ')}` : ''}`);
if (wrong.length > 0) {
  console.error(`wasm: other bits than native: ${wrong.join(' ')}`);
  process.exit(1);
}
if (given.length === 0 && compared < COUNT_MIN) {
  console.error(`wasm: only ${compared} scenes were short enough; at least ${COUNT_MIN} must be compared`);
  process.exit(1);
}
