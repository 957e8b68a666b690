#!/usr/bin/env bash
# Packs the npm package: build/npm/rattleback-VERSION.tgz, from build/wasm/rattleback.wasm and npm/.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=build/npm
rm -rf "$folder"
mkdir -p "$folder/package"
cp npm/index.js npm/index.d.ts npm/README.md app/browser/engine.js build/wasm/rattleback.wasm "$folder/package/"
chmod 644 "$folder/package/rattleback.wasm"
version=$(sed -n 's/^#define RB_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/rattleback/base.h | paste -sd .)
sed "s/\"version\": \"0.0.0\"/\"version\": \"$version\"/" npm/package.json >"$folder/package/package.json"
for text in LICENSE build/wasm-sources/{jansson/LICENSE,zstd/LICENSE,qhull/COPYING.txt,suitesparse/AMD/Doc/License.txt}; do
    printf '==== %s\n' "${text#build/wasm-sources/}"
    cat "$text"
done >"$folder/package/licenses.txt"
(cd "$folder" && npm pack ./package --loglevel=error >/dev/null)
ls "$folder"/*.tgz
