#!/usr/bin/env bash
# Tests the Debian packages of make deb in a clean Debian 12, made by debootstrap; needs root.
#
#   tools/test_deb.sh [FOLDER]   the folder of the packages, default build/deb/packages
#
# Uses the mirror of this machine's own package sources.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(cd "${1:-build/deb/packages}" && pwd)
if [ "$(id -u)" -ne 0 ]; then
    echo "test_deb: a chroot needs root: sudo tools/test_deb.sh" >&2
    exit 2
fi

echo "=== lintian"
lintian --allow-root --fail-on error "$packages"/*.deb

# The first address of the package sources, and how apt reaches it.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
proxy=$(apt-config shell proxy Acquire::http::Proxy | sed "s/^proxy='\(.*\)'$/\1/")
[ -n "$mirror" ] || { echo "test_deb: the package sources of this machine have no Debian 12" >&2; exit 1; }

root=$(mktemp -d)
chmod 755 "$root"
cleanUp() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap cleanUp EXIT
echo "=== debootstrap"
http_proxy=${http_proxy:-$proxy} debootstrap --variant=minbase bookworm "$root" "$mirror" >"$packages/debootstrap.log" 2>&1 ||
    { tail -n 20 "$packages/debootstrap.log" >&2; exit 1; }
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
[ -z "$proxy" ] || echo "Acquire::http::Proxy \"$proxy\";" >"$root/etc/apt/apt.conf.d/90proxy"
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages/"

inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

echo "=== dependencies"
# minbase keeps documentation; man-db opens the pages, the rest is for the examples.
inside apt-get -q update >"$packages/apt.log"
depends=$(for file in "$packages"/*.deb; do dpkg-deb -f "$file" Depends; done | tr ',' '\n' | sed 's/(.*//; s/|.*//; s/ //g' |
    grep -v '^librattleback' | sort -u)
# shellcheck disable=SC2086 # word splitting is intended
inside apt-get -q install -y --no-install-recommends $depends man-db cmake make pkg-config gcc g++ libc6-dev >>"$packages/apt.log" 2>&1 ||
    { tail -n 20 "$packages/apt.log" >&2; exit 1; }

echo "=== dpkg -i"
inside sh -c 'dpkg -i /packages/*.deb'

echo "=== man rattleback"
inside man rattleback | head -n 5
inside man rattleback-run | grep -q 'EXIT STATUS'

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
