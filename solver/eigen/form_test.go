package eigen

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

func TestSmallMatricesGetAFormWithoutASearch(t *testing.T) {
	cpu, simulated, two := openOn(t, "cpu:1"), openOn(t, "sim:1"), openOn(t, "cpu:2")
	random := func(rows, cols int) *sparse.CSR[float64] { return randomMatrix(rows, cols, 3) }
	stencil := generated(t, "stencil:dims=2,n=80,points=5")
	for name, c := range map[string]struct {
		sys      *msrep.System
		a        *sparse.CSR[float64]
		opt      Options
		singular bool
		want     msrep.Form
	}{
		"eigenvalues":                {cpu, random(2000, 2000), Options{}, false, kernels.FormSlices},
		"few entries":                {cpu, random(50, 50), Options{}, false, ""},
		"deterministic":              {cpu, random(2000, 2000), Options{Deterministic: true}, false, ""},
		"a simulated device":         {simulated, random(2000, 2000), Options{}, false, ""},
		"two devices":                {two, random(2000, 2000), Options{}, false, ""},
		"diagonals":                  {cpu, stencil, Options{}, false, ""},
		"long vectors":               {cpu, random(longestVector+1, 5000), Options{}, false, ""},
		"few singular values":        {cpu, random(5000, 2000), Options{}, true, kernels.FormCSR},
		"singular values, many rows": {cpu, random(5000, 4096), Options{}, true, kernels.FormSlices},
	} {
		require.Equal(t, c.want, storage(c.sys, c.a, c.opt, c.singular).Form, name)
	}
}
