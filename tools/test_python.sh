#!/usr/bin/env bash
# Installs the Python package into a virtual environment and tests it: pytest, examples in the documentation, types.
#
#   tools/test_python.sh build/python [--all-scenes] [--pictures FOLDER]
#
# No network: Debian's own interpreter and packages (tools/setup.sh python).
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1
shift

[ -x "$target/bin/python" ] || /usr/bin/python3 -m venv --system-site-packages "$target"
"$target/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-index ./python
root=$PWD
# The program that embeds Python, for modules in Python: of the objects of build/release.
cmake --build build/release --target rattleback_python -- --quiet
# Not from python/, where the sources of the package would hide what was installed.
(cd "$target" && PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=Agg RATTLEBACK_PROGRAM="$root/build/release/rattleback" \
    RATTLEBACK_EMBEDDED="$root/build/release/python/rattleback" \
    bin/python -m pytest -c "$root/python/pyproject.toml" -p no:cacheprovider "$@" --pyargs rattleback "$root/python/tests")
(cd python && /usr/bin/python3 -m mypy)
echo "python: $target/bin/python -c \"import rattleback; rattleback.demo()\""
