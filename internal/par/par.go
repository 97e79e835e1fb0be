// Package par runs a loop on several goroutines and waits for it.
//
// A panic in a goroutine is raised again in the caller, so code that recovers at the
// public API sees it. Reading a mapped file beyond its end, after another program
// shortened the file, is such a panic.
package par

import (
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/msrep-go/msrep/internal/crash"
)

// Workers returns the number of goroutines for a loop over n items: at most GOMAXPROCS,
// with at least grain items each.
func Workers(n, grain int64) int {
	w := int64(runtime.GOMAXPROCS(0))
	if grain > 0 && n/grain < w {
		w = n / grain
	}
	return int(max(w, 1))
}

// Do calls f(0) ... f(n-1), each in a separate goroutine, and waits for all. If n = 1 it
// calls f in the current goroutine.
func Do(n int, f func(i int)) {
	if n <= 0 {
		return
	}
	if n == 1 {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		f(0)
		return
	}
	var (
		wg    sync.WaitGroup
		once  sync.Once
		fault any
	)
	wg.Add(n)
	for i := range n {
		go func() {
			defer wg.Done()
			defer func() {
				if r := recover(); r != nil {
					once.Do(func() { fault = withPlace(r) })
				}
			}()
			debug.SetPanicOnFault(true)
			f(i)
		}()
	}
	wg.Wait()
	if fault != nil {
		panic(fault)
	}
}

// withPlace returns the value of a panic with the place of the panic, which the caller's
// stack does not show. It returns the panic of an unreadable address unchanged.
func withPlace(r any) any {
	if _, ok := r.(interface{ Addr() uintptr }); ok {
		return r
	}
	return crash.Recovered(r)
}

// Range divides [0, n) into equal pieces of at least grain items and calls f(lo, hi) for
// every piece, each in a separate goroutine.
func Range(n, grain int64, f func(lo, hi int64)) {
	w := Workers(n, grain)
	Do(w, func(i int) { f(Cut(n, w, i), Cut(n, w, i+1)) })
}

// Cut returns floor(i*n/parts), the start of piece i of parts, without overflow for any n
// >= 0 and parts < 2^31.
func Cut(n int64, parts, i int) int64 {
	p, k := int64(parts), int64(i)
	return n/p*k + n%p*k/p
}
