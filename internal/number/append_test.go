package number_test

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/number"
)

func TestAppendWritesInfinitiesWithoutAPlus(t *testing.T) {
	for want, v := range map[string]float64{"inf": math.Inf(1), "-inf": math.Inf(-1), "nan": math.NaN(), "-0": math.Copysign(0, -1), "1e+300": 1e300, "0.1": 0.1} {
		require.Equal(t, want, string(number.Append(nil, v, 'g', -1)))
	}
	require.Equal(t, "x 1.500E+00", string(number.Append([]byte("x "), 1.5, 'E', 3)))
}

func TestScanWholeGivesTheNearestFloatOfAnyLength(t *testing.T) {
	for _, c := range []struct {
		text  string
		v     float64
		n     int
		exact bool
	}{
		{"0", 0, 1, true}, {"-0", 0, 2, true}, {"+007 ", 7, 4, true}, {"9007199254740993", 1 << 53, 16, false}, {"-9007199254740994x", -(1<<53 + 2), 17, true},
		{"18446744073709551615", 1 << 64, 20, false}, {"18446744073709551616", 1 << 64, 20, true}, {"18446744073709551617", 1 << 64, 20, false},
		{"340282366920938463463374607431768211456", 1 << 128, 39, true}, {"", 0, 0, false}, {"-", 0, 0, false}, {"x1", 0, 0, false},
	} {
		v, n, exact := number.ScanWhole([]byte(c.text))
		require.Equal(t, []any{c.v, c.n, c.exact}, []any{v, n, exact}, c.text)
		require.False(t, math.Signbit(v) && v == 0)
	}
	v, n, exact := number.ScanWhole(append([]byte("-1"), bytes.Repeat([]byte("0"), 400)...))
	require.Equal(t, []any{math.Inf(-1), 402, false}, []any{v, n, exact})
}

func TestScanWholeAgreesWithArithmeticOfAnyPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[+-]?0{0,3}[0-9]{1,45}`).Draw(t, "text")
		if rapid.Bool().Draw(t, "near a float64") {
			v := math.Ldexp(float64(rapid.Int64Range(1, 1<<53).Draw(t, "bits")), rapid.IntRange(0, 70).Draw(t, "exponent"))
			i, _ := big.NewFloat(v).Int(nil)
			text = i.Add(i, big.NewInt(rapid.Int64Range(-1, 1).Draw(t, "off"))).String()
		}
		i, ok := new(big.Int).SetString(text, 10)
		require.True(t, ok)
		want, accuracy := i.Float64()
		v, n, exact := number.ScanWhole([]byte(text + " 1"))
		require.Equal(t, want, v)
		require.Equal(t, len(text), n)
		require.Equal(t, accuracy == big.Exact, exact)
	})
}

func TestScanBeyondParsesOnlyNumbersThatAreTooLarge(t *testing.T) {
	for text, want := range map[string]float64{"1e309 x": math.Inf(1), "-1.8D308": math.Inf(-1), "1.7976931348623159e308\n": math.Inf(1)} {
		v, n := number.ScanBeyond([]byte(text))
		require.Equal(t, want, v, text)
		require.Positive(t, n)
	}
	for _, text := range []string{"1", "inf", "1e308", "1e-400", "x", "", "1e", "0e999"} {
		_, n := number.ScanBeyond([]byte(text))
		require.Zero(t, n, text)
	}
}
