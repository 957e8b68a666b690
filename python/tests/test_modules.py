"""Modules: those in C, loaded from Python, and those in Python, loaded by a program that embeds the interpreter."""
import json
import math
import os
import re
import subprocess
import sys
import textwrap

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples", "modules")


# ----------------------------------------------------------------------------------------------------------- modules in C


@pytest.fixture
def library(tmp_path):
    """Compiles a module as the documentation says."""
    def compile_module(name, *options):
        made = str(tmp_path / f"{name}.so")
        subprocess.run(["cc", "-std=c17", "-O2", "-I", os.path.join(ROOT, "include"), "-shared", "-fPIC", "-fvisibility=hidden",
                        "-ffp-contract=off", "-fno-fast-math", "-fno-math-errno", *options,
                        os.path.join(EXAMPLES, f"{name}.c"), "-o", made], check=True)
        return made
    return compile_module


def run_python(text, *arguments):
    """A fresh process: modules are loaded before the first world, and never unloaded."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text), *arguments], capture_output=True, text=True, timeout=120)


# An example of each kind of row.
KINDS = {"bicone": 'shape "bicone"', "planar": 'joint "planar"', "gust": 'force "gust"', "bang": 'motor "bang-bang"',
         "hertz": 'contact law "hertz"', "bronze": 'law of restitution "bronze"', "tilt": 'probe "tilt"', "highest": 'output "highest"', "period": 'verb "period"'}


def test_modules_in_c_work_from_python(library):
    """Each kind of row is used and compared with a closed form: drag in air that swings, the moment of a bicone, a body in the plane
    of a planar joint that turns at its rate, a motor of constant torque, a tilt of w t, and a ball that leaves Hertz's law at the
    speed at which it came, after a depth of (5 m v^2 / (4 k))^(2/5), and a marble that yields. Outputs and verbs are of the program: they are loaded and
    listed."""
    names = [library(name) for name in KINDS]
    done = run_python("""
        import json, sys
        import rattleback as rb
        rows = [row for path in sys.argv[1:] for row in rb.load_module(path)]
        again = rb.load_module(sys.argv[1])
        scene = rb.Scene(duration=2.0, world={"gravity": [0, 0, 0]})
        scene.add_body({"geometry": {"type": "bicone", "radius": 0.3, "height": 0.5}}, name="top", mass=2.0, spin=(0.5, 0, 0))
        scene.add_force("gust", velocity=[4, 0, 0], drag=3, frequency=5)
        scene.add_probe("position", body="top")
        scene.add_probe("tilt", body="top")
        result = scene.run(output=0.5)
        x, tilt = [float(result[name][-1]) for name in ("top.position.x", "top.tilt")]
        top = scene.world().body("top").mass_properties.inertia
        world = rb.World(gravity=(0, 0, 0))
        disk = world.add_body(rb.Shape.cylinder(0.2, 0.1), position=(1, 0, 0), spin=(0, 0, 2), velocity=(0, 0.3, 0))
        world.add_joint("planar", None, disk, anchor=(0, 0, 0), axis=(0, 0, 1))
        arm = world.add_body(rb.Shape.box((1, 0.1, 0.1)), position=(5, 0, 0))
        hinge = world.add_joint("hinge", None, arm, anchor=(5, 0, 0), axis=(0, 0, 1),
                                motor={"type": "bang-bang", "gain": 2.0, "window": 0.1, "target": 1.0})
        world.advance(0.1)
        court = rb.World(gravity=(0, 0, 0), contact={"method": "hertz"}, step={"energyTolerance": 0})
        court.add_body(rb.Shape.plane(), type="static")
        ball = court.add_body(rb.Shape.sphere(0.1), position=(0, 0, 0.11), velocity=(0, 0, -1), mass=2.0)
        depth = 0.0
        while court.time < 0.1:
            court.step()
            depth = max(depth, 0.1 - float(ball.position[2]))
        table = rb.World(gravity=(0, 0, 0), engine="event", event={"restitution": "bronze"})
        stone = rb.Material(restitution=0.8)
        table.add_body(rb.Shape.plane(), type="static", material=stone)
        marble = table.add_body(rb.Shape.sphere(0.1), position=(0, 0, 0.2), velocity=(0, 0, -1.6), material=stone)
        table.advance(0.2)
        print(json.dumps({"rows": rows, "again": again, "marble": float(marble.velocity[2]), "x": x, "tilt": tilt, "spin": float(disk.angular_velocity[2]),
                          "z": float(disk.position[2]), "arm": float(arm.angular_velocity[2]),
                          "moment": float(arm.mass_properties.inertia[2, 2]), "top": [top[0, 0], top[2, 2]],
                          "rebound": float(ball.velocity[2]), "depth": depth}))
        """, *names)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"] == list(KINDS.values())
    assert found["again"] == []
    a, u, w, t = 1.5, 4.0, 5.0, 2.0
    truth = a * u / (a * a + w * w) * (a / w * (1 - math.cos(w * t)) - math.sin(w * t) + w / a * (1 - math.exp(-a * t)))
    assert found["x"] == pytest.approx(truth, abs=1e-7)
    assert found["tilt"] == pytest.approx(1.0, abs=1e-9)
    assert found["top"] == pytest.approx([2.0 * (0.15 * 0.09 + 0.1 * 0.25), 2.0 * 0.3 * 0.09], rel=1e-12)
    assert found["spin"] == pytest.approx(2.0, abs=1e-9) and abs(found["z"]) < 1e-9
    assert found["arm"] == pytest.approx(0.1 * 2.0 / found["moment"], rel=1e-6)
    assert found["marble"] == pytest.approx(0.8 * 1.6 / 2.0, rel=1e-12)  # 16 times the yield speed
    assert found["rebound"] == pytest.approx(1.0, abs=1e-4)
    assert found["depth"] == pytest.approx((5 * 2.0 / 4e7) ** 0.4, rel=0.05)  # seen at the ends of steps


@pytest.fixture
def other_headers(tmp_path):
    """A copy of the headers in which a text of one of them is replaced."""
    def copy(changed, pattern, text):
        folder = tmp_path / "other" / "rattleback"
        folder.mkdir(parents=True)
        for name in os.listdir(os.path.join(ROOT, "include", "rattleback")):
            with open(os.path.join(ROOT, "include", "rattleback", name), encoding="utf-8") as file:
                found = file.read()
            if name == changed:
                found, count = re.subn(pattern, text, found, flags=re.M)
                assert count == 1
            (folder / name).write_text(found)
        return str(folder.parent)
    return copy


def refusals(paths):
    """The messages of modules that all must be refused."""
    done = run_python("""
        import sys
        import rattleback as rb
        for path in sys.argv[1:]:
            try:
                print("loaded", rb.load_module(path))
            except rb.RattlebackError as error:
                print(type(error).__name__, str(error).replace(path, "PATH"))
        """, *paths)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def compile_with(headers, name, made):
    subprocess.run(["cc", "-std=c17", "-I", headers, "-shared", "-fPIC", os.path.join(EXAMPLES, f"{name}.c"), "-o", made], check=True)
    return made


def test_stale_modules_of_each_kind_are_refused(other_headers, tmp_path):
    """Compiled with headers of the next version."""
    headers = other_headers("base.h", r"^#define RB_VERSION_MINOR (\d+)$", r"#define RB_VERSION_MINOR 1\1")
    lines = refusals([compile_with(headers, name, str(tmp_path / f"{name}.so")) for name in KINDS])
    assert len(lines) == len(KINDS)
    for line in lines:
        assert line.startswith("UnsupportedError module PATH: it was compiled with headers of Rattleback 0.1"), line
        assert "compile it again" in line


@pytest.mark.parametrize("name, header, row", [
    ("bicone", "shape.h", "rbConvexShapeRow"), ("planar", "module.h", "rbJointRow"), ("gust", "body.h", "rbForceRow"),
    ("bang", "joint.h", "rbMotorRow"), ("hertz", "contact.h", "rbContactLawRow"),
    ("bronze", "impact.h", "rbRestitutionRow"), ("tilt", "scene.h", "rbProbeRow"),
    ("highest", "module.h", "rbOutputRow"), ("period", "module.h", "rbVerbRow")])
def test_modules_with_a_row_of_another_size_are_refused(other_headers, tmp_path, name, header, row):
    """Of the same version, as while a version is being written."""
    headers = other_headers(header, rf"^}} {row};$", rf"    double added[4];\n}} {row};")
    lines = refusals([compile_with(headers, name, str(tmp_path / f"{name}.so"))])
    assert lines[0].startswith(f"UnsupportedError module PATH: its {row} has another size"), lines


def test_what_is_no_module_and_late_ones_are_refused(library, tmp_path):
    wrong = tmp_path / "not-elf.so"
    wrong.write_text("nothing")
    lines = refusals([str(wrong), "script.py"])
    assert lines[0].startswith("UnsupportedError module PATH") and "cannot be loaded as a shared library" in lines[0]
    assert "this is a script" in lines[1]
    done = run_python("""
        import sys
        import rattleback as rb
        rb.World()
        rb.load_module(sys.argv[1])
        """, library("gust"))
    assert done.returncode == 1 and "before the first one" in done.stderr


# ------------------------------------------------------------------------------------------------------ modules in Python


@pytest.fixture
def embedded():
    found = os.environ.get("RATTLEBACK_EMBEDDED")
    if not found:
        pytest.skip("there is no program that embeds Python; tools/test_python.sh builds one")
    return found


@pytest.fixture
def script(tmp_path):
    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return str(path)
    return write


def run_program(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=300)


def hash_of(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout[done.stdout.index("{"):])["hash"]


def test_the_example_holds_its_pendulum(embedded):
    done = run_program(embedded, "run", "pendulum", "--module", os.path.join(EXAMPLES, "hold.py"))
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"hold: ([\d.]+) rad", done.stdout)[1]) == pytest.approx(0.5, abs=1e-8)


@pytest.mark.parametrize("name", ["pendulum", "tippe-top", "tumbling-box", "dominoes"])
def test_hooks_that_only_look_change_no_bits(embedded, program, script, name):
    """Of the engines step, event and flight; also when outputs lie between steps."""
    count = script("""
        calls = []
        def start(world): calls.append(("start", world.time))
        def before_step(world): calls.append(("before", world.time)); world.contacts()
        def after_step(world): calls.append(("after", world.time)); world.positions
        def finish(world):
            kinds = [kind for kind, _ in calls]
            assert kinds[0] == "start" and kinds[1::2] == ["before"] * (len(kinds) // 2), kinds[:5]
            assert all(a == b for (_, a), (_, b) in zip(calls[2::2], calls[3::2])), "a hook between two steps"
            print("calls", len(calls))
        """)
    words = ("run", name, "--duration", "0.2", "--dt", "0.0037", "--json")
    looked = run_program(embedded, *words, "--module", count)
    assert "calls" in looked.stdout + looked.stderr
    assert hash_of(looked) == hash_of(run_program(program, *words))


# B-92b
def test_hooks_reach_everything(embedded, script, tmp_path):
    """A motor target, a force of Python, an impulse, loads, a branch, scenes and recordings."""
    busy = script("""
        import rattleback as rb
        seen = {}
        def start(world):
            world.add_force(lambda body, state: (0.0, 0.0, 9.81 * state.mass))
            seen["branch"] = world.branch().time
            seen["title"] = world.scene.title
        def before_step(world):
            if world.time == 0.0:
                world.body("bob").velocity = (0, 0, 1)
        def finish(world):
            other = rb.World(); other.step(3)
            print("seen", seen, world.ledger.kinetic, other.time, world.joint("rod").name)
        """)
    record = str(tmp_path / "a.rbr")
    done = run_program(embedded, "run", "pendulum", "--duration", "0.5", "--module", busy, "--record", record)
    assert done.returncode == 0, done.stderr
    # Without weight the bob circles at constant speed.
    kinetic = float(re.search(r"\} ([\d.]+) 0.003 rod", done.stdout)[1])
    assert kinetic == pytest.approx(0.5, rel=1e-9)
    again = run_program(embedded, "replay", record)
    assert again.returncode == 2 and "modules in Python acted on this run" in again.stderr


@pytest.mark.parametrize("text, expected", [
    ("def before_step(world): 1 / 0", "script.py: ZeroDivisionError: division by zero"),
    ("def after_step(world): world.step()", "the program advances this world"),
    ("def start(world): world.bodies[0].destroy()", "the program advances this world"),
    ("def start(world): world.add_force(lambda body, state: [][1])", "script.py: IndexError"),
    ("import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
    ("def hook(world): pass", "it defines none of the hooks start, before_step, after_step, finish"),
    ("def start(world)", "SyntaxError"),
    ("def before_step(world): return [[float('nan')] * 3]", "script.py: InvalidError"),
])
def test_what_goes_wrong_in_a_hook_ends_the_run(embedded, script, tmp_path, text, expected):
    table = str(tmp_path / "a.csv")
    done = run_program(embedded, "run", "pendulum", "--duration", "0.5", "--csv", table, "--module", script(text))
    assert done.returncode == 2
    assert expected in done.stderr and "Traceback" in done.stderr or "SyntaxError" in done.stderr
    assert "rattleback: module" in done.stderr
    assert not os.path.exists(table)


def test_programs_refuse_scripts_where_they_do_nothing(embedded, program, script):
    fine = script("def start(world): pass")
    done = run_program(program, "run", "pendulum", "--module", fine)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "-DRB_PYTHON=ON" in done.stderr
    done = run_program(embedded, "run", "pendulum", "--module", "/nowhere/a.py")
    assert done.returncode == 2 and "there is no module /nowhere/a.py" in done.stderr
    done = run_program(embedded, "check", "pendulum", "--module", fine)
    assert done.returncode == 2 and "'check' calls no hooks" in done.stderr
    for option in (("--checkpoint", "c.rbk"), ("--certificate", "c.rbc")):
        done = run_program(embedded, "run", "pendulum", "--module", fine, *option)
        assert done.returncode == 2 and f"{option[0]} does not work with a module in Python" in done.stderr
