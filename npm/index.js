// Rattleback for Node and browsers: loads the engine that lies next to this file.
import { createEngine } from './engine.js';

export { EngineError, World } from './engine.js';

/**
 * Loads the engine. Every call makes one with a memory of its own.
 * @param {WebAssembly.Module|BufferSource|Response|Promise<Response>} [source] of rattleback.wasm, if it
 *     does not lie next to this file
 */
export async function load(source) {
    if (source !== undefined) {
        return createEngine(source);
    }
    const address = new URL('./rattleback.wasm', import.meta.url);
    if (address.protocol !== 'file:') {
        return createEngine(fetch(address));
    }
    const { readFile } = await import('node:fs/promises');
    return createEngine(await readFile(address));
}
