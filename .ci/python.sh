#!/usr/bin/env bash
# Builds the wheel for this processor and tries it as a new user would: in a root file system that has only Python, it is
# installed offline with NumPy and SciPy, and the tests, the examples of the docstrings and that of python/README.md run.
# Before that it checks the types and the style of the package.
#
#     .ci/python.sh
#
# It runs as root on Debian, because it uses chroot. Python comes from Debian, the other packages from pip.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo ".ci/python.sh: run it as root: it uses chroot" >&2; exit 2; }
work=$(mktemp -d)
trap 'umount "$work/system/dev" "$work/system/proc" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
root=$work/system
mkdir -p "$root"/{wheels,dev,proc,tmp,test} "$work/debian"
command -v pip3 >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-pip python3-venv; }

echo "--- types and style"
python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check ruff mypy numpy
(cd python && "$work/tools/bin/ruff" check --quiet . && "$work/tools/bin/mypy" --cache-dir "$work/mypy")

echo "--- wheel"
scripts/wheel "$root/wheels" "$(uname -m)"
"$work/tools/bin/pip" download --quiet --disable-pip-version-check --only-binary :all: --python-version 3.11 --dest "$root/wheels" numpy scipy pytest pip

echo "--- a root with Python only"
packages=(libbz2-1.0 libc6 libcrypt1 libexpat1 libffi8 libgcc-s1 liblzma5 libpython3.11-minimal libpython3.11-stdlib libsqlite3-0
	libssl3 libstdc++6 libuuid1 media-types python3.11-minimal zlib1g)
cd "$work/debian"
timeout 100 apt-get download -qq "${packages[@]}" 2>/dev/null ||
	{ timeout 60 apt-get update -qq && timeout 100 apt-get download -qq "${packages[@]}" 2>"$work/apt.log"; } || { cat "$work/apt.log" >&2; exit 1; }
cd "$OLDPWD"
for package in "$work"/debian/*.deb; do dpkg-deb -x "$package" "$root"; done
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
settings=()
python() { env -i HOME=/tmp PYTHONPATH=/site "${settings[@]}" "$(command -v chroot)" "$root" /usr/bin/python3.11 "$@"; }
pip=$(basename "$root"/wheels/pip-*.whl)
python "/wheels/$pip/pip" install --quiet --root-user-action ignore --no-index --find-links /wheels --target /site msrep scipy pytest

echo "--- tests"
cp -r python/tests "$root/test/"
python -m pytest -q -p no:cacheprovider /test/tests
python -m pytest -q -p no:cacheprovider --doctest-modules --pyargs msrep
sed -n '/^```python$/,/^```$/p' python/README.md | sed '/^```/d' >"$root/test/readme.py"
python /test/readme.py

echo "--- vectors on a GPU, with a stand-in for the driver"
eval "$(.ci/cuda.sh --headers)"
CGO_ENABLED=1 GOFLAGS="${GOFLAGS:-} -buildvcs=false -trimpath" go build -tags cuda,standin -ldflags '-s -w' -buildmode=c-shared -o "$root/test/gpu/libmsrep.so" ./cmd/libmsrep
gcc -O1 -shared -fPIC -o "$root/test/gpu/stand-in.so" internal/nvidiatest/lib/{cuda,links,sparse}.c -lpthread
settings=(MSREP_LIBRARY=/test/gpu/libmsrep.so MSREP_LIBCUDA=/test/gpu/stand-in.so MSREP_LIBCUSPARSE=/test/gpu/stand-in.so)
python -m pytest -q -p no:cacheprovider /test/tests/test_gpu.py
echo "the wheel works in a root with Python only"
