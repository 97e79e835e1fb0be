package fileio

import "context"

// readsKey is the key of a context's function of WithReads.
type readsKey struct{}

// WithReads returns a context for readers of files, which call f with the bytes of a file that were read so far, and
// the size of the file, 0 if it is not known. f is called often, in the goroutine that reads.
func WithReads(ctx context.Context, f func(done, size int64)) context.Context {
	return context.WithValue(ctx, readsKey{}, f)
}

// ReportTo calls the function of WithReads, if ctx has one, after each read from the file on disk.
func (f *File) ReportTo(ctx context.Context) {
	if report, ok := ctx.Value(readsKey{}).(func(done, size int64)); ok {
		f.packed.report = func(n int64) { report(n, f.Size) }
	}
}
