#!/usr/bin/env bash
# Builds the engine as WebAssembly: build/wasm/rattleback.wasm. Needs the packages of 'tools/setup.sh wasm'.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=build/wasm
mkdir -p "$folder"
tools/wasm_sources.sh build/wasm-sources

# LLVM 14 compiles some of our code wrongly for WebAssembly (a free top, distances of meshes) unless it neither vectorizes by
# itself nor lets local variables share the stack. 'make test-wasm' compares the hashes of all scenes with the native ones.
flags="-O3 -msimd128 -fno-vectorize -fno-slp-vectorize -mllvm -no-stack-coloring"
if ! cmake --preset wasm -DRB_WASM_SOURCES="$PWD/build/wasm-sources" -DCMAKE_C_FLAGS_RELEASE="$flags" \
    >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    exit 1
fi
cmake --build "$folder" -j "${JOBS:-$(nproc)}" --target rattleback_engine -- --quiet | { grep -vx 'ninja: no work to do.' || true; }
