#!/usr/bin/env bash
# Builds and tests the CUDA backend on a machine without a GPU. It needs Go, gcc and pip.
#
#   .ci/cuda.sh             headers of CUDA 11.8, 12 and 13: vet, build, link; the
#                           binary without a driver; tests on the stand-in for the
#                           driver, again with -race and GOEXPERIMENT=cgocheck2; the
#                           scripts for a machine with a GPU, on stand-ins
#   .ci/cuda.sh --headers   only fetches the headers and prints how to use them
#
# The headers come from NVIDIA's wheels (7 MB) and stay in CUDA_HEADERS, by default a
# folder in the user's cache.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
cache=${CUDA_HEADERS:-${XDG_CACHE_HOME:-$HOME/.cache}/msrep-cuda-headers}
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

fetch() { # GENERATION PACKAGE==VERSION: its headers to $cache/GENERATION
	local dir=$cache/$1
	[ -f "$dir/cuda.h" ] && return
	local tmp
	tmp=$(mktemp -d "$cache/fetch.XXXXXX")
	python3 -m pip download --quiet --no-deps --disable-pip-version-check --dest "$tmp" "$2"
	(cd "$tmp" && python3 -m zipfile -e ./*.whl wheel)
	# Atomically, because another script may fetch them at the same time.
	mv -T "$(dirname "$(find "$tmp/wheel" -name cuda.h)")" "$dir" 2>/dev/null || [ -f "$dir/cuda.h" ]
	rm -rf "$tmp"
}

# An empty libcuda suffices for linking: the binary looks up the driver at run time.
stub() {
	local lib=$cache/stub/libcuda.so
	[ -f "$lib" ] && return
	mkdir -p "$cache/stub"
	echo 'int msrep_no_driver;' | gcc -shared -x c - -o "$lib.$$" -Wl,-soname,libcuda.so.1
	mv "$lib.$$" "$lib"
}

use() { # GENERATION: use its headers for the following builds
	export CGO_ENABLED=1
	export CGO_CFLAGS="-O2 -g -I$root/kernels/nvidia/include -I$cache/$1"
	export CGO_LDFLAGS="-L$cache/stub"
}

mkdir -p "$cache"
fetch 11.8 nvidia-cuda-runtime-cu11==11.8.89
stub
if [ "${1:-}" = --headers ]; then
	use 11.8
	printf 'export CGO_CFLAGS="%s" CGO_LDFLAGS="%s"\n' "$CGO_CFLAGS" "$CGO_LDFLAGS"
	exit
fi
fetch 12 nvidia-cuda-runtime-cu12==12.9.79
fetch 13 nvidia-cuda-runtime==13.5.37

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
packages="./kernels/nvidia/... ./internal/nvidiatest ./msrep ./cmd/msrep"

for generation in 13 12 11.8; do
	echo "--- headers of CUDA $generation"
	use $generation
	go build -tags cuda -o "$out/msrep-$generation" ./cmd/msrep
	! readelf -d "$out/msrep-$generation" | grep -q 'NEEDED.*libcu' || { echo "the binary needs CUDA to start"; exit 1; }
	"$out/msrep-$generation" spmv testdata/gre_343.mtx.gz --devices cpu:2 >/dev/null
done

echo "--- the binary on a machine without a driver"
if "$out/msrep-11.8" version | grep -q 'no GPUs: no NVIDIA driver'; then
	"$out/msrep-11.8" version | grep '^cuda'
	"$out/msrep-11.8" topo | grep -q 'no GPUs: no NVIDIA driver'
	status=0
	"$out/msrep-11.8" spmv testdata/gre_343.mtx.gz --devices cuda 2>"$out/message" || status=$?
	cat "$out/message"
	[ $status = 2 ] && grep -q 'no NVIDIA driver' "$out/message"
else
	echo "there is a driver here"
fi

echo "--- vet"
# shellcheck disable=SC2086
go vet -tags cuda $packages

echo "--- tests"
go test -vet=off -tags cuda ./kernels/nvidia/...
go test -vet=off -tags cuda -run 'GPU' ./msrep ./solver
echo "--- with -race and cgocheck2"
# These take long with the race detector; the others run the same concurrent code.
GOEXPERIMENT=cgocheck2 go test -vet=off -tags cuda -race -short -skip 'AFailureOfAnyCall|RowsOfAnyLength|AgreeWithTheReference|AreMeasuredWhere|AreTriedWhere|MemoryIsZero|WhileFormsAreMeasured|ThatLosesData|FailsHalfWay|TilesBuiltOn|TilesUse|TilesAre|SwitchedOffByTheEnvironment' ./kernels/nvidia/...
echo "--- scripts/gpu-check and scripts/gpu-run"
.ci/gpu-run.sh
