package lines_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/lines"
	"github.com/msrep-go/msrep/sparse"
)

// collect returns all lines that Each passes on, with their numbers.
func collect(t *testing.T, r *lines.Reader) ([]string, error) {
	t.Helper()
	var got []string
	next := r.Line() + 1
	err := lines.Each(context.Background(), r, func(c lines.Chunk) []string {
		if runtime.GOMAXPROCS(0) > 1 && rand.IntN(3) == 0 {
			time.Sleep(time.Millisecond) // shuffles the order in which chunks are done
		}
		s := strings.SplitAfter(string(c.Data), "\n")
		return s[:len(s)-1]
	}, func(c lines.Chunk, s []string) error {
		require.Equal(t, next, c.Line)
		require.Len(t, s, c.Count)
		next += int64(c.Count)
		got = append(got, s...)
		return nil
	})
	return got, err
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d %s\n", i+1, strings.Repeat("x", i%97))
	}
	return b.String()
}

func TestLinesComeInOrderWhateverTheReaderGives(t *testing.T) {
	text := numbered(100_000) // several chunks
	want := strings.SplitAfter(text, "\n")
	want = want[:len(want)-1]
	for name, r := range map[string]io.Reader{
		"all at once":      strings.NewReader(text),
		"halves":           iotest.HalfReader(strings.NewReader(text)),
		"end with data":    iotest.DataErrReader(strings.NewReader(text)),
		"no last line end": strings.NewReader(strings.TrimSuffix(text, "\n")),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := collect(t, lines.NewReader(r, "f"))
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestHeaderLinesAreNotReturnedAgain(t *testing.T) {
	r := lines.NewReader(iotest.OneByteReader(strings.NewReader("Head\r\n\ntwo\nthree\r\nfour")), "f")
	require.Equal(t, "Head\r\n", string(r.Peek(6)))
	for _, want := range []string{"Head", "", "two"} {
		line, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, want, string(line))
	}
	require.EqualValues(t, 3, r.Line())
	r.Unread()
	require.EqualValues(t, 2, r.Line())
	line, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, "two", string(line))
	r.Unread()
	got, err := collect(t, r)
	require.NoError(t, err)
	require.Equal(t, []string{"two\n", "three\r\n", "four\n"}, got)
}

func TestAnEmptyTextHasNoLines(t *testing.T) {
	r := lines.NewReader(strings.NewReader(""), "f")
	_, err := r.Next()
	require.Equal(t, io.EOF, err)
	got, err := collect(t, r)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestALineMayHave64KiBAndNoMore(t *testing.T) {
	const max = lines.MaxLine
	for _, end := range []string{"\n", "\r\n", ""} {
		for _, before := range []int{0, 1, 7, 15_000} { // up to some chunks
			head := numbered(before)
			last := strings.Repeat("y", max) + end
			got, err := collect(t, lines.NewReader(strings.NewReader(head+last), "f"))
			require.NoError(t, err)
			require.Len(t, got, before+1)

			for _, tail := range []string{"", "z\nz\n"} {
				got, err = collect(t, lines.NewReader(strings.NewReader(head+"y"+last+tail), "f"))
				require.ErrorContains(t, err, fmt.Sprintf("f:%d: line is longer than 65536 bytes", before+1))
				require.Len(t, got, before, "lines before the long one")
			}
			r := lines.NewReader(strings.NewReader("y"+last), "f")
			_, err = r.Next()
			require.ErrorContains(t, err, "f:1: line is longer")
			line, err := lines.NewReader(strings.NewReader(last), "f").Next()
			require.NoError(t, err)
			require.Len(t, line, max)
		}
	}
	_, err := collect(t, lines.NewReader(bytes.NewReader(make([]byte, 3<<20)), "f"))
	require.ErrorContains(t, err, "f:1: line is longer")
}

func TestTheFirstFaultInTheFileIsReportedHoweverTheWorkIsScheduled(t *testing.T) {
	text := numbered(200_000)
	for range 20 {
		var taken int64
		err := lines.Each(context.Background(), lines.NewReader(strings.NewReader(text), "f"),
			func(c lines.Chunk) error {
				if c.Line > 50_000 { // every later chunk is at fault, the first of them slowly
					if c.Line < 80_000 {
						time.Sleep(2 * time.Millisecond)
					}
					return sparse.InputLinef("f", c.Line, "fault")
				}
				return nil
			},
			func(c lines.Chunk, err error) error {
				if err == nil {
					taken = c.Line + int64(c.Count)
				}
				return err
			})
		require.ErrorContains(t, err, fmt.Sprintf("f:%d: fault", taken))
	}
}

func TestReadErrorsComeAfterTheLinesBeforeThem(t *testing.T) {
	fault := sparse.Inputf("f", "gzip content ends early")
	got, err := collect(t, lines.NewReader(io.MultiReader(strings.NewReader("a\nb\nhalf"), iotest.ErrReader(fault)), "f"))
	require.Equal(t, fault, err)
	require.Equal(t, []string{"a\n", "b\n"}, got)

	_, err = collect(t, lines.NewReader(iotest.ErrReader(errors.New("disk on fire")), "f"))
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "f: cannot be read: disk on fire")

	_, err = lines.NewReader(iotest.ErrReader(fault), "f").Next()
	require.Equal(t, fault, err)

	_, err = collect(t, lines.NewReader(stalled{}, "f"))
	require.ErrorIs(t, err, io.ErrNoProgress)
}

type stalled struct{}

func (stalled) Read([]byte) (int, error) { return 0, nil }

func TestCancellationEndsEvenARead(t *testing.T) {
	r, w := io.Pipe() // nothing ever comes
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	start := time.Now()
	err := lines.Each(ctx, lines.NewReader(r, "f"), func(lines.Chunk) int { return 0 }, func(lines.Chunk, int) error { return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, time.Since(start), time.Second)
	err = lines.Each(ctx, lines.NewReader(strings.NewReader("a"), "f"), func(lines.Chunk) int { return 0 }, func(lines.Chunk, int) error { return nil })
	require.ErrorIs(t, err, context.Canceled)
}

func TestAPanicInAParserReachesTheCaller(t *testing.T) {
	text := numbered(200_000)
	require.Panics(t, func() {
		_ = lines.Each(context.Background(), lines.NewReader(strings.NewReader(text), "f"), func(c lines.Chunk) int {
			if c.Line > 1 {
				panic("fault")
			}
			return 0
		}, func(lines.Chunk, int) error { return nil })
	})
}

func TestFirstIsALineWithoutItsEndsAndBlanks(t *testing.T) {
	for text, want := range map[string]string{"": "", "\nb": "", " a\tb \r\nc": "a\tb", "a": "a"} {
		require.Equal(t, want, string(lines.First([]byte(text))), "%q", text)
	}
}

func TestTheByteOrderMarkOfUTF8IsSkippedAtTheBeginningOnly(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	for _, text := range []string{mark + "one\n", mark + "one", mark + "one\r\ntwo\n"} {
		r := lines.NewReader(strings.NewReader(text), "f")
		line, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, "one", string(line))
		require.EqualValues(t, 1, r.Line())
		r.Unread()
		got, err := collect(t, r)
		require.NoError(t, err)
		require.Equal(t, "one", strings.TrimSpace(got[0]))
	}
	_, err := lines.NewReader(strings.NewReader(mark), "f").Next()
	require.Equal(t, io.EOF, err)
	got, err := collect(t, lines.NewReader(strings.NewReader("one\n"+mark+"two\n"), "f"))
	require.NoError(t, err)
	require.Equal(t, mark+"two\n", got[1])
}

func TestTheByteOrderMarkOfUTF16IsNamed(t *testing.T) {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		_, err := lines.NewReader(strings.NewReader(mark+"one\n"), "f").Next()
		require.ErrorContains(t, err, "f:1: begins with the byte order mark of UTF-16")
	}
}
