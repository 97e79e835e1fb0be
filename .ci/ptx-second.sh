#!/bin/sh
# Compiles the kernels with NVIDIA's compilers, as far as they are installed. Needs no GPU. It is not part of the
# default checks because the tools are large.
#
#   .ci/ptx-second.sh             uses nvcc, ptxas and libnvrtc where found
#   .ci/ptx-second.sh --download  first fetches ptxas 11.8 and NVRTC 12.6 with pip
#                                 (45 MB) into a temporary folder
#
# ptxas assembles the committed PTX for sm_70, sm_80 and sm_90. NVRTC compiles the sources for compute_70, 75 and 90.
# nvcc, if present, compiles for its oldest and newest architecture. PTXAS, NVCC and NVRTC set their paths.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ptxas=${PTXAS:-ptxas}
nvcc=${NVCC:-nvcc}
nvrtc=${NVRTC:-libnvrtc.so.12}

if [ "${1:-}" = --download ]; then
	python3 -m pip download -q --no-deps -d "$work" nvidia-cuda-nvcc-cu11==11.8.89 nvidia-cuda-nvrtc-cu12==12.6.85
	for wheel in "$work"/*.whl; do
		python3 -m zipfile -e "$wheel" "$work"
	done
	ptxas=$work/nvidia/cuda_nvcc/bin/ptxas
	nvrtc=$work/nvidia/cuda_nvrtc/lib/libnvrtc.so.12
	chmod +x "$ptxas"
	LD_LIBRARY_PATH=$work/nvidia/cuda_nvrtc/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi
cd "$root/kernels/internal/cuda"
ran=0

if command -v "$ptxas" >/dev/null; then
	ran=1
	for arch in sm_70 sm_80 sm_90; do
		for file in *.ptx; do
			case $arch/$file in
			sm_70/csr_* | sm_80/csr_*) sed 's/^[.]minnctapersm .*/.minnctapersm 5/' "$file" >"$work/$file" ;; # as cuda.PTXFor
			*) cp "$file" "$work/$file" ;;
			esac
			"$ptxas" -v -arch=$arch "$work/$file" -o "$work/out.cubin" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
			if grep 'spill' "$work/log" | grep -qv '0 bytes spill stores, 0 bytes spill loads'; then
				spills="$file $(grep -o '[1-9][0-9]* bytes spill stores' "$work/log" | sort -u | tr '\n' ' ')"
				case "$spills" in
				"krylov.ptx 8 bytes spill stores " | "csr_merge.ptx 16 bytes spill stores ") # known: see README.md
					echo "ptxas $arch: $spills" ;;
				*)
					echo "ptx-second.sh: ptxas $arch: $spills" >&2
					exit 1
					;;
				esac
			fi
		done
		echo "ptxas $arch: $(ls *.ptx | wc -l) files, no other spills"
	done
fi

if command -v python3 >/dev/null && python3 -c "import ctypes,sys; ctypes.CDLL(sys.argv[1])" "$nvrtc" 2>/dev/null; then
	ran=1
	python3 - "$nvrtc" *.cu <<'PYTHON'
import ctypes, os, sys

lib = ctypes.CDLL(sys.argv[1])
include = {"include/" + n: open("include/" + n, "rb").read() for n in os.listdir("include")}
include |= {n.split("/")[1]: s for n, s in include.items()}
texts = lambda items: (ctypes.c_char_p * len(items))(*items)
names, sources = texts([n.encode() for n in include]), texts(list(include.values()))
for arch in (70, 75, 90):
    for path in sys.argv[2:]:
        program = ctypes.c_void_p()
        code = lib.nvrtcCreateProgram(ctypes.byref(program), open(path, "rb").read(), path.encode(), len(include), sources, names)
        options = texts([b"--gpu-architecture=compute_%d" % arch, b"--std=c++17"])
        code = code or lib.nvrtcCompileProgram(program, len(options), options)
        size = ctypes.c_size_t()
        lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetProgramLog(program, log)
        if code or log.value.strip():
            sys.exit("%s for compute_%d: error %d\n%s" % (path, arch, code, log.value.decode()))
        lib.nvrtcDestroyProgram(ctypes.byref(program))
    print("NVRTC compute_%d: %d files, no warnings" % (arch, len(sys.argv) - 2))
PYTHON
fi

if command -v "$nvcc" >/dev/null; then
	ran=1
	for source in *.cu; do
		"$nvcc" -std=c++17 -arch=all-major -cubin -o "$work/out" "$source" 2>"$work/log" ||
			"$nvcc" -std=c++17 -arch=sm_90 -cubin -o "$work/out" "$source"
	done
	echo "nvcc: $(ls *.cu | wc -l) files"
fi

if [ $ran = 0 ]; then
	echo "ptx-second.sh: no ptxas, NVRTC or nvcc here: try --download" >&2
	exit 1
fi
