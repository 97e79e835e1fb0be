package snap

import (
	"bytes"
	"fmt"

	"github.com/msrep-go/msrep/internal/number"
)

// headLines is the number of comment lines that are searched for the number of edges.
const headLines = 1000

// declared is the number of edges in a comment as SNAP writes it:
//
//	# Nodes: 5 Edges: 9
type declared struct {
	edges int64
	line  int64 // line of the comment, or 0
}

// parse parses the number in a comment line, if there is one.
func (d *declared) parse(text []byte, line int64) {
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

// note returns a note if a list has fewer edges than the comment states, for example
// after an incomplete download. Otherwise it returns "".
func (d declared) note(edges int64) string {
	if d.line == 0 || edges >= d.edges {
		return ""
	}
	return fmt.Sprintf("has %d edges, fewer than the %d that line %d states: the file may be cut short", edges, d.edges, d.line)
}
