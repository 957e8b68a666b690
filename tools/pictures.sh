#!/usr/bin/env bash
# Draws the pictures of the documentation: tools/pictures.sh PROGRAM [FOLDER [WIDTHxHEIGHT [NAME...]]]
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
program=$1
folder=${2:-$here/docs/images/scenes}
size=${3:-800x450}
shift $(($# < 3 ? $# : 3))
mkdir -p "$folder"
while read -r scene time options; do
    case "$scene" in "" | "#"*) continue ;; esac
    if [ $# -gt 0 ] && [[ " $* " != *" $scene "* ]]; then continue; fi
    echo "$scene"
    # shellcheck disable=SC2086 # the options are several words
    "$program" run "$here/scenes/$scene.json" --duration "$time" --size "$size" --png "$folder/$scene.png" --quiet \
        $options
done <"$here/tools/pictures.txt"
