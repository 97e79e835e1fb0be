package form

// WithStreams calls f while all forms that are built write y past the caches.
func WithStreams(f func()) {
	old := beyond
	beyond = func(int64) bool { return true }
	defer func() { beyond = old }()
	f()
}
