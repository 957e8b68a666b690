// Moving GIF pictures: a fixed palette of 252 colors, dithered by a pattern of 4 x 4, packed by LZW.

const [REDS, GREENS, BLUES] = [6, 7, 6];
const CODE_MAX = 4096;
const BAYER = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5].map((v) => (v + 0.5) / 16);

function palette() {
    const bytes = new Uint8Array(3 * 256);
    for (let i = 0; i < REDS * GREENS * BLUES; i++) {
        const parts = [Math.floor(i / (GREENS * BLUES)), Math.floor(i / BLUES) % GREENS, i % BLUES];
        [REDS, GREENS, BLUES].forEach((count, k) => {
            bytes[3 * i + k] = Math.round((255 * parts[k]) / (count - 1));
        });
    }
    return bytes;
}

/** Numbers of colors of the palette for pixels red, green, blue, alpha. */
export function dither(pixels, width) {
    const out = new Uint8Array(pixels.length / 4);
    for (let i = 0; i < out.length; i++) {
        const [x, y] = [i % width, Math.floor(i / width)];
        const at = BAYER[4 * (y & 3) + (x & 3)];
        const level = (value, count) => Math.floor((value / 255) * (count - 1) + at * (value < 255 ? 1 : 0));
        const [r, g, b] = [
            level(pixels[4 * i], REDS),
            level(pixels[4 * i + 1], GREENS),
            level(pixels[4 * i + 2], BLUES),
        ];
        out[i] = (r * GREENS + g) * BLUES + b;
    }
    return out;
}

/** Packs numbers of 8 bits, in blocks of at most 255 bytes. */
export function pack(values) {
    const bytes = [];
    let [bits, count] = [0, 0];
    const [clear, end] = [256, 257];
    let known = new Map();
    let next = 258;
    let size = 9;
    const put = (code) => {
        bits |= code << count;
        count += size;
        while (count >= 8) {
            bytes.push(bits & 255);
            bits >>>= 8;
            count -= 8;
        }
    };
    put(clear);
    let last = values[0];
    for (let i = 1; i < values.length; i++) {
        const key = last * 256 + values[i];
        const code = known.get(key);
        if (code !== undefined) {
            last = code;
            continue;
        }
        put(last);
        if (next < CODE_MAX) {
            known.set(key, next++);
            if (next > 1 << size && size < 12) {
                size++;
            }
        } else {
            put(clear);
            known = new Map();
            [next, size] = [258, 9];
        }
        last = values[i];
    }
    put(last);
    put(end);
    if (count > 0) {
        bytes.push(bits & 255);
    }
    const blocks = [8];
    for (let i = 0; i < bytes.length; i += 255) {
        const part = bytes.slice(i, i + 255);
        blocks.push(part.length, ...part);
    }
    blocks.push(0);
    return Uint8Array.from(blocks);
}

const word = (value) => [value & 255, value >> 8];

/** A picture that repeats; add(pixels, seconds) each frame, then finish(). */
export function createGif(width, height) {
    const parts = [
        Uint8Array.from([...'GIF89a'].map((c) => c.charCodeAt(0)).concat(word(width), word(height), [0xf7, 0, 0])),
        palette(),
        Uint8Array.from([0x21, 0xff, 11, ...[...'NETSCAPE2.0'].map((c) => c.charCodeAt(0)), 3, 1, 0, 0, 0]),
    ];
    return {
        /** @param {Uint8ClampedArray} pixels red, green, blue, alpha @param {number} seconds it is shown */
        add(pixels, seconds) {
            const time = Math.max(2, Math.round(100 * seconds));
            parts.push(Uint8Array.from([0x21, 0xf9, 4, 0, ...word(time), 0, 0, 0x2c, 0, 0, 0, 0, ...word(width), ...word(height), 0]));
            parts.push(pack(dither(pixels, width)));
        },
        get count() {
            return (parts.length - 3) / 2;
        },
        finish: () => new Blob([...parts, Uint8Array.of(0x3b)], { type: 'image/gif' }),
    };
}
