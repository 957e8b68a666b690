"""Turns the public headers of Rattleback into declarations that cffi understands.

All functions, structs, enumerators and integer macros of include/rattleback/ are taken; nothing is listed by hand. Run as
a script, it prints the declarations.
"""
import os
import re
import subprocess
import sys

HEADERS = ("rattleback.h", "scene.h", "output.h", "lab.h", "lab_contact.h", "lab_distance.h", "lab_impact.h",
           "lab_joints.h", "lab_ray_detector.h", "lab_ray_frames.h", "lab_rays.h")
# Takes a variable number of arguments of any type; Python has its own way to make messages.
SKIPPED = ("rbError_Set", "rbAssertFailed")


def includes():
    """The lines of C that include all public headers."""
    return "".join(f"#include <rattleback/{name}>\n" for name in HEADERS)


def preprocess(folder, compiler):
    """The text of our headers after the preprocessor, without that of the system."""
    command = [compiler, "-E", "-x", "c", "-std=c17", "-I", folder, "-"]
    text = subprocess.run(command, input=includes(), capture_output=True, text=True, check=True).stdout
    lines, ours = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = marker[1].startswith(folder)
        elif ours and line.strip():
            lines.append(line)
    return "\n".join(lines) + "\n"


def drop_attributes(text):
    """Removes __attribute__((...)), whose parentheses nest."""
    while (start := text.find("__attribute__")) >= 0:
        end, depth = text.index("(", start), 0
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        text = text[:start] + text[end:]
    return text


def drop_bodies(text):
    """Inline functions become declarations."""
    out, position = [], 0
    for match in re.finditer(r"static inline ([^{;]*?)\s*\{", text):
        if match.start() < position:
            continue
        out += [text[position:match.start()], match[1], ";"]
        end, depth = match.end() - 1, 0
        while True:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        position = end
    return "".join(out) + text[position:]


def macros(folder):
    """Integer macros of the headers, whose values the compiler computes; module.h is for modules in C, cluster.h for MPI."""
    found = []
    for name in sorted(set(HEADERS) | set(os.listdir(folder + "/rattleback")) - {"module.h", "cluster.h"}):
        with open(f"{folder}/rattleback/{name}", encoding="utf-8") as file:
            for line in file:
                match = re.match(r"#define (RB_[A-Z0-9_]+) (\(?[-\d<( )a-z_|A-Z]+\)?)\s*(///<.*)?$", line)
                if match and match[1] not in found and re.fullmatch(r"[-\d<>|() ]+|\(?\(\(?size_t\)\d+ << \d+\)?", match[2]):
                    found.append(match[1])
    return "".join(f"#define {name} ...\n" for name in sorted(found))


def declarations(folder, compiler="cc"):
    """Everything for ffi.cdef()."""
    folder = os.path.abspath(folder)
    text = drop_bodies(drop_attributes(preprocess(folder, compiler)))
    text = re.sub(r"_Static_assert\s*\([^;]*\);", "", text)
    text = re.sub(r"\b(static|extern|inline)\b ", "", text)
    # Debian's cffi 1.15 writes invalid C for constant pointers to arrays.
    text = re.sub(r"\bconst (\w+) \(\*(\w+)\)\[", r"\1 (*\2)[", text)
    # The size of a member array may be an expression; the compiler knows it.
    text = re.sub(r"\[[^\]\d][^\]]*\]|\[\d+ [^\]]*\]", "[...]", text)
    for name in SKIPPED:
        text = re.sub(rf"[^;}}]*\b{name}\([^;]*;", "", text)
    return text + macros(folder)


if __name__ == "__main__":
    sys.stdout.write(declarations(os.path.join(os.path.dirname(__file__), "..", "..", "include")))
