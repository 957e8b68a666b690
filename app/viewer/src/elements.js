// Creates page elements without a framework.

/**
 * @param {string} name of the element
 * @param {object} [properties] set as properties; data-* and aria-* as attributes
 * @param {...(Node|string)} children
 */
export function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (key.includes('-')) {
            element.setAttribute(key, value);
        } else {
            element[key] = value;
        }
    }
    element.append(...children);
    return element;
}

/** A drawing of lines for a button, on a square of 16. */
export function icon(path) {
    const name = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(name, 'svg');
    svg.setAttribute('viewBox', '0 0 16 16');
    svg.setAttribute('aria-hidden', 'true');
    const line = document.createElementNS(name, 'path');
    line.setAttribute('d', path);
    svg.append(line);
    return svg;
}
