#!/usr/bin/env bash
# Installs missing Debian packages; does nothing when all are installed.
#
#   tools/setup.sh       packages for building and the demo
#   tools/setup.sh test  also packages for the tests
#   tools/setup.sh ci    also packages for the checks and the fuzz targets
#   tools/setup.sh bench also the peer libraries of the benchmarks
#   tools/setup.sh docs  also packages for the API reference
#   tools/setup.sh python also packages for building and testing the Python package
#   tools/setup.sh wasm  also packages for building the engine as WebAssembly and the tests of the site
#   tools/setup.sh mpi   also packages for building and testing runs on the ranks of MPI
#   tools/setup.sh mpich also packages for doing so with MPICH, beside OpenMPI
#   tools/setup.sh package also packages for building and testing Debian packages
#
# Runs as root or with sudo. The network is used only when a package is missing.
set -euo pipefail

packages=(
    gcc libc6-dev make cmake ninja-build pkg-config git python3
    libqhull-dev libsuitesparse-dev libjansson-dev libassimp-dev libzstd-dev zlib1g-dev libwebsockets-dev libcmocka-dev gnuplot-nox
)
testPackages=(g++ chromium ffmpeg man-db)
docsPackages=(doxygen)
# Debian's own interpreter with these: 'make python' uses /usr/bin/python3, whatever else is called python3.
pythonPackages=(
    python3-venv python3-pip python3-dev python3-setuptools python3-wheel python3-cffi python3-numpy python3-pytest mypy
    python3-matplotlib python3-pandas python3-xarray
)
# dpkg-dev: apt-get source; the sources themselves are fetched by tools/wasm_sources.sh
wasmPackages=(emscripten dpkg-dev xz-utils chromium)
# libhdf5-dev and python3-h5py: files of spheres in HDF5, and what reads them in the test
mpiPackages=(libopenmpi-dev openmpi-bin libhdf5-dev python3-h5py)
mpichPackages=("${mpiPackages[@]}" libmpich-dev mpich)
packagePackages=(dpkg-dev fakeroot lintian debootstrap man-db python3-dev python3-setuptools python3-cffi python3-numpy)
ciPackages=(
    "${testPackages[@]}" "${docsPackages[@]}" "${pythonPackages[@]}" "${mpiPackages[@]}" clang clang-tidy clang-format libclang-rt-14-dev llvm-14
)
# Never needed by the product: only 'make bench' uses them.
benchPackages=(
    g++ libccd-dev libfcl-dev libbullet-dev libode-dev libmujoco-dev libembree-dev
)

# The page of the viewer is bundled by nodejs; any version of at least 18 works, from Debian or from elsewhere.
command -v node >/dev/null || packages+=(nodejs)
command -v npm >/dev/null || packages+=(npm)

case "${1:-}" in
"") ;;
test) packages+=("${testPackages[@]}") ;;
ci) packages+=("${ciPackages[@]}") ;;
bench) packages+=("${benchPackages[@]}") ;;
mpi) packages+=("${mpiPackages[@]}") ;;
mpich) packages+=("${mpichPackages[@]}") ;;
package) packages+=("${packagePackages[@]}") ;;
docs) packages+=("${docsPackages[@]}") ;;
python) packages+=("${pythonPackages[@]}") ;;
wasm) packages+=("${wasmPackages[@]}") ;;
*)
    echo "usage: tools/setup.sh [test|ci|bench|docs|python|wasm|mpi|mpich|package]" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup: this is not a Debian system, so nothing was installed; install the equivalents of:" \
        "${packages[*]}" >&2
    exit 0
fi

# dpkg-query complains about unknown names; those are missing too.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
    grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

asRoot=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: these packages are missing: ${missing[*]}; run tools/setup.sh as root," \
            "since there is no sudo here" >&2
        exit 1
    fi
    asRoot=(sudo)
    # Without a terminal nobody can type a password: fail instead of waiting for one.
    [ -t 0 ] || asRoot=(sudo -n)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
    "${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" \
        </dev/null >>"$log" 2>&1
}

echo "setup: installing ${missing[*]}"
if [ ${#asRoot[@]} -gt 0 ] && ! "${asRoot[@]}" true; then
    echo "setup: sudo was refused; run tools/setup.sh as root or as a user who may use sudo" >&2
    exit 1
fi
# A failed update need not be fatal: the old package lists may suffice.
run update || true
if ! run install -y --no-install-recommends "${missing[@]}"; then
    tail -n 20 "$log" >&2
    echo "setup: apt-get could not install ${missing[*]}; its last output is above." \
        "Check the network and the package sources, then run tools/setup.sh again" >&2
    exit 1
fi
