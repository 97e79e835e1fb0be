package form_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func TestFMAOfFloat32RoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	float := func() float32 {
		return math.Float32frombits(r.Uint32()&0x807FFFFF | uint32(r.IntN(60)+100)<<23)
	}
	for range 100_000 {
		a, b, c := float(), float(), float()
		if r.IntN(2) == 0 { // a product near the middle of two float32
			c = -a * b * (1 + float32(r.IntN(5)-2)/(1<<20))
		}
		require.Equal(t, reference.FMA(a, b, c), form.FMA(a, b, c), "%x*%x+%x", a, b, c)
	}
}
