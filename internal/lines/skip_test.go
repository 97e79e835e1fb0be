package lines_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/lines"
)

// rest reads all lines with their numbers, comments left out.
func rest(in *lines.Reader, skip bool) (out []string) {
	for {
		if skip {
			in.Skip("#%")
		}
		text, err := in.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			return append(out, err.Error())
		}
		if len(text) == 0 || text[0] != '#' && text[0] != '%' {
			out = append(out, fmt.Sprintf("%d %s", in.Line(), text))
		}
	}
}

func TestSkipPassesOverCommentsAndNothingElse(t *testing.T) {
	many := strings.Repeat("%\n# a comment\n", 20_000)
	for _, text := range []string{
		"", "%", "#\n", "a\n%b\nc", "%\r\n\r\na\n%", many, many + "a\n" + many + "b", "a\n\n" + many + "\n" + many + "b\n",
		"%\n%" + strings.Repeat("x", lines.MaxLine-1) + "\na\n", "%\n%" + strings.Repeat("x", lines.MaxLine) + "\na\n",
		"%" + strings.Repeat("x", 3*lines.MaxLine) + "\na\n", " %\na",
	} {
		want := rest(lines.NewReader(strings.NewReader(text), "t"), false)
		require.Equal(t, want, rest(lines.NewReader(strings.NewReader(text), "t"), true))
		if len(text) < 100_000 {
			require.Equal(t, want, rest(lines.NewReader(iotest.OneByteReader(strings.NewReader(text)), "t"), true))
		}
	}
	in := lines.NewReader(strings.NewReader("a\n%\nb"), "t")
	_, err := in.Next()
	require.NoError(t, err)
	in.Unread()
	in.Skip("#%")
	require.Equal(t, []string{"1 a", "3 b"}, rest(in, true))
}
