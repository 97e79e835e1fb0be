package nodes

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/internal/number"
	"github.com/msrep-go/msrep/sparse"
)

// Separator returns the separator of fields in a file of this name, which may end in .gz or
// .zst: a comma for .csv, a tab for .tsv, 0 for others.
func Separator(path string) byte {
	path = strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst"} {
		path = strings.TrimSuffix(path, packed)
	}
	switch filepath.Ext(path) {
	case ".csv":
		return ','
	case ".tsv":
		return '\t'
	}
	return 0
}

// A Column is a score of each node.
type Column struct {
	Name   string
	Scores []float64
}

// WriteScores writes a header and then one line for each node: its id, and its score in each
// column with 17 significant digits. Fields are separated by sep, and ids quoted as in CSV
// where they need it.
func (x *IDs) WriteScores(w io.Writer, sep byte, columns ...Column) error {
	head := "node"
	for _, c := range columns {
		head += string(rune(sep)) + c.Name
	}
	if _, err := io.WriteString(w, head+"\n"); err != nil {
		return err
	}
	quote := func(b []byte, text string) []byte {
		if !needsQuotes(text, sep) {
			return append(b, text...)
		}
		return append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
	}
	return lines.Write(w, int64(x.count), func(b []byte, lo, hi int64) []byte {
		for k := lo; k < hi; k++ {
			b = x.append(b, int(k), quote)
			for _, c := range columns {
				b = number.Append(append(b, sep), c.Scores[k], 'g', 17)
			}
			b = append(b, '\n')
		}
		return b
	})
}

// needsQuotes reports whether a reader would take text for something else than a field.
func needsQuotes(text string, sep byte) bool {
	return text == "" || strings.ContainsAny(text, "\"\r\n"+string(rune(sep))) || strings.ContainsAny(text[:1], "#% \t") ||
		strings.ContainsAny(text[len(text)-1:], " \t")
}

// A Score is the number that a file gives a node.
type Score struct {
	ID    string
	Value float64
	Line  int64
}

// ReadScores reads a file of lines "id number", such as WriteScores writes, and calls take
// for each. The separator is that of the file name, else a tab, a comma or spaces: the first
// of these that the first line has. Blank lines, lines that begin with # or %, and a first
// line with a text for a number are skipped.
func ReadScores(ctx context.Context, path string, take func(Score) error) error {
	sep, first := Separator(path), true
	return eachLine(ctx, path, func(text []byte, line int64) error {
		text = bytes.TrimSpace(text)
		if len(text) == 0 || text[0] == '#' || text[0] == '%' {
			return nil
		}
		if sep == 0 {
			sep = ' '
			if at := bytes.IndexAny(text, "\t,"); at >= 0 {
				sep = text[at]
			}
		}
		id, digits, ok := pair(text, sep)
		if !ok || id == "" {
			return sparse.InputLinef(path, line, "a node id and a number are needed: %.60q", text)
		}
		v, err := number.Float([]byte(digits))
		header := first && err != nil
		if first = false; header {
			return nil
		}
		if err != nil || math.IsNaN(v) {
			return sparse.InputLinef(path, line, "%.40q is not a number", digits)
		}
		return take(Score{id, v, line})
	})
}

// pair splits a line into its two fields.
func pair(text []byte, sep byte) (a, b string, ok bool) {
	if sep == ' ' {
		at := bytes.LastIndexAny(text, " \t")
		if at < 0 {
			return "", "", false
		}
		return string(bytes.TrimSpace(text[:at])), string(text[at+1:]), true
	}
	if bytes.IndexByte(text, '"') < 0 { // as nearly always
		x, y, ok := bytes.Cut(text, []byte{sep})
		return string(bytes.TrimSpace(x)), string(bytes.TrimSpace(y)), ok && bytes.IndexByte(y, sep) < 0
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma = rune(sep)
	fields, err := r.Read()
	if err != nil || len(fields) != 2 {
		return "", "", false
	}
	return fields[0], strings.TrimSpace(fields[1]), true
}

// ReadList reads a file of ids, one a line. Blank lines are skipped.
func ReadList(ctx context.Context, path string) (ids []string, err error) {
	err = eachLine(ctx, path, func(text []byte, _ int64) error {
		if text = bytes.TrimSpace(text); len(text) > 0 {
			ids = append(ids, string(text))
		}
		return nil
	})
	return ids, err
}
