package hb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormatsOfRealFilesLayOutTheirColumns(t *testing.T) {
	for _, c := range []struct {
		format  string
		n       int
		first   field
		lastEnd int
	}{
		{"(16I5)", 16, field{0, 5, 'I', 0, 0}, 80},
		{"(13I6)", 13, field{0, 6, 'I', 0, 0}, 78},
		{"(10i8)", 10, field{0, 8, 'I', 0, 0}, 80},
		{"( 20 I4 )", 20, field{0, 4, 'I', 0, 0}, 80},
		{"(I10.5)", 1, field{0, 10, 'I', 5, 0}, 10},
		{"(4E20.12)", 4, field{0, 20, 'E', 12, 0}, 80},
		{"(1P,5E16.8)", 5, field{0, 16, 'E', 8, 1}, 80},
		{"(1P4D20.12)", 4, field{0, 20, 'E', 12, 1}, 80},
		{"(5F16.8)", 5, field{0, 16, 'E', 8, 0}, 80},
		{"(4(1PE20.12))", 4, field{0, 20, 'E', 12, 1}, 80},
		{"(1P,4(E20.12))", 4, field{0, 20, 'E', 12, 1}, 80},
		{"(3(E25.16))", 3, field{0, 25, 'E', 16, 0}, 75},
		{"(3E26.16E3)", 3, field{0, 26, 'E', 16, 0}, 78},
		{"(2(1X,2(I3,1X)))", 4, field{1, 4, 'I', 0, 0}, 17},
		{"(-2P,F8.1)", 1, field{0, 8, 'E', 1, -2}, 8},
		{"(ES12.5,EN12.5,G12.5)", 3, field{0, 12, 'E', 5, 0}, 36},
	} {
		f, err := parseLayout(c.format)
		require.NoError(t, err, c.format)
		require.Len(t, f.fields, c.n, c.format)
		require.Equal(t, c.first, f.fields[0], c.format)
		require.Equal(t, c.lastEnd, f.fields[c.n-1].end, c.format)
	}
}

func TestFormatsThatCannotBeLaidOutAreRefused(t *testing.T) {
	for format, piece := range map[string]string{
		"16I5":                     "must begin with (",
		"(16I5":                    "a ) is missing",
		"(16I5))":                  "follows the last )",
		"()":                       "no number in it",
		"(8X)":                     "no number in it",
		"(16I)":                    "a width of 1 or more",
		"(4E0.3)":                  "a width of 1 or more",
		"(4E20.)":                  "digits must follow the point",
		"(16A5)":                   "is not supported",
		"(0I5)":                    "repeat count must be 1 or more",
		"(-4I5)":                   "repeat count must be 1 or more",
		"(P,4E20.12)":              "scale factor",
		"(I5,3(I6))":               "before a group is not supported",
		"(99999999999I5)":          "numbers above",
		"(60000I1)":                "numbers in a line",
		"(4000I60)":                "a line of more than",
		"(60000(60000I1))":         "numbers in a line",
		"(((((((((((I5)))))))))))": "levels of parentheses",
		"(16I5/)":                  "is not supported",
	} {
		_, err := parseLayout(format)
		require.ErrorContains(t, err, piece, format)
	}
}

func TestARealFieldIsReadAsFortranReadsIt(t *testing.T) {
	for _, c := range []struct {
		text            string
		decimals, scale int
		want            float64
	}{
		{"  1.25", 2, 0, 1.25},
		{"-.5D+01", 8, 0, -5},
		{"1.5d2", 8, 0, 150},
		{".38400000+008", 8, 0, 0.384e8},
		{"1.234-101", 8, 0, 1.234e-101},
		{"-1.234-101", 8, 0, -1.234e-101},
		{" 1 2 . 5 E + 0 1", 8, 0, 125},
		{"12345", 2, 0, 123.45},
		{"-12345", 0, 0, -12345},
		{"12345E3", 2, 0, 123.45e3},
		{"12345+3", 2, 0, 123.45e3},
		{"5", 12, 0, 5e-12},
		{"2.5", 4, 1, 0.25},   // the scale factor divides where there is no exponent
		{"2.5E0", 4, 1, 2.5},  // and does nothing where there is one
		{"25", 1, 1, 0.25},    // decimals, then scale
		{"25", 0, -2, 2500},   // a negative factor multiplies
		{"0.0", 15, 1, 0},     //
		{"1.E-400", 15, 1, 0}, // below all floats
		{"3.141592653589793238462643383279", 15, 0, 3.141592653589793},
	} {
		f := &field{end: len(c.text), kind: 'E', decimals: c.decimals, scale: c.scale}
		v, err := parseReal(trim([]byte(c.text)), f)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, v, c.text)
	}
	for _, bad := range []string{"x", "1.2.3", "+", ".", "E5", "1e", "0x1p3", "1_0", "--1", "1-", "1e5e5"} {
		for _, scale := range []int{0, 1} {
			_, err := parseReal([]byte(bad), &field{kind: 'E', decimals: 3, scale: scale})
			require.Error(t, err, bad)
		}
	}
	_, err := parseReal([]byte("1.0E999"), &field{kind: 'E'})
	require.Error(t, err)
	_, err = parseReal([]byte("1.0E99999999999999999999"), &field{kind: 'E', scale: 1})
	require.Error(t, err)
}

func TestFormatsAreFoundByTheirParentheses(t *testing.T) {
	for line, want := range map[string][]string{
		"(16I5)          (20I4)          (5E15.7)": {"(16I5)", "(20I4)", "(5E15.7)"},
		"(1I5)(4(1PE20.12))":                       {"(1I5)", "(4(1PE20.12))"},
		"  x ) (16I5) (20I4":                       {"(16I5)", "(20I4"},
		"":                                         nil,
	} {
		require.Equal(t, want, parenthesised(line), line)
	}
}
