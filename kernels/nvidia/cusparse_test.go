//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
	"github.com/msrep-go/msrep/kernels/nvidia/internal/cusparse"
	"github.com/msrep-go/msrep/sparse"
)

// wideCSR is CSR with pointers of 64 bits and indices of 32 bits, which parts of 2^31
// entries need. cuSPARSE does not document whether it supports them; the test shows its
// error if it does not.
const wideCSR = "csr, pointers of 64 bits"

// TestCuSPARSEMultipliesCSRCSCAndCOO multiplies a 3 x 4 matrix in four formats, with
// and without transpose, by all algorithms.
func TestCuSPARSEMultipliesCSRCSCAndCOO(t *testing.T) {
	if _, err := cusparse.Version(); err != nil {
		t.Skip(err)
	}
	d, s := open(t, Config{})
	// 1 2 0 0
	// 0 0 0 3
	// 4 0 5 6
	at := func(a kernels.Buffer) uint64 {
		p, err := d.own(a, 0, a.Bytes())
		require.NoError(t, err)
		return uint64(p)
	}
	var all []kernels.Buffer
	ints := func(v ...int32) uint64 {
		a := devicetest.Upload(t, s, d, v)
		all = append(all, a.Buf)
		return at(a.Buf)
	}
	floats := func(v ...float64) (uint64, kernels.Array[float64]) {
		a := devicetest.Upload(t, s, d, v)
		all = append(all, a.Buf)
		return at(a.Buf), a
	}
	byRow, _ := floats(1, 2, 3, 4, 5, 6)
	byCol, _ := floats(1, 4, 2, 5, 3, 6)
	wide := devicetest.Upload(t, s, d, []int64{0, 2, 3, 6})
	all = append(all, wide.Buf)
	rowPtr, colIdx := ints(0, 2, 3, 6), ints(0, 1, 3, 0, 2, 3)
	colPtr, rowIdx := ints(0, 2, 3, 4, 6), ints(0, 2, 0, 2, 1, 2)
	rows := ints(0, 0, 1, 2, 2, 2)
	x4, _ := floats(1, 10, 100, 1000)
	y3, y := floats(7, 8, 9)
	x3, _ := floats(1, 10, 100)
	y4, yt := floats(1, 2, 3, 4)
	buffer, err := d.Alloc(1 << 20)
	require.NoError(t, err)
	all = append(all, buffer)
	require.NoError(t, s.Sync())

	var h *cusparse.Handle
	on := func(f func() error) { require.NoError(t, d.run("test", 0, f)) }
	on(func() (err error) {
		if h, err = cusparse.New(); err != nil {
			return err
		}
		return h.SetStream(unsafe.Pointer(s.s.C()))
	})
	for _, c := range []struct {
		name string
		make func() (*cusparse.Matrix, error)
		algs []cusparse.Algorithm
	}{
		{"csr", func() (*cusparse.Matrix, error) { return cusparse.CSR(3, 4, 6, rowPtr, colIdx, byRow, false, false) },
			[]cusparse.Algorithm{cusparse.Default, cusparse.CSR1, cusparse.CSR2, cusparse.Op}},
		{wideCSR, func() (*cusparse.Matrix, error) {
			return cusparse.CSR(3, 4, 6, at(wide.Buf), colIdx, byRow, true, false)
		},
			[]cusparse.Algorithm{cusparse.CSR1, cusparse.CSR2}},
		{"csc", func() (*cusparse.Matrix, error) { return cusparse.CSC(3, 4, 6, colPtr, rowIdx, byCol, false, false) },
			[]cusparse.Algorithm{cusparse.Default, cusparse.CSR1, cusparse.CSR2}},
		{"coo", func() (*cusparse.Matrix, error) { return cusparse.COO(3, 4, 6, rows, colIdx, byRow, false) },
			[]cusparse.Algorithm{cusparse.Default, cusparse.COO1, cusparse.COO2}},
	} {
		for _, alg := range c.algs {
			for _, trans := range []bool{false, true} {
				if alg == cusparse.Op && trans {
					continue
				}
				x, to, out, n, m, want := x4, y3, y, int64(4), int64(3), []float64{2*21 + 21, 2*3000 + 24, 2*6504 + 27}
				start := []float64{7, 8, 9}
				if trans {
					x, to, out, n, m, want = x3, y4, yt, 3, 4, []float64{2*401 + 3, 2*2 + 6, 2*500 + 9, 2*630 + 12}
					start = []float64{1, 2, 3, 4}
				}
				var p *cusparse.Product
				err := d.run("prepare", 0, func() error {
					a, err := c.make()
					if err != nil {
						return err
					}
					xv, err := cusparse.NewVector(n, x, false)
					if err != nil {
						return err
					}
					yv, err := cusparse.NewVector(m, to, false)
					if err != nil {
						return err
					}
					p = &cusparse.Product{A: a, X: xv, Y: yv, Trans: trans, Algorithm: alg, Buffer: at(buffer)}
					need, err := h.BufferBytes(p)
					if err != nil {
						return err
					}
					if need > buffer.Bytes() { // require would end the device's thread instead of the test
						return fmt.Errorf("it needs a buffer of %d bytes, more than %d", need, buffer.Bytes())
					}
					return errors.Join(h.Preprocess(p), s.s.Synchronize())
				})
				if errors.Is(err, cusparse.ErrNoOp) {
					t.Log(err)
					continue
				}
				var refused cusparse.Error
				if c.name == wideCSR && errors.As(err, &refused) {
					t.Logf("%s, %s, transposed %v: %v", c.name, alg, trans, err)
					continue
				}
				require.NoError(t, err)
				require.NoError(t, out.Write(s, start)) // only now, because preprocessing has written y
				require.NoError(t, s.Sync())
				on(func() error {
					if err := h.Multiply(p, 2, 3); err != nil {
						return err
					}
					for _, end := range []func() error{s.s.Synchronize, p.Close, p.X.Close, p.Y.Close, p.A.Close} {
						if err := end(); err != nil {
							return err
						}
					}
					return nil
				})
				require.Equal(t, want, devicetest.Download(t, s, out), "%s %s transposed %v", c.name, alg, trans)
			}
		}
	}
	on(h.Close)
	for _, b := range all {
		require.NoError(t, b.Free())
	}
	require.Equal(t, "CSR_ALG2", cusparse.CSR2.String())
	require.Equal(t, "algorithm 9", cusparse.Algorithm(9).String())
}

// TestProductsThatCuSPARSECannotAlignAreMade multiplies a part with a shared first row
// whose arrays and y are not aligned to 16 bytes.
func TestProductsThatCuSPARSECannotAlignAreMade(t *testing.T) {
	if _, err := cusparse.Version(); err != nil {
		t.Skip(err)
	}
	d, s := open(t, Config{})
	p, err := d.Pack(packing(FormCuSPARSE))
	require.NoError(t, err)
	require.Equal(t, FormCuSPARSE, p.Info().Form)
	x := devicetest.Upload(t, s, d, []float64{0, 1, 10, 100, 1000, 10000})
	for skip := range int64(3) {
		y := devicetest.Upload(t, s, d, []float64{0, 1, 2, 3, 4, 5})
		own, carry := y.Sub(skip, skip+3), devicetest.Upload(t, s, d, []float64{0})
		require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: p, Alpha: 2, Beta: 3, X: x.Sub(1, 6), Y: own, Carry: carry}))
		b := 3 * float64(skip)
		require.Equal(t, []float64{2*5004 + b, b + 3, 2*98760 + b + 6}, devicetest.Download(t, s, own))
		require.Equal(t, []float64{2 * 321}, devicetest.Download(t, s, carry))
		require.NoError(t, y.Free())
		require.NoError(t, carry.Free())
	}
	require.NoError(t, p.Free())
	require.NoError(t, x.Free())
	require.Zero(t, d.InUse())
}

// TestSpMVOpOfEachVersionMultiplies multiplies by parts with and without a shared first row. Before 12.8, SpMVOp has other
// parameters and no float32, and the stand-in's reads y also if beta is 0.
func TestSpMVOpOfEachVersionMultiplies(t *testing.T) {
	if _, err := cusparse.Version(); err != nil {
		t.Skip(err)
	}
	versions := []string{"12.7.3", "12.8.6", "13.0.1"}
	if !nvidiatest.Attached() {
		versions = []string{""}
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Setenv("MSREP_STANDIN_CUSPARSE", version)
			d, s := open(t, Config{})
			old := version == "12.7.3"
			checkSpMVOp(t, d, s, packing(kernels.FormCSR), old)
			single := convertPacking(packing(kernels.FormCSR))
			if old {
				_, _, err := bySpMVOp(d, s, single)
				require.ErrorAs(t, err, new(cusparse.Error))
				require.Zero(t, d.InUse())
				return
			}
			checkSpMVOp(t, d, s, single, false)
		})
	}
}

// bySpMVOp packs a part for SpMVOp. It returns no part if the library has no SpMVOp.
func bySpMVOp[V sparse.Value](d *Device, s *stream, op *kernels.Packing[V]) (p *sparsePart[V], close func() error, err error) {
	a, err := launch.Pack(d, s, op)
	if err != nil {
		return nil, nil, err
	}
	trial, err := newTrial(d, s, op, a)
	if err != nil {
		return nil, nil, errors.Join(err, a.Free())
	}
	p, err = newSparse(d, s, a, trial.local, cusparse.Op, trial.x, trial.y)
	if err != nil {
		return nil, nil, errors.Join(err, trial.close(), a.Free())
	}
	return p, func() error { return errors.Join(p.Free(), trial.close()) }, nil
}

func checkSpMVOp[V sparse.Value](t *testing.T, d *Device, s *stream, op *kernels.Packing[V], reads bool) {
	p, end, err := bySpMVOp(d, s, op)
	if errors.Is(err, cusparse.ErrNoOp) {
		t.Skip(err)
	}
	require.NoError(t, err)
	if nvidiatest.Attached() {
		require.Equal(t, reads, p.clears)
	}
	x := devicetest.Upload(t, s, d, []V{1, 10, 100, 1000, 10000})
	y, carry := devicetest.Upload(t, s, d, []V{1, 2, 3}), devicetest.Upload(t, s, d, []V{0})
	require.NoError(t, s.Launch(&kernels.MajorProductPacked[V]{A: p, Alpha: 2, Beta: 3, X: x, Y: y, Carry: carry}))
	require.Equal(t, []V{2*5004 + 3, 6, 2*98760 + 9}, devicetest.Download(t, s, y))
	require.Equal(t, []V{2 * 321}, devicetest.Download(t, s, carry))
	nan := V(math.NaN())
	require.NoError(t, y.Write(s, []V{nan, nan, nan}))
	require.NoError(t, s.Launch(&kernels.MajorProductPacked[V]{A: p, Alpha: 2, X: x, Y: y, Carry: carry}))
	require.Equal(t, []V{2 * 5004, 0, 2 * 98760}, devicetest.Download(t, s, y))
	unaligned := devicetest.Upload(t, s, d, []V{0, 1, 10, 100, 1000, 10000})
	require.NoError(t, s.Launch(&kernels.MajorProductPacked[V]{A: p, Alpha: 2, X: unaligned.Sub(1, 6), Y: y, Carry: carry}))
	require.Equal(t, []V{2 * 5004, 0, 2 * 98760}, devicetest.Download(t, s, y))
	for _, a := range []interface{ Free() error }{x, y, carry, unaligned} {
		require.NoError(t, a.Free())
	}
	require.NoError(t, end())
	require.Zero(t, d.InUse())
}

// convertPacking returns the packing of the part in float32.
func convertPacking(op *kernels.Packing[float64]) *kernels.Packing[float32] {
	val := make([]float32, len(op.Val))
	for i, v := range op.Val {
		val[i] = float32(v)
	}
	return &kernels.Packing[float32]{Form: op.Form, Part: op.Part, Minors: op.Minors, Ptr: op.Ptr, Idx: op.Idx, Val: val, Products: op.Products}
}
