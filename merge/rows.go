package merge

import (
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Rows adds the carries to rows that their owners have already written:
//
//	y[parts[i].StartMajor] += carry[i]   for each i with StartFlag, rising
//
// carry has one element per part; those without StartFlag are not read. It takes
// O(len(parts)), on one goroutine.
//
// It fails with a *sparse.InputError, and leaves y alone, when the lengths do not
// fit.
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

// CopyRows merges parts that return vectors of their own (the paper's p*, without
// its optimisation): py[i] holds alpha*A*x for the rows First to End-1 of part i,
// as far as its entries go, without beta.
//
//	y[r] = beta*y[r] + sum of py[i][r-First] over the parts i that cover row r
//
// The rows that a part owns are written in parallel, then the rows that parts
// share are finished in the order of the parts. With beta = 0 y is not read.
//
// It fails with a *sparse.InputError, and leaves y alone, when the lengths do not
// fit or the parts do not own each row of y exactly once, in order.
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
