#!/usr/bin/env bash
# Checks that clang-format would change nothing; with --fix it formats instead.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --fix ]; then
    tools/list_c_files.sh c h | xargs -r -d '\n' clang-format -i
    exit 0
fi
# The first location in each file is enough.
if ! output=$(tools/list_c_files.sh c h | xargs -r -d '\n' clang-format --dry-run -Werror 2>&1); then
    grep -E '^[^ ]+:[0-9]+:[0-9]+: error:' <<<"$output" | sort -t: -u -k1,1 >&2 || printf '%s\n' "$output" >&2
    echo "format: 'make format' fixes these files" >&2
    exit 1
fi
