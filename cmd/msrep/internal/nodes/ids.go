// Package nodes translates between the nodes of a graph, which are numbered from 0, and the
// ids that its user knows. It reads and writes files of ids and of scores by id.
package nodes

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/sparse"
)

// IDs are the ids of the nodes 0 ... Len()-1: texts, ascending numbers, or the numbers of
// the nodes themselves.
type IDs struct {
	count   int
	texts   []string
	numbers []int64
	nodes   map[string]int32 // made by Node for texts
}

// Texts returns ids that are texts, all different.
func Texts(texts []string) *IDs { return &IDs{count: len(texts), texts: texts} }

// Numbers returns ids that are numbers, in ascending order. If numbers is nil, node k of
// count nodes has the id k.
func Numbers(count int, numbers []int64) *IDs { return &IDs{count: count, numbers: numbers} }

// Len returns the number of nodes.
func (x *IDs) Len() int { return x.count }

// ID returns the id of node k: a string or an int64.
func (x *IDs) ID(k int) any {
	switch {
	case x.texts != nil:
		return x.texts[k]
	case x.numbers != nil:
		return x.numbers[k]
	}
	return int64(k)
}

// Node returns the node with an id.
func (x *IDs) Node(id string) (k int32, ok bool) {
	if x.texts != nil {
		if x.nodes == nil {
			x.nodes = make(map[string]int32, len(x.texts))
			for k, text := range x.texts {
				x.nodes[text] = int32(k)
			}
		}
		k, ok = x.nodes[id]
		return k, ok
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, false
	}
	if x.numbers != nil {
		k, ok := slices.BinarySearch(x.numbers, n)
		return int32(k), ok
	}
	return int32(n), n >= 0 && n < int64(x.count)
}

// append appends the id of node k to b; quote is a function that quotes a text.
func (x *IDs) append(b []byte, k int, quote func(b []byte, text string) []byte) []byte {
	switch id := x.ID(k).(type) {
	case string:
		return quote(b, id)
	case int64:
		return strconv.AppendInt(b, id, 10)
	}
	return b
}

// Write writes texts to w, one a line. A text with a line end is an error.
func Write(w io.Writer, texts []string) error {
	for k, text := range texts {
		if strings.ContainsAny(text, "\r\n") {
			return sparse.Inputf("--ids", "the id %q of node %d contains a line end", text, k)
		}
	}
	return lines.Write(w, int64(len(texts)), func(b []byte, lo, hi int64) []byte {
		for _, text := range texts[lo:hi] {
			b = append(append(b, text...), '\n')
		}
		return b
	})
}

// Read reads the ids of count nodes from a file that Write wrote. All must be different and
// not empty.
func Read(ctx context.Context, path string, count int) (*IDs, error) {
	x := &IDs{count: count, nodes: map[string]int32{}, texts: []string{}}
	err := eachLine(ctx, path, func(text []byte, line int64) error {
		id := string(text)
		if id == "" {
			return sparse.InputLinef(path, line, "the id of node %d is empty", len(x.texts))
		}
		if first, ok := x.nodes[id]; ok {
			return sparse.InputLinef(path, line, "id %.40q is that of line %d, too", id, first+1)
		}
		if len(x.texts) == count {
			return sparse.InputLinef(path, line, "more ids than the %d nodes of the graph", count)
		}
		x.nodes[id] = int32(len(x.texts))
		x.texts = append(x.texts, id)
		return nil
	})
	if err == nil && len(x.texts) != count {
		err = sparse.Inputf(path, "%d ids; the graph has %d nodes", len(x.texts), count)
	}
	return x, err
}

// eachLine calls do for each line of a file.
func eachLine(ctx context.Context, path string, do func(text []byte, line int64) error) error {
	f, err := fileio.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := lines.NewReader(f, f.Title())
	for {
		text, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && in.Line()%4096 == 0 {
			err = ctx.Err()
		}
		if err == nil {
			err = do(text, in.Line())
		}
		if err != nil {
			return err
		}
	}
}
