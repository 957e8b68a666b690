"""A module in Python: holds a pendulum at an angle by a torque, and says how far it swings.

    rattleback run pendulum.json --module hold.py

Needs a program that embeds Python (configure with -DRB_PYTHON=ON). All hooks are optional; each gets the world, which has
all that docs/python.md says, but advances by the program only.
"""
import numpy as np

ANGLE = 0.5  # rad, of the bob from straight down, toward +x
STIFFNESS, DAMPING = 60.0, 12.0  # N/m, N s/m, at the bob

largest = 0.0


def start(world):
    """The world is ready; nothing has moved."""
    bob = world.body("bob")
    world.length = float(np.linalg.norm(bob.position))


def before_step(world):
    """May set motor targets, write fields, apply impulses, or return forces (n, 3) on all bodies, held over the step."""
    bob = world.body("bob")
    aim = world.length * np.array((np.sin(ANGLE), 0.0, -np.cos(ANGLE)))
    forces = np.zeros((len(world.bodies), 3))
    forces[world.bodies.index(bob)] = STIFFNESS * (aim - bob.position) - DAMPING * bob.velocity + (0.0, 0.0, 9.81 * bob.mass)
    return forces


def after_step(world):
    """The step is done."""
    global largest
    largest = max(largest, float(abs(world.body("bob").position[0])))


def finish(world):
    """The run is over."""
    x, _, z = world.body("bob").position
    print(f"hold: {np.arctan2(x, -z):.9f} rad at {world.time:g} s, largest x {largest:.6f} m")
