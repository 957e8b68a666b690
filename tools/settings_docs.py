#!/usr/bin/env python3
"""Renews what the documentation says of settings, shapes and forces from the lists and tables in the program.

Usage: tools/settings_docs.py PROGRAM

Definitions of docs/scene.schema.json, and tables of docs/scene-format.md between <!-- settings NAME --> and <!-- end of settings -->. The test
test_cli.test_settings fails where they are not what the program says.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
WIDTH = 120


def ask(program, *words):
    return subprocess.run([program, "settings", *words], check=True, capture_output=True, text=True).stdout


def lay_out(value, indent):
    """JSON with short objects and arrays on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict) or len(line) + indent <= WIDTH and not any(isinstance(v, dict) for v in value.values()):
        return line
    pad = " " * (indent + 2)
    items = [f"{pad}{json.dumps(key)}: {lay_out(item, indent + 2)}" for key, item in value.items()]
    return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"


def add_definition(lines, start, name):
    """Makes room for a new shape or force before the choice that it belongs to, and adds it to the choice."""
    choice = lines.index('    "force": {' if name.startswith("force") else '    "geometry": {', start)
    first = lines.index('      "oneOf": [', choice) + 1
    lines.insert(first, f'        {{"$ref": "#/$defs/{name}"}},')
    lines[choice:choice] = [f'    "{name}": {{', "    },"]


def renew_schema(program):
    path = DOCS / "scene.schema.json"
    lines = path.read_text().split("\n")
    for name, definition in json.loads(ask(program, "--json")).items():
        start = lines.index('  "$defs": {')
        if f'    "{name}": {{' not in lines[start:]:
            add_definition(lines, start, name)
        begin = lines.index(f'    "{name}": {{', start)
        end = next(i for i in range(begin, len(lines)) if lines[i] in ("    },", "    }"))
        text = f'    "{name}": ' + lay_out(definition, 4) + lines[end][5:]
        lines[begin:end + 1] = text.split("\n")
    path.write_text("\n".join(lines))


def renew_tables(program):
    path = DOCS / "scene-format.md"
    text = path.read_text()
    pattern = re.compile(r"(<!-- settings (\w+) -->\n).*?(<!-- end of settings -->)", re.S)
    text = pattern.sub(lambda m: m[1] + ask(program, m[2], "--markdown") + m[3], text)
    path.write_text(text)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    renew_schema(sys.argv[1])
    renew_tables(sys.argv[1])


main()
