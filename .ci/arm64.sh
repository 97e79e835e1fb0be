#!/usr/bin/env bash
# Counts the instructions of the loops in NEON beside those in plain Go on an emulated arm64 processor, and prints them
# for an entry of a matrix or an element of a vector. Fails if NEON needs more than half of those of plain Go, or more
# than 65 % for slices whose columns are far apart: there each element of x takes a load of its own, with NEON as in
# plain Go. The counts do not say how fast the loops are; that was not measured on arm64.
#
#   .ci/arm64.sh
#
# Needs qemu-aarch64 (qemu-user of Debian and Ubuntu; .ci/processors.sh installs it).
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
	echo "arm64: $*" >&2
	exit 1
}
command -v qemu-aarch64 >/dev/null || fail "qemu-aarch64 missing: install qemu-user"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
program=$dir/instructions
GOARCH=arm64 CGO_ENABLED=0 go build -o "$program" ./kernels/cpu/internal/instructions

# The emulator logs each instruction that it executes in the functions of this module, except those of the program itself,
# and the calls of main.mark.
step=-singlestep
if qemu-aarch64 -h | grep -q -e -one-insn-per-tb; then step=-one-insn-per-tb; fi
go tool nm -sort address "$program" >"$dir/symbols"
range=$(awk '$3 ~ /msrep-go/ { if (!a) a = $1; b = $1 } END { print "0x" a "..0x" b }' "$dir/symbols")
mark=$(awk '$3 == "main.mark" { print $1 }' "$dir/symbols")
[ -n "$mark" ] || fail "the program has no function mark"

count() { # LEVEL: writes NAME,ENTRIES,INSTRUCTIONS to the file of this name
	# A line of the log is "Trace 0: HOST [CS/PC/FLAGS/...] SYMBOL". The log goes to a pipe because it is long.
	GOMAXPROCS=1 MSREP_CPU=$1 qemu-aarch64 "$step" -d exec,nochain -dfilter "$range,0x$mark..0x$mark" "$program" 2>&1 >"$dir/$1.names" |
		awk -F/ -v mark="$mark" '$2 ~ "^0*" mark "$" { if (n++) print c; c = 0; next } { c++ }' >"$dir/$1.counts"
	[ "$(wc -l <"$dir/$1.names")" = "$(wc -l <"$dir/$1.counts")" ] || fail "$1: the log does not have a count for each name"
	paste -d, "$dir/$1.names" "$dir/$1.counts" >"$dir/$1"
}

count generic &
generic=$!
count neon
wait "$generic" || fail "counting plain Go failed"
paste -d'|' "$dir/generic" "$dir/neon" | awk -F'|' '
	BEGIN { printf "%-48s %8s %8s %6s\n", "instructions for an entry", "plain Go", "NEON", "ratio" }
	{
		a = split($1, g, ","); b = split($2, n, ",")
		name = $1; sub(/,[0-9]+,[0-9]+$/, "", name)
		plain = g[a] / g[a-1]; neon = n[b] / n[b-1]
		most = name ~ /^slices, f/ ? 0.65 : 0.5
		over = ""
		if (!(neon > 0 && neon <= most * plain)) { over = "  more than " most; failed = 1 }
		printf "%-48s %8.2f %8.2f %6.2f%s\n", name, plain, neon, neon / plain, over
	}
	END { exit failed || NR == 0 }' || fail "NEON needs too many instructions"
