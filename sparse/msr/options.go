package msr

// Option is an option of Open.
type Option func(*options)

type options struct {
	skipChecksums, skipIndices bool
}

// SkipChecksums skips the check of the payload, so opening a file takes the same short
// time for any size. Damage to the arrays is then detected only if it makes an index
// invalid. The header and the length of the file are checked in any case.
func SkipChecksums() Option { return func(o *options) { o.skipChecksums = true } }

// SkipIndexCheck skips the check of every row pointer and column index. Use it only for
// files from a trusted writer: with an invalid index the behaviour of a kernel is
// undefined.
func SkipIndexCheck() Option { return func(o *options) { o.skipIndices = true } }
