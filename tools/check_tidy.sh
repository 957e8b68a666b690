#!/usr/bin/env bash
# clang-tidy over every .c file, or those given; prints only problems. Needs a configured tree, not a
# built one, so it configures its own, with everything switched on.
#
#   tools/check_tidy.sh [--recent | FILE...]   --recent: files changed in the last three hours of commits,
#                                              as CI does: all of them take 40 minutes on two cores
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --recent ]; then
    shift
    before=$(git rev-list -1 --before="@$(($(git log -1 --format=%ct) - 3 * 3600))" HEAD)
    if [ -n "$before" ]; then # otherwise there is nothing older: all files
        mapfile -t recent < <(git diff --name-only --diff-filter=d "$before" HEAD -- '*.c' |
            grep -Ev '^(examples|app/browser|python)/' || true)
        [ ${#recent[@]} -gt 0 ] || exit 0
        set -- "${recent[@]}"
    fi
fi

folder=build/tidy
mkdir -p "$folder"
if ! CC=clang cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DRB_BUILD_FUZZ=ON -DRB_MPI="$(command -v mpicc >/dev/null && echo ON || echo OFF)" \
    >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    exit 1
fi

# A file that no target compiles would be checked with wrong options, and is a mistake anyway.
failed=0
if [ $# -gt 0 ]; then
    printf '%s\n' "$@"
else
    tools/list_c_files.sh c | grep -Ev '^(examples|app/browser)/' # compiled from an installed tree, by emscripten
fi | while read -r file; do
    if grep -qF "\"file\": \"$PWD/$file\"" "$folder/compile_commands.json"; then
        echo "$file"
    else
        echo "$file: no target compiles this file; add it to a files.cmake" >&2
    fi
done >"$folder/files" 2>"$folder/strays"
if [ -s "$folder/strays" ]; then
    cat "$folder/strays" >&2
    failed=1
fi

# shellcheck disable=SC2317 # called by xargs below
tidyOne() {
    local output
    if ! output=$(clang-tidy -p "$1" --quiet "$2" 2>/dev/null); then
        printf '%s\n' "${output:-$2: clang-tidy failed}"
        return 1
    fi
}
export -f tidyOne
if ! xargs -r -d '\n' -P "${JOBS:-$(nproc)}" -I{} bash -c 'tidyOne "$@"' _ "$folder" {} <"$folder/files"; then
    failed=1
fi
exit "$failed"
