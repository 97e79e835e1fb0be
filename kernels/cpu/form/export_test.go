package form

// WithStreams calls f while all forms that are built write y past the caches.
func WithStreams(f func()) {
	old := beyond
	beyond = func(int64) bool { return true }
	defer func() { beyond = old }()
	f()
}

// WithGroups calls f while transposed products of tiles take few of them at a time.
func WithGroups(f func()) {
	defer func(bytes int64) { groupCache = bytes }(groupCache)
	groupCache = 0
	f()
}

// IndexBytes is how many bytes a product reads of each column.
func (m *Segmented) IndexBytes() int {
	if m.near != nil {
		return 2
	}
	return 4
}

// Segments is how many segments a value has, 1 when they are plain or none.
func (m *Segmented) Segments() int {
	if m.val == nil {
		return 1
	}
	return m.layout.Segments
}
