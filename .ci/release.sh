#!/usr/bin/env bash
# Builds the release artefacts for Linux on this processor from the working tree and tries each in a root file system
# that has neither Go nor a compiler: the static command alone, the command with CUDA beside glibc, a C program with the
# shared and the static library, the Debian package. Builds the C library again in another folder and compares the bytes.
#
#     .ci/release.sh            build in a temporary folder
#     .ci/release.sh FOLDER     try the artefacts that packaging/build left in FOLDER
#
# It needs gcc, pkg-config and cmake from Debian, and installs missing ones. It uses chroot, so it runs as root.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(uname -m)" = x86_64 ] || { echo "the artefacts for $(uname -m) are not tried: no CUDA"; exit 0; }
[ "$(id -u)" = 0 ] || { echo ".ci/release.sh: run it as root: it uses chroot" >&2; exit 2; }
missing=
command -v gcc >/dev/null || missing+=" gcc libc6-dev"
command -v pkg-config >/dev/null || missing+=" pkg-config"
command -v cmake >/dev/null || missing+=" cmake make"
if [ -n "$missing" ]; then
	apt-get update -qq
	# shellcheck disable=SC2086 # names are words
	apt-get install -y -qq --no-install-recommends $missing
fi
version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' msrep/doc.go)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

built=${1:-$work/built}
[ $# = 1 ] || packaging/build "$built" command-linux-amd64 library-amd64 deb-amd64
echo "--- checksums, bill of materials"
(cd "$built" && sha256sum --quiet --check SHA256SUMS && cat SHA256SUMS)
ls -l "$built" | awk 'NF > 8 {printf "%5.1f MB  %s\n", $5 / 1e6, $9}'
python3 - "$built" "$version" <<'END'
import hashlib, json, pathlib, sys
built, version = pathlib.Path(sys.argv[1]), sys.argv[2]
sbom = json.loads((built / f"msrep_{version}.spdx.json").read_text())
packages = {p["SPDXID"]: p for p in sbom["packages"]}
files = {p["packageFileName"] for p in packages.values() if "packageFileName" in p}
there = {p.name for p in built.iterdir()} - {"SHA256SUMS", f"msrep_{version}.spdx.json"}
assert files == there, files ^ there
for p in packages.values():
    if "checksums" in p:
        assert p["checksums"][0]["checksumValue"] == hashlib.sha256((built / p["packageFileName"]).read_bytes()).hexdigest(), p
    assert p["licenseDeclared"] not in ("", "NOASSERTION"), p
related = {r["relatedSpdxElement"] for r in sbom["relationships"]}
assert related == set(packages), related ^ set(packages)
print(len(files), "artefacts of", len(packages) - len(files), "components, each with a licence")
END

# check_product Y: y = A times ones, for the matrix of all trials, computed here by itself.
matrix=testdata/memplus.mtx.gz
check_product() {
	python3 - "$matrix" "$1" <<-'END'
		import gzip, sys
		lines = [l.split() for l in gzip.open(sys.argv[1], "rt") if not l.startswith("%")]
		want = [0.0] * int(lines[0][0])
		for i, _, v in lines[1:]:
		    want[int(i) - 1] += float(v)
		got = [float(l) for l in open(sys.argv[2]) if not l.startswith("%") and " " not in l]
		assert len(got) == len(want) and all(abs(a - b) <= 1e-13 * max(1, abs(b)) for a, b in zip(got, want)), "wrong product"
	END
}

new_root() { # NAME [glibc]: an empty root with the matrix, and glibc where asked for
	root=$work/root-$1
	mkdir -p "$root/tmp"
	cp "$matrix" "$root/matrix.mtx.gz"
	if [ "${2:-}" = glibc ]; then
		mkdir -p "$root/lib64" "$root/lib/x86_64-linux-gnu"
		cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
		cp -L /lib/x86_64-linux-gnu/lib{c,m,pthread,dl,resolv}.so.? "$root/lib/x86_64-linux-gnu/"
	fi
}
chroot=$(command -v chroot)
inside() { env -i "$chroot" "$root" "$@"; }

echo "--- the static command in an empty root"
new_root static
tar -C "$work" -xzf "$built/msrep_${version}_linux_amd64.tar.gz"
cp "$work/msrep_${version}_linux_amd64/msrep" "$root/"
inside /msrep version | head -n 1 | grep -q "^msrep $version,"
inside /msrep spmv /matrix.mtx.gz --deterministic --out /y.mtx | tail -n 1
check_product "$root/y.mtx"
inside /msrep solve gen:stencil:n=50 --quiet
cp "$root/y.mtx" "$work/y-static.mtx"

echo "--- the command with CUDA, without a GPU"
new_root cuda glibc
tar -C "$work" -xzf "$built/msrep_${version}_linux_amd64_cuda.tar.gz"
cp "$work/msrep_${version}_linux_amd64_cuda/msrep" "$root/"
inside /msrep version | grep '^cuda'
inside /msrep spmv /matrix.mtx.gz --deterministic --out /y.mtx >/dev/null
cmp "$root/y.mtx" "$work/y-static.mtx"

# It loads a driver that is there. This one is a stand-in, which runs no kernel.
lib=internal/nvidiatest/lib
gcc -O1 -shared -fPIC -o "$work/stand-in.so" $lib/cuda.c $lib/links.c $lib/sparse.c -lpthread
MSREP_LIBCUDA=$work/stand-in.so MSREP_LIBCUSPARSE=$work/stand-in.so "$root/msrep" version | grep '^cuda  driver .*cuSPARSE [0-9]'

# oldest FILE: the newest version of glibc that a binary asks for must not exceed 2.17.
oldest() {
	local newest
	newest=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | cut -c7- | sort -Vu | tail -n 1)
	echo "$(basename "$1") needs glibc $newest"
	[ "$(printf '%s\n' "$newest" 2.17 | sort -V | tail -n 1)" = 2.17 ]
}
oldest "$root/msrep"

echo "--- C programs with the library, moved to another folder"
tar -C "$work" -xzf "$built/libmsrep_${version}_linux_amd64.tar.gz"
mv "$work/libmsrep_${version}_linux_amd64" "$work/library"
oldest "$work/library/lib/libmsrep.so.$version"
example=cmd/libmsrep/examples/solve.c
# shellcheck disable=SC2046 # flags are words
PKG_CONFIG_PATH=$work/library/lib/pkgconfig gcc -o "$work/by-pkg-config" $example $(PKG_CONFIG_PATH=$work/library/lib/pkgconfig pkg-config --cflags --libs msrep) -lm
mkdir "$work/cmake"
cat >"$work/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.10)
project(try C)
find_package(msrep ${version%.*} REQUIRED)
add_executable(by-cmake $PWD/$example)
target_link_libraries(by-cmake PRIVATE msrep::msrep m)
add_executable(static $PWD/$example)
target_link_libraries(static PRIVATE msrep::static m)
END
cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$work/library" >/dev/null
cmake --build "$work/cmake/build" >/dev/null
new_root c glibc
cp "$work/by-pkg-config" "$work/cmake/build/by-cmake" "$work/cmake/build/static" "$root/"
inside /static
if inside /by-cmake 2>/dev/null; then echo "by-cmake does not use the shared library"; exit 1; fi
mkdir "$root/msrep"
cp -a "$work/library/lib/"libmsrep.so* "$root/msrep/"
inside /by-pkg-config 2>/dev/null && { echo "the program does not use LD_LIBRARY_PATH"; exit 1; }
env -i LD_LIBRARY_PATH=/msrep "$chroot" "$root" /by-pkg-config
env -i LD_LIBRARY_PATH=/msrep "$chroot" "$root" /by-cmake
sed -i 's/find_package(msrep [0-9.]*/find_package(msrep 99/' "$work/cmake/CMakeLists.txt"
if cmake -S "$work/cmake" -B "$work/cmake/newer" -DCMAKE_PREFIX_PATH="$work/library" >/dev/null 2>&1; then
	echo "CMake takes version $version for version 99"
	exit 1
fi

echo "--- the Debian package"
new_root deb glibc
mkdir -p "$root/var/lib/dpkg"/{info,updates,triggers}
: >"$root/var/lib/dpkg/info/libc6.list"
printf 'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nMaintainer: nobody <nobody@example.org>\nVersion: %s\nDescription: glibc\n' \
	"$(dpkg-query -W -f '${Version}' libc6)" >"$root/var/lib/dpkg/status"
dpkg --root="$root" -i "$built/msrep_${version}_amd64.deb" >/dev/null
inside /usr/bin/msrep spmv /matrix.mtx.gz --deterministic --out /y.mtx >/dev/null
cmp "$root/y.mtx" "$work/y-static.mtx"
cp "$work/by-pkg-config" "$root/"
inside /by-pkg-config # from the default path of libraries
(cd "$root" && md5sum --quiet --check var/lib/dpkg/info/msrep.md5sums)
dpkg --root="$root" --purge msrep >/dev/null
left=$(cd "$root" && find . -path '*msrep*' -not -path './var/*')
[ -z "$left" ] || { echo "left after the package is removed: $left"; exit 1; }

if [ $# = 0 ]; then
	echo "--- the same bytes from another folder"
	mkdir -p "$work/another/folder"
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -dpt "$work/another/folder"
	SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) "$work/another/folder/packaging/build" "$work/again" library-amd64
	cmp "$built/libmsrep_${version}_linux_amd64.tar.gz" "$work/again/libmsrep_${version}_linux_amd64.tar.gz"
fi
echo "the artefacts run, and the package leaves nothing behind"
