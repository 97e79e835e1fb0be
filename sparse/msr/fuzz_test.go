package msr

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/msrep-go/msrep/sparse"
)

func seeds(f *testing.F) {
	good := encode(f, small(), sparse.Source{})
	f.Add(good)
	f.Add(good[:100])
	f.Add(encode(f, &sparse.CSR[float32]{RowPtr: []int64{0}}, sparse.Source{}))
	big := bytes.Clone(good)
	big[36] = 1
	sealHeader(big)
	f.Add(big)
}

// FuzzOpen maps each input twice: as it is, and with right checksums, so that
// what lies behind them is reached.
func FuzzOpen(f *testing.F) {
	seeds(f)
	path := filepath.Join(f.TempDir(), "m.msr")
	f.Fuzz(func(t *testing.T, b []byte) {
		for range 2 {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			file, err := Open[float64](ctx, path)
			switch {
			case err == nil:
				if err := file.Matrix().Validate(); err != nil {
					t.Fatal(err)
				}
				file.Close()
			case !sparse.IsInput(err):
				t.Fatalf("%v: is no InputError", err)
			}
			if len(b) >= 128 {
				b = bytes.Clone(b)
				seal(b)
			}
		}
	})
}

// FuzzRead requires the same result for a stream and for the mapped file.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		requireSound(t, b)
		if len(b) >= 128 {
			b = bytes.Clone(b)
			seal(b)
			requireSound(t, b)
		}
	})
}
