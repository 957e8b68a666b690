#!/usr/bin/env bash
# Tests the Debian packages of make deb in a clean Debian 12, made by debootstrap; needs root.
#
#   tools/test_deb.sh [FOLDER]   the folder of the packages, default build/deb/packages
#
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/debian_root.sh
packages=$(cd "${1:-build/deb/packages}" && pwd)

echo "=== lintian"
lintian --allow-root --fail-on error "$packages"/*.deb

echo "=== debootstrap"
make_debian_root "$packages/debootstrap.log"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages/"

echo "=== dependencies"
# minbase keeps documentation; man-db opens the pages, the rest is for the examples.
depends=$(for file in "$packages"/*.deb; do dpkg-deb -f "$file" Depends; done | tr ',' '\n' | sed 's/(.*//; s/|.*//; s/ //g' |
    grep -v '^librattleback' | sort -u)
# shellcheck disable=SC2086 # word splitting is intended
inside apt-get -q install -y --no-install-recommends $depends man-db cmake make pkg-config gcc g++ libc6-dev >"$packages/apt.log" 2>&1 ||
    { tail -n 20 "$packages/apt.log" >&2; exit 1; }

echo "=== dpkg -i"
inside sh -c 'dpkg -i /packages/*.deb'

echo "=== man rattleback"
inside man rattleback >"$root/man.txt" && head -n 5 "$root/man.txt"
inside man rattleback-run >"$root/man.txt" && grep -q 'EXIT STATUS' "$root/man.txt"

echo "=== rattleback run, rattleback view"
inside rattleback run tumbling-box --duration 1
inside rattleback view rattleback --for 1

if [ -n "$(find "$packages" -name 'python3-rattleback_*.deb')" ]; then
    echo "=== python3"
    inside python3 -c "import rattleback; rattleback.demo('/root/demo.html', duration=1.0)"
    inside dpkg -r python3-rattleback
fi

echo "=== examples"
inside sh -ec 'cp -r /usr/share/doc/librattleback-dev/examples /root/examples
    for folder in /root/examples/*/; do
        name=$(basename "$folder" | tr - _)
        make -s -C "$folder"
        "$folder/$name" >/dev/null
        make -s -B -C "$folder" STATIC=1
        "$folder/$name" >/dev/null
        cmake -S "$folder" -B "$folder/built" >/dev/null
        cmake --build "$folder/built" >/dev/null
        "$folder/built/$name"
    done'

echo "=== removal"
inside dpkg -r rattleback librattleback-dev librattleback0.1
echo "test_deb: passed"
