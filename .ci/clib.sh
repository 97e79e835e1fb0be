#!/usr/bin/env bash
# Builds the C library, shared and static, and runs its examples and tests in C, C++ and Fortran.
#
#     .ci/clib.sh                  build in a temporary folder
#     .ci/clib.sh --prefix FOLDER  keep the library in FOLDER, as packaging/clib builds it
#
# It needs gcc, g++, gfortran and pkg-config from Debian, and installs missing ones (as root).
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

missing=
command -v gcc >/dev/null || missing+=" gcc libc6-dev"
command -v g++ >/dev/null || missing+=" g++"
command -v gfortran >/dev/null || missing+=" gfortran"
command -v pkg-config >/dev/null || missing+=" pkg-config"
if [ -n "$missing" ]; then
	apt-get update -qq
	# shellcheck disable=SC2086 # names are words
	apt-get install -y -qq --no-install-recommends $missing
fi

packaging/clib "$prefix"
source=$PWD/cmd/libmsrep

# Only the symbols of msrep.h are visible.
grep -v '^static' "$prefix/include/msrep.h" | grep -o '^[a-z].*\bmsrep_[a-z_]*(' | sed 's/.*\bmsrep_/msrep_/; s/(//' | sort >"$work/declared"
nm -D --defined-only "$prefix/lib/libmsrep.so" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort >"$work/exported"
diff "$work/declared" "$work/exported"
nm -g --defined-only "$prefix/lib/libmsrep.a" | awk 'NF == 3 {print $3}' | sort >"$work/exported"
diff "$work/declared" "$work/exported"
echo "exported: $(wc -l <"$work/exported") symbols, those of msrep.h"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
cflags=$(pkg-config --cflags msrep)
shared=$(pkg-config --libs msrep)
static=$(pkg-config --static --libs msrep | sed 's/-lmsrep/-l:libmsrep.a/')
cd "$source/examples"

# compile COMMAND LIBS SOURCE...: builds a program of the last source, runs it and prints its name if it fails.
compile() {
	local command=$1 libs=$2 last=${*: -1} status=0
	shift 2
	local program=$work/${last##*/}.bin
	# shellcheck disable=SC2086 # flags are words
	$command -O1 -Wall -Werror -o "$program" "$@" $libs -lm
	"$program" ${arguments:-} || status=$?
	[ $status = 0 ] || echo "$last ($libs): status $status"
	return $status
}
for name in {solve,products,steps}.c ../testdata/{misuse,layouts,calls,fork,stop}.c; do
	case $name in ../*) arguments=$work ;; *) arguments= ;; esac
	compile "gcc -std=gnu11 -Wextra -pthread $cflags" "$shared" "$name"
done
arguments= compile "gcc -std=gnu11 -Wextra -fopenmp $cflags" "$shared" ../testdata/openmp.c
arguments=$work compile "gcc -std=gnu11 -Wextra -pthread $cflags" "$static" ../testdata/calls.c
compile "gcc -std=gnu11 -Wextra -static $cflags" "$static" steps.c
arguments=
compile "g++ -std=c++17 -Wextra -Wpedantic $cflags" "$shared" solve.cpp
gfortran -std=f2008 -Wall -Werror -J "$work" -c -o "$work/msrep-f.o" "$prefix/share/msrep/msrep.f90"
compile "gfortran -std=f2008 -J $work" "$shared" "$work/msrep-f.o" solve.f90
arguments=$work compile "gfortran -std=f2008 -J $work" "$shared" "$work/msrep-f.o" ../testdata/module.f90
