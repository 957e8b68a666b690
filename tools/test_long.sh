#!/usr/bin/env bash
# `make test-long`: the tests at the level "long" with a seed drawn from the commit, a part of the aimed mutants, then every fuzz
# target.
#
# Each commit thus tests different random cases, and the printed seed repeats them:
#   RB_TEST_SEED=n make test-long
# FUZZ_SECONDS (60) is the time per fuzz target. A fuzz target works on a copy of its corpus in
# test/fuzz/corpus; inputs that broke it are kept in build/fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

limitSeconds=1200
mutantSeconds=120
fuzzSeconds=${FUZZ_SECONDS:-60}
jobs=${JOBS:-2}

if [ -z "${RB_TEST_SEED:-}" ]; then
    commit=$(git rev-parse HEAD 2>/dev/null || true)
    if [[ "$commit" =~ ^[0-9a-f]{40} ]]; then
        RB_TEST_SEED=$((16#${commit:0:15}))
    else
        RB_TEST_SEED=20261115
    fi
fi
export RB_TEST_SEED
export RB_TEST_LEVEL=long
echo "seed $RB_TEST_SEED (repeat with RB_TEST_SEED=$RB_TEST_SEED make test-long)"

targets=()
for file in build/fuzz/fuzz_*; do
    if [ -f "$file" ] && [ -x "$file" ]; then
        targets+=("$file")
    fi
done

# The time limit minus the time of the fuzz targets and mutants is left for the tests.
testSeconds=$((limitSeconds - 30 - mutantSeconds - ${#targets[@]} * (fuzzSeconds + 15)))
if [ "$testSeconds" -lt 60 ]; then
    echo "test-long: ${#targets[@]} fuzz targets of $fuzzSeconds s leave no time for the tests;" \
        "lower FUZZ_SECONDS" >&2
    exit 2
fi
status=0
timeout "$testSeconds" ctest --test-dir build/release -j "$jobs" --output-on-failure \
    --no-tests=error || status=$?
if [ "$status" -eq 124 ]; then
    echo "test-long: the tests did not finish within $testSeconds s" >&2
fi
if [ "$status" -ne 0 ]; then
    exit "$status"
fi

# A twentieth of the mutants that name what the test of a feature must notice, another one with every seed.
part=$((RB_TEST_SEED % 20))
timeout "$mutantSeconds" tools/mutate.py --aimed --build build/release --part "$part/20" --jobs "$jobs"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
artifacts=build/fuzz/artifacts
mkdir -p "$artifacts"
failed=0
for target in "${targets[@]}"; do
    name=$(basename "$target")
    corpus=$work/$name
    mkdir -p "$corpus"
    for source in "test/fuzz/corpus/$name" "test/fuzz/corpus/${name#fuzz_}"; do
        if [ -d "$source" ]; then
            cp -R "$source/." "$corpus/"
        fi
    done
    options=(-max_total_time="$fuzzSeconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
        -seed=$((RB_TEST_SEED % 2147483647 + 1)) -artifact_prefix="$artifacts/$name-")
    dictionary=test/fuzz/${name#fuzz_}.dict
    if [ -f "$dictionary" ]; then
        options+=(-dict="$dictionary")
    fi
    if "$target" "${options[@]}" "$corpus" </dev/null >"$work/$name.log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log")
        echo "$name: ${runs:-?} inputs in $fuzzSeconds s, none broke it"
    else
        failed=1
        tail -n 60 "$work/$name.log" >&2
        echo "$name: an input broke it; kept:" >&2
        find "$artifacts" -name "$name-*" >&2
    fi
done
if [ ${#targets[@]} -eq 0 ]; then
    echo "test-long: there are no fuzz targets in build/fuzz" >&2
    failed=1
fi
echo "test-long took $SECONDS s"
exit "$failed"
