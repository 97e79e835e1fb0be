#!/usr/bin/env bash
# Runs tests as on other processors, emulated by QEMU: arm64, for which Go fuses multiplications and additions, to
# test deterministic results and the loops in NEON, whose instructions .ci/arm64.sh counts; a big-endian processor, to
# test reading and writing files; and a 32-bit processor, to test counts.
#
#   .ci/processors.sh
#
# Needs Debian or Ubuntu; installs qemu-user if it is missing (as root).
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
	echo "processors: $*" >&2
	exit 1
}

if ! command -v qemu-aarch64 >/dev/null || ! command -v qemu-s390x >/dev/null; then
	command -v apt-get >/dev/null || fail "qemu-user missing, and no apt-get to install it with"
	[ "$(id -u)" = 0 ] || fail "qemu-user missing: install it, or run this as root"
	timeout 60 apt-get update -qq >/dev/null 2>&1 || true # lists may be there already
	DEBIAN_FRONTEND=noninteractive timeout 110 apt-get install -qq -y --no-install-recommends qemu-user >/dev/null ||
		fail "cannot install qemu-user"
fi

emulated() { # PROCESSOR EMULATOR TESTS PACKAGE...
	local processor=$1 emulator=$2 tests=$3
	shift 3
	GOARCH=$processor CGO_ENABLED=0 go test -vet=off -short -run "$tests" -skip DoNotAllocate -exec "$emulator" "$@"
}

.ci/types.sh linux/arm64 linux/s390x linux/386
loops="$(echo ./kernels/cpu/internal/form ./kernels/cpu/internal/form/{csr,slices,diagonals} ./internal/{simd,vec,dense})"
# shellcheck disable=SC2086
GOARCH=arm64 CGO_ENABLED=0 go vet $loops # the arguments of assembly
emulated arm64 qemu-aarch64 EveryProcessor ./solver
# shellcheck disable=SC2086
emulated arm64 qemu-aarch64 . $loops ./merge
.ci/arm64.sh

# Products of deterministic plans have the same bits on this processor, with NEON and in plain Go on arm64.
bits=$(mktemp -d)
trap 'rm -rf "$bits"' EXIT
deterministic=TestDeterministicProductsHaveTheSameBitsWithAllInstructions
MSREP_TEST_BITS=$bits/here go test -vet=off -count=1 -run "^$deterministic\$" ./msrep
for level in generic neon; do
	MSREP_TEST_BITS=$bits/$level MSREP_CPU=$level emulated arm64 qemu-aarch64 "^$deterministic\$" -count=1 ./msrep
	cmp "$bits/here" "$bits/$level" || fail "arm64, $level: products of deterministic plans have other bits"
done
emulated s390x qemu-s390x . ./sparse/internal/bincsr ./sparse/internal/npz ./sparse/internal/hb ./internal/number
emulated s390x qemu-s390x EveryProcessor ./solver
if [ "$(go env GOARCH)" = amd64 ]; then
	GOARCH=386 CGO_ENABLED=0 go test -vet=off -short ./sparse ./sparse/msr ./sparse/order ./partition ./merge ./kernels/cpu/internal/... ./solver/internal/...
	GOARCH=386 CGO_ENABLED=0 go test -vet=off -short -run 'Reference|Updated|MultiVector|TransposedVectors|SeveralThreads' ./msrep
fi
