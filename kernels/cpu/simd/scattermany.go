package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// MarkedRows is how many successive rows have a mark together in Places.
const MarkedRows = 1 << 10

// Places says where RowsTransposedMany adds to for each row of the result.
type Places[V sparse.Value] struct {
	Rows  int            // of the result
	First int            // the row that Y begins with
	Done  int            // rows of Y that are ready to be added to
	Own   int            // rows of Y; those from Done on have no place yet
	Y     MultiVector[V] // rows First <= i < First+Own
	Spill MultiVector[V] // all rows, for those that are not in Y; may be empty where Y has all
	// Marks is set where rows of Spill were added to, one for each MarkedRows of the result.
	Marks []byte
}

// place is the row of the result that i numbers, nil where it has no place yet. A row
// that there is not is a panic.
func (p *Places[V]) place(i int32) []V {
	if i < 0 || int(i) >= p.Rows {
		panic(indexError{i, p.Rows})
	}
	if own := int(i) - p.First; own >= 0 && own < p.Own {
		if own >= p.Done {
			return nil
		}
		return p.Y.Val[own*p.Y.Stride:][:p.Y.Cols]
	}
	p.Marks[i/MarkedRows] = 1
	return p.Spill.Val[int(i)*p.Spill.Stride:][:p.Spill.Cols]
}

// VectorsAtOnce is the most columns that RowsTransposedMany takes: a cache line.
func VectorsAtOnce[V sparse.Value]() int { return 64 / int(unsafe.Sizeof(*new(V))) }

// RowsTransposedMany adds rows of a CSR matrix, times alpha and a row of x each, to rows of the
// result:
//
//	row idx[k-ptr[0]][j] += alpha * (val[k-ptr[0]]*x[r][j]),  ptr[r] <= k < ptr[r+1], from <= k < ptr[0]+len(idx)
//
// Rows of the result, in Y and in Spill, have VectorsAtOnce elements or half as many, and
// those of x at most as many: the others of the result are what 0 in x gives.
//
// It stops at the first entry whose row has no place yet, and gives that one or else
// ptr[0]+len(idx). Pointers that do not lead there, and an index out of range, are a
// panic. x has len(ptr)-1 rows. idx goes on behind its end to entry asks, for what is asked
// for ahead; asks is 0 to ask for nothing.
func RowsTransposedMany[V sparse.Value](l Level, alpha V, from int64, ptr []int64, idx []int32, val []V, x MultiVector[V], to *Places[V], asks int64) int64 {
	end := ptr[0] + int64(len(idx))
	before, after := factorsMany(l, alpha, x)
	if l >= AVX2 && after == 1 {
		width, size := to.Spill.Cols, int(unsafe.Sizeof(alpha))
		if width*size <= registerBytes(AVX2) {
			l = AVX2
		}
		lanes := registerBytes(l) / size
		vectors := width / lanes
		from = int64(scatterMany(l, before, int(from), ptr, idx, val, x.Val, to.Y.Val, to.Spill.Val, to.Marks, x.Stride*size, to.Y.Stride*size, to.Spill.Stride*size,
			to.Rows, to.First, to.Done, to.Own-to.Done, vectors, x.Cols-(vectors-1)*lanes, int(asks)))
	} else {
		from = scatterManyGeneric(before, after, from, ptr, idx, val, x, to)
	}
	if from < end && to.place(idx[from-ptr[0]]) != nil || from == end && ptr[len(ptr)-1] < end {
		panic(errPointers)
	}
	return from
}

// factorsMany is Factors for all elements of a block.
func factorsMany[V sparse.Value](l Level, alpha V, x MultiVector[V]) (before, after V) {
	if x.Stride == x.Cols {
		return Factors(l, alpha, x.Val)
	}
	for r := range x.Rows() {
		if before, after = Factors(l, alpha, x.From(r).Val[:x.Cols]); after != 1 {
			break
		}
	}
	return before, after
}

func scatterManyGeneric[V sparse.Value](before, after V, from int64, ptr []int64, idx []int32, val []V, x MultiVector[V], to *Places[V]) int64 {
	base := ptr[0]
	end := base + int64(len(idx))
	for r := range len(ptr) - 1 {
		row := x.From(r).Val[:x.Cols]
		for stop := min(ptr[r+1], end); from < stop; from++ {
			y := to.place(idx[from-base])
			if y == nil {
				return from
			}
			v := val[from-base]
			for j, xj := range row {
				y[j] += after * (v * (before * xj))
			}
		}
	}
	return from
}
