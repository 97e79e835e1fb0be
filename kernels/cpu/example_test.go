package cpu_test

import (
	"fmt"
	"log"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
)

// A device used without a plan: memory, a stream and an operation.
func ExampleOpen() {
	d, err := cpu.Open(cpu.Config{Threads: 1, NUMANode: -1})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	s, err := d.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	x, y := kernels.AdoptArray(d, []float64{1, 2, 3}), []float64{1, 1, 1}
	if err := s.Launch(&kernels.Axpby[float64]{Alpha: 2, X: x, Beta: 10, Y: kernels.AdoptArray(d, y)}); err != nil {
		log.Fatal(err)
	}
	if err := s.Sync(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output: [12 14 16]
}
