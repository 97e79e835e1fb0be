package form_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

func region[T mem.Elem](n int64, off int64) []T {
	r, err := mem.New(n*mem.Size[T]() + off)
	if err != nil {
		panic(err)
	}
	s, _ := mem.Slice[T](r.Bytes()[off:], n)
	return s
}

func TestZZ(t *testing.T) {
	path := os.Getenv("MAT")
	if path == "" {
		t.Skip()
	}
	threads, _ := strconv.Atoi(os.Getenv("T"))
	rc, _ := strconv.Atoi(os.Getenv("COLS"))
	rr, _ := strconv.Atoi(os.Getenv("ROWS"))
	f, _ := os.Open(path)
	var h [3]int64
	binary.Read(f, binary.LittleEndian, &h)
	m, n, nnz := h[0], h[1], h[2]
	ptr, idx, val := region[int64](m+1, 0), region[int32](nnz, 0), region[float64](nnz, 0)
	io.ReadFull(f, mem.Bytes(ptr))
	io.ReadFull(f, mem.Bytes(idx))
	io.ReadFull(f, mem.Bytes(val))
	if os.Getenv("RND") != "" {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range val {
			val[i] = r.Float64() - .5
		}
	}
	x, y, z := region[float64](n, 0), region[float64](m, 832), make([]float64, m)
	for i := range x {
		x[i] = rand.Float64()
	}
	cut := []int64{0}
	for w := 1; w <= threads; w++ {
		r := cut[w-1]
		for r < m && ptr[r] < nnz*int64(w)/int64(threads) {
			r++
		}
		cut = append(cut, r)
	}
	fs := make([]form.Form[float64], threads)
	run := func(g func(w int)) time.Duration {
		b := time.Now()
		var wg sync.WaitGroup
		for w := range threads {
			wg.Add(1)
			go func() { defer wg.Done(); runtime.LockOSThread(); g(w) }()
		}
		wg.Wait()
		return time.Since(b)
	}
	miss := 0.0
	vs := form.FindValues(val)
	build := run(func(w int) {
		r := form.Rows[float64]{Ptr: ptr[cut[w] : cut[w+1]+1], Idx: idx[ptr[cut[w]]:ptr[cut[w+1]]], Val: val[ptr[cut[w]]:ptr[cut[w+1]]], Cols: int(n)}
		if w == 0 {
			miss = form.FirstCacheMisses(r)
		}
		r.Mem = &form.Memory{Alloc: func(n int64) ([]byte, error) { return region[byte](n, 0), nil }}
		var err error
		if os.Getenv("FORM") == "slices" {
			fs[w], err = form.NewSlices(r, form.SliceOptions[float64]{Level: simd.Default(), Values: vs})
		} else if os.Getenv("FORM") == "csr" {
			fs[w] = form.NewCSR(r)
		} else {
			fs[w], err = form.NewTiles(r, form.TileOptions[float64]{Level: simd.Default(), Rows: rr, Cols: rc, Values: vs})
		}
		if err != nil {
			panic(err)
		}
	})
	best := time.Hour
	for range 12 {
		best = min(best, run(func(w int) { fs[w].Multiply(1, 0, x, y[cut[w]:cut[w+1]]) }))
	}
	worst := 0.0
	for i := range m {
		s, a := 0.0, 0.0
		for k := ptr[i]; k < ptr[i+1]; k++ {
			p := val[k] * x[idx[k]]
			s += p
			a += max(p, -p)
		}
		worst = max(worst, max(s-y[i], y[i]-s)/(a+1e-300))
	}
	_ = z
	fmt.Printf("%-40s T=%d %-45s %.1f ms build %.0f ms = %.1f products err %.1e misses %.2f\n", path, threads, fs[0].Name(), best.Seconds()*1e3, build.Seconds()*1e3, build.Seconds()/best.Seconds(), worst, miss)
}
