// The coefficient of friction of two bodies, from what the server says about their materials.

const RULES = {
    geometric: (a, b) => Math.sqrt(a * b),
    product: (a, b) => a * b,
    sum: (a, b) => a + b,
    mean: (a, b) => (a + b) / 2,
    min: Math.min,
    max: Math.max,
};

/** Material of a body: {name, friction}; null: its shapes differ. */
function materialOf(model, number) {
    const shapes = model.bodies.get(number)?.shapes ?? [];
    const [first] = shapes;
    if (!first || shapes.some(({ material, friction }) => material !== first.material || friction !== first.friction)) {
        return null;
    }
    const named = (model.materials ?? []).find(({ name }) => name && name === first.material);
    return { name: first.material, friction: named?.friction ?? first.friction };
}

/** NaN: it depends on the shapes that touch. */
export function frictionOf(model, bodyA, bodyB) {
    const [a, b] = [materialOf(model, bodyA), materialOf(model, bodyB)];
    if (!a || !b) {
        return NaN;
    }
    const pair = (model.scene?.materialPairs ?? []).find(
        (one) => a.name && b.name && ((one.a === a.name && one.b === b.name) || (one.a === b.name && one.b === a.name)),
    );
    const rule = RULES[model.parameters?.contact?.combineFriction] ?? RULES.geometric;
    return pair ? pair.friction : rule(a.friction, b.friction);
}
