//go:build cuda

package nvidia

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkWaiting is a call of the thread of a device that does nothing: asleep between calls
// where there are few cores, awake where they are many.
func BenchmarkWaiting(b *testing.B) {
	for _, cores := range []int{2, sparedFrom} {
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
