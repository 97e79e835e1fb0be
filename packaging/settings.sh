# Sourced by the scripts that build artefacts: the settings that give the same bytes in every folder and on every machine
# with the same version of Go.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' msrep/doc.go)
# -dwarf=false: no debug information, which -s -w would leave out at the end.
export GOFLAGS='-trimpath -buildvcs=false -gcflags=all=-dwarf=false' GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT=
export LC_ALL=C TZ=UTC
unset CGO_CFLAGS CGO_LDFLAGS CGO_CPPFLAGS CGO_CXXFLAGS
umask 022
link='-s -w -buildid='

# The name of a processor in GNU's and zig's names.
gnu_processor() { case $1 in amd64) echo x86_64 ;; arm64) echo aarch64 ;; *) echo "no C library for $1" >&2; return 2 ;; esac; }
