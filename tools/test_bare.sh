#!/usr/bin/env bash
# Tests make install on a bare Debian 12 that has make and git only: a clean clone of HEAD, then every case of
# test/install/check.sh on what was installed; needs root and about ten minutes.
#
#   tools/test_bare.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/debian_root.sh
mkdir -p build/bare

echo "=== debootstrap"
make_debian_root build/bare/debootstrap.log
inside apt-get -q install -y --no-install-recommends make git >build/bare/apt.log 2>&1 || { tail -n 20 build/bare/apt.log >&2; exit 1; }
git clone -q --no-local . "$root/root/rattleback"

echo "=== make install PREFIX=/tmp/rb"
inside make -C /root/rattleback install PREFIX=/tmp/rb
foreign=$(nm -D --defined-only "$root"/tmp/rb/lib/librattleback*.so | awk 'NF == 3 && $3 !~ /^rb/ {print $3}')
[ -z "$foreign" ] || { echo "test_bare: names that do not start with rb: $foreign" >&2; exit 1; }
inside /tmp/rb/bin/rattleback run tumbling-box --duration 1
inside /tmp/rb/bin/rattleback view rattleback --for 1

# What a user of the library has who builds with CMake and pkg-config in C and C++, and reads the manual.
inside apt-get -q install -y --no-install-recommends man-db pkg-config g++ >>build/bare/apt.log 2>&1 || { tail -n 20 build/bare/apt.log >&2; exit 1; }
echo "=== test/install/check.sh"
inside ctest --test-dir /root/rattleback/build/release -R '^install[.]' --output-on-failure
inside man -M /tmp/rb/share/man rattleback >"$root/man.txt" && head -n 5 "$root/man.txt"

echo "=== make uninstall"
inside make -C /root/rattleback uninstall PREFIX=/tmp/rb
left=$(find "$root/tmp/rb" -type f -o -type l)
[ -z "$left" ] || { echo "test_bare: uninstall left $left" >&2; exit 1; }
echo "test_bare: passed"
