// Where a value is in the text of a JSON document: readers name it by a JSON pointer, people look for
// its line.

const BLANK = /[\s]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const SCALAR = /[^\s,\]}]+/y;

/** Skips a pattern at a place; returns what it matched. */
function take(pattern, state) {
    pattern.lastIndex = state.at;
    const found = pattern.exec(state.text)?.[0] ?? '';
    state.at += found.length;
    return found;
}

/** Skips one value. */
function skipValue(state) {
    let depth = 0;
    do {
        take(BLANK, state);
        const first = state.text[state.at];
        if (first === undefined) {
            return;
        }
        if (first === '"') {
            take(STRING, state) || state.at++;
        } else if ('[{'.includes(first)) {
            depth++;
            state.at++;
        } else if (']}'.includes(first)) {
            depth--;
            state.at++;
        } else if (first === ',' || first === ':') {
            state.at++;
        } else {
            take(SCALAR, state) || state.at++;
        }
    } while (depth > 0);
}

/** Goes into an object or an array to a key; false: it is not there. */
function enter(state, key) {
    take(BLANK, state);
    const open = state.text[state.at++];
    if (open !== '{' && open !== '[') {
        return false;
    }
    for (let index = 0; state.at < state.text.length; index++) {
        take(BLANK, state);
        const start = state.at;
        let name = `${index}`;
        if (open === '{') {
            const quoted = take(STRING, state);
            if (quoted === '') {
                return false;
            }
            try {
                name = JSON.parse(quoted);
            } catch {
                return false;
            }
            take(BLANK, state);
            state.at++; // the colon
        }
        if (name === key) {
            state.found = start;
            return true;
        }
        skipValue(state);
        take(BLANK, state);
        if (state.text[state.at++] !== ',') {
            return false;
        }
    }
    return false;
}

/**
 * Offset of the value (of its key, in an object) that a pointer names; where its path ends if
 * the text does not have it; -1 for an empty pointer.
 */
export function offsetOfPointer(text, pointer) {
    const state = { text, at: 0, found: -1 };
    const keys = pointer.split('/').slice(1);
    for (const key of keys) {
        if (!enter(state, key.replaceAll('~1', '/').replaceAll('~0', '~'))) {
            break;
        }
    }
    return state.found;
}

/** Line and column, from 1, of an offset. */
export function lineOf(text, offset) {
    const before = text.slice(0, offset);
    const line = before.split('\n').length;
    return { line, column: offset - before.lastIndexOf('\n') };
}

/** Lines about a line: [{number, text, isHere}]. */
export function excerpt(text, line, around = 3) {
    return text
        .split('\n')
        .map((content, i) => ({ number: i + 1, text: content, isHere: i + 1 === line }))
        .slice(Math.max(0, line - 1 - around), line + around);
}
