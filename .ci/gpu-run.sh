#!/usr/bin/env bash
# Tests scripts/gpu-check and scripts/gpu-run without a GPU: with a stand-in for the driver, and with stand-ins for
# nvidia-smi, nvcc, compute-sanitizer and ncu. The files of a run must be complete even if programs fail or the run is
# killed. The times mean nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/gpu-check --stand-in
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"

cat >"$work/bin/nvidia-smi" <<'SH'
#!/bin/sh
echo "name, compute_mode"
echo "no GPU, Default"
SH
cat >"$work/bin/nvcc" <<'SH'
#!/bin/sh
while [ $# -gt 1 ]; do
	[ "$1" != -o ] || out=$2
	shift
done
cp "${1%.cu}.ptx" "$out"
SH
cat >"$work/bin/compute-sanitizer" <<'SH'
#!/bin/sh
tool=$2
while [ "${1#-}" != "$1" ]; do
	[ "$1" != --track-stream-ordered-races ] || tool="$tool in stream order"
	shift 2
done
"$@" && echo "========= $tool: ERROR SUMMARY: 0 errors"
SH
cat >"$work/bin/ncu" <<'SH'
#!/bin/bash
metrics=
while [[ $1 = -* ]]; do
	case $1 in
	--csv) shift && continue ;;
	--metrics) metrics=$2 ;;
	--profile-from-start) from=$2 ;;
	esac
	shift 2
done
echo "==PROF== Connected to process 7 ($1)"
case $NCU_STAND_IN in
forbidden) "$@" && echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission" && exit 1 ;;
unknown) [ -z "$metrics" ] || { echo "==ERROR== Failed to find metric $metrics" && exit 1; } ;;
deaf) [ -z "${from:-}" ] || { "$@" && echo "==WARNING== No kernels were profiled." && exit 0; } ;;
esac
"$@"
echo '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"'
for id in 0 1; do
	for m in ${metrics//,/ } Duration; do
		echo "\"$id\",\"msrep_major\",\"Command line profiler metrics\",\"$m\",\"ns\",\"1,00$id\""
	done
done
SH
chmod +x "$work"/bin/*
export TMPDIR=$work PATH=$work/bin:$PATH GPU_RUN_TMP=$work GPU_RUN_SECONDS=400 GPU_RUN_BENCH="--runs 2 --bytes 100000"

try() { # NAME STATUS MATRIX STAGE...: run them and check the exit status
	local name=$1 want=$2 status=0
	GPU_RUN_MATRICES=$3 scripts/gpu-run "$work/$name" "${@:4}" >"$work/$name.log" 2>&1 || status=$?
	[ "$status" = "$want" ] || { cat "$work/$name.log"; echo "$name: exit code $status, not $want"; exit 1; }
	whole "$name"
}
whole() { # NAME: every written line is JSON
	python3 - "$work/$1" <<'PYTHON'
import glob, json, sys
for path in glob.glob(sys.argv[1] + "/*.jsonl"):
    for line in open(path):
        json.loads(line)
PYTHON
}
says() { # FILE PATTERN
	grep -qE "$2" "$work/$1" || { cat "$work/$1"; echo "$1 does not say: $2"; exit 1; }
}
lines() { # FILE PATTERN COUNT: check the number of matching lines
	[ "$(grep -cE "$2" "$work/$1")" = "$3" ] || { cat "$work/$1"; echo "$1 has not $3 lines like: $2"; exit 1; }
}

small=gen:banded:n=600,band=5
GPU_RUN_TESTS=-rapid.checks=42 NCU_STAND_IN=counts try all 0 $small check bench variants formats others counters
says all/tests.log '^PASS'
says all/machine.txt '^no GPU, Default'
lines all/phases.jsonl . 7
says all/phases.jsonl '"why": "measured: coo '
for form in csr csr-merge slices cusparse auto; do
	says all/results.jsonl "\"form\":\"$form\".*\"seconds\":.*\"value\":\"fp32\""
done
for variant in "as it is" "fetch 32" "not marked" "past L1" "256 to L2" "more warps" "by nvcc" "one turn"; do
	says all/summary.txt "^$variant +banded-n-600-band-5 +csr [0-9]"
done
says all/summary.txt '^banded-n-600-band-5 +fp32 +pellr +[0-9]'
says all/summary.txt '^solve gmres +banded-n-600-band-5 +[0-9]'
for side in lower upper; do
	says all/summary.txt "^banded-n-600-band-5 +fp32 +$side +[0-9]+ +[0-9.]+ +[0-9]+ +[0-9.]+ +[0-9.]+  600 levels"
done
for value in fp64 fp32; do
	says all/summary.txt "^banded-n-600-band-5 +$value +72050 +12490 +[0-9.]+ +[0-9.]+ +- +0\$"
done
says all/summary.txt '^pagerank cpms2 +banded-n-600-band-5 +[0-9]'
says all/copies.txt '^BenchmarkCopies/write_64_KiB'
says all/summary.txt '^banded:n=600,band=5 +csr-merge +2 +2[.]0 +2 '
NCU_STAND_IN=forbidden try forbidden 1 $small counters
says forbidden.log 'may not read the counters'
NCU_STAND_IN=unknown try unknown 0 $small counters
says unknown/summary.txt '^banded:n=600,band=5 +cusparse +2 +-'
NCU_STAND_IN=deaf try deaf 0 $small counters
says deaf/summary.txt '^banded:n=600,band=5 +cusparse +2 +2[.]0'
GPU_RUN_TESTS="-test.run=RowsOfAny|CopiedMachines -test.short" try tests 0 $small tests
says tests/tests.log '^--- PASS: TestRowsOfAny'
says tests/tests.log '^--- PASS: TestPlacementOnCopiedMachinesMatchesGoldenFiles' # the test reads a file of the project
says tests/sanitizer.log 'memcheck: ERROR SUMMARY'
says tests/sanitizer.log 'racecheck: ERROR SUMMARY'
GPU_RUN_TESTS="-test.run=LogicalGPUs|OwnContexts|GPUsAreIn -test.short" GPU_RUN_FLOOR="-test.benchtime 2x" try plural 0 gen:banded:n=60,band=2 plural
says plural/tests.log '^--- PASS: TestLogicalGPUsWithOwnContextsMultiplyRight'
says plural/tests.log '^--- PASS: TestATrapInOneOfSeveralOwnContexts'
says plural/tests.log 'the wait in another context ends with: '
says plural/plural.txt '^to cuda:0[+]3 +none driver'
says plural/plural.txt '^to cuda:0[+]1: MSREP_P2P=0'
lines plural/plural.txt '^BenchmarkGPUHostFloor/cuda:0[+]0[+]0[+]0[+]0[+]0[+]0[+]0/wait=true' 2
lines plural/plural.txt '^real' 3
for tool in initcheck synccheck "memcheck in stream order" racecheck; do
	says plural/sanitizer.log "$tool: ERROR SUMMARY"
done
says plural/others.jsonl 'solve cg'
try wrong 1 gen:nothing:n=3 bench
says wrong/summary.txt 'nothing:n=3 +failed'
if grep reached "$work/wrong/summary.txt"; then echo "nothing was measured" && exit 1; fi

# When a kernel loses the GPU, gpu-run names it, and tests and measures the other kernels.
GPU_RUN_TESTS="-rapid.checks=42 -rapid.seed=1" MSREP_STANDIN_FAULT=msrep_major_coo_f64 try fault 1 $small check
says fault.log '/coo_float64: fails alone, in msrep_major_coo_f64: CUDA error 719'
says fault.log '/coo_float32: passes alone'
says fault.log '/sell_float32: passes alone'
MSREP_STANDIN_FAULT=msrep_major_vector4_f64 try lost 1 $small bench
for form in csr-merge slices cusparse; do
	says lost/results.jsonl "\"form\":\"$form\".*\"seconds\":.*\"value\":\"fp32\""
done
MSREP_STANDIN_FAULT=msrep_major_vector4_f64 try variant 1 $small variants

# CuPy ends the first process that loads it before the process reads its request. The next process answers for its own
# matrix, and only when that matrix is measured.
mkdir "$work/peers"
if ! python3 -c 'import numpy' 2>/dev/null; then # gpu-peers.py reads matrices with it
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$work/numpy" numpy
fi
cat >"$work/peers/cupy.py" <<'PYTHON'
import os, time
if not os.path.exists(os.environ["LOADED"]):
    open(os.environ["LOADED"], "w")
    os._exit(1)
time.sleep(1)
raise ImportError("no CuPy")
PYTHON
LOADED=$work/loaded PYTHONPATH=$work/peers:$work/numpy try peers 0 "$small gen:banded:n=500,band=3 gen:banded:n=400,band=3" bench
says peers/summary.txt 'n=600,band=5 +CuPy and torch: not measured'
for n in 500 400; do
	lines peers/results.jsonl "n-$n-.*ImportError: no CuPy" 2
done

# A read that ends by its time limit within a line keeps what it has read.
(
	eval "$(sed -n '/^part=/,/^}/p' scripts/gpu-run)"
	exec {answer}< <(printf 'done '; sleep 1.3; echo matrix)
	answered "done matrix" || answered "done matrix" || { echo "gpu-run lost a part of an answer" && exit 1; }
)

# A collection of two packs, one after the other: a file that is no matrix, a name with odd characters, matrices with too
# few entries, and a part that cannot be unpacked. The second call measures only what is new.
mkdir "$work/folder"
cp testdata/{Harvard500,plskz362,can_144,football}.mtx.gz "$work/folder"
cp testdata/gre_343.mtx.gz "$work/folder/a \"gre\" 343.mtx.gz"
echo nothing >"$work/folder/wrong.mtx"
GPU_CHECK_LEAST=1300 GPU_CHECK_PACK=12 scripts/gpu-check --collection "$work/folder" >"$work/pack.log"
says pack.log '^left out: .*wrong.mtx'
says pack.log '^3 matrices'
mv .gpu/collection-2.tar "$work"
echo "no matrix" >"$work/bad.msr.xz"
tar -C "$work" -rf .gpu/collection-1.tar bad.msr.xz
PYTHONPATH=$work/numpy try race 1 $small collection
says race.log 'gpu-collection.py: bad.msr: '
mv "$work/collection-2.tar" .gpu/collection-1.tar
PYTHONPATH=$work/numpy try race 0 $small collection
for name in Harvard500 plskz362 a__gre__343 gen-banded-n-600-band-5; do
	lines race/results.jsonl "\"form\":\"auto\".*/$name.msr\".*\"set\":\"collection\"" 2
	lines race/results.jsonl "\"peer\".*/$name.msr\".*\"fp32\"" 2
done
says race/summary.txt '^all +fp64 +4 +[0-9.]+ +[0-9.]+ +[0-4] '
says race/summary.txt '^a__gre__343 +fp32 +343 +1435 '
says race/summary.txt '^torch failed 8 times'
rm .gpu/collection-1.tar
MSREP_STANDIN_FAULT=msrep_major_vector4_f64 PYTHONPATH=$work/numpy try fault-race 1 $small collection
says fault-race.log 'no packs of matrices'
says fault-race/summary.txt '^failed: banded-n-600-band-5'
for form in csr-merge slices cusparse; do
	says fault-race/results.jsonl "\"form\":\"$form\".*\"seconds\":.*\"value\":\"fp32\""
done

# Killed during a run: all measurements so far are there and complete.
GPU_RUN_MATRICES="$small gen:banded:n=20000,band=9" setsid scripts/gpu-run "$work/killed" bench >"$work/killed.log" 2>&1 &
pid=$!
for _ in $(seq 100); do
	if grep -q '"what":"product"' "$work/killed/results.jsonl" 2>/dev/null; then break; fi
	sleep 0.1
done
kill -9 -- -$pid
wait $pid 2>/dev/null || true
whole killed
says killed/results.jsonl '"what":"product"'
echo "scripts/gpu-run: all stages, failures and a kill, on stand-ins"
