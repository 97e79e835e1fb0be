package merge

import (
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Rows adds the carries to rows that their owners have already written:
//
//	y[parts[i].StartMajor] += carry[i]   for each i with StartFlag, in ascending order
//
// carry has one element per part. Rows does not read the elements of parts without
// StartFlag. It takes O(len(parts)) on one goroutine.
//
// Rows fails with a *sparse.InputError, and does not change y, if carry has another
// length or StartMajor is outside y.
func Rows[V sparse.Value](y []V, parts []partition.Part, carry []V) error {
	if len(carry) != len(parts) {
		return sparse.Inputf("carry", "%d elements for %d parts: there must be one for each", len(carry), len(parts))
	}
	for i, p := range parts {
		if p.StartFlag && (p.StartMajor < 0 || p.StartMajor >= len(y)) {
			return sparse.Inputf("y", "part %d begins in row %d: y has %d elements", i, p.StartMajor, len(y))
		}
	}
	for i, p := range parts {
		if p.StartFlag {
			y[p.StartMajor] += carry[i]
		}
	}
	return nil
}

// CopyRows merges parts that return separate vectors (strategy p* of the MSREP paper,
// without its optimisation). py[i] holds alpha*A*x, without beta, for the rows First to
// End-1 of part i, summed over the entries of the part.
//
//	y[r] = beta*y[r] + sum of py[i][r-First] over the parts i that cover row r
//
// CopyRows first writes the rows that each part owns, on several goroutines, and then
// adds the carries in the order of the parts. If beta = 0 it does not read y.
//
// It fails with a *sparse.InputError, and does not change y, if the lengths do not match
// or the parts do not own each row of y exactly once, in order.
func CopyRows[V sparse.Value](y []V, beta V, parts []partition.Part, py [][]V) error {
	if err := checkRows(len(y), parts, py); err != nil {
		return err
	}
	carry := make([]V, len(parts))
	for i, p := range parts {
		own := py[i]
		if p.StartFlag {
			carry[i], own = own[0], own[1:]
		}
		rows := y[p.OwnFirst:p.OwnEnd]
		par.Range(int64(len(rows)), 1<<15, func(lo, hi int64) {
			scaleAdd(rows[lo:hi], beta, own[lo:hi])
		})
	}
	return Rows(y, parts, carry)
}

func checkRows[V sparse.Value](m int, parts []partition.Part, py [][]V) error {
	if len(py) != len(parts) {
		return sparse.Inputf("py", "%d vectors for %d parts: there must be one for each", len(py), len(parts))
	}
	own := 0
	for i, p := range parts {
		if p.OwnFirst != own || p.OwnEnd < own || p.OwnEnd > m {
			return sparse.Inputf("parts", "part %d owns rows [%d, %d) of %d: they must begin at %d", i, p.OwnFirst, p.OwnEnd, m, own)
		}
		if p.StartFlag && (own == 0 || p.StartMajor != own-1) {
			return sparse.Inputf("parts", "part %d continues row %d: its own rows begin at %d", i, p.StartMajor, own)
		}
		if len(py[i]) != p.Majors() {
			return sparse.Inputf("py", "part %d gives %d elements: it covers %d rows", i, len(py[i]), p.Majors())
		}
		own = p.OwnEnd
	}
	if own != m {
		return sparse.Inputf("parts", "they own %d rows: y has %d", own, m)
	}
	return nil
}
