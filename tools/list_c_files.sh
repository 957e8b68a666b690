#!/usr/bin/env bash
# Prints the C files of the project that end in one of the given suffixes (default: c h), one per line.
set -euo pipefail
cd "$(dirname "$0")/.."

folders=()
for folder in include src lab app examples test bench validation verify; do
    if [ -d "$folder" ]; then
        folders+=("$folder")
    fi
done
if [ $# -eq 0 ]; then
    set -- c h
fi
for suffix in "$@"; do
    find "${folders[@]}" -name node_modules -prune -o -type f -name "*.$suffix" -print
done | LC_ALL=C sort
