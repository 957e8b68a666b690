// Event subscriptions.

/**
 * @typedef {{on: (type: string, fn: (value: any) => void) => () => void,
 *            emit: (type: string, value?: any) => void}} Emitter
 */

/** @returns {Emitter} listeners are called in the order of subscription */
export function createEmitter() {
    const listeners = new Map();
    return {
        on(type, fn) {
            if (!listeners.has(type)) {
                listeners.set(type, new Set());
            }
            listeners.get(type).add(fn);
            return () => listeners.get(type).delete(fn);
        },
        emit(type, value) {
            for (const fn of listeners.get(type) ?? []) {
                fn(value);
            }
        },
    };
}
