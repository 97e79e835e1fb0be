#!/usr/bin/env bash
# Boots Linux on emulated machines (QEMU) with several NUMA nodes, and runs the tests of package msrep with the build
# tag qemu as the first process. It checks where memory and threads are, not speed.
#
#   .ci/numa-qemu.sh
#
# Needs Debian or Ubuntu. Installs qemu-system-x86 and cpio if they are missing (as root), and unpacks the cloud
# kernel into the cache folder without installing it. With gcc, a third machine has GPUs on both nodes, with the
# stand-in for the driver. Takes a minute, on a busy machine up to 5.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${MSREP_QEMU_TIMED:-}" ]; then
	MSREP_QEMU_TIMED=1 exec timeout 330 .ci/numa-qemu.sh
fi

cache=${XDG_CACHE_HOME:-$HOME/.cache}/msrep-ci
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "numa-qemu: $*" >&2
	exit 1
}

install_tools() {
	local missing=()
	command -v qemu-system-x86_64 >/dev/null || missing+=(qemu-system-x86)
	command -v cpio >/dev/null || missing+=(cpio)
	[ ${#missing[@]} -eq 0 ] && return
	command -v apt-get >/dev/null || fail "${missing[*]} missing, and no apt-get to install them with"
	[ "$(id -u)" = 0 ] || fail "${missing[*]} missing: install them, or run this as root"
	timeout 60 apt-get update -qq >"$work/apt.log" 2>&1 || true # lists may be there already
	DEBIAN_FRONTEND=noninteractive timeout 110 apt-get install -qq -y --no-install-recommends \
		"${missing[@]}" >>"$work/apt.log" 2>&1 ||
		fail "cannot install ${missing[*]}: $(tail -n 1 "$work/apt.log")"
}

# unpack_kernel writes the kernel to $cache/vmlinuz.
unpack_kernel() {
	[ -s "$cache/vmlinuz" ] && return
	local name
	name=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-.*-cloud-amd64\)$/\1/p' | head -n 1)
	if [ -z "$name" ]; then
		timeout 60 apt-get update -qq >/dev/null 2>&1 || true
		name=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-.*-cloud-amd64\)$/\1/p' | head -n 1)
	fi
	[ -n "$name" ] || fail "no package linux-image-*-cloud-amd64 is known to apt"
	mkdir -p "$cache"
	chmod 755 "$work"
	(cd "$work" && timeout 100 apt-get download "$name" >apt.log 2>&1) ||
		fail "cannot download $name: $(tail -n 1 "$work/apt.log")"
	dpkg -x "$work"/linux-image-*.deb "$work/kernel"
	cp "$work"/kernel/boot/vmlinuz-* "$cache/vmlinuz.part"
	mv "$cache/vmlinuz.part" "$cache/vmlinuz"
}

# build makes the initramfs with the static test binary as /init.
build() {
	mkdir "$work/files"
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go test -c -tags qemu -o "$work/files/init" ./msrep
	(cd "$work/files" && echo init | cpio -o -H newc --quiet) >"$work/initrd"
}

# build_gpu makes the initramfs with a binary for GPUs, the stand-in for the driver and the libraries that both need.
build_gpu() {
	local dir=$work/gpu lib
	mkdir "$dir"
	(
		eval "$(.ci/cuda.sh --headers)"
		go test -c -ldflags='-s -w' -tags 'qemu cuda' -o "$dir/init" ./msrep
	)
	gcc -O1 -shared -fPIC -o "$dir/stand-in.so" internal/nvidiatest/lib/{cuda,links,sparse}.c -lpthread
	for lib in $(ldd "$dir/init" | grep -o '/[^ ]*') $(ldd "$dir/stand-in.so" | grep -o '/[^ ]*'); do
		cp -L --parents "$lib" "$dir"
	done
	(cd "$dir" && find . -mindepth 1 | cpio -o -H newc --quiet) >"$work/initrd-gpu"
}

# gpu adds a virtio GPU on a separate host bridge to a node.
gpu() {
	local node=$1
	echo "-device pxb-pcie,id=px$node,bus=pcie.0,bus_nr=$((96 + 32 * node)),numa_node=$node" \
		"-device pcie-root-port,id=rp$node,bus=px$node,chassis=$((node + 1)),slot=$((node + 1))" \
		"-device virtio-gpu-pci,bus=rp$node"
}

# begins waits until process $1, a machine that prints to $2, has ended or started the tests. It returns false after
# 40 s: emulated processors sometimes hang before the first process starts.
begins() {
	local s
	for s in {1..80}; do
		grep -qs '=== RUN' "$2" && return # the log may not exist yet
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.5
	done
	return 1
}

# boot NAME NODES INITRD TESTS LEAST VARIABLES... runs the tests on a machine; at least LEAST tests must pass. NODES
# lists the CPUs of each node: nothing for a node with memory only, and ! after the CPUs of a node without memory.
boot() {
	local name=$1 spec=$2 initrd=$3 tests=$4 least=$5 args=() i=0 memory=0 cpus list
	shift 5
	IFS=';' read -ra list <<<"$spec;"
	for cpus in "${list[@]}"; do
		if [[ $cpus == *! ]]; then
			args+=(-numa "node,nodeid=$i,cpus=${cpus%!}")
		else
			args+=(-object "memory-backend-ram,id=m$i,size=384M")
			args+=(-numa "node,nodeid=$i,memdev=m$i${cpus:+,cpus=$cpus}")
			memory=$((memory + 384))
		fi
		i=$((i + 1))
	done
	local log="$work/$name.log" machine
	# shellcheck disable=SC2046
	machine=(qemu-system-x86_64 -accel tcg,thread=multi -cpu max -machine q35
		-m ${memory}M -smp 4 "${args[@]}" $(gpu 0) $(gpu 1)
		-kernel "$cache/vmlinuz" -initrd "$work/$initrd"
		-append "console=ttyS0 quiet panic=-1 MSREP_NODES=$spec $* -- -test.v -test.run=^$tests"
		-nodefaults -display none -no-reboot -serial stdio)
	timeout 140 "${machine[@]}" </dev/null >"$log" 2>&1 &
	if ! begins $! "$log"; then
		echo "numa-qemu: $name: Linux did not start within 40 s: retrying"
		kill $! 2>/dev/null || true
		wait $! || true
		timeout 140 "${machine[@]}" </dev/null >"$log" 2>&1 &
	fi
	wait $! || fail "the machine with $name did not end by itself: $(tail -n 5 "$log")"
	tr -d '\r' <"$log" | grep -E '^ *(--- |PASS|FAIL|[a-z_]+\.go:)' || true
	local passed
	passed=$(grep -c '^--- PASS: TestOn' "$log" || true)
	# Linux reports the end of its first process as a panic, with the exit status.
	if ! grep -q 'Kernel panic .* exitcode=0x00000000' "$log" || ! grep -q '^PASS' "$log" ||
		[ "$passed" -lt "$least" ] || grep -qE '^--- (FAIL|SKIP)' "$log"; then
		sed '/Kernel panic/q' "$log" >&2
		fail "tests failed on the machine with $name"
	fi
	echo "numa-qemu: $name: $passed tests passed"
}

install_tools
unpack_kernel
build
boot "two nodes" "0-1;2-3" initrd TestOnNodes 8
boot "four nodes, one of memory only" "0;1;2-3;" initrd TestOnNodes 8
boot "three nodes, one without memory" "0;1;2-3!" initrd TestOnANode 1
if command -v gcc >/dev/null; then
	build_gpu
	boot "GPUs on two nodes" "0-1;2-3" initrd-gpu TestOnNodesGPUs 1 MSREP_LIBCUDA=/stand-in.so MSREP_LIBCUSPARSE=/stand-in.so
else
	echo "numa-qemu: no gcc: GPUs were not tested"
fi
