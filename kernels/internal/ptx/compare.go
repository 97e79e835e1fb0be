package ptx

import "strings"

// comparison returns the function of a setp instruction.
func comparison(op string, t typ) func(a, b uint64) bool {
	switch t {
	case typ{unsignedKind, 2}:
		return compareInt[uint16](op)
	case typ{unsignedKind, 4}:
		return compareInt[uint32](op)
	case typ{unsignedKind, 8}:
		return compareInt[uint64](op)
	case typ{signedKind, 2}:
		return compareInt[int16](op)
	case typ{signedKind, 4}:
		return compareInt[int32](op)
	case typ{signedKind, 8}:
		return compareInt[int64](op)
	case typ{bitsKind, 2}:
		return equality[uint16](op)
	case typ{bitsKind, 4}:
		return equality[uint32](op)
	case typ{bitsKind, 8}:
		return equality[uint64](op)
	case typ{floatKind, 4}:
		return compareFloat(op, func(a uint64) float64 { return float64(f32(a)) })
	case typ{floatKind, 8}:
		return compareFloat(op, f64)
	}
	return nil
}

func equality[T integer](op string) func(a, b uint64) bool {
	if op == "eq" || op == "ne" {
		return compareInt[T](op)
	}
	return nil
}

// compareInt compares integers. lo, ls, hi and hs name lt, le, gt and ge for unsigned
// numbers.
func compareInt[T integer](op string) func(a, b uint64) bool {
	signed := ^T(0) < 0
	switch op {
	case "eq":
		return func(a, b uint64) bool { return T(a) == T(b) }
	case "ne":
		return func(a, b uint64) bool { return T(a) != T(b) }
	case "lo", "ls", "hi", "hs":
		if signed {
			return nil
		}
		op = map[string]string{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[op]
	}
	switch op {
	case "lt":
		return func(a, b uint64) bool { return T(a) < T(b) }
	case "le":
		return func(a, b uint64) bool { return T(a) <= T(b) }
	case "gt":
		return func(a, b uint64) bool { return T(a) > T(b) }
	case "ge":
		return func(a, b uint64) bool { return T(a) >= T(b) }
	}
	return nil
}

// compareFloat compares floating-point numbers. If an operand is a NaN, the ordered
// comparisons are false, and those that end in u (unordered) are true.
func compareFloat(op string, load func(uint64) float64) func(a, b uint64) bool {
	var f func(a, b float64) bool
	switch strings.TrimSuffix(op, "u") {
	case "eq":
		f = func(a, b float64) bool { return a == b }
	case "ne":
		f = func(a, b float64) bool { return a < b || a > b }
	case "lt":
		f = func(a, b float64) bool { return a < b }
	case "le":
		f = func(a, b float64) bool { return a <= b }
	case "gt":
		f = func(a, b float64) bool { return a > b }
	case "ge":
		f = func(a, b float64) bool { return a >= b }
	case "n": // none such, but "nu" must not pass
		return nil
	}
	switch {
	case op == "num":
		f = func(a, b float64) bool { return a == a && b == b }
	case op == "nan":
		f = func(a, b float64) bool { return a != a || b != b }
	case f == nil:
		return nil
	case strings.HasSuffix(op, "u"):
		ordered := f
		f = func(a, b float64) bool { return a != a || b != b || ordered(a, b) }
	}
	return func(a, b uint64) bool { return f(load(a), load(b)) }
}
