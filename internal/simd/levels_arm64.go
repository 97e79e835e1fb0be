package simd

// Levels returns the levels of this processor in ascending order. The first one is Generic. All
// arm64 processors that Go supports have NEON.
func Levels() []Level { return []Level{Generic, NEON} }
