#!/usr/bin/env bash
# tools/run_tests.sh PRESET LEVEL [REGEX]: runs the tests of build/PRESET whose names match, and reports how many ran, passed, failed
# and were skipped. A skipped test proves nothing, so it fails the run: tools/setup.sh installs everything the tests need.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
level=$2
regex=${3:-}

log=build/$preset/test.log
status=0
RB_TEST_LEVEL=$level ctest --test-dir "build/$preset" -j "${JOBS:-2}" --output-on-failure --no-tests=error \
    ${regex:+-R "$regex"} | tee "$log" || status=$?

# A test that waits for a clock, a server or a browser may fail because the machine was held up by others: it gets a second
# try, alone, and the report names it. All other tests compute: those fail at once.
waiting='^(viewer[.]|test_server[.]|test_cli[.]test_(view|losses|checkpoints)[.])'
if [ "$status" -ne 0 ]; then
    mapfile -t failed < <(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*(Failed|Timeout).*/\1/p' "$log")
    others=0
    for name in "${failed[@]}"; do
        [[ $name =~ $waiting ]] || others=1
    done
    if [ ${#failed[@]} -gt 0 ] && [ ${#failed[@]} -le 3 ] && [ "$others" -eq 0 ]; then
        printf 'second try, alone: %s\n' "${failed[@]}"
        again=$(printf '|%s' "${failed[@]//./[.]}")
        if RB_TEST_LEVEL=$level ctest --test-dir "build/$preset" -j 1 --output-on-failure -R "^(${again:1})$"; then
            status=0
            sed -i -E "s/(: (${again:1}) [.]+)\*\*\*(Failed|Timeout)/\1   Passed/" "$log"
            printf 'passed at the second try only: %s\n' "${failed[@]}"
        fi
    fi
fi

# One line per test: "  3/80 Test  #3: group.name ....   Passed    0.01 sec"
count() {
    grep -cE "^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*$1 +[0-9.]+ sec" "$log" || true
}
passed=$(count ' Passed')
skipped=$(count '\*\*\*Skipped')
total=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: ' "$log" || true)
printf '%d tests ran\n%d passed, %d failed, %d skipped\n' "$((total - skipped))" "$passed" "$((total - passed - skipped))" "$skipped"
if [ "$skipped" -gt 0 ]; then
    echo "tests: these tests were skipped:" >&2
    grep -E 'Test +#[0-9]+: .*\*\*\*Skipped' "$log" | sed 's/.*: \([^ ]*\) .*/  \1/' >&2
    exit 1
fi
exit "$status"
