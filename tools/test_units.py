"""Test programs in pieces: a unit is one group of one program, as `test_x --group g` runs it.

Used by coverage.py and mutate.py, which both ask what a unit costs and what it executes.
"""
import json
import os
import re
import resource
import signal
import subprocess
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEMORY_LIMIT = 6 << 30
LEVELS = ("quick", "normal", "long", "full")


def run_quietly(command, folder=ROOT):
    """Runs a build command; shows its output only if it fails."""
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command[:6])} failed:\n{result.stdout[-4000:]}")
    return result.stdout


def configure(folder, options):
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        os.makedirs(folder, exist_ok=True)
        run_quietly(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options])


def test_programs(folder):
    """The test programs that the build directory knows."""
    targets = run_quietly(["ninja", "-C", folder, "-t", "targets", "all"])
    return sorted(set(re.findall(r"^(test_[a-z_0-9]+): C_EXECUTABLE", targets, re.MULTILINE)))


def build(folder, programs, jobs):
    run_quietly(["ninja", "-C", folder, "-j", str(jobs), *programs])


def groups_of(folder, program):
    lines = run_quietly([os.path.join(folder, program), "--list"]).splitlines()
    return list(dict.fromkeys(line.split()[0] for line in lines if line.strip()))


def stamp_of(folder, program, group, groups):
    """Changes when something that the unit runs was built again: its own object, a helper's, or a library."""
    others = {f"{name}.c.o" for name in groups if name != group}
    stamp = max((os.path.getmtime(os.path.join(folder, name)) for name in os.listdir(folder) if name.endswith(".a")), default=0.0)
    for path, _, names in os.walk(os.path.join(folder, "CMakeFiles", f"{program}.dir")):
        for name in names:
            if name.endswith(".o") and name not in others:
                stamp = max(stamp, os.path.getmtime(os.path.join(path, name)))
    return stamp


def limit_child(cpu_seconds):
    """A mutant may loop or allocate without end: the kernel stops it, however busy the machine is."""
    def apply():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if cpu_seconds is not None:
            seconds = int(cpu_seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    return apply


class Outcome:
    """How a unit ended: passed, or why not, and the processor time it took."""

    def __init__(self, failure, seconds, output):
        self.failure = failure
        self.seconds = seconds
        self.output = output


def end_of(code):
    if code == 0:
        return None
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timeout"
    if code < 0 and code != -signal.SIGABRT:
        return f"signal {-code}"
    return "failed"


def first_failure(output):
    """The test that ran when the program was stopped."""
    names = re.findall(r"\[ RUN      \] (\w+)", output)
    return names[-1] if names else ""


def run_unit(program, group, level, cpu_limit=None, environment=None, test=None, launcher=()):
    """Runs one unit with the seed that the tests have on their own, stops at its first failing test."""
    command = [*launcher, program, "--group", group] + (["--test", test] if test else [])
    variables = dict(os.environ, RB_TEST_LEVEL=level, CMOCKA_TEST_ABORT="1", **(environment or {}))
    variables.pop("RB_TEST_SEED", None)
    wall_limit = 60 + 20 * cpu_limit if cpu_limit is not None else 3600
    process = subprocess.Popen(command, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, preexec_fn=limit_child(cpu_limit))
    late = threading.Event()

    def stop():
        late.set()
        os.killpg(process.pid, signal.SIGKILL)
    timer = threading.Timer(wall_limit, stop)
    timer.start()
    with process.stdout as pipe:
        text = pipe.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    failure = "timeout" if late.is_set() else end_of(process.returncode)
    return Outcome(failure, usage.ru_utime + usage.ru_stime, text)


class Store:
    """A JSON file that is written whole, and survives an interrupted run."""

    def __init__(self, path):
        self.path = path
        self.data = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.data = json.load(file)

    def save(self):
        with open(self.path + ".part", "w", encoding="utf-8") as file:
            json.dump(self.data, file)
        os.replace(self.path + ".part", self.path)
