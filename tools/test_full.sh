#!/usr/bin/env bash
# `make test-full`: all tests with every random case; the log of a passed run becomes test/logs/test-full.log.
# EXCLUDE='regex' excludes tests, and the log says which.
set -euo pipefail
cd "$(dirname "$0")/.."

log=build/test-full.log
{
    echo "commit   $(git describe --always --dirty --abbrev=40 2>/dev/null || echo unknown)"
    echo "machine  $(uname -srm), $(nproc) cores, $(gcc --version | head -n 1)"
    echo "date     $(date -u '+%Y-%m-%d %H:%M UTC')"
    [ -z "${EXCLUDE:-}" ] || echo "without  $EXCLUDE"
    echo
} >"$log"
cat "$log"
if ! RB_TEST_LEVEL=full ctest --test-dir build/release -j "${JOBS:-2}" --output-on-failure \
    --no-tests=error ${EXCLUDE:+-E "$EXCLUDE"} 2>&1 | sed -u "s|$PWD/||g" | tee -a "$log"; then
    echo "test-full: failed; the log is $log, test/logs/test-full.log is unchanged" >&2
    exit 1
fi
cp "$log" test/logs/test-full.log
echo "test-full took $SECONDS s; the log is test/logs/test-full.log"
