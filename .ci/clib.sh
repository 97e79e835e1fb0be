#!/usr/bin/env bash
# Builds the C library and runs its examples in C, Python and Fortran.
#
#     .ci/clib.sh                  build in a temporary folder
#     .ci/clib.sh --prefix FOLDER  keep library, header and pkg-config file in FOLDER
#
# It needs gcc, gfortran, pkg-config and python3-scipy from Debian, and installs missing ones (as root).
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=
if [ "${1:-}" = --prefix ]; then
	mkdir -p "$2"
	prefix=$(cd "$2" && pwd)
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=${prefix:-$work/prefix}
python=/usr/bin/python3

missing=
command -v gcc >/dev/null || missing+=" gcc libc6-dev"
command -v gfortran >/dev/null || missing+=" gfortran"
command -v pkg-config >/dev/null || missing+=" pkg-config"
$python -c 'import scipy.sparse.linalg' 2>/dev/null || missing+=" python3-scipy"
if [ -n "$missing" ]; then
	apt-get update -qq
	# shellcheck disable=SC2086 # names are words
	apt-get install -y -qq --no-install-recommends $missing
fi

version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' msrep/doc.go)
major=${version%%.*}
mkdir -p "$prefix/lib/pkgconfig" "$prefix/include"
CGO_ENABLED=1 go build -buildmode=c-shared -o "$work/libmsrep.so" \
	-ldflags "-s -w -extldflags '-Wl,-soname,libmsrep.so.$major -Wl,--version-script=$PWD/cmd/libmsrep/libmsrep.map'" ./cmd/libmsrep
cp "$work/libmsrep.so" "$prefix/lib/libmsrep.so.$version"
ln -sf "libmsrep.so.$version" "$prefix/lib/libmsrep.so.$major"
ln -sf "libmsrep.so.$major" "$prefix/lib/libmsrep.so"
cp cmd/libmsrep/msrep.h "$prefix/include/"
sed "s|@PREFIX@|$prefix|; s|@VERSION@|$version|" cmd/libmsrep/msrep.pc.in >"$prefix/lib/pkgconfig/msrep.pc"

# Only the symbols of msrep.h are visible.
nm -D --defined-only "$prefix/lib/libmsrep.so" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort >"$work/exported"
grep -o 'msrep_[a-z_]*(' "$prefix/include/msrep.h" | tr -d '(' | sort -u >"$work/declared"
diff "$work/declared" "$work/exported"
echo "exported: $(wc -l <"$work/exported") symbols, those of msrep.h"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
cd cmd/libmsrep/examples
for name in solve misuse; do
	# shellcheck disable=SC2046 # flags are words
	gcc -std=c11 -Wall -Wextra -Werror -o "$work/$name" "$name.c" $(pkg-config --cflags --libs msrep) -lm
	"$work/$name"
done
# shellcheck disable=SC2046
gfortran -std=f2008 -Wall -Werror -J "$work" -o "$work/solve-f" solve.f90 $(pkg-config --libs msrep)
"$work/solve-f"
$python scipy_operator.py "$prefix/lib/libmsrep.so"
