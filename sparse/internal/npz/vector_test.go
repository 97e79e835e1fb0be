package npz

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestVectorsOfAllTypesAndShapesAreRead(t *testing.T) {
	want := []float64{1, 0, 3}
	for _, c := range []struct {
		descr string
		items any
		field sparse.Field
	}{
		{"<f8", []float64{1, 0, 3}, sparse.Real},
		{"<f4", []float32{1, 0, 3}, sparse.Real},
		{"<i8", []int64{1, 0, 3}, sparse.Integer},
		{"<i4", []int32{1, 0, 3}, sparse.Integer},
		{"<u2", []uint16{1, 0, 3}, sparse.Integer},
		{"|u1", []uint8{1, 0, 3}, sparse.Integer},
	} {
		for _, shape := range []string{"(3,)", "(3, 1)", "(1, 3)"} {
			for _, fortran := range []bool{false, true} {
				file := npyOrder("x", c.descr, shape, fortran, binary.LittleEndian, c.items).data
				x, src, err := ReadVector(t.Context(), bytes.NewReader(file), "x.npy")
				require.NoError(t, err, "%s %s", c.descr, shape)
				require.Equal(t, want, x)
				require.Equal(t, sparse.Source{Field: c.field, Symmetry: sparse.General, Stored: 3}, src)
			}
		}
	}
	x, _, err := ReadVector(t.Context(), bytes.NewReader(npyOrder("x", ">f8", "(3,)", false, binary.BigEndian, want).data), "x.npy")
	require.NoError(t, err)
	require.Equal(t, want, x)
	x, _, err = ReadVector(t.Context(), bytes.NewReader(npy("x", "<f8", "(0,)", []float64{}).data), "x.npy")
	require.NoError(t, err)
	require.Empty(t, x)
	x, src, err := ReadVector(t.Context(), bytes.NewReader(npy("x", "<i8", "(1,)", []int64{1<<53 + 3}).data), "x.npy")
	require.NoError(t, err)
	require.Equal(t, []float64{1<<53 + 4}, x)
	require.Contains(t, src.Note, "rounded")
	for _, version := range []string{"\x02\x00", "\x03\x00"} {
		file := raw("x", version, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n", "\x00\x00\x00\x00\x00\x00\xf0\x3f").data
		x, _, err = ReadVector(t.Context(), bytes.NewReader(file), "x.npy")
		require.NoError(t, err)
		require.Equal(t, []float64{1}, x)
	}
}

func TestWhatIsWrongWithAVectorIsSaidInOneLine(t *testing.T) {
	good := npy("x", "<f8", "(3,)", []float64{1, 2, 3}).data
	change := func(from, to string) []byte { return bytes.Replace(good, []byte(from), []byte(to), 1) }
	for want, file := range map[string][]byte{
		"does not begin as a NumPy array does":              []byte("PK\x03\x04 and more"),
		"ends early":                                        good[:len(good)-1],
		"ends early: ":                                      good[:20],
		"ends early: the":                                   {},
		"holds more than its header says":                   append(bytes.Clone(good), 0),
		"holds complex numbers (<c8)":                       change("<f8", "<c8"),
		`holds items of type "<f2"`:                         change("<f8", "<f2"),
		"holds text (|S8): a vector must be numbers":        change("<f8", "|S8"),
		"pickled objects are never read":                    change("<f8", "|O8"),
		"its header is damaged: a size is expected":         change("(3,)", "(x,)"),
		"has the shape []: a vector has one dimension":      change("(3,)", "()  "),
		"has the shape [3 2]: a vector has one dimension":   npy("x", "<f8", "(3, 2)", make([]float64, 6)).data,
		"has the shape [3 1 1]: a vector has one dimension": npy("x", "<f8", "(3, 1, 1)", make([]float64, 3)).data,
		"4294967296 elements: at most 2147483647":           npy("x", "|u1", "(4294967296,)", []byte{1}).data,
	} {
		_, _, err := ReadVector(t.Context(), bytes.NewReader(file), "x.npy")
		require.ErrorContains(t, err, want)
		require.True(t, sparse.IsInput(err), "%v", err)
		require.True(t, strings.HasPrefix(err.Error(), "x.npy: "), "%v", err)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestWrittenVectorsAreReadBackBitForBit(t *testing.T) {
	for _, n := range []int{0, 1, 20_000} {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Sin(float64(i)) * math.Pow(10, float64(i%600-300))
		}
		var file bytes.Buffer
		require.NoError(t, WriteVector(&file, v))
		require.Zero(t, (file.Len()-8*n)%64, "the content is aligned")
		x, _, err := ReadVector(t.Context(), &file, "x.npy")
		require.NoError(t, err)
		require.Equal(t, v, x)
	}
}
