package bench

import (
	"bufio"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/sparse"
)

// PeerTime is the time of a library for the product of one matrix.
type PeerTime struct {
	Matrix, Library string
	Threads         int
	Values          string    // the values: "as is, fp64", "random, fp32"; "" if read from a table
	Seconds         float64   // median
	Samples         []float64 // seconds; nil if read from a table
	Bytes           int64     // bytes that plain CSR moves; 0 if read from a table
	GFLOPs          float64
}

// maxPeerTable is the limit of the size of a table, in bytes.
const maxPeerTable = 64 << 20

// ReadPeerTimes reads a table with the columns that CPUPeers.Run and the drivers of other libraries print:
//
//	name library threads median-seconds GFLOP/s ...
//
// It skips lines without these columns, such as messages, and the lines of msrep. A file without any matching line is
// a *sparse.InputError.
func ReadPeerTimes(path string) (times []PeerTime, err error) {
	f, err := fileio.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewScanner(io.LimitReader(f, maxPeerTable))
	for in.Scan() {
		if t, ok := peerLine(in.Text()); ok && t.Library != ownName {
			times = append(times, t)
		}
	}
	if err := in.Err(); err != nil {
		return nil, &sparse.InputError{Subject: path, Err: err}
	}
	if len(times) == 0 {
		return nil, sparse.Inputf(path, "no line has the columns: matrix, library, threads, median seconds, GFLOP/s")
	}
	return times, nil
}

// ownName is the name of msrep in these tables.
const ownName = "msrep"

func peerLine(line string) (t PeerTime, ok bool) {
	f := strings.Fields(line)
	if len(f) < 5 {
		return t, false
	}
	threads, err := strconv.Atoi(f[2])
	seconds, err2 := strconv.ParseFloat(f[3], 64)
	gflops, err3 := strconv.ParseFloat(f[4], 64)
	if err != nil || err2 != nil || err3 != nil || threads < 1 || !(seconds > 0) || math.IsInf(seconds, 0) {
		return t, false
	}
	name := strings.TrimSuffix(filepath.Base(f[0]), ".bin")
	return PeerTime{Matrix: name, Library: f[1], Threads: threads, Seconds: seconds, GFLOPs: gflops}, true
}
