#!/usr/bin/env bash
# Prints the result of NVIDIA's assembler for the product kernels as a table for kernels/internal/cuda/README.md: registers and
# spills from ptxas, loads from nvdisasm, and the warps that fit on a multiprocessor. Needs no GPU. Not part of the
# default checks.
#
#   .ci/sass.sh [ARCH]       sm_90 unless said; uses ptxas and nvdisasm where found
#   .ci/sass.sh --download   first fetches both with pip (50 MB) into a temporary folder
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ptxas=${PTXAS:-ptxas}
nvdisasm=${NVDISASM:-nvdisasm}
if [ "${1:-}" = --download ]; then
	shift
	python3 -m pip download -q --no-deps -d "$work" nvidia-cuda-nvcc==13.0.88 nvidia-cuda-nvdisasm==13.5.37
	for wheel in "$work"/*.whl; do
		python3 -m zipfile -e "$wheel" "$work"
	done
	ptxas=$(find "$work" -name ptxas) nvdisasm=$(find "$work" -name nvdisasm)
	chmod +x "$ptxas" "$nvdisasm"
fi
arch=${1:-sm_90}
cd "$(dirname "$0")/../kernels/internal/cuda"
for family in slices csr_vector csr_merge coo minor major_fixed ell; do
	"$ptxas" -v "-arch=$arch" $family.ptx -o "$work/$family.cubin" 2>"$work/$family.log"
	"$nvdisasm" -c "$work/$family.cubin" >"$work/$family.sass"
done
python3 - "$arch" "$work" <<'PYTHON'
import glob, os, re, sys

arch, work = sys.argv[1:]
print("| kernel, %s | registers | spilled bytes | warps of 64 | loads under way at once | bytes of a warp |\n|---|---|---|---|---|---|" % arch)
for path in sorted(glob.glob(work + "/*.log")):
    log = open(path).read()
    sass = open(path.replace(".log", ".sass")).read()
    parts = dict(re.findall(r"\.section\t\.text\.(\w+),(.*?)(?=\.section\t\.text\.|\Z)", sass, re.S))
    for name, spills, loads, used, rest in re.findall(r"entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers(.*?)\n", log, re.S):
        if not re.search(r"_major_|_minor_f", name):
            continue
        shared = int((re.findall(r"(\d+) bytes smem", rest) or ["0"])[0])
        block = 128
        blocks = min(2048 // block, 65536 // (-(-int(used) // 8) * 8 * block), (227 << 10) // (shared + 1024))
        best = (0, 0)
        # A run of loads ends at the instruction that reads one of their results.
        pending, count, size = set(), 0, 0
        for line in parts[name].splitlines():
            m = re.search(r"(@!?U?P\d+ +)?(\w+[\w.]*) (.*);", line)
            if not m or "(*" in line:
                continue
            op, args = m.group(2), m.group(3)
            regs = [r for r in re.findall(r"\bR(\d+)\b", args)]
            if op.startswith("BRA") or set(regs[1:] if op.startswith(("LDG", "IMAD", "ISETP")) else regs) & pending:
                if not op.startswith("BRA") or "DIV" not in op:
                    best = max(best, (size, count))
                    pending, count, size = set(), 0, 0
            if op.startswith("LDG"):
                wide = 0.5 if ".128" in op and "slices" in name else 16 if ".128" in op else 8 if ".64" in op else 2 if ".U16" in op else 4
                first = int(regs[0])
                pending |= {str(first + i) for i in range(4 if ".128" in op else 2 if wide == 8 else 1)}
                count, size = count + 1, size + 32 * wide
        print("| `%s` | %s | %d | %d | %d | %d |" % (name, used, int(spills) + int(loads), 4 * blocks, best[1], best[0]))
PYTHON
