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

// PeerTime is how long a library takes for a product of a matrix.
type PeerTime struct {
	Matrix, Library string
	Threads         int
	Values          string    // what they are: "as is, fp64", "random, fp32"; "" for what was read from a table
	Seconds         float64   // the median
	Samples         []float64 // seconds; nil for what was read from a table
	Bytes           int64     // that plain CSR must move; 0 for what was read
	GFLOPs          float64
}

// maxPeerTable bounds the table that is read.
const maxPeerTable = 64 << 20

// ReadPeerTimes reads a table in the columns that CPUPeers.Run prints, as the drivers of
// other libraries make it:
//
//	name library threads median-seconds GFLOP/s ...
//
// Lines that are not of this form, such as messages in between, are passed over; so are
// our own. A file without any line of the form is a *sparse.InputError.
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

// ownName is what we call ourselves in such tables.
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
