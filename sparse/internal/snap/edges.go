package snap

import (
	"bytes"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
)

// maxID is the largest node id if ids are kept: the order of the matrix is maxID+1.
const maxID = sparse.MaxDim - 1

// list is what is known about an edge list before its edges are parsed.
type list struct {
	name     string
	weighted bool
	first    int64 // line of the first edge
	declared declared
	most     int64 // largest id that is allowed
}

// chunkEdges is the edges of one chunk, up to the first error.
type chunkEdges struct {
	sparse.Triples[float64]         // ^k stands for the id wide[k]
	wide                    []int64 // ids beyond maxID
	largest                 int32   // largest of the other ids, or -1
	at                      int64   // first line with the id largest
	times                   times
	inexact                 source.Inexact
	err                     error
}

func (l *list) errorf(line int64, format string, args ...any) error {
	return sparse.InputLinef(l.name, line, format, args...)
}

// parse parses the edges of a chunk.
func (l *list) parse(c lines.Chunk) chunkEdges {
	b, line := c.Data, c.Line
	t := lines.NewTriples(c, l.weighted)
	count, largest := 0, int64(-1)
	var x chunkEdges
	for p := 0; p < len(b); line++ {
		p = lines.SkipBlanks(b, p)
		if b[p] == '\n' || b[p] == '#' || b[p] == '%' {
			p += bytes.IndexByte(b[p:], '\n') + 1
			continue
		}
		start := p
		i, n := number.ScanInt(b[p:])
		p += n
		gap := p
		p = lines.SkipBlanks(b, p)
		j, m := number.ScanInt(b[p:])
		ok := n > 0 && m > 0 && p > gap && uint64(i) <= uint64(l.most) && uint64(j) <= uint64(l.most)
		p += m
		if ok && l.weighted {
			gap = p
			p = lines.SkipBlanks(b, p)
			v, n := number.ScanFloat(b[p:])
			if n == 0 {
				if v, n = number.ScanBeyond(b[p:]); n > 0 {
					x.inexact.Merge(source.Inexact{Infinite: line})
				}
			}
			ok = n > 0 && p > gap
			p += n
			if ok {
				t.Val[count] = v
			}
		}
		p = lines.SkipBlanks(b, p)
		if !ok || b[p] != '\n' {
			x.err = l.edgeFault(line, lines.First(b[start:]))
			break
		}
		p++
		if max(i, j) > maxID {
			i, j = x.narrow(i), x.narrow(j)
		}
		if id := max(i, j); id > largest {
			largest, x.at = id, line
		}
		t.Row[count], t.Col[count] = int32(i), int32(j)
		count++
	}
	x.Triples, x.largest = lines.Cut(t, count), int32(largest)
	x.times = timesOf(x.Val)
	return x
}

// narrow returns id, or the number that stands for an id beyond maxID.
func (x *chunkEdges) narrow(id int64) int64 {
	if id <= maxID {
		return id
	}
	x.wide = append(x.wide, id)
	return ^int64(len(x.wide) - 1)
}

// edgeFault returns the error for a line that is not an edge.
func (l *list) edgeFault(line int64, text []byte) error {
	words := bytes.Fields(text)
	need, form := 2, "two node ids, as in"
	if l.weighted {
		need, form = 3, "two node ids and a weight, as in"
	}
	if len(words) != need {
		return l.errorf(line, "edge has %d words, %s line %d, are needed: %.60q", len(words), form, l.first, text)
	}
	for _, w := range words[:2] {
		id, err := number.Int(w)
		switch {
		case err == number.ErrRange || id > l.most:
			return l.errorf(line, "node id %.40q is too large: ids up to %d are supported", w, l.most)
		case err != nil:
			return l.errorf(line, "node id %.40q is not a whole number", w)
		case id < 0:
			return l.errorf(line, "node id %d is negative: ids start at 0", id)
		}
	}
	if l.weighted {
		return l.errorf(line, "weight %.40q is not a number", words[2])
	}
	return l.errorf(line, "not an edge: %.60q", text)
}
