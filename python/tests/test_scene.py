"""Scenes, results, recordings, pages, studies, and the bits of the program."""
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import rattleback as rb

# Every engine and most features, a second or less each.
SHORT = ["tumbling-box", "pendulum", "four-bar", "newtons-cradle", "bouncing-ball", "rays-01", "kepler", "conveyor",
         "block-on-an-incline", "spring-damping", "light-gates", "double-pendulum"]


def hash_of(program, path, *options):
    done = subprocess.run([program, "run", path, "--json", *options], capture_output=True, text=True)
    return json.loads(done.stdout)["hash"]


@pytest.mark.parametrize("name", rb.Scene.examples())
def test_same_bits_as_the_program(name, program, request):
    if name not in SHORT and not request.config.getoption("--all-scenes"):
        pytest.skip("--all-scenes runs it")
    scene = rb.Scene.example(name)
    path = next(os.path.join(folder, name + ".json") for folder in rb.scene._FOLDERS if os.path.isdir(folder))
    options = [] if request.config.getoption("--all-scenes") else ["--duration", str(min(scene.duration, 1.0))]
    duration = None if not options else min(scene.duration, 1.0)
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(rb.RattlebackWarning)
        try:
            found = scene.run(duration, states=False).hash
        except rb.LimitError as error:  # of the state at which the run ends early
            found = error.result.hash
    assert f"{found:016x}" == hash_of(program, path, *options)


def test_result_has_columns_states_and_tables(tmp_path):
    scene = rb.Scene(duration=1.0)
    scene.add_body(rb.Shape.plane(), name="ground", type="static")
    scene.add_body(rb.Shape.sphere(0.1), name="ball", position=(0, 0, 1), material=rb.Material(restitution=1.0))
    scene.add_probe("position", body="ball")
    scene.add_probe("energy", name="E")
    result = scene.run(output=0.1)
    assert len(result) == 11 and result.time[-1] == 1.0
    assert result.columns == ["ball.position.x", "ball.position.y", "ball.position.z", "E"]
    np.testing.assert_array_equal(result["ball.position"], result.positions[:, 1])
    np.testing.assert_array_equal(result["ball.position.z"], result.body("ball")["position"][:, 2])
    assert result.units["ball.position.z"] == "m"
    with pytest.raises(rb.NotFoundError, match="ball.position.z"):
        result["ball.position.q"]
    with pytest.raises(rb.InvalidError, match="states=True"):
        scene.run(states=False).positions
    frame = result.to_pandas()
    assert list(frame.columns) == result.columns and frame.index[-1] == 1.0
    data = result.to_xarray()
    assert float(data["position"].sel(body="ball", axis="z")[-1]) == result.positions[-1, 1, 2]
    result.to_csv(tmp_path / "table.csv")
    back = np.loadtxt(tmp_path / "table.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(back[:, 1:], result.values)


def test_recordings_of_python_replay_in_the_program(program, tmp_path):
    path = str(tmp_path / "stack.rbr")
    scene = rb.Scene.example("bouncing-ball")
    result = scene.run(1.0, output=0.1, record=path)
    done = subprocess.run([program, "replay", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with rb.Recording(path) as recording:
        assert recording.is_complete and recording.hash == result.hash and len(recording) == len(result)
        np.testing.assert_array_equal(np.asarray(recording.positions), result.positions)
        np.testing.assert_array_equal(recording.orientations[2:8:3, 0], result.orientations[2:8:3, 0])
        np.testing.assert_array_equal(recording.positions[recording.times > 0.5, :, 2], result.positions[result.time > 0.5, :, 2])
        assert recording.positions[5:5].shape == (0, len(result.body_names), 3)
        with pytest.raises(IndexError, match="no frame"):
            recording[999]
    with pytest.raises(rb.DeadObjectError):
        recording.frame(0)
    with pytest.raises(rb.RattlebackError, match="missing"):
        rb.Recording(tmp_path / "missing.rbr")
    with open(tmp_path / "bad.rbr", "wb") as file:
        file.write(b"not a recording")
    with pytest.raises(rb.RattlebackError, match="bad.rbr"):
        rb.Recording(tmp_path / "bad.rbr")


def test_recordings_of_the_program_are_read(program, tmp_path):
    path = str(tmp_path / "ball.rbr")
    scene = os.path.join(next(f for f in rb.scene._FOLDERS if os.path.isdir(f)), "bouncing-ball.json")
    subprocess.run([program, "run", scene, "--duration", "1", "--quiet", "--record", path], check=True)
    with rb.Recording(path) as recording:
        result = rb.Scene.example("bouncing-ball").run(1.0, output=float(recording.times[1]))
        np.testing.assert_array_equal(np.asarray(recording.positions), result.positions)
        assert len(recording.events()) > 0
        assert recording.scene().name == "bouncing-ball"


def test_scene_errors_are_the_sentences_of_the_library(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{"rattleback": 1, "bodies": [{"name": "box", "mass": -1, "inertia": [1, 1, 1]}]}')
    with pytest.raises(rb.InvalidError, match=r'bad.json: /bodies/0/mass: body "box": mass is -1'):
        rb.Scene.from_file(path)
    path.write_text('{"rattleback": 1,')
    with pytest.raises(rb.SceneSyntaxError, match=r"bad.json:1:"):
        rb.Scene.from_file(path)
    with pytest.raises(rb.NotFoundError, match="missing"):
        rb.Scene.from_file(tmp_path / "missing.json")
    with pytest.raises(rb.NotFoundError, match="examples"):
        rb.Scene.example("no-such-scene")
    with pytest.raises(rb.InvalidError, match='did you mean "bodies"'):
        rb.Scene(bodie=[]).body_count
    with pytest.raises(rb.InvalidError, match="finite"):
        rb.Scene(duration=float("nan"))
    scene = rb.Scene(duration=2.0)
    with pytest.raises(rb.InvalidError):
        scene.set("duration", -1)
    assert scene.duration == 2.0
    with pytest.raises(rb.InvalidError, match="outputs"):
        scene.run(output=0.0)
    with pytest.raises(rb.InvalidError, match="duration"):
        scene.run(-1.0)


def test_later_changes_of_a_scene_do_not_reach_its_worlds():
    scene = rb.Scene.example("pendulum")
    world = scene.world()
    scene.set("world.gravity.2", -1.0)
    assert world.gravity[2] != -1.0 and scene.world().gravity[2] == -1.0


def test_a_run_that_ends_early_keeps_its_outputs():
    scene = rb.Scene(engine="event", event={"eventsPerSecond": 20}, duration=10.0)
    scene.add_body(rb.Shape.plane(), type="static")
    scene.add_body(rb.Shape.sphere(0.1), position=(0, 0, 0.2), material={"restitution": 0.9})
    with pytest.raises(rb.LimitError) as caught:
        scene.run(output=0.01)
    assert 0 < len(caught.value.result) < 1001


def test_pages_hold_the_run(tmp_path):
    path = str(tmp_path / "run.html")
    scene = rb.Scene.example("pendulum")
    assert scene.run(0.2, output=0.05).page(path) == path
    text = open(path, encoding="utf-8").read()
    assert "</html>" in text and 'id="data"' in text
    assert scene.run(0.1, output=0.05)._repr_html_().startswith("<iframe")
    world = rb.World()
    world.add_body(rb.Shape.sphere(0.1))
    world.step(5)
    assert world._repr_html_().startswith("<iframe")


def test_plots(tmp_path):
    import matplotlib
    matplotlib.use("Agg")
    result = rb.Scene.example("pendulum").run(0.2, output=0.05)
    axes = result.plot()
    assert len(axes) >= 2
    axes[0].figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000


def test_sweeps_keep_failures_apart_and_order():
    scene = rb.Scene(duration=1.0)
    scene.add_material("ice", friction=0.1)
    scene.add_body(rb.Shape.plane((-0.5, 0, 1)), type="static", material="ice")
    scene.add_body(rb.Shape.box((1, 1, 0.2)), name="box", position=(0, 0, 0.12), orientation={"axis": [0, 1, 0], "angle": -0.4636476},
                   material="ice")
    seen = []
    values = {"materials.ice.friction": [0.05, 0.2, -1.0, 0.9], "world.gravity": [[0, 0, -9.81]]}

    def measure(result):
        return {"travel": float(np.linalg.norm(result.body("box")["position"][-1] - result.body("box")["position"][0]))}

    study = rb.sweep(scene, values, output=0.1, processes=2, measure=measure, progress=lambda done, total: seen.append((done, total)))
    assert len(study) == 3 and len(study.failures) == 1
    assert study.failures[0][0]["materials.ice.friction"] == -1.0 and "friction" in study.failures[0][1]
    assert study["materials.ice.friction"].tolist() == [0.05, 0.2, 0.9]
    assert study["travel"][0] > study["travel"][1] > study["travel"][2]
    assert seen[-1] == (4, 4)
    alone = rb.sweep(scene, values, output=0.1, processes=1, measure=measure)
    assert alone.rows == study.rows
    crash = rb.sweep(scene, {"duration": [0.1, 0.2]}, processes=2, measure=lambda result: os._exit(3))
    assert len(crash) == 0 and len(crash.failures) == 2


def test_shapes_answer():
    sphere = rb.Shape.sphere(1.0)
    assert sphere.cast_ray((0, 0, 5), (0, 0, -1)).point.tolist() == [0, 0, 1]
    assert sphere == rb.Shape.sphere(1.0) and hash(sphere) == hash(rb.Shape.sphere(1.0)) and sphere != rb.Shape.sphere(2.0)
    ring = rb.Shape.revolution([[1, 0], [2, 0], [2, 1], [1, 1]], segments=64)
    assert not ring.contains((0, 0, 0.5))
    vertices, triangles = ring.triangles()
    assert triangles.max() == len(vertices) - 1
    table = rb.Shape.compound([(rb.Shape.box((1, 1, 0.1)), (0, 0, 1)), (rb.Shape.box((0.1, 0.1, 1)), (0, 0, 0.5))])
    assert table.volume == pytest.approx(0.11)
    assert "box" in repr(rb.Shape.box((1, 2, 3)))


def test_an_interpreter_without_cffi_or_numpy_gets_a_sentence():
    code = "import sys; sys.modules['_cffi_backend'] = None\nimport rattleback"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "needs the Python packages cffi and numpy" in done.stderr
    done = subprocess.run([sys.executable, "-c", code.replace("_cffi_backend", "numpy")], capture_output=True, text=True)
    assert "rattleback needs numpy (Debian: python3-numpy)" in done.stderr
    setup = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "setup.py")
    code = f"import sys, runpy; sys.modules['cffi'] = None; runpy.run_path({setup!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "lacks cffi" in done.stderr


def test_the_examples_of_the_documentation_run():
    import doctest
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python.md")
    found = doctest.testfile(page, module_relative=False)
    assert found.failed == 0 and found.attempted > 40


def test_scenes_travel_to_other_processes():
    scene = rb.Scene.example("nut-on-a-bolt")  # names a mesh file
    other = pickle.loads(pickle.dumps(scene))
    assert other.name == scene.name and other.world().hash == scene.world().hash


def test_keywords_are_keys_in_snake_case_and_names_stay():
    scene = rb.Scene(materials={"my_ice": {"friction": 0.0}}, step={"velocity_tolerance": 1e-9})
    scene.add_body(rb.Shape.box((1, 1, 1)), material="my_ice", spin_local=(0, 0, 1))
    scene.add_joint("hinge", None, "body0", anchor=(0, 0, 0), axis=(0, 0, 1), motor={"type": "speed", "gain": 1, "force_max": 2})
    value = scene.to_dict()
    assert value["step"] == {"velocityTolerance": 1e-9} and value["joints"][0]["motor"]["forceMax"] == 2
    assert scene.world().bodies[0].angular_velocity[2] == 1.0


def test_recordings_bring_their_meshes_and_become_tables(tmp_path):
    """A scene from a recording includes its meshes, so copies, worlds, other processes and runs need no files."""
    path = str(tmp_path / "run.rbr")
    result = rb.Scene.example("nut-on-a-bolt").run(0.02, output=0.01, record=path)
    recording = rb.Recording(path)
    scene = recording.scene()
    assert scene.copy().run(0.02, output=0.01).hash == result.hash
    assert pickle.loads(pickle.dumps(scene)).run(0.02, output=0.01).hash == result.hash
    assert scene.set("world.gravity.2", -1.6).run(0.02, output=0.01).hash != result.hash
    frame, data = recording.to_pandas(), recording.to_xarray()
    name = recording.body_names[-1]
    np.testing.assert_array_equal(frame[f"{name}.position.z"], result.positions[:, -1, 2])
    np.testing.assert_array_equal(frame[f"{name}.orientation.w"], result.orientations[:, -1, 0])
    np.testing.assert_array_equal(data["position"].sel(body=name), result.positions[:, -1])
    assert list(frame.index) == list(data["time"]) == [0.0, 0.01, 0.02]


def test_recordings_show_themselves_and_refuse_other_motions(tmp_path):
    path = str(tmp_path / "run.rbr")
    scene = rb.Scene.example("double-pendulum")
    scene.run(0.3, output=0.05, record=path)
    with rb.Recording(path) as recording:
        shown = recording._repr_html_()
        assert shown.startswith("<iframe") and len(shown) > 10000
        axes = recording.plot()
        names = [axis.get_ylabel() for axis in axes]
        assert len(names) == 4 and len(axes[0].lines) == 3
        with pytest.raises(rb.InvalidError, match="no body 'cat'"):
            recording.plot("cat")
        # As if somebody had pushed a body: another scene in the same file.
        recording.scene_text = scene.set("world.gravity.2", -9.0).to_text()
        with pytest.raises(rb.InvalidError, match="a user acted"):
            recording.page(str(tmp_path / "page.html"))
    assert not (tmp_path / "page.html").exists()
