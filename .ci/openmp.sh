#!/usr/bin/env bash
# Runs CG written in C with OpenMP around products of the library, beside msrep_solve (bench/openmp/cg.c). It fails if a
# solution is wrong. The ratios of times are printed only.
#
#     .ci/openmp.sh             90,000 unknowns
#     .ci/openmp.sh K ROUNDS    K*K unknowns
#
# It needs gcc, and installs it if it is missing (as root).
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v gcc >/dev/null; then
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends gcc libc6-dev
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=1 go build -tags osusergo -buildmode=c-shared -o "$work/libmsrep.so" ./cmd/libmsrep
gcc -std=c11 -O3 -march=native -fopenmp -Wall -Wextra -Werror -Icmd/libmsrep -o "$work/cg" bench/openmp/cg.c \
	"$work/libmsrep.so" -Wl,-rpath,"$work" -lm
"$work/cg" "${1:-300}" "${2:-3}"
