#!/usr/bin/env python3
"""Runs scenes, checks their certificates, and prints a table.

usage: tools/certify.py PROGRAM [--limit SECONDS] [--keep FOLDER] [--jobs N] [SCENE...]

Without scenes: all of scenes/. A run that has taken SECONDS of CPU time (20) is asked to stop as by Ctrl-C; its
certificate then covers what was simulated, and the column "of" says how much of the scene that is.
Columns: x run, CPU time of the check in parts of that of the run, at least 0.1 s; x rec, size of the certificate in
parts of the recording of the same run, which has every output; x step, in parts of a recording that has every step, as
the certificate does (run --dt STEP, once more, where outputs are rarer than steps).
Exit code 1 if a claim fails, a certificate cannot be read, a check takes more than three times as long as its run, or a
certificate has more than three times the size of the recording with every step.
"""
import argparse
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

TIMES = 3.0  # of the run, that a check may take
LEAST = 0.1  # s: below, the start of the program counts most
SIZES = 3.0  # of the recording with every step, that a certificate may have
SMALL = 20000  # bytes: below, the model counts most


def run(command, limit):
    """Exit code, output, seconds of CPU time; after limit seconds of it the program is asked to stop."""
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        asked = False
        ticks = os.sysconf("SC_CLK_TCK")
        pid = 0
        while pid == 0:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG if limit else 0)
            if pid == 0:
                time.sleep(0.05)
                with open(f"/proc/{child.pid}/stat", encoding="utf-8") as file:
                    fields = file.read().rpartition(")")[2].split()
                if not asked and (int(fields[11]) + int(fields[12])) / ticks > limit:
                    child.send_signal(signal.SIGINT)
                    asked = True
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return child.returncode, output.read().decode(), usage.ru_utime + usage.ru_stime, asked


def certify(program, scene, folder, limit, keep):
    """The row of a scene: text, counts, times, whether it is bad."""
    path = os.path.join(folder, scene + ".rbc")
    recording = os.path.join(folder, scene + ".rbr")
    code, text, spent, asked = run([program, "run", scene, "--json", "--certificate", path, "--record", recording], limit)
    if not os.path.exists(path):
        return f"{scene:28}run: exit code {code}", [0] * 4, [0.0, 0.0], True
    size = os.path.getsize(path)
    record = os.path.getsize(recording)
    os.remove(recording)
    code, checks, checked, _ = run([program, "verify", path, "--json"], None)
    if not keep:
        os.remove(path)
    if code not in (0, 1):
        return f"{scene:28}verify: exit code {code}", [0] * 4, [spent, checked], True
    found = json.loads(checks)
    report = json.loads(text)
    counts = [found[key] for key in ("certified", "sampled", "notChecked", "failed")]
    times = checked / max(spent, LEAST)
    step = report.get("steps", {}).get("step", 0.0)
    whole = record
    if report.get("engine") == "step" and step > 0.0 and report["frames"] < found["nodes"]:
        run([program, "run", scene, "--quiet", "--duration", repr(found["endTime"]), "--dt", repr(step), "--record",
             recording], None)
        whole = os.path.getsize(recording)
        os.remove(recording)
    part = f"{100.0 * found['endTime'] / report['duration']:.0f} %" if asked and "duration" in report else ""
    row = (f"{scene:28}{found['events']:9}{found['nodes']:7}{counts[0]:11}{counts[1]:9}{counts[2]:9}{counts[3]:7}"
           f"{spent:8.2f}{checked:8.2f}{times:6.2f}{size / 1e6:8.2f}{size / record:7.2f}{size / whole:7.2f}{part:>6}")
    for failure in found["failures"][:3]:
        row += (f"\n    {failure['time']:.9g} s {failure['bodyA']} {failure['bodyB']}: {failure['what']}: "
                f"{failure['value']:.3g}, at most {failure['bound']:.3g}")
    return row, counts, [spent, checked], (
        code == 1 or times > TIMES or (size > SMALL and size > SIZES * whole))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("scenes", nargs="*")
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_intermixed_args()
    scenes = arguments.scenes or sorted(name[:-5] for name in os.listdir("scenes") if name.endswith(".json"))
    print(f"{'scene':28}{'events':>9}{'nodes':>7}{'certified':>11}{'sampled':>9}{'not chk':>9}{'failed':>7}"
          f"{'run s':>8}{'check s':>8}{'x run':>6}{'MB':>8}{'x rec':>7}{'x step':>7}{'of':>6}", flush=True)
    bad = 0
    sums = [0] * 4
    times = [0.0, 0.0]
    with tempfile.TemporaryDirectory(prefix="certify-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        folder = arguments.keep or scratch
        for row, counts, spent, is_bad in pool.map(
                lambda scene: certify(arguments.program, scene, folder, arguments.limit, arguments.keep), scenes):
            print(row, flush=True)
            bad += is_bad
            sums = [a + b for a, b in zip(sums, counts)]
            times = [a + b for a, b in zip(times, spent)]
    print(f"{len(scenes)} scenes, {bad} with failures; {sums[0]} certified, {sums[1]} sampled, {sums[2]} not checked, "
          f"{sums[3]} failed; {times[0]:.1f} s of runs, {times[1]:.1f} s of checks")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
