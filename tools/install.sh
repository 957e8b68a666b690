#!/usr/bin/env bash
# Installs build/release (or $RB_BINARY_DIR) into a folder, or removes what it installed there.
#
#   tools/install.sh PREFIX            installs; keeps a list of the files in share/rattleback
#   tools/install.sh --remove PREFIX   removes the files of that list and the folders that become empty
#
# DESTDIR, if set, is prepended to every path, as packagers expect.
set -euo pipefail

isRemoval=false
if [ "${1:-}" = --remove ]; then
    isRemoval=true
    shift
fi
prefix=${1:-}
if [[ $prefix != /* ]]; then
    echo "install: PREFIX is '$prefix'; it must be an absolute path, e.g. make install PREFIX=/usr/local" >&2
    exit 2
fi
prefix=${prefix%/}
root=${DESTDIR:-}$prefix
list=$root/share/rattleback/install_manifest.txt

if $isRemoval; then
    if [ ! -f "$list" ]; then
        echo "uninstall: there is no list of installed files in $list; was it installed with another PREFIX?" >&2
        exit 1
    fi
    # Paths are relative to PREFIX. Removes empty folders, deepest first.
    mapfile -t files <"$list"
    for file in "${files[@]}"; do
        rm -f -- "$root/$file"
    done
    rm -f -- "$list"
    { printf '%s\n' "${files[@]}"; echo share/rattleback/install_manifest.txt; } | while read -r file; do
        folder=$(dirname "$file")
        while [ "$folder" != . ]; do
            echo "$folder"
            folder=$(dirname "$folder")
        done
    done | sort -u | awk -F/ '{print NF, $0}' | sort -k1,1nr | cut -d' ' -f2- | while read -r folder; do
        rmdir --ignore-fail-on-non-empty -- "$root/$folder" 2>/dev/null || true
    done
    echo "uninstall: removed ${#files[@]} files from $root"
    exit 0
fi

cd "$(dirname "$0")/.."
build=${RB_BINARY_DIR:-build/release}
log=$build/install.log
if ! cmake --install "$build" --prefix "$prefix" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    exit 1
fi
mkdir -p "$(dirname "$list")"
sed "s|^$prefix/||" "$build/install_manifest.txt" >"$list"
echo >>"$list" # CMake's list has no trailing newline
echo "install: $(wc -l <"$list") files in $root; make uninstall PREFIX=$prefix removes them"
