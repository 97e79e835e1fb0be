package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

// TestSoak opens systems, makes plans of random matrices, multiplies, updates, solves and closes for MSREP_SOAK (default
// 2s). Some calls have bad arguments, contexts that end or callbacks that panic. It checks all vectors, and that the
// memory, descriptors, threads and goroutines of the process are back to their numbers at the start. MSREP_SOAK_SEED
// repeats a run.
func TestSoak(t *testing.T) {
	length, seed := 2*time.Second, uint64(time.Now().UnixNano())
	if s := os.Getenv("MSREP_SOAK"); s != "" {
		var err error
		length, err = time.ParseDuration(s)
		require.NoError(t, err)
	}
	if s := os.Getenv("MSREP_SOAK_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	var n soakCounts
	soakFor(t, seed, length/4, &n) // until the pools of Go and of the process are full
	before := processNow(t)
	soakFor(t, seed+1, length-length/4, &n)
	var after process
	// Timers, and threads that end, take a moment.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if after = processNow(t); after.goroutines <= before.goroutines && after.threads <= before.threads+8 || time.Now().After(end) {
			break
		}
	}
	t.Logf("seed %d, %v: %d systems, %d plans, %d solves, %d faults, %d vectors checked", seed, length, n.systems.Load(), n.plans.Load(), n.solves.Load(), n.faults.Load(), n.vectors.Load())
	t.Logf("before %+v", before)
	t.Logf("after  %+v", after)
	require.NotZero(t, n.vectors.Load())
	require.NotZero(t, n.faults.Load())
	require.LessOrEqual(t, after.goroutines, before.goroutines)
	require.LessOrEqual(t, after.descriptors, before.descriptors)
	require.LessOrEqual(t, after.threads, before.threads+8, "Go keeps threads for as many calls of the system as there were at once")
	require.Equal(t, before.mapped, after.mapped)
	require.Less(t, after.resident, before.resident+24<<20)
}

// process is the resources of the process.
type process struct {
	resident, mapped                 int64 // bytes
	descriptors, threads, goroutines int
}

func processNow(t *testing.T) process {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	require.NoError(t, err)
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	threads, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	return process{pages * int64(os.Getpagesize()), mem.Mapped(), len(files), len(threads), runtime.NumGoroutine()}
}

type soakCounts struct{ systems, plans, solves, faults, vectors atomic.Int64 }

// soakFor runs five callers at the same time, each with its own systems: three open and close systems all the time, and
// two keep one system.
func soakFor(t *testing.T, seed uint64, length time.Duration, n *soakCounts) {
	end := time.Now().Add(length)
	var callers sync.WaitGroup
	errs := make([]error, 5)
	for i := range errs {
		callers.Go(func() {
			s := &soaker{rng: rand.New(rand.NewPCG(seed, uint64(i))), n: n}
			once := s.system
			if devices := []string{"sim:2", "cpu:2"}; i < len(devices) {
				sys, err := msrep.Open(msrep.Config{Devices: devices[i]})
				if err != nil {
					errs[i] = err
					return
				}
				defer func() { errs[i] = errors.Join(errs[i], sys.Close()) }()
				s.keeps = true
				once = func() error { return s.kept(sys) }
			}
			for k := 0; time.Now().Before(end) && errs[i] == nil; k++ {
				if err := once(); err != nil {
					errs[i] = fmt.Errorf("seed %d, caller %d, turn %d: %w", seed, i, k, err)
				}
			}
		})
	}
	callers.Wait()
	require.NoError(t, errors.Join(errs...))
}

// soaker is a caller. Its functions return an error where a check fails.
type soaker struct {
	rng   *rand.Rand
	n     *soakCounts
	keeps bool // its system, and closes all plans and vectors
}

var errMine = errors.New("mine")

// chance returns true with probability 1/n.
func (s *soaker) chance(n int) bool { return s.rng.IntN(n) == 0 }

// fails counts a provoked fault and checks that it gave an error.
func (s *soaker) fails(what string, err error) error {
	s.n.faults.Add(1)
	if err == nil {
		return fmt.Errorf("%s: no error", what)
	}
	return nil
}

// kept uses a system, whose devices have room for sums of vectors afterwards, and nothing else.
func (s *soaker) kept(sys *msrep.System) error {
	const sums = 2 << 10 // bytes on each device
	if err := s.plan(sys, sys.Devices()[0].Kind == "sim"); err != nil {
		return err
	}
	for i, d := range sys.Devices() {
		if n := devvec.Device(sys, i).InUse(); n > sums {
			return fmt.Errorf("%s: %d bytes in use, and nothing is open", d.ID, n)
		}
	}
	return nil
}

// system opens a system, uses it and closes it.
func (s *soaker) system() error {
	s.n.systems.Add(1)
	c := msrep.Config{Devices: fmt.Sprint("cpu:", 1+s.rng.IntN(4)), Threads: 1 + s.rng.IntN(4), NUMA: msrep.NUMAOff}
	simulated := s.chance(12)
	left := -1 // events until the listener panics
	switch {
	case simulated:
		c.Devices = fmt.Sprint("sim:", 1+s.rng.IntN(2))
	case s.chance(8):
		c.NUMA = msrep.NUMAOn
	}
	if s.chance(20) {
		var mu sync.Mutex
		left = s.rng.IntN(40)
		c.Trace = func(msrep.Event) {
			mu.Lock()
			defer mu.Unlock()
			if left--; left < 0 {
				panic(errMine)
			}
		}
	}
	if s.chance(20) {
		_, err := msrep.Open(msrep.Config{Devices: "cpu:0"})
		if err := s.fails("devices cpu:0", err); err != nil {
			return err
		}
	}
	sys, err := msrep.Open(c)
	if err != nil {
		return err
	}
	for range 1 + s.rng.IntN(3) {
		if err = s.plan(sys, simulated); err != nil {
			break
		}
	}
	if e := sys.Close(); e != nil { // it tells of memory that was not freed
		err = errors.Join(err, fmt.Errorf("close of the system: %w", e))
	}
	if c.Trace != nil && err != nil && strings.Contains(err.Error(), "trace: panicked: "+errMine.Error()) {
		s.n.faults.Add(1)
		return nil
	}
	return err
}

// matrix returns a random matrix; a square one is that of a solvable system.
func (s *soaker) matrix(most int) *sparse.CSR[float64] {
	rows, cols := 1+s.rng.IntN(most), 1+s.rng.IntN(most)
	if s.chance(2) {
		cols = rows
	}
	each := s.rng.IntN(8)
	a := &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for r := range rows {
		n := each
		if s.chance(50) {
			n = min(cols, 200)
		}
		sum := 1.0
		for range n {
			if c := s.rng.IntN(cols); c != r {
				v := s.rng.Float64() - 0.5
				sum += math.Abs(v)
				a.ColIdx, a.Val = append(a.ColIdx, int32(c)), append(a.Val, v)
			}
		}
		if r < cols {
			a.ColIdx, a.Val = append(a.ColIdx, int32(r)), append(a.Val, 2*sum)
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.Val)))
	}
	return a
}

// plan makes a plan, multiplies by it, solves with it and closes it, or leaves that to the system.
func (s *soaker) plan(sys *msrep.System, simulated bool) error {
	s.n.plans.Add(1)
	ctx, most, kind := context.Background(), 600, "cpu"
	if simulated {
		most, kind = 40, "sim"
	} else if s.chance(30) {
		most = 20_000
	}
	a := s.matrix(most)
	opt := msrep.PlanOptions{Variant: msrep.Variant{Strategy: []msrep.Strategy{"", msrep.Partial, msrep.Baseline}[s.rng.IntN(3)]}}
	switch s.rng.IntN(4) {
	case 0:
		names := append(msrep.Forms(kind), "auto", "csr", "csc", "coo")
		opt.Storage = msrep.NamedStorage(string(names[s.rng.IntN(len(names))]))
		opt.Variant.Strategy = ""
	case 1:
		opt.Variant.Strategy, opt.Deterministic = "", true
	case 2:
		opt.Expected.Transposed = 2
	}
	if s.chance(10) {
		bad := *a
		bad.RowPtr = append([]int64{}, a.RowPtr...)
		bad.RowPtr[len(bad.RowPtr)-1]++
		_, err := msrep.NewPlan(ctx, sys, sparse.Matrix[float64](&bad), opt)
		if err := s.fails("pointers behind the end", err); err != nil {
			return err
		}
	}
	if s.chance(10) {
		over, cancel := context.WithCancel(ctx)
		cancel()
		_, err := msrep.NewPlan(over, sys, sparse.Matrix[float64](a), opt)
		if err := s.fails("a context that has ended", err); err != nil {
			return err
		}
	}
	p, err := msrep.NewPlan(ctx, sys, sparse.Matrix[float64](a), opt)
	if sparse.IsInput(err) && opt.Storage.Form != "" { // which not every matrix can have
		s.n.faults.Add(1)
		return nil
	}
	if err != nil {
		return fmt.Errorf("plan of %d x %d, %+v: %w", a.Rows, a.Cols, opt, err)
	}
	for range 1 + s.rng.IntN(5) {
		if err := s.use(p, a, opt); err != nil {
			return fmt.Errorf("%d x %d, %+v: %w", a.Rows, a.Cols, opt, err)
		}
	}
	if a.Rows == a.Cols && s.chance(2) {
		if err := s.solve(p, a); err != nil {
			return fmt.Errorf("%d x %d, %+v: %w", a.Rows, a.Cols, opt, err)
		}
	}
	if s.chance(3) && !s.keeps {
		return nil
	}
	return p.Close()
}

func (s *soaker) vector(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 2*s.rng.Float64() - 1
	}
	return v
}

// use runs one random operation with a plan.
func (s *soaker) use(p *msrep.Plan[float64], a *sparse.CSR[float64], opt msrep.PlanOptions) error {
	ctx, op := context.Background(), msrep.Transpose(s.chance(2))
	rows, cols := a.Rows, a.Cols
	if op {
		rows, cols = cols, rows
	}
	x, y := s.vector(cols), s.vector(rows)
	alpha, beta := s.rng.NormFloat64(), float64(s.rng.IntN(3)-1)
	before := append([]float64{}, y...)
	switch s.rng.IntN(8) {
	case 0: // wrong arguments leave y as it is
		err := p.SpMV(ctx, op, alpha, append(x, 0), beta, y)
		for i := range y {
			if y[i] != before[i] {
				return fmt.Errorf("a refused product has changed y")
			}
		}
		return s.fails("x that is too long", err)
	case 1:
		over, cancel := context.WithCancel(ctx)
		cancel()
		err := p.SpMV(over, op, alpha, x, beta, y)
		return s.fails("a context that has ended", err)
	case 2:
		return s.fails("a panic in Range", p.Range(len(x), 1, func(int, int) { panic(errMine) }))
	case 3:
		val := s.vector(len(a.Val))
		for k, v := range a.Val { // as large on the diagonal
			val[k] = v + 0.01*val[k]
		}
		if err := p.UpdateValues(ctx, val); err != nil {
			return err
		}
		a.Val = val
	case 4:
		const count = 3
		xs, ys := s.vector(count*cols), s.vector(count*rows)
		was := append([]float64{}, ys...)
		if err := p.SpMM(ctx, op, alpha, msrep.MultiVectorByRow(xs, count), beta, msrep.MultiVectorByRow(ys, count)); err != nil {
			return err
		}
		for j := range count {
			pick := func(v []float64) (out []float64) {
				for i := j; i < len(v); i += count {
					out = append(out, v[i])
				}
				return out
			}
			if err := s.check(a, op, alpha, pick(xs), beta, pick(was), pick(ys)); err != nil {
				return fmt.Errorf("vector %d of a block: %w", j, err)
			}
		}
		return nil
	case 5:
		return s.apply(p, a, op, alpha, x, beta, y)
	}
	if err := p.SpMV(ctx, op, alpha, x, beta, y); err != nil {
		return err
	}
	return s.check(a, op, alpha, x, beta, before, y)
}

// apply multiplies vectors of the system, which it may leave open.
func (s *soaker) apply(p *msrep.Plan[float64], a *sparse.CSR[float64], op msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) (err error) {
	vx, err := p.ColumnVector()
	if err != nil {
		return err
	}
	vy, err := p.RowVector()
	if err != nil {
		return err
	}
	if op {
		vx, vy = vy, vx
	}
	got := make([]float64, len(y))
	if err := errors.Join(vx.Write(x), vy.Write(y), p.Apply(context.Background(), op, alpha, vx, beta, vy), vy.Read(got)); err != nil {
		return err
	}
	if err := s.check(a, op, alpha, x, beta, y, got); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	if s.chance(2) && !s.keeps {
		return nil
	}
	return errors.Join(vx.Close(), vy.Close())
}

// check compares got with alpha*op(A)*x + beta*y. An element may differ by the rounding errors of one addition for each
// of its terms.
func (s *soaker) check(a *sparse.CSR[float64], op msrep.Transpose, alpha float64, x []float64, beta float64, y, got []float64) error {
	s.n.vectors.Add(1)
	sum, size, terms := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y))
	for r := range a.Rows {
		for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
			to, from := r, int(a.ColIdx[k])
			if op {
				to, from = from, to
			}
			v := a.Val[k] * x[from]
			sum[to] += v
			size[to] += math.Abs(v)
			terms[to]++
		}
	}
	for i := range y {
		want := alpha*sum[i] + beta*y[i]
		most := 2 * (terms[i] + 4) * 0x1p-52 * (math.Abs(alpha)*size[i] + math.Abs(beta*y[i]))
		if !(math.Abs(got[i]-want) <= most) {
			return fmt.Errorf("op %v: element %d is %g and must be %g", op, i, got[i], want)
		}
	}
	return nil
}

// brokenPrecond is a preconditioner that fails or panics.
type brokenPrecond struct {
	n      int
	panics bool
}

func (b brokenPrecond) Size() int { return b.n }

func (b brokenPrecond) Apply(r, z []float64) error {
	if b.panics {
		panic(errMine)
	}
	return errMine
}

// solve solves a diagonally dominant system, or provokes an error.
func (s *soaker) solve(p *msrep.Plan[float64], a *sparse.CSR[float64]) (err error) {
	s.n.solves.Add(1)
	method := []solver.Method{solver.BiCGSTAB, solver.GMRES}[s.rng.IntN(2)]
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var opt solver.Options
	if s.chance(2) {
		if opt.Precond, err = solver.Jacobi(a); err != nil {
			return err
		}
	}
	broken := true
	switch at := 1 + s.rng.IntN(3); s.rng.IntN(8) {
	case 0:
		opt.Progress = func(i int, _ float64) {
			if i == at {
				panic(errMine)
			}
		}
	case 1:
		opt.Progress = func(i int, _ float64) {
			if i == at {
				cancel()
			}
		}
	case 2:
		opt.Precond = brokenPrecond{a.Rows, s.chance(2)}
	case 3:
		opt.Precond = brokenPrecond{a.Rows + 1, false}
	default:
		broken = false
	}
	b, x := s.vector(a.Rows), make([]float64, a.Rows)
	func() {
		defer func() {
			if r := recover(); r != nil {
				if err, _ = r.(error); !errors.Is(err, errMine) {
					panic(r)
				}
			}
		}()
		_, err = method(ctx, p, b, x, opt)
	}()
	if broken { // unless it was solved before
		if s.n.faults.Add(1); err != nil {
			return nil
		}
	}
	if err != nil {
		return err
	}
	s.n.vectors.Add(1)
	var rr, bb float64
	for r := range a.Rows {
		v := b[r]
		for k := a.RowPtr[r]; k < a.RowPtr[r+1]; k++ {
			v -= a.Val[k] * x[a.ColIdx[k]]
		}
		rr, bb = rr+v*v, bb+b[r]*b[r]
	}
	if !(math.Sqrt(rr) <= 1.01*solver.DefaultTol*math.Sqrt(bb)) {
		return fmt.Errorf("solve: residual %g", math.Sqrt(rr/bb))
	}
	return nil
}
