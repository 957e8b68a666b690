#!/usr/bin/env python3
"""Measures what it costs to use the library from Python, against the goals. Takes less than a minute; needs a quiet machine
with two cores, since two of the four numbers are about threads.

    build/python/bin/python tools/measure_python.py

Each number is the best of many rounds in which what is compared takes turns. The exit code is 1 if a goal is missed. The tests in
python/tests/test_speed.py use the same functions with wider bounds.
"""
import sys
import threading
import time

import numpy as np

import rattleback as rb
from rattleback._native import lib


def time_of(function, clock):
    start = clock()
    function()
    return clock() - start


def measure_step(rounds=1000, count=300):
    """CPU time of a step of one body, s: in C by rbWorld_Advance, and by World.step."""
    world = rb.World()
    world.add_body(rb.Shape.sphere(0.1))
    world.step(10)

    def steps():
        step = world.step
        for _ in range(count):
            step()

    inside, outside = [], []
    for _ in range(rounds):
        inside.append(lib.rbpyTimeSteps(world._native(), world.dt, count) / count)
        world.step()
        outside.append(time_of(steps, time.thread_time) / count)
    return min(inside), min(outside)


def measure_positions(rounds=200):
    """CPU time to read the positions of 1e5 bodies into an array, s."""
    scene = rb.Scene(engine="flight")
    scene.add_body(rb.Shape.box((0.1, 0.2, 0.3)), name="b", repeat={"count": [100, 100, 10], "spacing": [1, 1, 1]})
    world = scene.world()
    out = np.empty((100000, 3))
    return min(time_of(lambda: world.read("position", out), time.thread_time) for _ in range(rounds))


def make_stack(count):
    world = rb.World()
    world.add_body(rb.Shape.plane(), type="static")
    for i in range(count):
        world.add_body(rb.Shape.box((1, 1, 1)), position=(0, 0, 0.5 + i))
    world.step(5)
    return world


class Threads:
    """Worker threads; each steps its own world the given number of times, then waits."""

    def __init__(self, worlds, steps):
        self.starts = [(world, world.snapshot()) for world in worlds]
        self.steps = steps
        self.gate = threading.Barrier(len(worlds) + 1)
        self.is_over = False
        self.all = [threading.Thread(target=self._work, args=start) for start in self.starts]
        for thread in self.all:
            thread.start()

    def _work(self, world, start):
        while True:
            world.restore(start)
            self.gate.wait()
            if self.is_over:
                return
            step = world.step
            for _ in range(self.steps):
                step()
            self.gate.wait()

    def run(self):
        """Wall time of all threads together, s."""
        self.gate.wait()
        start = time.perf_counter()
        self.gate.wait()
        return time.perf_counter() - start

    def end(self):
        self.is_over = True
        self.gate.wait()
        for thread in self.all:
            thread.join()


def measure_threads(rounds=30, steps=200, bodies=10):
    """Two threads of Python, each of which calls World.step on its own world: wall time of a step, s, and the speedup over one
    thread, with the work of both."""
    one, two = Threads([make_stack(bodies)], steps), Threads([make_stack(bodies) for _ in range(2)], steps)
    try:
        times = [(one.run(), two.run()) for _ in range(rounds)]
    finally:
        one.end()
        two.end()
    alone, both = (min(column) for column in zip(*times))
    return alone / steps, 2.0 * alone / both


def measure_step_all(rounds=20, steps=10):
    """64 worlds of 10 bodies by step_all: wall time on one thread, s, and the speedup of two."""
    worlds = [make_stack(10) for _ in range(64)]
    starts = [world.snapshot() for world in worlds]

    def run(threads):
        for world, start in zip(worlds, starts):
            world.restore(start)
        return time_of(lambda: rb.step_all(worlds, steps, threads=threads), time.perf_counter)

    times = [(run(1), run(2)) for _ in range(rounds)]
    alone, both = (min(column) for column in zip(*times))
    return alone, alone / both


def main():
    # In several passes, since other work on the machine comes and goes.
    passes = [(measure_step(), measure_positions(), measure_threads(), measure_step_all()) for _ in range(3)]
    inside, outside = (min(times) for times in zip(*(found[0] for found in passes)))
    positions = min(found[1] for found in passes)
    step, threads = min(found[2][0] for found in passes), max(found[2][1] for found in passes)
    whole, all_at_once = min(found[3][0] for found in passes), max(found[3][1] for found in passes)
    rows = [
        (outside - inside <= 0.6e-6, f"a step of one body: {1e6 * (outside - inside):.2f} us more than in C, "
         f"{1e6 * outside:.2f} after {1e6 * inside:.2f} (goal: at most 0.6)"),
        (positions <= 1e-3, f"positions of 1e5 bodies: {1e3 * positions:.2f} ms (goal: at most 1)"),
        (threads >= 1.8 and step >= 50e-6, f"two threads of Python, steps of {1e6 * step:.0f} us: {threads:.2f} times one (goal: at least "
         "1.8)"),
        (all_at_once >= 1.8, f"step_all, 64 worlds of 10 bodies, {1e3 * whole:.1f} ms: {all_at_once:.2f} times one thread (goal: at least "
         "1.8)"),
    ]
    for is_met, text in rows:
        print(text + ("" if is_met else ": MISSED"))
    return 0 if all(is_met for is_met, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
