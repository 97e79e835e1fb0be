package msrep

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// stencil returns the matrix of a five-point stencil, a vector of ones, and their product.
func stencil(t *testing.T) (a *sparse.CSR[float64], x, want []float64) {
	a = generated(t, "stencil:dims=2,points=5,n=200")
	x, want = make([]float64, a.Cols), make([]float64, a.Rows)
	for i := range x {
		x[i] = 1
	}
	for i := range want {
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			want[i] += a.Val[k]
		}
	}
	return a, x, want
}

// inTiles returns a plan that has chosen tiles with the given doubt. No search tries tiles for a stencil, so a search
// always replaces them.
func inTiles(t *testing.T, sys *System, a *sparse.CSR[float64], doubt float64) *Plan[float64] {
	choice := string(planOf[float64](t, sys, a, PlanOptions{Expected: Expected{Products: 1}}).Choice())
	choice = choice[:strings.LastIndex(choice, "=")+1] + string(kernels.FormTiles)
	p := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Choice: Choice(choice)}})
	require.Equal(t, kernels.FormTiles, p.Packed(NoTrans)[0].Form)
	p.shares[0].doubt, p.retuning.doubt = doubt, doubt
	return p
}

func TestAPlanWithUncertainFormsRetunes(t *testing.T) {
	sys := openCPU(t, "cpu:1")
	a, x, want := stencil(t)
	p := inTiles(t, sys, a, 1)
	y := make([]float64, a.Rows)
	product := func() {
		multiply(t, p, NoTrans, 1, x, 0, y)
		require.InDeltaSlice(t, want, y, 1e-12)
	}
	p.retuning.cost = time.Hour
	product()
	product()
	require.Zero(t, p.retuning.attempts, "products have not taken long enough")
	p.retuning.cost = time.Nanosecond
	product()
	require.Equal(t, 1, p.retuning.attempts)
	require.NotEqual(t, kernels.FormTiles, p.Packed(NoTrans)[0].Form)
	require.Less(t, p.retuning.doubt, 1.0)
	require.Greater(t, p.retuning.cost, time.Nanosecond, "cost is the time of the search")

	for range 100 { // the doubt never decreases
		p.shares[0].doubt, p.retuning.doubt, p.retuning.cost, p.retuning.productTime = 1, 1, 0, time.Second
		product()
	}
	require.Equal(t, maxRetunes, p.retuning.attempts)

	sure := inTiles(t, sys, a, 0)
	sure.retuning.cost = 0
	multiply(t, sure, NoTrans, 1, x, 0, y)
	multiply(t, sure, NoTrans, 1, x, 0, y)
	require.Zero(t, sure.retuning.attempts)
	require.Equal(t, kernels.FormTiles, sure.Packed(NoTrans)[0].Form)
}

// A retune that fails because the context ends makes the product fail, and leaves the plan unchanged.
func TestAFailedRetuneLeavesThePlanUnchanged(t *testing.T) {
	sys := openCPU(t, "cpu:1")
	a, x, want := stencil(t)
	p := inTiles(t, sys, a, 1)
	held := p.Bytes()
	p.retuning.cost, p.retuning.productTime = 0, time.Second
	err := p.SpMV(newEndsAfter(1), NoTrans, 1, x, 0, make([]float64, a.Rows))
	require.Equal(t, context.Canceled, err)
	require.Equal(t, held, p.Bytes())
	require.Equal(t, kernels.FormTiles, p.Packed(NoTrans)[0].Form)
	require.ErrorIs(t, p.Retune(newEndsAfter(1)), context.Canceled)
	require.Equal(t, held, p.Bytes())
	y := make([]float64, a.Rows)
	multiply(t, p, NoTrans, 1, x, 0, y)
	require.InDeltaSlice(t, want, y, 1e-12)
}

func TestRetuneRunsConcurrentlyWithProducts(t *testing.T) {
	a, x, want := stencil(t)
	for _, devices := range []string{"cpu:1", "cpu:3"} {
		sys := open(t, Config{Devices: devices, Threads: 4})
		p := planOf[float64](t, sys, a, PlanOptions{Expected: Expected{Transposed: 5}})
		var all sync.WaitGroup
		for k := range 4 {
			all.Go(func() {
				y := make([]float64, a.Rows)
				for range 30 {
					err := p.SpMV(ctx, Transpose(k%2 == 1), 1, x, 0, y)
					if err != nil {
						t.Error(err)
						return
					}
					for i := range y { // the matrix is symmetric
						if d := y[i] - want[i]; d > 1e-12 || d < -1e-12 {
							t.Errorf("row %d: %g, want %g", i, y[i], want[i])
							return
						}
					}
				}
			})
		}
		for range 5 {
			require.NoError(t, p.Retune(ctx))
		}
		all.Wait()
		require.NoError(t, p.Close())
		require.ErrorIs(t, p.Retune(ctx), ErrClosed)
		require.NoError(t, sys.Close(), "nothing stays allocated")
	}
	var none *Plan[float64]
	require.ErrorContains(t, none.Retune(ctx), "was not made by NewPlan")
	sys := openCPU(t, "cpu:1")
	require.True(t, sparse.IsInput(planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Release: true}}).Retune(ctx)))
	named := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Form: "ell"}})
	require.NoError(t, named.Retune(ctx))
	require.Equal(t, kernels.Form("ell"), named.Packed(NoTrans)[0].Form)
}

func TestAChoiceReproducesTheForms(t *testing.T) {
	a, x, want := stencil(t)
	for _, c := range []struct {
		devices string
		opt     PlanOptions
	}{
		{"cpu:1", PlanOptions{}}, {"cpu:3", PlanOptions{}}, {"cpu:1", PlanOptions{Expected: Expected{Transposed: 5}}},
		{"cpu:2", PlanOptions{Deterministic: true}}, {"sim:2", PlanOptions{}}, {"cpu:1", PlanOptions{Storage: Storage{Form: "tiles"}}},
	} {
		sys := open(t, Config{Devices: c.devices, Threads: 4})
		first := planOf[float64](t, sys, a, c.opt)
		text, err := json.Marshal(first.Choice())
		require.NoError(t, err)
		o := c.opt
		o.Storage.Form = ""
		require.NoError(t, json.Unmarshal(text, &o.Storage.Choice))
		for _, m := range []sparse.Matrix[float64]{a, sparse.ToCSC[float64](a)} {
			second := planOf(t, sys, m, o)
			require.Equal(t, first.Choice(), second.Choice())
			for _, p := range second.Packed(NoTrans) {
				require.Empty(t, p.Tried, "no search")
			}
			y := make([]float64, a.Rows)
			multiply(t, second, NoTrans, 1, x, 0, y)
			require.InDeltaSlice(t, want, y, 1e-12)
			if c.devices != "sim:2" {
				require.NoError(t, second.UpdateValues(ctx, a.Val))
				require.NoError(t, second.Retune(ctx))
			}
		}
		require.NoError(t, first.Close())
		require.Empty(t, first.Choice())
	}
}

func TestAChoiceThatDoesNotSuitIsRefused(t *testing.T) {
	sys := openCPU(t, "cpu:1")
	a, _, _ := stencil(t)
	good := string(planOf[float64](t, sys, a, PlanOptions{}).Choice())
	threads := sys.Devices()[0].Threads
	form := func(f string) string { return good[:strings.LastIndex(good, "=")+1] + f }
	for text, want := range map[string]string{
		"slices":                                        `must begin with "msrep-choice"`,
		"msrep-choice":                                  "is for another matrix",
		strings.Replace(good, "=", "=1", 1):             "is for another matrix",
		strings.Replace(good, "64", "32", 1):            "is for another matrix",
		good + " " + fmt.Sprintf("cpu/%d=csr", threads): "is for other devices",
		strings.Replace(good, "cpu/", "cpu/9", 1):       "is for other devices",
		strings.Replace(good, "cpu/", "cuda/", 1):       "is for other devices",
		form(""):                       "is for other devices",
		form("origami"):                "the form origami does not suit the matrix on device cpu:0: ",
		form("blocks"):                 "the form blocks does not suit the matrix on device cpu:0",
		form("slices") + " transposed": "",
		form("slices") + " transposed " + fmt.Sprintf("cpu/%d=x", threads): "",
	} {
		p, err := NewPlan[float64](ctx, sys, a, PlanOptions{Storage: Storage{Choice: Choice(text)}})
		if want == "" {
			require.NoError(t, err, text)
			require.NoError(t, p.Close())
			continue
		}
		require.True(t, sparse.IsInput(err), text)
		require.ErrorContains(t, err, "choice: ", text)
		require.ErrorContains(t, err, want, text)
	}
	for _, o := range []PlanOptions{{Storage: Storage{Format: "csr"}}, {Storage: Storage{Form: "slices"}}, {Variant: Variant{Strategy: Partial}}, {Storage: Storage{Segments: kernels.Segments{Count: 2, Read: 1}}}} {
		o.Storage.Choice = Choice(good)
		_, err := NewPlan[float64](ctx, sys, a, o)
		require.ErrorContains(t, err, "choice: names the forms already")
	}
	_, err := NewPlan(ctx, sys, sparse.Matrix[float32](sparse.Convert[float32](a)), PlanOptions{Storage: Storage{Choice: Choice(good)}})
	require.ErrorContains(t, err, "is for another matrix")
	require.NoError(t, sys.Close(), "nothing stays allocated")
}
