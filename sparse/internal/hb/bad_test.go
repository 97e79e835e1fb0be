package hb

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestBadFilesAreRefusedWithTheirLineAndReason(t *testing.T) {
	kind := func(k string) string { return with(func(f *file) { f.kind = k }) }
	formats := func(k string) string { return with(func(f *file) { f.formats = k }) }
	body := func(i int, line string) string { return with(func(f *file) { f.body[i] = line }) }
	for name, c := range map[string]struct{ text, want string }{
		"empty file":                {"", "t.rb:1: the file ends in its header, before the title"},
		"title only":                {"title\n", "t.rb:2: the file ends in its header, before the numbers of lines"},
		"Matrix Market file":        {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1.0\n", "t.rb:2: \"2 2 1\": 4 or 5 numbers of lines"},
		"negative line count":       {with(func(f *file) { f.counts = "3 1 -1 1" }), "t.rb:2: -1 lines"},
		"auxiliary file":            {with(func(f *file) { f.counts = "rhs  A  SMALL    r      3   1   3" }), "auxiliary Rutherford-Boeing file"},
		"no type line":              {small().title + "\n3 1 1 1\n", "t.rb:3: the file ends in its header, before the type"},
		"complex":                   {kind("cua 3 3 5 0"), "t.rb:3: matrix type \"cua\": complex values are not supported"},
		"values elsewhere":          {kind("qua 3 3 5 0"), "the values are in another file"},
		"Hermitian":                 {kind("rha 3 3 5 0"), "Hermitian matrices are not supported"},
		"elemental":                 {kind("rse 3 3 5 9"), "elemental matrices are not supported"},
		"unknown first letter":      {kind("xua 3 3 5 0"), "unknown letter 'x'"},
		"unknown second letter":     {kind("rxa 3 3 5 0"), "unknown letter 'x'"},
		"unknown third letter":      {kind("rux 3 3 5 0"), "unknown letter 'x'"},
		"short type":                {kind("r"), "must be three letters"},
		"short type before CRLF":    {kind("ru\r"), "matrix type \"ru\": must be three letters"},
		"no sizes":                  {kind("rua"), "must follow the type"},
		"sizes that are not":        {kind("rua NaN 3 5 0"), "must follow the type"},
		"size beyond 64 bits":       {kind("rua 99999999999999999999 3 5 0"), "must follow the type"},
		"negative rows":             {kind("rua -3 3 5 0"), "t.rb:3: -3 rows"},
		"negative entries":          {kind("rua 3 3 -5 0"), "-5 entries"},
		"2^40 rows":                 {kind("rua 1099511627776 3 5 0"), "1099511627776 rows: more than"},
		"2^40 columns":              {kind("rua 3 1099511627776 5 0"), "1099511627776 columns: more than"},
		"2^62 entries":              {kind("rua 3 3 4611686018427387904 0"), "4611686018427387904 entries"},
		"2^40 entries":              {kind("rua 3 3 1099511627776 0"), "t.rb:5: the last column pointer is 6: it must be 1099511627777"},
		"a billion rows of nothing": {kind("rua 1000000000 3 5 0"), "1000000000 rows for 5 entries"},
		"entries without columns":   {kind("rua 3 0 5 0"), "5 entries in a matrix of 3 rows and 0 columns"},
		"symmetric, not square":     {kind("rsa 3 4 5 0"), "a symmetric matrix must be square"},
		"no values announced":       {with(func(f *file) { f.counts = "2 1 1 0" }), "0 lines of values for a real matrix"},
		"no formats line":           {strings.Join(strings.Split(small().String(), "\n")[:3], "\n"), "t.rb:4: the file ends in its header, before the formats"},
		"no index format":           {formats("(4I4)"), "t.rb:4: \"(4I4)\": the Fortran format of the row indices is missing"},
		"no value format":           {formats("(4I4) (5I3)"), "format of the values is missing"},
		"real pointer format":       {formats("(4F4.0) (5I3) (5E10.3)"), "column pointers: format \"(4F4.0)\": must be an integer format"},
		"unknown format":            {formats("(4I4) (5Z3) (5E10.3)"), "row indices: format \"(5Z3)\""},
		"unclosed format":           {formats("(4I4) (5I3) (5E10.3"), "a ) is missing"},
		"no fifth line":             {small().title + "\n3 1 1 1 1\n" + small().kind + "\n" + small().formats + "\n", "t.rb:5: the file ends in its header, before the kind"},
		"no body":                   {with(func(f *file) { f.body = nil }), "t.rb:4: the file ends after 0 of 4 numbers (column pointer)"},
		"no indices":                {with(func(f *file) { f.body = f.body[:1] }), "t.rb:5: the file ends after 0 of 5 numbers (row index)"},
		"no values":                 {with(func(f *file) { f.body = f.body[:2] }), "t.rb:6: the file ends after 0 of 5 numbers (value)"},
		"first pointer 0":           {body(0, "   0   2   3   5"), "t.rb:5: the first column pointer is 0: it must be 1"},
		"pointers that fall":        {body(0, "   1   4   3   6"), "column pointer 3 falls from 4 to 3"},
		"last pointer too small":    {body(0, "   1   3   4   5"), "the last column pointer is 5: it must be 6"},
		"last pointer too large":    {body(0, "   1   3   4   7"), "the last column pointer is 7: it must be 6"},
		"pointer not a number":      {body(0, "   1   x   4   6"), "t.rb:5: \"x\" in columns 5 to 8 is not an integer (column pointer, format (4I4))"},
		"pointer too large":         {with(func(f *file) { f.formats = "(4I20) (5I3) (5E10.3)"; f.body[0] = "99999999999999999999" }), "is too large"},
		"blank pointer":             {body(0, "   1       4   6"), "columns 5 to 8 are blank where a column pointer is expected (number 2 of 4"},
		"line too short":            {body(0, "   1   3   4"), "t.rb:5: columns 13 to 16 are blank"},
		"line too long":             {body(0, "   1   3   4   6   7"), "\"7\" follows column 16"},
		"index 0":                   {body(1, "  0  3  2  1  3"), "t.rb:6: columns 1 to 3: row index 0 is outside 1 to 3"},
		"index too large":           {body(1, "  1  3  4  1  3"), "row index 4 is outside 1 to 3"},
		"negative index":            {body(1, "  1  3 -2  1  3"), "row index -2 is outside 1 to 3"},
		"real index":                {body(1, "  1  3 2.  1  3"), "\"2.\" in columns 7 to 9 is not an integer"},
		"word as value":             {body(2, " 1.000E+00 2.000E+00     hello 4.000E+00 5.000E+00"), "t.rb:7: \"hello\" in columns 21 to 30 is not a number (value"},
		"hexadecimal value":         {body(2, "    0x1p+3 2.000E+00 3.000E+00 4.000E+00 5.000E+00"), "is not a number"},
		"file cut inside a number":  {strings.TrimSuffix(small().String(), "0E+00\n"), "t.rb:7: the file ends inside number 5 of 5 (value, columns 41 to 50): it is truncated"},
		"more than announced":       {small().String() + "\n 1.0\n", "t.rb:9: \" 1.0\" follows the last number"},
		"integer type, real value": {with(func(f *file) {
			f.kind = "iua 3 3 5 0"
			f.body[2] = " 1.500E+00 2.000E+00 3.000E+00 4.000E+00 5.000E+00"
		}), "\"1.500E+00\" is not an integer"},
		"both triangles":       {kind("rsa 3 3 5 0"), "t.rb:6: entry (1, 3) is in the other triangle"},
		"skew with a diagonal": {kind("rza 3 3 5 0"), "t.rb:6: entry (1, 1) on the diagonal of a skew-symmetric matrix is not zero"},
		"binary":               {strings.Repeat("\x00\xff\x13", 1000), "the file ends in its header"},
		"one endless line":     {strings.Repeat("x", 3<<20), "t.rb:1: a line of more than 1048576 bytes"},
		"endless blank lines": {with(func(f *file) {
			f.kind = "rua 3 16000000 5 0"
			f.formats = "(4000I4) (5I3) (5E10.3)"
			f.body = []string{strings.Repeat("\n", 1<<20)}
		}), "t.rb:5: columns 1 to 4 are blank"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, err := read(c.text)
			require.Nil(t, m)
			require.ErrorContains(t, err, c.want)
			require.True(t, sparse.IsInput(err), "must be an InputError: %v", err)
			require.True(t, strings.HasPrefix(err.Error(), "t.rb:"), err.Error())
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, len(err.Error()), 300)
		})
	}
}

func TestAWrongHeaderCostsNeitherMemoryNorTime(t *testing.T) {
	full := slices.Repeat([]string{strings.Repeat("1", 80)}, 10000)
	blank := slices.Repeat([]string{""}, 40000)
	wide := slices.Repeat([]string{"1"}, 20000)
	for name, c := range map[string]struct {
		body    []string
		formats string
		want    string
	}{
		"too few lines":         {full, "(80I1)", "the file ends after 800000 of 16000001 numbers (column pointer)"},
		"blank lines, then not": {slices.Concat(blank, full), "(80I1)", "t.rb:5: columns 1 to 1 are blank"},
		"short lines":           {wide, "(4000I1)", "t.rb:5: columns 2 to 2 are blank"},
	} {
		t.Run(name, func(t *testing.T) {
			text := with(func(f *file) {
				f.kind = "rua 16000000 16000000 281474976710656 0"
				f.formats = c.formats + " (80I1) (80F1.0)"
				f.body = c.body
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, _, err := Read(context.Background(), strings.NewReader(text), "t.rb", sparse.Limits{})
			require.Less(t, time.Since(start), time.Second)
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, c.want)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(50<<20))
		})
	}
}

func TestEveryPrefixOfAFileIsRefused(t *testing.T) {
	whole := small().String()
	for n := range len(whole) - 1 { // without the last line end the file is whole
		_, _, err := read(whole[:n])
		require.True(t, sparse.IsInput(err), "%d bytes: %v", n, err)
	}
}
