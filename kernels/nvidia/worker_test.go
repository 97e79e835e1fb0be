//go:build cuda

package nvidia

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkWaiting measures an empty call on the thread of a device. Between calls, the
// thread sleeps on machines with few cores, and polls on machines with many.
func BenchmarkWaiting(b *testing.B) {
	for _, cores := range []int{2, 8} {
		b.Run(fmt.Sprintf("%d cores", cores), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			w := newWorker(func() {})
			defer w.stop()
			for b.Loop() {
				if err := w.call(func() error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
