#!/usr/bin/env bash
# `make test-asan`: a tenth of the random cases under the address and undefined-behavior sanitizers.
#
# The leak check at the end of a process took 4.3 s on our aarch64 machine even for an empty program
# (gcc 12; clang 14: 3.1 s; perf: 97 % of it in __lsan::ForEachChunk). So each test program runs once as a
# whole here, not once per test as under CTest. A program that starts many of our processes checks for leaks
# only in the few runs at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/build/asan
logs=$folder/test-logs
startsProcesses='^test_cli$'
rm -rf "$logs"
mkdir -p "$logs"
export RB_TEST_LEVEL=quick
export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=detect_leaks=1

programs=()
for file in "$folder"/test_*; do
    if [ -f "$file" ] && [ -x "$file" ]; then
        programs+=("$(basename "$file")")
    fi
done
if [ ${#programs[@]} -eq 0 ]; then
    echo "test-asan: there are no test programs in build/asan" >&2
    exit 1
fi

# shellcheck disable=SC2317 # called by xargs below
runOne() {
    local start=$SECONDS
    if [[ "$1" =~ $startsProcesses ]] && [ "$(uname -m)" = aarch64 ]; then
        export ASAN_OPTIONS=detect_leaks=0
    fi
    if ! (cd "$folder" && timeout 1800 "./$1") >"$logs/$1" 2>&1 </dev/null; then
        grep -vE '^\[ (RUN |      OK )|^\[=' "$logs/$1" | tail -n 150
        echo "$1: FAILED; the whole log is build/asan/test-logs/$1"
        return 1
    fi
    echo "$1: $(grep -c '^\[       OK \]' "$logs/$1") tests passed, $((SECONDS - start)) s"
}
export -f runOne
export folder logs startsProcesses
printf '%s\n' "${programs[@]}" | xargs -P "${JOBS:-2}" -I{} bash -c 'runOne "$@"' _ {}

# The other CTest entries, besides those programs.
others=$(printf '|%s' "${programs[@]}")
ASAN_OPTIONS=detect_leaks=0 ctest --test-dir build/asan -j "${JOBS:-2}" --output-on-failure --no-tests=ignore \
    -E "^(${others:1})[.]" | { grep -vE '^(Internal ctest|Test project|No tests were found)' || true; }

# One run of the main verbs that does check for leaks.
program=$folder/rattleback
if [ -x "$program" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    for verb in "run scenes/tumbling-box.json --duration 0.5 --record $work/a.rbr --csv $work/a.csv --vtk $work/vtk" \
        "check scenes/tumbling-box.json" "info $work/a.rbr" "replay $work/a.rbr"; do
        # shellcheck disable=SC2086 # the words of a command line
        if ! "$program" $verb >"$logs/program" 2>&1 </dev/null; then
            cat "$logs/program" >&2
            echo "test-asan: rattleback $verb failed" >&2
            exit 1
        fi
    done
    echo "rattleback: run, check, info and replay leak nothing"
fi
