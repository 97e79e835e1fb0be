#!/usr/bin/env bash
# Finds retired names in code, comments and documents; docs/glossary.md has the names in use. Records are left out:
# bench/notebook, bench/results.
#
#     .ci/words.sh
set -euo pipefail
cd "$(dirname "$0")/.."

bad=0
retired() { # PATTERN [PATHSPEC...]: an extended regular expression that must not match, in these files or in all
	local pattern=$1
	shift
	if git grep -nIE -e "$pattern" -- "${@:-.}" ':!bench/notebook' ':!bench/results' ':!.ci/words.sh' ':!*.mtx' ':!testdata'; then
		echo "words.sh: retired: $pattern" >&2
		bad=1
	fi
}

retired '\b[Dd]esks?\b'
retired '\b[Cc]rowd(s|ed|ing)?\b|\bcrowd[A-Z]|[a-z]Crowd'
retired '\b[Dd]uel(s|led)?\b|\bduel[A-Z]'
retired '\b[Gg]iants?\b|\bgiant[A-Z]|[a-z]Giant'
retired '\b(max)?[Ss]trikes\b'
retired '\b[Ff]lying\b'
retired '\b[Tt]urned (block|vector|copy)|\bturned[A-Z]|[a-z]Turned\b|CopyTurned'
retired '\blanes\b' 'msrep/*.go'
retired '\b(meet|meets|meeting)\b' '*.go'
retired '\bgates?\b' 'kernels/cpu/*.go'
retired '\b(kernels|vec|simd)\.(Turn|Finish|Step|Gather|Scatter|Op|Precision|Block)\b'
retired '\bmsrep\.(Op|Block|Kernel|KernelAuto|KernelOwn|KernelCuSPARSE|FormatsOf|Formats)\b'
retired '\bmsrep_(turn|finish|step|gather|scatter)'
retired '\bInputError\.File\b'
retired '\b(AddStabilise|AddFinish|MaxBlock|SumBlock)\b'
retired '\bExpected(Products|Transposed|Vectors)\b'
if git ls-files '*.go' | grep -E '(many|symmetric|blocks|slices|runs)(symmetric|blocks|tiles|bins|lanes|few|order|diagonals|transposed)|[a-z0-9]asm\.go$'; then
	echo "words.sh: names of files without separators" >&2
	bad=1
fi
exit $bad
