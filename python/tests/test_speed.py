"""Costs of crossing the border, in CPU time, best of several. Printed, and bounded."""
import sys
import time

import numpy as np

import rattleback as rb
from rattleback._native import lib


def best(function, repeats=7):
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return min(times)


def test_a_step_costs_little_more_than_in_c(capsys):
    world = rb.World()
    world.add_body(rb.Shape.sphere(0.1))
    world.step()
    count = 20000

    def steps():
        step = world.step
        for _ in range(count):
            step()

    inside = min(lib.rbpyTimeSteps(world._native(), world.dt, count) for _ in range(7)) / count
    outside = best(steps) / count
    with capsys.disabled():
        print(f"\nstep of one body: {1e6 * outside:.2f} us from Python, {1e6 * inside:.2f} us in C", file=sys.stderr)
    # The goal is 0.6 us; a slow or busy machine must not fail for it, a copy of the state or a lookup must.
    assert outside - inside <= 2e-6


def test_positions_of_many_bodies_are_read_in_a_millisecond(capsys):
    scene = rb.Scene(engine="flight")
    scene.add_body(rb.Shape.box((0.1, 0.2, 0.3)), name="b", repeat={"count": [100, 100, 10], "spacing": [1, 1, 1]})
    world = scene.world()
    out = np.empty((100000, 3))
    cost = best(lambda: world.read("position", out), 20)
    with capsys.disabled():
        print(f"\npositions of 1e5 bodies: {1e3 * cost:.2f} ms", file=sys.stderr)
    # The goal is 1 ms; machines of the CI share their memory with others. One body at a time takes 5 ms.
    assert cost <= 4e-3
