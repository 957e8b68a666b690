#!/usr/bin/env bash
# Tests build/wasm/rattleback.wasm under Node: the hashes of scenes are the native ones, and bad input gets a sentence.
#
#   tools/test_wasm.sh          all short scenes
#   tools/test_wasm.sh --all    all scenes; some minutes
set -euo pipefail
cd "$(dirname "$0")/.."

node test/wasm/scenes.mjs "$@"
node --test test/wasm/*.test.mjs
