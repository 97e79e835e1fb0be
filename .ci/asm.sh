#!/usr/bin/env bash
# Makes the assembly of kernels/cpu/simd from its generators, one file for each
# folder of gen.
#
#     .ci/asm.sh           write kernels/cpu/simd/*_amd64.{s,go}
#     .ci/asm.sh --check   write elsewhere and compare byte for byte
set -euo pipefail
cd "$(dirname "$0")/../kernels/cpu/simd/gen"
out=$PWD/..
if [ "${1:-}" = --check ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi
unset GOFLAGS
for family in */; do
	family=${family%/}
	[ -f "$family/main.go" ] || continue
	go run "./$family" -pkg simd -out "$out/${family}_amd64.s" -stubs "$out/${family}_amd64.go"
	gofmt -w "$out/${family}_amd64.go"
	if [ "${1:-}" = --check ]; then
		cmp "$out/${family}_amd64.s" "../${family}_amd64.s"
		cmp "$out/${family}_amd64.go" "../${family}_amd64.go"
		echo "$family: as committed"
	fi
done
