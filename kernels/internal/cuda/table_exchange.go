package cuda

import (
	"fmt"
	"strings"
)

// exchangeWidth is the number of sources that a kernel of exchange.cu takes.
const exchangeWidth = 8

// addExchange adds the kernels that read the memory of other GPUs.
func addExchange(add adder) {
	for _, v := range []string{"f64", "f32"} {
		add("exchange", "msrep_pull_"+v, v, 256, 1024, "elements of a source", 0,
			sources("x%d *V")+sources("idx%d *i32")+sources("y%d &V")+strings.TrimSuffix(sources("n%d i64"), ", "))
		add("exchange", "msrep_pull_carries_"+v, v, 32, exchangeWidth, "carries", 0,
			"row *i32, "+sources("c%d *V")+"y &V, count i64, rows i64")
	}
}

// sources writes a parameter for each source.
func sources(format string) (s string) {
	for i := range exchangeWidth {
		s += fmt.Sprintf(format, i) + ", "
	}
	return s
}
