#!/usr/bin/env python3
"""Prints a Markdown page as doxygen needs it: labels on headings, links between pages as links to labels.

Doxygen 1.9.4 supports neither the anchors that Git hosts generate for headings nor links to headings of other pages.
The pages in the tree stay plain Markdown; docs/Doxyfile passes them through this filter.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def slug(heading):
    """The anchor that Git hosts generate for a heading."""
    text = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def label(path, anchor=""):
    """The label of a page or of one of its headings; path is relative to the root of the tree."""
    page = re.sub(r"\W", "_", re.sub(r"^docs/|\.md$", "", path)).lower()
    return f"page_{page}" + (f"_{re.sub(r'[^a-z0-9]', '_', anchor.lower())}" if anchor else "")


def rewrite_link(match, path):
    text, target = match.group(1), match.group(2)
    file, _, anchor = target.partition("#")
    goal = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
    return f"[{text}](#{label(goal, anchor)})" if goal.endswith(".md") else text


def rewrite_prose(line, path):
    """Rewrites links and images outside of code spans."""
    parts = re.split(r"(`+[^`]*`+)", line)
    code = {}

    def hide(part):
        key = f"\x00{len(code)}\x00"
        code[key] = part
        return key

    line = "".join(hide(part) if part.startswith("`") else part for part in parts)
    line = re.sub(r"!\[([^]]*)\]\(([^)]*)\)", lambda m: f"![{m[1]}]({os.path.basename(m[2])})", line)
    line = re.sub(r"(?<!!)\[([^]]*)\]\(([^)\s]*)\)", lambda m: rewrite_link(m, path), line)
    return re.sub(r"\x00\d+\x00", lambda m: code[m[0]], line)


def main():
    path = os.path.relpath(os.path.abspath(sys.argv[1]), ROOT)
    fence = None
    seen = {}
    with open(sys.argv[1], encoding="utf-8") as file:
        for number, line in enumerate(file):
            line = line.rstrip("\n")
            mark = re.match(r"\s*(```+|~~~+)", line)
            if fence:
                fence = None if mark and mark[1].startswith(fence) else fence
            elif mark:
                fence = mark[1]
            elif (heading := re.match(r"(#+) (.*)", line)) is not None:
                anchor = slug(heading[2])
                seen[anchor] = seen.get(anchor, -1) + 1
                anchor += f"-{seen[anchor]}" if seen[anchor] else ""
                line = f"{heading[1]} {heading[2]} {{#{label(path, anchor if number else '')}}}"
            else:
                line = rewrite_prose(line, path)
            print(line)


main()
