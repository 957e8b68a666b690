#!/usr/bin/env python3
"""A public header for doxygen: settings structs with the members that their lists make.

A settings struct is a list in its header (RB_..._SETTINGS, see RB_SETTING_FIELD in base.h), and
doxygen drops the sentences of a macro when it expands it. This writes each member with a comment.
"""
import re
import sys

TEXT = open(sys.argv[1], encoding="utf-8").read()


def split(row):
    """The arguments of a row, at commas outside of brackets and strings."""
    parts, depth, start, is_text = [], 0, 0, False
    for i, letter in enumerate(row):
        if letter == '"' and row[i - 1] != "\\":
            is_text = not is_text
        elif not is_text and letter in "(":
            depth += 1
        elif not is_text and letter in ")":
            depth -= 1
        elif not is_text and letter == "," and depth == 0:
            parts.append(row[start:i].strip())
            start = i + 1
    return parts + [row[start:].strip()]


def join(text):
    """The content of adjacent string literals."""
    return re.sub(r'"\s*"', "", text).strip('"').replace('\\"', '"')


def read_rows(body):
    """The arguments of every X(...)."""
    rows, place = [], 0
    while (begin := body.find("X(", place)) >= 0:
        depth, i, is_text = 0, begin + 1, False
        while True:
            if body[i] == '"' and body[i - 1] != "\\":
                is_text = not is_text
            depth += (body[i] == "(" and not is_text) - (body[i] == ")" and not is_text)
            i += 1
            if depth == 0:
                break
        rows.append(split(body[begin + 2:i - 1]))
        place = i
    return rows


def describe(row):
    kind, member, key, fallback, accepted, unit, meaning = row
    words = [join(meaning), f"default {join(fallback)}"]
    if join(unit):
        words.insert(0, join(unit) + ":")
    if key != "NULL" and join(key) != member:
        words.append(f"key {join(key)} of scenes")
    text = words[0] + " " + "; ".join(words[1:]) if join(unit) else "; ".join(words)
    return f"    {kind} {member}; ///< {text}\n"


LISTS = {}
for match in re.finditer(r"#define (RB_\w+_SETTINGS)\(X\)((?:.*\\\n)*.*\n)", TEXT):
    LISTS[match[1]] = "".join(describe(row) for row in read_rows(match[2].replace("\\\n", "\n")))

sys.stdout.write(re.sub(r" *(RB_\w+_SETTINGS)\(RB_SETTING_FIELD\)\n", lambda m: LISTS[m[1]], TEXT))
