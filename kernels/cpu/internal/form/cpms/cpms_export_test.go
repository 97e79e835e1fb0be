package cpms

// IndexBytes returns the number of bytes of a column that a product reads.
func (m *Segmented) IndexBytes() int {
	if m.near != nil {
		return 2
	}
	return 4
}

// Segments returns the number of segments of a value, or 1 if values are plain or absent.
func (m *Segmented) Segments() int {
	if m.val == nil {
		return 1
	}
	return m.layout.Segments
}

// Bytes returns the memory of the arrays.
func (m *Segmented) Bytes() int64 { return m.bytes }
