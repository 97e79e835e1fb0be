package mem

import "fmt"

// growth is the largest ratio of allocated elements to elements that have arrived.
const growth = 4

// Grow lengthens a, which is being read from a file, to n elements of at most limit, n <=
// limit. The file declares limit; Grow trusts it step by step: it allocates at most 4n
// elements, and fails if these do not fit into memory.
func Grow[T Elem](a []T, n, limit int64) ([]T, error) {
	if n > int64(cap(a)) {
		room := limit
		if n < limit/growth {
			room = n * growth
		}
		if have, ok := Fits(room * Size[T]()); !ok {
			return nil, fmt.Errorf("an array of %d bytes does not fit into memory, %d are available", room*Size[T](), have)
		}
		a = append(make([]T, 0, room), a...)
	}
	return a[:n], nil
}
