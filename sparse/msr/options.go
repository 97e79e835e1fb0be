package msr

// Option changes how Open works.
type Option func(*options)

type options struct {
	skipChecksums, skipIndices bool
}

// SkipChecksums leaves the payload unread, so that opening a file of any size
// takes no time; damage to the arrays goes unnoticed unless the indices show
// it. The header and the length of the file are checked all the same.
func SkipChecksums() Option { return func(o *options) { o.skipChecksums = true } }

// SkipIndexCheck leaves out the check of every row pointer and column index. It
// is for files from a trusted writer only: a kernel given a wrong index fails
// in ways that cannot be foreseen.
func SkipIndexCheck() Option { return func(o *options) { o.skipIndices = true } }
