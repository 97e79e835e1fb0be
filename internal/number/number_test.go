package number_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/number"
)

// same reports whether two numbers have the same bits; all NaNs count as equal.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// agrees checks all functions against strconv on text that strconv reads.
func agrees(t *testing.T, text string) {
	t.Helper()
	want, err := strconv.ParseFloat(text, 64)
	got, gotErr := number.Float([]byte(text))
	for _, behind := range []string{"\t12345678", " 1234567.8e9\n" + strings.Repeat("0", 32)} {
		scanned, n := number.ScanFloat([]byte(text + behind))
		if err != nil {
			require.ErrorIs(t, gotErr, number.ErrRange, text)
			require.Zero(t, n, text)
			continue
		}
		require.NoError(t, gotErr, text)
		if !same(want, got) || !same(want, scanned) || n != len(text) {
			t.Fatalf("%q: Float %x, ScanFloat %x of %d bytes, strconv %x", text, got, scanned, n, want)
		}
	}
}

// formats are the ways in which programs write the numbers of a matrix.
var formats = []struct {
	verb byte
	prec int
}{{'g', -1}, {'g', 17}, {'g', 16}, {'e', 18}, {'e', 16}, {'e', 15}, {'E', 5}, {'f', 6}, {'f', 17}, {'g', 3}, {'e', 25}}

// draws is the number of random numbers in a test.
func draws() int {
	if testing.Short() {
		return 20_000
	}
	return 200_000
}

func TestFloatsHaveTheBitsOfStrconv(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := func() float64 {
		switch r.IntN(6) {
		case 0: // any bit pattern: huge, tiny, subnormal
			return math.Float64frombits(r.Uint64())
		case 1: // subnormal
			return math.Float64frombits(r.Uint64() >> (12 + r.IntN(52)))
		case 2: // halves and quarters, where ties are
			return float64(r.Int64N(1<<54)) / 4
		case 3:
			return r.NormFloat64()
		case 4:
			return r.NormFloat64() * math.Pow(10, float64(r.IntN(60)-30))
		}
		return float64(r.IntN(2000) - 1000)
	}
	for range draws() {
		v := values()
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		f := formats[r.IntN(len(formats))]
		agrees(t, strconv.FormatFloat(v, f.verb, f.prec, 64))
	}
}

// Every mantissa length with every exponent on both sides of the fast ranges.
func TestFloatsOfEveryLengthAndExponentHaveTheBitsOfStrconv(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range draws() {
		digits := 1 + r.IntN(22)
		text := make([]byte, 0, 40)
		for range digits {
			text = append(text, byte('0'+r.IntN(10)))
		}
		if r.IntN(2) == 0 {
			at := r.IntN(len(text) + 1)
			text = append(text[:at], append([]byte{'.'}, text[at:]...)...)
		}
		if r.IntN(4) > 0 {
			text = append(text, 'e')
			text = strconv.AppendInt(text, int64(r.IntN(80)-40), 10)
		}
		agrees(t, string(text))
	}
}

// Numbers halfway between two floats, and numbers that differ from these in one digit.
func TestTiesGoToEven(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		// (2m+1) * 2^e with a 54-bit odd integer lies between two floats.
		m := big.NewInt(int64(r.Uint64N(1<<53) | 1<<53 | 1))
		e := r.IntN(60) - 30
		x := new(big.Float).SetPrec(200).SetMantExp(new(big.Float).SetInt(m), e)
		text := x.Text('e', -1)
		agrees(t, text)
		agrees(t, x.Text('f', 40))
		agrees(t, strings.Replace(text, "e", "1e", 1))
	}
	for _, text := range []string{
		"9007199254740993", "9007199254740993.0", "9007199254740992.5", "9007199254740995",
		"18014398509481986", "900719925474099.3e1", "9007199254740993e-1", "9007199254740991e22",
		"9007199254740991e23", "18446744073709551615", "18446744073709551616", "9999999999999999999e27",
		"9999999999999999999e-27", "1e-27", "1e-28", "1e27", "1e28", "9007199254740992e-27",
	} {
		agrees(t, text)
		agrees(t, "-"+text)
	}
}

func TestNumbersThatAreAccepted(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "-0": math.Copysign(0, -1), "+1": 1, ".5": .5, "5.": 5, "-.5e1": -5, "1E+2": 100, "00012": 12,
		"1e0000000000000000000001": 10, "0e99999999999": 0, "1e-99999999": 0, "4.9e-324": 5e-324, "2e-324": 0,
		"0.00000000000000000000000000001": 1e-29, "00000000000000000000000000001": 1,
		"inf": math.Inf(1), "-Inf": math.Inf(-1), "+INFINITY": math.Inf(1), "nan": math.NaN(), "NaN": math.NaN(), "-nan": math.NaN(),
		"1.7976931348623157e308": math.MaxFloat64,
	} {
		got, err := number.Float([]byte(text))
		require.NoError(t, err, text)
		require.True(t, same(want, got), "%s gives %v", text, got)
		for _, behind := range []string{" 1", "\n" + strings.Repeat("7", 40)} {
			got, n := number.ScanFloat([]byte(text + behind))
			require.Equal(t, len(text), n, text)
			require.True(t, same(want, got), "%s gives %v", text, got)
		}
	}
}

func TestExponentsAreReadAsFortranWritesThem(t *testing.T) {
	for text, want := range map[string]float64{
		"1.5D+3": 1500, "1.5d3": 1500, "-1d-2": -.01, "1.5-300": 1.5e-300, "1.5+3": 1500, "-.25+1": -2.5,
		"1.2345678901234567D-05": 1.2345678901234567e-05, "0.123456789012345678901234D+1": 1.23456789012345678901234,
	} {
		got, err := number.Float([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		for _, behind := range []string{"", " 1", "\n" + strings.Repeat("7", 40)} {
			got, n := number.ScanFloat([]byte(text + behind))
			if !strings.ContainsAny(text, "Dd") {
				require.Zero(t, n, "%s: only Float reads exponents without a letter", text)
				continue
			}
			require.Equal(t, len(text), n, text)
			require.Equal(t, want, got, text)
		}
	}
}

func TestTextThatIsNotADecimalNumberIsRefused(t *testing.T) {
	for _, text := range []string{
		"", " ", "+", "-", ".", "-.", "e5", ".e5", "1e", "1e+", "1ee5", "1e5e5", "1.2.3", "--1", "+-1", "1-", "1+-3", "1d", "1d5e3",
		"0x10", "0x1p-2", "1_000", "1,5", "1 ", " 1", "1 2", "infx", "in", "nan()", "nanx", "infinityy", "٣", "1\x00", "abc", "1f", "١٢",
		"123456789012345678901234567890x", "1e5.5", "12345678,", "1/2",
	} {
		_, err := number.Float([]byte(text))
		require.ErrorIs(t, err, number.ErrSyntax, "%q", text)
		if !strings.ContainsAny(text, " ") {
			for _, behind := range []string{"", " " + strings.Repeat("7", 40)} {
				_, n := number.ScanFloat([]byte(text + behind))
				require.Zero(t, n, "%q", text)
			}
		}
	}
}

func TestNumbersBeyondTheRangeAreRefused(t *testing.T) {
	for _, text := range []string{"1e309", "-1e309", "1.8e308", "1e99999999999", "1d400", "1+999"} {
		_, err := number.Float([]byte(text))
		require.ErrorIs(t, err, number.ErrRange, text)
	}
	for _, text := range []string{"9223372036854775808", "-9223372036854775809", "99999999999999999999", "18446744073709551616", "92233720368547758080"} {
		_, err := number.Int([]byte(text))
		require.ErrorIs(t, err, number.ErrRange, text)
		_, n := number.ScanInt([]byte(text))
		require.Zero(t, n, text)
	}
}

func TestIntegersHaveTheValueOfStrconv(t *testing.T) {
	check := func(v int64, tail string) {
		text := strconv.FormatInt(v, 10)
		got, err := number.Int([]byte(text))
		require.NoError(t, err)
		require.Equal(t, v, got)
		got, n := number.ScanInt([]byte(text + tail))
		require.Equal(t, len(text), n)
		require.Equal(t, v, got)
	}
	for _, v := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxInt64 / 10 * 10, 9999999, 10000000, 99999999, 100000000} {
		check(v, "")
		check(v, " 1234567")
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v") >> rapid.IntRange(0, 63).Draw(t, "shift")
		tail := rapid.SampledFrom([]string{"", " ", "\n", ".5", "x", "\xff\xff\xff\xff\xff\xff\xff\xff", "\t123456789", "/:"}).Draw(t, "tail")
		check(v, tail)
	})
	for _, text := range []string{"", "-", "+", "1.5", "1e3", "x", "0x1", "1_0", " 1", "1 ", "٣", "--1"} {
		_, err := number.Int([]byte(text))
		require.ErrorIs(t, err, number.ErrSyntax, "%q", text)
	}
	v, err := number.Int([]byte("+0012"))
	require.NoError(t, err)
	require.EqualValues(t, 12, v)
}

func TestWordsGiveTheirLeadingDigits(t *testing.T) {
	for _, behind := range []string{" ", "\n", ".", "/", ":", "\x00", "\xff", "e", "-"} {
		for digits := range 9 {
			for _, text := range []string{"00000000", "99999999", "12345678", "80706050"} {
				word := (text[:digits] + strings.Repeat(behind, 8))[:8]
				v, n := number.ScanWord(binary.LittleEndian.Uint64([]byte(word)))
				require.Equal(t, digits, n, "%q", word)
				if want, err := strconv.ParseUint(text[:digits], 10, 64); err == nil {
					require.Equal(t, want, v, "%q", word)
				}
			}
		}
	}
}

// plain matches the notation in the package comment, as an independent check.
var plain = regexp.MustCompile(`^[+-]?((\d+\.?\d*|\.\d+)(([eE]|[dD])[+-]?\d+|[+-]\d+)?|(?i:nan|inf|infinity))$`)

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-12.5e-3", "12345678901234567890.5", "nan", "1.5D+3", "1-3", "0x1", "1_0", "9007199254740993e-1", "", "."} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		given := bytes.Clone(b)
		v, err := number.Float(b)
		require.Equal(t, given, b, "the text was changed")
		require.Equal(t, plain.Match(b), err != number.ErrSyntax, "%q: %v", b, err)
		if err == nil {
			if n := len(b); n > 0 {
				want, werr := strconv.ParseFloat(rewrite(string(b)), 64)
				require.NoError(t, werr)
				require.True(t, same(want, v), "%q gives %x, strconv %x", b, v, want)
			}
		}
		s, n := number.ScanFloat(b)
		if n > 0 {
			want, werr := strconv.ParseFloat(rewrite(string(b[:n])), 64)
			require.NoError(t, werr)
			require.True(t, same(want, s), "%q gives %x, strconv %x", b[:n], s, want)
		}
		more, m := number.ScanFloat(append(given, "\n1234567.8901234567890123456789012345"...))
		require.True(t, n == m && same(s, more), "%q gives %x of %d bytes, %x of %d with text behind", b, s, n, more, m)
		i, err := number.Int(b)
		want, werr := strconv.ParseInt(string(b), 10, 64)
		require.Equal(t, werr == nil, err == nil, "%q", b)
		if err == nil {
			require.Equal(t, want, i)
		}
	})
}

// rewrite puts a number into the notation of strconv.
func rewrite(s string) string {
	s = strings.ToLower(s)
	if strings.HasSuffix(s, "nan") {
		return "nan"
	}
	s = strings.Replace(s, "d", "e", 1)
	if i := strings.LastIndexAny(s, "+-"); i > 0 && s[i-1] != 'e' {
		s = s[:i] + "e" + s[i:]
	}
	return s
}

func BenchmarkScanFloat(b *testing.B) {
	for _, text := range []string{"1.5 ", "-0.0625 ", "0.1234567890123456 ", "-1.2345678901234567e-05 ", "1.234567890123456789e+00 ", "3.4567890123456789e-17 "} {
		data := []byte(text + "12345678")
		b.Run(strings.TrimSpace(text), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				number.ScanFloat(data)
			}
		})
	}
}

func BenchmarkScanInt(b *testing.B) {
	data := []byte("1234567 12345678")
	for range b.N {
		number.ScanInt(data)
	}
}
