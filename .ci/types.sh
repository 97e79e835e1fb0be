#!/usr/bin/env bash
# Checks that all packages and their tests compile without cgo on other systems and processors: the types of the whole
# program, without making code, which takes a tenth of the time of go vet.
#
#   .ci/types.sh OS/PROCESSOR...
set -euo pipefail
cd "$(dirname "$0")/.."
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
GOBIN=$tool go install golang.org/x/tools/go/packages/gopackages@v0.52.0
for target; do
	GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 "$tool/gopackages" -mode=allsyntax -test ./... >"$tool/out" 2>&1
	# It exits with 0 in any case, and prints each error after a tab. A package without errors is complete.
	if grep -P '^\t\S+:\d+:\d+: ' "$tool/out"; then exit 1; fi
	[ "$(grep -c 'has complete exported type info' "$tool/out")" -gt 100 ] || { tail "$tool/out"; exit 1; }
	echo "$target: $(grep -c '^Go ' "$tool/out") packages and tests"
done
