package edges

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/sparse"
)

// layout is how the lines of a list are written.
type layout struct {
	separator byte
	fields    int   // fields of each line
	weight    int   // field of the weight, from 0; 0 if there are no weights
	first     int64 // line that gives the number of fields
	note      string
}

// sampleLines is the number of lines, and sampleBytes the number of bytes after the first
// of them, from which the layout is found.
const (
	sampleLines = 32
	sampleBytes = 1 << 15
)

// readHead finds the layout from the first lines. It leaves in at the first edge.
func readHead(in *lines.Reader, name string, opt Options) (layout, error) {
	var l layout
	var line []byte
	for {
		in.Skip("#%")
		text, err := in.Next()
		if err == io.EOF {
			return l, sparse.InputLinef(name, in.Line(), "file ends without an edge")
		}
		if err != nil {
			return l, err
		}
		if line = append(slices.Clone(text), '\n'); !empty(line, 0) {
			break
		}
	}
	l.first = in.Line()
	in.Unread()
	sample := append(line, in.Peek(sampleBytes)...)
	if l.separator = opt.Separator; l.separator == 0 {
		l.separator = separatorOf(sample, opt.Likely)
	}
	rows, fault := split(sample, l.separator, sampleLines)
	if len(rows) == 0 {
		return l, sparse.InputLinef(name, l.first, "%s: %.60q", fault, bytes.TrimSpace(line))
	}
	head := rows[0]
	if l.fields = len(head); l.fields < 2 {
		return l, sparse.InputLinef(name, l.first, "edge has one field, two node ids are needed, separated by %s: %.60q", nameOf(l.separator), bytes.TrimSpace(line))
	}
	header := opt.Header == HeaderPresent
	if opt.Header == HeaderAuto {
		var sure bool
		if header, sure = isHeader(rows, opt.Weighted); header && !sure {
			l.note = fmt.Sprintf("line %d is taken as a header, not as an edge", l.first)
		}
	}
	if header {
		for k := 2; k < len(head) && l.weight == 0; k++ {
			if isWeight(head[k]) {
				l.weight = k
			}
		}
		if _, err := in.Next(); err != nil {
			return l, err
		}
	}
	if opt.Weighted && l.weight == 0 {
		if l.weight = 2; l.fields < 3 {
			return l, sparse.InputLinef(name, l.first, "weights are asked for, but edges have 2 fields: %.60q", bytes.TrimSpace(line))
		}
	}
	if l.weight == 0 && l.fields > 2 && !header {
		l.note = "the fields after the second are not used: no header names one of them weight"
	}
	return l, nil
}

// separators are the separators that are tried, in this order.
var separators = []byte{'\t', ';', ',', blanks}

func nameOf(sep byte) string {
	switch sep {
	case '\t':
		return "a tab"
	case blanks:
		return "spaces"
	}
	return string(rune(sep))
}

// separatorOf returns the first separator that splits all lines of sample into the same
// number of fields, at least 2. If there is none, it returns likely if that splits the first
// line, else the first one that does, else likely.
func separatorOf(sample []byte, likely byte) byte {
	if likely == 0 {
		likely = blanks
	}
	var splits []byte
	for _, sep := range separators {
		rows, fault := split(slices.Clone(sample), sep, sampleLines)
		if len(rows) == 0 || len(rows[0]) < 2 {
			continue
		}
		uneven := func(r [][]byte) bool { return len(r) != len(rows[0]) }
		if fault == "" && !slices.ContainsFunc(rows, uneven) {
			return sep
		}
		splits = append(splits, sep)
	}
	if len(splits) == 0 || slices.Contains(splits, likely) {
		return likely
	}
	return splits[0]
}

// split returns the fields of the first lines of sample, at most `most` lines. It leaves out
// blank lines, comments and a last line without an end, and stops at the first fault.
func split(sample []byte, sep byte, most int) (rows [][][]byte, fault string) {
	sample = sample[:bytes.LastIndexByte(sample, '\n')+1]
	for p := 0; p < len(sample) && len(rows) < most; {
		if empty(sample, p) {
			p += bytes.IndexByte(sample[p:], '\n') + 1
			continue
		}
		var row [][]byte
		for {
			f := field(sample, p, sep)
			if f.fault != "" {
				return rows, f.fault
			}
			row = append(row, f.text)
			if p = f.next; f.last {
				break
			}
		}
		rows = append(rows, row)
	}
	return rows, ""
}

// isHeader reports whether the first row is a header. sure is false if only its words say
// so.
func isHeader(rows [][][]byte, weighted bool) (header, sure bool) {
	head := rows[0]
	if slices.ContainsFunc(head[2:], isWeight) {
		return true, true
	}
	numbers := func(r [][]byte) bool { return len(r) > 1 && isNumber(r[0]) && isNumber(r[1]) }
	third := func(r [][]byte) bool { return len(r) > 2 && isNumber(r[2]) }
	if len(rows) > 1 && !isNumber(head[0]) && !isNumber(head[1]) && !slices.ContainsFunc(rows[1:], func(r [][]byte) bool { return !numbers(r) }) {
		return true, true
	}
	if len(rows) > 1 && weighted && !third(head) && third(rows[1]) {
		return true, true
	}
	a, b := plain(head[0]), plain(head[1])
	return a != b && headerWords[a] && headerWords[b], false
}

func isNumber(text []byte) bool {
	_, err := number.Float(text)
	return len(text) > 0 && err == nil
}

func isWeight(text []byte) bool { return plain(text) == "weight" }

// plain returns the letters and digits of a column name in lower case.
func plain(text []byte) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(string(text)))
}

// headerWords are names of columns of nodes, as plain returns them.
var headerWords = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`source target src dst dest destination from to origin start end head tail
		node node1 node2 parent child predecessor successor subject object row column col
		user item movie rating product customer follower followee followed following citing cited caller callee
		package depends dependency dependson dependencies sender receiver recipient author paper
		url link page referrer left right`) {
		for _, end := range []string{"", "id", "node", "nodeid", "name"} {
			words[w+end] = true
		}
	}
	words["fromid"], words["toid"] = true, true
	return words
}()
