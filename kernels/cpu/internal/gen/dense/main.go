// Command dense generates the inner loops of package dense.
package main

import "github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"

func main() {
	lanes.DefineCounts()
	defineLanes()
	for _, generate := range []func(shape){shape.subtract, shape.triangle, shape.right, shape.left, shape.dots} {
		for _, l := range lanes.All() {
			generate(newShape(l))
		}
	}
	lanes.WriteFiles()
}
