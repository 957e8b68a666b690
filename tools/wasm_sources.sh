#!/usr/bin/env bash
# Fetches the sources of the libraries that the WebAssembly build compiles itself, in the versions of Debian 12:
# jansson, zstd, qhull, and AMD of SuiteSparse.
#
#   tools/wasm_sources.sh FOLDER    unpacks them into FOLDER/{jansson,zstd,qhull,suitesparse}; does nothing if they are there
#
# Archives come from the package mirrors this machine already uses (apt-get source) and must have the checksums below.
# RB_WASM_ARCHIVES may name a folder that already has the archives: then no network is used.
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: tools/wasm_sources.sh FOLDER" >&2
    exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# name, source package with its version, archive, sha256, what is unpacked
sources=(
    "jansson jansson=2.14-2 jansson_2.14.orig.tar.gz c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b jansson-2.14/src jansson-2.14/LICENSE"
    "zstd libzstd=1.5.4+dfsg2-5 libzstd_1.5.4+dfsg2.orig.tar.xz 8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953 zstd-1.5.4/lib zstd-1.5.4/LICENSE"
    "qhull qhull=2020.2-5 qhull_2020.2.orig.tar.gz b5c2d7eb833278881b952c8a52d20179eab87766b00b865000469a45c1838b7e qhull-2020.2/src/libqhull_r qhull-2020.2/COPYING.txt"
    "suitesparse suitesparse=1:5.12.0+dfsg-2 suitesparse_5.12.0+dfsg.orig.tar.xz bb106c43049138c19675cd70322e72ff8e4fd8bdcab3a096307fd78488913faf SuiteSparse-5.12.0/AMD SuiteSparse-5.12.0/SuiteSparse_config"
)

isComplete=1
for source in "${sources[@]}"; do
    read -r name _ _ sum _ <<<"$source"
    [ "$(cat "$folder/$name/.sum" 2>/dev/null)" = "$sum" ] || isComplete=0
done
[ $isComplete -eq 0 ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archives=${RB_WASM_ARCHIVES:-}
if [ -z "$archives" ]; then
    archives=$work
    # The package sources of this machine, asked for source packages, in a folder of our own: /etc/apt stays as it is.
    mkdir -p "$work/parts" "$work/lists/partial" "$work/cache"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        [ -f "$file" ] && sed -e 's/^Types:.*/Types: deb-src/' -e 's/^deb[[:space:]]/deb-src /' "$file" >"$work/parts/$(basename "$file")"
    done
    options=(-qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/parts" -o Dir::State::lists="$work/lists"
        -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)")
    packages=()
    for source in "${sources[@]}"; do
        read -r _ package _ <<<"$source"
        packages+=("$package")
    done
    echo "wasm: fetching the sources of ${packages[*]}"
    if ! (cd "$work" && apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only "${packages[@]}") \
        >"$work/log" 2>&1 </dev/null; then
        tail -n 20 "$work/log" >&2
        echo "wasm: apt-get could not fetch the sources; its last output is above. Check the network, or put the archives" \
            "into a folder and name it in RB_WASM_ARCHIVES" >&2
        exit 1
    fi
fi

for source in "${sources[@]}"; do
    read -r name _ archive sum parts <<<"$source"
    found=$(sha256sum "$archives/$archive" | cut -d ' ' -f 1)
    if [ "$found" != "$sum" ]; then
        echo "wasm: $archive has the checksum $found, not $sum: it is damaged or another version; delete it and try again" >&2
        exit 1
    fi
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder/$name"
    # shellcheck disable=SC2086 # parts is a list
    tar -xf "$archives/$archive" -C "$folder/$name" --strip-components=1 $parts
    echo "$sum" >"$folder/$name/.sum"
done
