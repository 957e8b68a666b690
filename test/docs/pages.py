#!/usr/bin/env python3
"""Runs the examples of the documents: every shell command and every C program of a Markdown page.

  pages.py extract PAGE FOLDER            writes the C programs of a page to FOLDER and prints their paths
  pages.py run PAGE PROGRAM FOLDER ROOT   runs the page: commands with PROGRAM, C programs as built in FOLDER

A page is one session in an empty folder, from its first block to its last:
- a file block is saved under the name that the paragraph before it gives ("Save this as `cube.json`");
- an `sh` block must exit with 0 ("exits with code N" in the paragraph before it asks for another code);
- a `c` block is a whole program; it was compiled with the tests and must exit with 0;
- a `text` block shows output of the block before it: its lines must occur in this order. `...` stands for anything.
`make` verbs are looked up in the Makefile instead of run; `view` runs for a second, without a browser.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile


class Block:
    def __init__(self, kind, text, line, before, number):
        self.kind, self.text, self.line, self.before = kind, text, line, before
        self.number = number  # among the blocks of its kind, from 1


def read_blocks(page):
    blocks, paragraph, body, kind, start = [], [], [], None, 0
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if kind is not None:
                if line.startswith("```"):
                    number_of_kind = sum(block.kind == kind for block in blocks) + 1
                    blocks.append(Block(kind, "".join(body), start, " ".join(paragraph), number_of_kind))
                    kind, paragraph = None, []
                else:
                    body.append(line)
            elif line.startswith("```"):
                kind, body, start = line[3:].strip(), [], number
            elif line.strip():
                paragraph.append(line.strip())
            elif paragraph and not blocks_follow(paragraph):
                paragraph = []
    if kind is not None:
        sys.exit(f"{page}:{start}: this block has no end")
    return blocks


def blocks_follow(paragraph):
    """A blank line between a paragraph that ends with a colon and its block does not separate them."""
    return paragraph[-1].endswith(":")


def program_name(page, block):
    stem = re.sub(r"\W", "_", os.path.splitext(os.path.basename(page))[0])
    return f"doc_{stem}_{block.number}"


def extract(page, folder):
    os.makedirs(folder, exist_ok=True)
    for block in read_blocks(page):
        if block.kind == "c":
            path = os.path.join(folder, program_name(page, block) + ".c")
            old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
            if old != block.text:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(block.text)
            print(path)


def line_pattern(line):
    pieces = [re.escape(piece) for piece in " ".join(line.split()).split("...")]
    return re.compile(".*".join(pieces).replace(r"\ ", r"\s+") + "$")


def compare(expected, output, place):
    lines = iter(" ".join(line.split()) for line in output.splitlines())
    for line in expected.splitlines():
        if line.strip() in ("", "..."):
            continue
        pattern = line_pattern(line)
        if not any(pattern.match(found) for found in lines):
            sys.exit(f"{place}: this line is not in the output, or not in this order:\n  {line}\nThe output:\n{output}")


def check_make(line, root, place):
    for verb in re.findall(r"^make ([a-z-]+)", line.strip()):
        with open(os.path.join(root, "Makefile"), encoding="utf-8") as file:
            if not re.search(rf"^{verb}:", file.read(), re.M):
                sys.exit(f"{place}: the Makefile has no verb {verb}")


def run_command(command, folder, place):
    """Runs a command in its own process group, so that nothing outlives a timeout."""
    with subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            sys.exit(f"{place}: takes more than 120 s")
    return process.returncode, output


def run_shell(block, place, root, folder):
    script = []
    for line in block.text.splitlines():
        if line.startswith("make"):
            check_make(line, root, place)
        elif re.match(r"(export|cd|git|ssh|sudo) ", line):
            continue  # specific to the reader's machine
        else:
            script.append(re.sub(r"^(\S*rattleback view\b[^#]*)", r"\1 --no-browser --port 0 --for 1 ", line))
    if os.environ.get("RB_VIEWER") == "OFF":  # such a program writes no pages
        script = [line for line in script if "--html" not in line]
    code = re.search(r"exits with code (\d+)", block.before)
    expected = int(code.group(1)) if code else 0
    status, output = run_command(["bash", "-euo", "pipefail", "-c", "\n".join(script)], folder, place)
    if status != expected:
        sys.exit(f"{place}: exit code {status} instead of {expected}\n{block.text}\n{output}")
    return output


def run(page, program, programs, root):
    os.environ["PATH"] = os.path.dirname(program) + os.pathsep + os.environ["PATH"]
    folder = tempfile.mkdtemp(prefix="rattleback-docs-")
    count = 0
    try:
        os.makedirs(os.path.join(folder, "build"))
        os.symlink(os.path.dirname(program), os.path.join(folder, "build/release"))
        for name in ("docs", "scenes"):
            os.symlink(os.path.join(root, name), os.path.join(folder, name))
        output = None
        for block in read_blocks(page):
            place = f"{page}:{block.line}"
            saved = re.search(r"[Ss]ave (?:this|it) as `([^`]+)`", block.before)
            if block.kind == "text" and output is not None:
                compare(block.text, output, place)
            elif block.kind == "sh":
                output = run_shell(block, place, root, folder)
                count += 1
            elif block.kind == "c":
                status, output = run_command([os.path.join(programs, program_name(page, block))], folder, place)
                if status != 0:
                    sys.exit(f"{place}: exit code {status}\n{output}")
                count += 1
            elif saved:
                with open(os.path.join(folder, saved.group(1)), "w", encoding="utf-8") as file:
                    file.write(block.text)
    finally:
        shutil.rmtree(folder)
    if count == 0:
        sys.exit(f"{page}: nothing to run")
    print(f"{page}: {count} blocks run")


if __name__ == "__main__":
    {"extract": extract, "run": run}[sys.argv[1]](*sys.argv[2:])
