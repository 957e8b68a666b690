#!/usr/bin/env python3
"""Runs scenes, checks their certificates, and prints a table.

usage: tools/certify.py PROGRAM [--limit SECONDS] [--keep FOLDER] [SCENE...]

Without scenes: all of scenes/. A run that takes longer than the limit is named and left out.
Exit code 1 if a claim fails or a certificate cannot be read.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile


def run(command, limit):
    """Exit code (None: too long), output, and seconds of CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None, "", limit
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode, done.stdout, after.ru_utime - before.ru_utime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("scenes", nargs="*")
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--keep")
    arguments = parser.parse_intermixed_args()
    folder = arguments.keep or tempfile.mkdtemp(prefix="certify-")
    scenes = arguments.scenes or sorted(
        name[:-5] for name in os.listdir("scenes") if name.endswith(".json"))
    print(f"{'scene':28}{'events':>9}{'nodes':>7}{'certified':>11}{'sampled':>10}{'not chk':>9}"
          f"{'failed':>8}{'MB':>7}{'run s':>8}{'verify s':>9}")
    bad = left = 0
    sums = [0, 0, 0, 0]
    times = [0.0, 0.0]
    for scene in scenes:
        path = os.path.join(folder, scene + ".rbc")
        code, _, spent = run([arguments.program, "run", scene, "--quiet", "--certificate", path],
                             arguments.limit)
        if code is None or not os.path.exists(path):
            print(f"{scene:28}{'longer than the limit' if code is None else f'exit code {code}'}")
            left += 1
            continue
        size = os.path.getsize(path) / 1e6
        code, text, checked = run([arguments.program, "verify", path, "--json"], 600)
        if code not in (0, 1):
            print(f"{scene:28}verify: exit code {code}")
            bad += 1
            continue
        found = json.loads(text)
        counts = [found[key] for key in ("certified", "sampled", "notChecked", "failed")]
        sums = [a + b for a, b in zip(sums, counts)]
        times = [times[0] + spent, times[1] + checked]
        print(f"{scene:28}{found['events']:9}{found['nodes']:7}{counts[0]:11}{counts[1]:10}"
              f"{counts[2]:9}{counts[3]:8}{size:7.1f}{spent:8.2f}{checked:9.2f}")
        sys.stdout.flush()
        bad += code == 1
        for failure in found["failures"][:3]:
            print(f"    {failure['time']:.9g} s {failure['bodyA']} {failure['bodyB']}: "
                  f"{failure['what']}: {failure['value']:.3g}, at most {failure['bound']:.3g}")
        if not arguments.keep:
            os.remove(path)
    print(f"{len(scenes)} scenes, {left} left out, {bad} with failures; {sums[0]} certified, "
          f"{sums[1]} sampled, {sums[2]} not checked, {sums[3]} failed; "
          f"{times[0]:.1f} s of runs, {times[1]:.1f} s of checks")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
