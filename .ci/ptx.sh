#!/bin/sh
# Compiles the CUDA C++ in kernels/internal/cuda to the PTX next to it.
#
#   .ci/ptx.sh            writes kernels/internal/cuda/*.ptx
#   .ci/ptx.sh --check    compiles to a temporary folder and fails where the
#                         committed PTX differs by a byte
#   .ci/ptx.sh --install  first installs the compiler from Debian (as root);
#                         may stand before --check
#
# The compiler is clang 19.1.7 from Debian, without headers or libraries of CUDA. Other versions are refused because
# they produce other bytes.
set -eu

version=19.1.7
clang=${CLANG:-clang-19}
flags="-x cuda --cuda-device-only -nocudainc -nocudalib -nostdinc -nostdinc++
	--cuda-gpu-arch=sm_70 --cuda-feature=+ptx63 -std=c++17 -O3 -Wall -Wextra -Werror -S"

if [ "${1:-}" = --install ]; then
	shift
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends clang-19
fi
cd "$(dirname "$0")/../kernels/internal/cuda"

if ! command -v "$clang" >/dev/null; then
	echo "ptx.sh: $clang is not installed: run .ci/ptx.sh --install on Debian, or set CLANG to clang $version" >&2
	exit 1
fi
if ! "$clang" --version | grep -qF "version $version"; then
	echo "ptx.sh: $clang is $("$clang" --version | head -n 1): it must be version $version" >&2
	exit 1
fi

compile() { # compile FOLDER: every source to FOLDER/name.ptx
	for source in *.cu; do
		# shellcheck disable=SC2086 # flags are words
		"$clang" $flags "$source" -o "$1/${source%.cu}.ptx"
	done
}

case ${1:-} in
'')
	compile .
	;;
--check)
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
	compile "$out"
	bad=0
	for name in $(ls . "$out" | grep '\.ptx$' | sort -u); do
		if ! cmp -s "$name" "$out/$name"; then
			echo "ptx.sh: kernels/internal/cuda/$name is not what its source compiles to: run .ci/ptx.sh" >&2
			bad=1
		fi
	done
	exit $bad
	;;
*)
	echo "usage: .ci/ptx.sh [--install] [--check]" >&2
	exit 2
	;;
esac
