// Speed of the engine in WebAssembly against the program: node test/wasm/speed.mjs [--cpu] [RUNS [NAME...]]
//
// --cpu: the lesser of wall time and processor time counts, for machines that do other work as well. Of the processor time of the
// program that of a run which ends at once is subtracted: it has the start of the program and the reading of the scene.
// Runs alternate; the minimum of each counts. Cold is the first run of a fresh engine, with its
// compilation. Without names: every scene whose native run takes between 5 ms and 0.6 s.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createEngine } from '../../app/browser/engine.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = process.env.RB_PROGRAM ?? `${root}build/release/rattleback`;
const bytes = readFileSync(process.env.RB_WASM ?? `${root}build/wasm/rattleback.wasm`);
const isCpu = process.argv[2] === '--cpu';
const [count = '10', ...given] = process.argv.slice(isCpu ? 3 : 2);
const runs = Number(count);
const names = given.length > 0 ? given : readdirSync(`${root}scenes`).filter((f) => f.endsWith('.json')).map((f) => f.slice(0, -5)).sort();

const CHILD = `import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=8)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, done.stdout.decode())`;

/** Seconds of a run of the program: of the processor, with its start, and of the clock, without it. */
function takeBoth(name, ...words) {
  const text = execFileSync('python3', ['-c', CHILD, program, 'run', `scenes/${name}.json`, '--json', ...words],
    { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'ignore'] });
  const space = text.indexOf(' ');
  return { cpu: Number(text.slice(0, space)), wall: JSON.parse(text.slice(space)).wallTime };
}

const starts = new Map(); // name: the least of runs that end at once

function runNative(name) {
  try {
    if (isCpu) {
      starts.set(name, Math.min(starts.get(name) ?? Infinity, takeBoth(name, '--duration', '1e-9').cpu));
      const { cpu, wall } = takeBoth(name);
      return Math.min(cpu - starts.get(name), wall);
    }
    return JSON.parse(execFileSync(program, ['run', `scenes/${name}.json`, '--json'],
      { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26, timeout: 4000, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'ignore'] })).wallTime;
  } catch (error) {
    return isCpu || error.signal ? Infinity : JSON.parse(error.stdout).wallTime;
  }
}

/** Seconds of a run in an engine; the world is made outside of the time, as the program does. */
function runWasm(engine, name) {
  const text = readFileSync(`${root}scenes/${name}.json`, 'utf8');
  let world = null;
  while (world === null) {
    try {
      world = engine.openWorld(text, { name });
    } catch (error) {
      if (engine.missingFile === '') {
        throw error;
      }
      engine.putFile(engine.missingFile, readFileSync(`${root}scenes/${engine.missingFile}`));
    }
  }
  const used = process.cpuUsage();
  const start = performance.now();
  world.run();
  const wall = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(used);
  const seconds = isCpu ? Math.min(wall, (user + system) / 1e6) : wall;
  world.close();
  return seconds;
}

const ratios = [];
console.log('scene,native s,wasm s,wasm cold s,native/wasm');
for (const name of names) {
  if (isCpu) {
    runNative(name); // for the time of its start
  }
  let native = runNative(name);
  if (given.length === 0 && !(native > 0.005 && native < 0.6)) {
    continue;
  }
  const engine = await createEngine(await WebAssembly.compile(bytes));
  const cold = runWasm(engine, name);
  let wasm = cold;
  for (let i = 0; i < runs; i++) {
    native = Math.min(native, runNative(name));
    wasm = Math.min(wasm, runWasm(engine, name));
  }
  ratios.push(native / wasm);
  console.log(`${name},${native.toFixed(4)},${wasm.toFixed(4)},${cold.toFixed(4)},${(native / wasm).toFixed(2)}`);
}
ratios.sort((a, b) => a - b);
console.log(`# ${ratios.length} scenes: median ${ratios[Math.floor(ratios.length / 2)].toFixed(2)}, worst ${ratios[0].toFixed(2)} of the native speed`);
