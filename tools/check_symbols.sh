#!/usr/bin/env bash
# Checks the names of the libraries:
#   - every name that the shared ones export, and every name visible to an embedder who links the core statically, starts
#     with rb;
#   - of libm the core uses only functions that every machine rounds alike (sqrt, and exact functions); otherwise the
#     promise of the same bits everywhere would be broken.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=build/shared
mkdir -p "$folder"
if ! cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DRB_BUILD_SHARED=ON -DRB_BUILD_TESTS=OFF -DRB_BUILD_PROGRAM=OFF >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    exit 1
fi
cmake --build "$folder" -j "${JOBS:-$(nproc)}" -- --quiet | { grep -vx 'ninja: no work to do.' || true; }
mapfile -t libraries < <(find "$folder" -maxdepth 1 -name 'librattleback*.so*' -type f | LC_ALL=C sort)
mapfile -t objects < <(find "$folder" -name '*.o' -path '*rattleback.dir*' | LC_ALL=C sort)

failed=0
# list_problems TITLE: reads lines, prints them under the title, and records the failure.
list_problems() {
    local lines
    lines=$(cat)
    if [ -n "$lines" ]; then
        printf '%s:\n%s\n' "$1" "$lines" >&2
        failed=1
    fi
}

for library in "${libraries[@]}"; do
    exported=$(nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' | sort -u)
    if [ -z "$exported" ]; then
        echo "symbols: $library exports nothing" >&2
        failed=1
    fi
    # rb_0.1 and rb_private are the versions of the names.
    list_problems "symbols: names exported by $library that do not start with rb" \
        < <(grep -Ev '^rb([A-Z]|_[0-9.]+$|_private$)' <<<"$exported" || true)
done

# "file: name" of every global definition and of every undefined reference.
named() {
    nm -A "$@" "${objects[@]}" | sed -E "s|^.*rattleback.dir/([^:]*)\.o:.* ([^ ]+)$|\1: \2|" | sort -u
}
list_problems "symbols: global names that do not start with rb" \
    < <(named --defined-only --extern-only | grep -Ev ': rb[A-Z][A-Za-z0-9_]*$' || true)

# Correctly rounded or exact in every libm; the last row lists glibc's names of isfinite and related macros.
exact='sqrt|fabs|floor|ceil|trunc|round|rint|nearbyint|lround|llround|lrint|llrint|copysign|fmin|fmax|fdim|fma'
exact+='|ldexp|frexp|scalbn|scalbln|logb|ilogb|modf|fmod|remainder|nextafter|nan'
exact+='|__fpclassify|__signbit|__isnan|__isinf|__finite|finite|isnan|isinf'
libm=$(gcc -print-file-name=libm.so.6)
mathNames=$(nm -D --defined-only "$libm" | awk '{print $NF}' | sed 's/@.*//' | sort -u |
    grep -Ev "^($exact)[fl]?$")
list_problems "symbols: functions of libm whose bits differ between machines (use base/math/elementary.h)" \
    < <(named --undefined-only | awk -F': ' 'NR == FNR {math[$1]; next} $2 in math' <(echo "$mathNames") -)
exit "$failed"
