package snap

import (
	"bytes"
	"fmt"

	"github.com/msrep-go/msrep/internal/number"
)

// headLines is how many comment lines are searched for the number of edges.
const headLines = 1000

// declared is the number of edges that a comment states, as SNAP writes it:
//
//	# Nodes: 5 Edges: 9
type declared struct {
	edges int64
	line  int64 // of the comment, 0 where there is none
}

// look takes the number from a comment line, if it states one.
func (d *declared) look(text []byte, line int64) {
	words := bytes.Fields(text)
	for k := 0; k+1 < len(words); k++ {
		if !bytes.EqualFold(words[k], []byte("edges:")) {
			continue
		}
		if n, err := number.Int(words[k+1]); err == nil && n > 0 {
			*d = declared{n, line}
		}
	}
}

// note says that a list has fewer edges than it states, as one does whose download was cut;
// "" where it does not.
func (d declared) note(edges int64) string {
	if d.line == 0 || edges >= d.edges {
		return ""
	}
	return fmt.Sprintf("has %d edges, fewer than the %d that line %d states: the file may be cut short", edges, d.edges, d.line)
}
