#!/usr/bin/env bash
# Opens the pages of --plot in headless Chromium, light and dark, 400 and 1600 pixels wide: nothing overflows, texts
# are legible and do not cover each other, and no page asks the network. Installs Debian's chromium if it is missing.
#
#     .ci/browser.sh [DIR]
#
# DIR, if given, keeps the pages, and gets a screenshot of each.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v chromium >/dev/null; then
	apt-get install -y --no-install-recommends chromium fonts-dejavu-core >/dev/null || { apt-get update >/dev/null && apt-get install -y --no-install-recommends chromium fonts-dejavu-core >/dev/null; }
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pages=${1:-$work/pages}
mkdir -p "$pages"
go build -o "$work/msrep" ./cmd/msrep
msrep() { "$work/msrep" "$@" --quiet >/dev/null; }

printf '%%%%MatrixMarket matrix coordinate real general\n0 7 0\n' >"$work/empty.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n1 5000 2\n1 1 1\n1 5000 1\n' >"$work/row.mtx"
msrep info testdata/memplus.mtx.gz --plot "$pages/circuit.html"
msrep info testdata/can_144.mtx.gz --devices cpu:2 --plot "$pages/small.html"
msrep info gen:rmat:scale=14 --plot "$pages/graph.html"
msrep info gen:stencil:dims=3,n=30 --plot "$pages/stencil.html"
msrep info testdata/pyamg-edge-gradient-D.mtx.gz --plot "$pages/rectangular.html"
msrep info "$work/empty.mtx" --plot "$pages/empty.html"
msrep info "$work/row.mtx" --plot "$pages/row.html"
msrep spmv testdata/memplus.mtx.gz --devices cpu:2 --repeat 20 --plot "$pages/products.html" --trace "$work/trace.json"
msrep spmv testdata/gre_343.mtx.gz --devices sim:3 --plot "$pages/gpus.html"
msrep solve gen:stencil:dims=2,n=60 --method cg --plot "$pages/solve.html"
msrep solve testdata/memplus.mtx.gz --plot "$pages/attempts.html"

MSREP_PAGES=$pages go test -vet=off -count=1 -run ABrowser ./internal/plot

if [ $# -gt 0 ]; then
	for page in "$pages"/*.html; do
		for width in 400 1600; do
			for scheme in 0 1; do # dark, light
				chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
					--blink-settings=preferredColorScheme=$scheme --window-size=$((width < 500 ? 500 : width)),1800 \
					--screenshot="${page%.html}-$width-$scheme.png" "file://$(realpath "$page")" >/dev/null 2>&1
			done
		done
	done
fi
echo "browser.sh: the pages of --plot are legible"
