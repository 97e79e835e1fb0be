#!/usr/bin/env bash
# Builds msrep with Open MPI and with MPICH and runs it on several ranks of this
# machine, which may have fewer cores.
#
#   .ci/mpi.sh
#
# Needs Debian or Ubuntu; installs both libraries if they are missing (as root). One part uses three network
# namespaces as three hosts; it needs root and CAP_NET_ADMIN, and is skipped without them. MSREP_MATRICES is the
# folder of the real matrices, by default shared/matrices next to the project, or testdata if that is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

root=$PWD
work=$(mktemp -d)
hosts=(msrep-h0 msrep-h1 msrep-h2)
switch=msrep-sw

fail() {
	echo "mpi: $*" >&2
	exit 1
}

clean_up() {
	for h in "${hosts[@]}" $switch; do
		ip netns del "$h" 2>/dev/null || true
		rm -rf "/etc/netns/$h"
	done
	rm -rf "$work"
}
trap clean_up EXIT

install_libraries() {
	local missing=()
	command -v mpicc.openmpi >/dev/null || missing+=(libopenmpi-dev openmpi-bin)
	command -v mpicc.mpich >/dev/null || missing+=(libmpich-dev mpich)
	command -v ip >/dev/null || missing+=(iproute2)
	[ ${#missing[@]} -eq 0 ] && return
	[ "$(id -u)" = 0 ] || fail "${missing[*]} missing: install them, or run this as root"
	timeout 60 apt-get update -qq >"$work/apt.log" 2>&1 || true # lists may be there already
	DEBIAN_FRONTEND=noninteractive timeout 170 apt-get install -qq -y --no-install-recommends \
		"${missing[@]}" >>"$work/apt.log" 2>&1 ||
		fail "cannot install ${missing[*]}: $(tail -n 1 "$work/apt.log")"
}

# Waiting ranks yield their cores. Hydra leaves the report of a lost rank to msrep.
launch() { # LIBRARY RANKS COMMAND...
	local lib=$1 n=$2
	shift 2
	if [ "$lib" = openmpi ]; then
		timeout 100 mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1 -n "$n" "$@"
	else
		timeout 100 mpirun.mpich -disable-auto-cleanup -n "$n" "$@"
	fi
}

build() {
	go build -o "$work/msrep" ./cmd/msrep
	for lib in openmpi mpich; do
		export CC=mpicc.$lib
		go vet -tags mpi ./cluster/mpi ./cmd/msrep
		go build -tags mpi -o "$work/msrep.$lib" ./cmd/msrep
		go test -c -tags mpi -o "$work/test.$lib" ./cluster/mpi
	done
	unset CC
	# With GPUs as well, simulated by the stand-in for the driver.
	(
		eval "$(.ci/cuda.sh --headers)"
		export CC=mpicc.openmpi
		go vet -tags mpi,cuda,standin ./cluster ./cluster/mpi ./cmd/msrep
		go build -tags mpi,cuda,standin -o "$work/msrep.cuda" ./cmd/msrep
		go test -c -tags mpi,cuda,standin -o "$work/test.cuda" ./cluster/mpi
	)
	gcc -O1 -shared -fPIC -o "$work/libcuda.so" internal/nvidiatest/lib/*.c -lpthread
}

if [ -z "${MSREP_MATRICES:-}" ]; then
	MSREP_MATRICES=$(dirname "$root")/shared/matrices
	[ -d "$MSREP_MATRICES" ] || MSREP_MATRICES=$root/testdata
fi
export MSREP_MATRICES

# Products, CG and PageRank compared with one process: cluster/mpi/mpi_test.go.
agreement() {
	for lib in openmpi mpich; do
		for n in 1 2 3 4; do
			launch $lib $n "$work/test.$lib" -test.v >"$work/log" 2>&1 || {
				cat "$work/log"
				fail "$lib, $n ranks: see above"
			}
			echo "$lib, $n ranks: $(sed -n 's/.*: \([0-9]* real matrices\).*/\1/p' "$work/log" | paste -sd, | sed 's/,/, /g') agree"
		done
	done
}

# field FILE EXPRESSION: evaluates an expression of the JSON object j.
field() { python3 -c "import json,sys; j=json.load(open(sys.argv[1])); print($2)" "$1"; }

# Checks the output of the command, and that it sends the messages of the model.
commands() {
	local a=$root/testdata/memplus.mtx.gz
	"$work/msrep" info "$a" --ranks 1,2,4 --json >"$work/model"
	"$work/msrep" spmv "$a" --x sin --deterministic --out "$work/one.mtx" >/dev/null
	for lib in openmpi mpich; do
		for n in 1 2 4; do
			launch $lib $n "$work/msrep.$lib" spmv "$a" --x sin --repeat 3 --deterministic --out "$work/y.mtx" --json >"$work/run"
			cmp "$work/one.mtx" "$work/y.mtx" || fail "$lib, $n ranks: the bits of y differ from those of one process"
			local sent want
			sent=$(field "$work/run" '(sum(r["bytes_sent"] for r in j["ranks"]), sum(r["messages_sent"] for r in j["ranks"]))')
			want=$(field "$work/model" "[(3*e['bytes'], 3*e['messages']) for e in j['ranks'] if e['ranks'] == $n][0]")
			[ "$sent" = "$want" ] || fail "$lib, $n ranks: sent $sent bytes and messages, the partition says $want"
		done
		local how
		for how in jacobi amg; do
			local grid=gen:stencil:dims=2,n=120
			[ $how = jacobi ] || grid=gen:stencil:dims=2,n=400 # ranks begin at multiples of 61440 rows
			launch $lib 3 "$work/msrep.$lib" solve $grid --method cg --precond $how --deterministic --out "$work/x.mtx" >/dev/null
			"$work/msrep" solve $grid --method cg --precond $how --deterministic --out "$work/x1.mtx" >/dev/null
			cmp "$work/x.mtx" "$work/x1.mtx" || fail "$lib, --precond $how: the bits of x differ from those of one process"
		done
		launch $lib 3 "$work/msrep.$lib" pagerank "$a" --deterministic --out "$work/p.mtx" >/dev/null
		"$work/msrep" pagerank "$a" --deterministic --out "$work/p1.mtx" >/dev/null
		cmp "$work/p.mtx" "$work/p1.mtx" || fail "$lib: the bits of the ranks differ from those of one process"
		local status=0
		launch $lib 2 "$work/msrep.$lib" pagerank "$a" --max-iter 2 --json >"$work/run" 2>"$work/log" || status=$?
		[ $status = 1 ] && [ "$(grep -c '^msrep pagerank: not converged after 2 iterations' "$work/log")" = 1 ] &&
			[ "$(field "$work/run" 'j["converged"]')" = False ] || fail "$lib: PageRank that does not converge gives $status and $(cat "$work/log")"
		status=0
		launch $lib 3 "$work/msrep.$lib" spmv "$work/none.mtx" >"$work/log" 2>&1 || status=$?
		[ $status = 2 ] && [ "$(grep -c 'none.mtx: no such file' "$work/log")" = 1 ] || fail "$lib: a missing file gives $status and $(cat "$work/log")"
		status=0
		launch $lib 2 "$work/msrep" spmv "$a" >"$work/log" 2>&1 || status=$?
		[ $status = 2 ] && [ "$(grep -c 'was built without MPI' "$work/log")" = 1 ] || fail "$lib: msrep without MPI gives $status and $(cat "$work/log")"
	done
	echo "same bits as in one process; bytes sent are those of the partition"
}

# apart LIBRARY STATUS MESSAGE FIRST SECOND: runs two ranks with different command lines. Rank 0 must report the
# reason within 10 s.
apart() {
	local lib=$1 want=$2 message=$3 status=0 begin=$SECONDS
	# shellcheck disable=SC2086 # command lines are words
	MSREP_MPI_JOIN_SECONDS=5 launch "$lib" 1 "$work/msrep.$lib" $4 : -n 1 "$work/msrep.$lib" $5 >"$work/run" 2>"$work/log" || status=$?
	[ $status = "$want" ] && [ "$(grep -c '^msrep' "$work/log")" = 1 ] && grep -q "^msrep[a-z ]*: $message" "$work/log" && [ $((SECONDS - begin)) -le 10 ] ||
		fail "$lib, $4 beside $5: status $status after $((SECONDS - begin)) s, and $(cat "$work/log")"
}

# A rank with a wrong command line reports it to the others while they join; nobody waits for a rank that does not
# join.
joining() {
	local a=gen:diag:n=9
	for lib in openmpi mpich; do
		apart $lib 2 "rank 1 on .*: there is no flag --wrong" "spmv $a" "spmv $a --wrong"
		apart $lib 2 "rank 0 on .*: there is no flag --wrong" "spmv $a --wrong" "spmv $a"
		apart $lib 2 "there is no flag --wrong" "spmv $a --wrong" "spmv $a --wrong"
		apart $lib 2 'rank 1 on .*: "spvm" is not a command' "spmv $a" "spvm $a"
		apart $lib 2 "command line: rank 0 on .* has spmv $a, rank 1 on .* has info $a: " "spmv $a" "info $a"
		apart $lib 2 "command line: rank 0 on .* has spmv $a, rank 1 on .* has solve $a: " "spmv $a" "solve $a"
		apart $lib 1 "\(not all 2 ranks have joined within 5s\|interrupted before all 2 ranks have joined\)" "spmv $a" "version"
		launch $lib 1 "$work/msrep.$lib" info $a --json : -n 1 "$work/msrep.$lib" info gen:diag:n=8 --json >"$work/run"
		[ "$(grep -c '"rows": [89]' "$work/run")" = 2 ] || fail "$lib: info on two ranks: $(cat "$work/run")"
	done
	echo "ranks with wrong or different command lines, or that end early, are reported"
}

# Vectors that stay on GPUs. Messages use pinned memory or, as with a CUDA-aware MPI library, device memory, which is
# host memory in the simulation.
devices() {
	local how memory
	export MSREP_LIBCUDA=$work/libcuda.so MSREP_LIBCUSPARSE=$work/libcuda.so
	for how in on auto; do
		memory=device
		[ $how = on ] || memory=pinned
		MSREP_DEVICES=cuda:0 MSREP_MPI_DEVICE=$how launch openmpi 2 "$work/test.cuda" -test.run OnDevices >"$work/log" 2>&1 || {
			cat "$work/log"
			fail "GPUs, MSREP_MPI_DEVICE=$how: see above"
		}
		MSREP_MPI_DEVICE=$how launch openmpi 3 "$work/msrep.cuda" solve gen:stencil:dims=2,n=16 --devices cuda --method cg --precond jacobi --json >"$work/run"
		[ "$(field "$work/run" '(j["converged"], {r["messages_in"] for r in j["ranks"]})')" = "(True, {'$memory'})" ] ||
			fail "MSREP_MPI_DEVICE=$how: $(field "$work/run" 'j["converged"], j["ranks"]')"
	done
	unset MSREP_LIBCUDA MSREP_LIBCUSPARSE
	echo "products and CG agree with one process, with messages of device memory and through pinned memory"
}

# Memory of one of 4 ranks, reading included, beyond the memory of the program with a matrix of ten rows, compared
# with one process.
memory() {
	local a=$work/large.mtx rest one few
	if [ ! -f "$MSREP_MATRICES/cnr-2000.mtx.gz" ]; then
		echo "memory: skipped, the large matrix is missing"
		return
	fi
	zcat "$MSREP_MATRICES/cnr-2000.mtx.gz" >"$a"
	peak='max(r["peak_bytes"] for r in j["ranks"])'
	python3 - "$work/msrep" "$a" >"$work/one" <<-'END'
		import json, os, subprocess, sys
		def peak(matrix):
		    p = subprocess.Popen([sys.argv[1], "spmv", matrix, "--repeat", "100"], stdout=subprocess.DEVNULL)
		    return os.wait4(p.pid, 0)[2].ru_maxrss * 1024
		print(peak(sys.argv[2]) - peak("gen:diag:n=10"))
	END
	one=$(cat "$work/one")
	for lib in openmpi mpich; do
		launch $lib 4 "$work/msrep.$lib" spmv gen:diag:n=10 --repeat 100 --json >"$work/run"
		rest=$(field "$work/run" "$peak")
		launch $lib 4 "$work/msrep.$lib" spmv "$a" --repeat 100 --json >"$work/run"
		few=$(field "$work/run" "$peak")
		python3 -c "
r = ($few - $rest) / $one
print(f'$lib: a rank of 4 takes {r:.3f} of the memory of one process (with the program itself: {$few/2**20:.1f} MiB, of which {$rest/2**20:.1f} at rest)')
assert r <= 0.35, 'more than 0.35'"
	done
}

# end_of NAME MESSAGE FAULT COMMAND...: runs the command, injects the fault, and checks that the run ends within 10 s,
# with one message of msrep that names rank, host and cause, and without an output file. If MESSAGE starts with ?, the
# message may be missing.
end_of() { # NAME MESSAGE FAULT COMMAND...
	local name=$1 message=$2 fault=$3 begin took
	shift 3
	mkdir -p "$work/out"
	"$@" >"$work/stdout" 2>"$work/log" &
	local job=$!
	sleep 2
	begin=$SECONDS
	$fault
	wait $job && fail "$name: ended well"
	took=$((SECONDS - begin))
	sed -i '/^YOUR APPLICATION TERMINATED/,/^Please see the FAQ/d' "$work/stdout" # text of MPICH's launcher
	if [ "${message#\?}" != "$message" ] && [ "$(grep -c "^msrep spmv: " "$work/log")" = 0 ]; then
		echo "$name: the launcher ended all ranks before one could report the cause"
	else
		[ "$(grep -c "^msrep spmv: " "$work/log")" = 1 ] && grep -q "^msrep spmv: ${message#\?}" "$work/log" || {
			cat "$work/log"
			fail "$name: expected one message with ${message#\?}"
		}
	fi
	[ $took -le 10 ] || fail "$name: took $took s to end"
	[ -z "$(ls -A "$work/out")" ] || fail "$name: left $(ls -A "$work/out")"
	[ ! -s "$work/stdout" ] || fail "$name: printed a result"
	echo "$name: over in $took s: $(grep '^msrep spmv: ' "$work/log" || true)"
}

# Endless products on a grid.
forever=(spmv gen:stencil:dims=2,n=200 --repeat 1000000 --out "$work/out/y.mtx")

kill_rank_2() {
	local p
	for p in $(pgrep -f "^$work/msrep.*spmv gen:stencil"); do
		if tr '\0' '\n' <"/proc/$p/environ" | grep -qE '^(OMPI_COMM_WORLD_RANK|PMI_RANK)=2$'; then
			kill -KILL "$p"
		fi
	done
}

killed() {
	local gone="rank 2 on .*: its process has ended without a word"
	end_of "openmpi, a rank is killed" "$gone" kill_rank_2 launch openmpi 3 "$work/msrep.openmpi" "${forever[@]}"
	# At times MPICH's launcher ends the ranks first; in one of five runs a rank must report.
	local run
	for run in 1 2 3 4 5; do
		end_of "mpich, a rank is killed" "?$gone" kill_rank_2 launch mpich 3 "$work/msrep.mpich" "${forever[@]}"
		grep -q "^msrep spmv: " "$work/log" && return
	done
	fail "mpich, a rank is killed: no rank reported it in five runs"
}

# Three namespaces with a bridge between them.
make_hosts() {
	ip netns add $switch 2>/dev/null || return 1
	ip -n $switch link add br0 type bridge && ip -n $switch link set br0 up || return 1
	local i h
	for i in 0 1 2; do
		h=${hosts[$i]}
		ip netns add "$h" && ip -n "$h" link set lo up || return 1
		ip -n "$h" link add eth0 type veth peer name "p$i" netns $switch || return 1
		ip -n "$h" addr add "10.77.0.1$i/24" dev eth0 && ip -n "$h" link set eth0 up || return 1
		ip -n $switch link set "p$i" master br0 up || return 1
		mkdir -p "/etc/netns/$h"
		printf '127.0.0.1 localhost\n10.77.0.10 %s\n10.77.0.11 %s\n10.77.0.12 %s\n' "${hosts[@]}" >"/etc/netns/$h/hosts"
	done
	cat >"$work/rsh" <<-'END'
		#!/bin/bash
		# Stands in for ssh: a host is a network namespace with a host name.
		while [[ $1 == -* ]]; do shift; done
		host=$1
		shift
		exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0"; exec sh -c "$*"' "$host" "$@"
	END
	chmod +x "$work/rsh"
	printf '%s slots=1\n' "${hosts[@]}" >"$work/hosts.openmpi"
	printf '%s:1\n' "${hosts[@]}" >"$work/hosts.mpich"
	"$work/rsh" "${hosts[0]}" true 2>/dev/null
}

# on_hosts LIBRARY COMMAND...: runs a rank on each host. Open MPI is configured to watch its daemons, so it also
# notices a host that is cut off.
on_hosts() {
	local lib=$1
	shift
	local run="timeout 100 mpirun.mpich -disable-auto-cleanup -launcher rsh -launcher-exec $work/rsh -iface eth0 -f $work/hosts.mpich"
	if [ "$lib" = openmpi ]; then
		run="timeout 100 mpirun.openmpi --mca mpi_yield_when_idle 1 --mca plm_rsh_agent $work/rsh --hostfile $work/hosts.openmpi"
		run+=" --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0"
		run+=" --mca oob_tcp_keepalive_time 4 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 2"
	fi
	"$work/rsh" "${hosts[0]}" "cd $work && MSREP_MATRICES=$MSREP_MATRICES exec $run -n 3 $*"
}

cut_host_0() { ip -n $switch link set p0 down; }
cut_host_2() { ip -n $switch link set p2 down; }
join_hosts() {
	ip -n $switch link set p0 up
	ip -n $switch link set p2 up
	sleep 1
}

three_hosts() {
	if ! make_hosts; then
		echo "three hosts: skipped, network namespaces are not allowed here"
		return
	fi
	for lib in openmpi mpich; do
		on_hosts $lib "$work/test.$lib" -test.v >"$work/log" 2>&1 || {
			cat "$work/log"
			fail "$lib, three hosts: see above"
		}
		echo "$lib, three hosts: $(sed -n 's/.*: \([0-9]* real matrices\).*/\1/p' "$work/log" | paste -sd, | sed 's/,/, /g') agree"
		# At times Hydra's agent on that host ends the run first.
		end_of "$lib, a process on another host is killed" "?rank 2 on ${hosts[2]}: its process has ended without a word" kill_rank_2 \
			on_hosts $lib "$work/msrep.$lib" "${forever[@]}"
		end_of "$lib, a host is cut off" "rank 2 on ${hosts[2]}: no sign of life" cut_host_2 \
			on_hosts $lib "$work/msrep.$lib" "${forever[@]}"
		join_hosts
	done
	# The host of rank 0, where the launcher is: the other ranks end by themselves.
	end_of "$lib, the host of rank 0 is cut off" "rank [12] on .*: no sign of life" cut_host_0 \
		on_hosts $lib "$work/msrep.$lib" "${forever[@]}"
	sleep 3
	[ -z "$(pgrep -f "^$work/msrep.*spmv gen:stencil")" ] || fail "$lib: ranks on other hosts continue without rank 0"
	join_hosts
}

for part in install_libraries build agreement commands joining devices memory killed three_hosts; do
	echo "--- ${part//_/ }"
	$part
done
