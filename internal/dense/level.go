package dense

import "github.com/msrep-go/msrep/internal/simd"

// level is the instruction set of the loops. Tests replace it.
var level = simd.Default()
