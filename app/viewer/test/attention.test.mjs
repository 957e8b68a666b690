import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAttention, growBall } from '../src/attention.js';

const START = { center: [0, 0, 0], radius: 1, direction: [0, -1, 0] };

/** An attention whose window is the ball that is looked at. */
function setUp() {
    let seen = START;
    const attention = createAttention(
        {
            look: (view) => {
                seen = view;
            },
        },
        {
            isIn: (point, edge) =>
                Math.hypot(...point.map((x, i) => x - seen.center[i])) <= edge * seen.radius,
        },
    );
    attention.reset(START);
    return { attention, getSeen: () => seen };
}

test('the ball about a ball and a point touches both from inside', () => {
    const ball = growBall({ center: [1, 0, 0], radius: 2 }, [1, 6, 0]);
    assert.deepEqual(ball, { center: [1, 2, 0], radius: 4 });
    assert.deepEqual(growBall({ center: [0, 0, 0], radius: 2 }, [1, 1, 1]), {
        center: [0, 0, 0],
        radius: 2,
    });
});

test('the view grows with what leaves it, and rests then', () => {
    const { attention, getSeen } = setUp();
    assert.equal(attention.update([[0.5, 0, 0]], 0.016), false);
    let moved = 0;
    for (let i = 0; i < 1000; i++) {
        moved += attention.update([[3, 0, 0]], 0.016) ? 1 : 0;
    }
    assert.ok(moved > 10 && moved < 600, `${moved} moves`);
    assert.ok(Math.hypot(3 - getSeen().center[0]) <= getSeen().radius + 1e-9);
    assert.deepEqual(getSeen().direction, START.direction);
});

test('few that leave, what flies far away, and hands on the camera change nothing', () => {
    const { attention } = setUp();
    const most = Array.from({ length: 9 }, () => [0, 0, 0]);
    assert.equal(attention.update([...most, [5, 0, 0]], 0.1), false);
    assert.equal(attention.update([[100, 0, 0]], 0.1), false);
    attention.hold(true);
    assert.equal(attention.update([[3, 0, 0]], 0.1), false);
    attention.hold(false);
    attention.release();
    assert.equal(attention.update([[3, 0, 0]], 0.1), false);
});
