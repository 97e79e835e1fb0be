package form

// SlowTransposed is a Form whose transposed product is slower than that of its rows in CSR, if
// these are available.
type SlowTransposed interface{ SlowTransposed() }
