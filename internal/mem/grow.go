package mem

import "fmt"

// growth bounds the room for items that have not come yet: so many times those that have.
const growth = 4

// Grow lengthens a, which is being read from a file, to n of at most limit items, n <= limit: what
// the file says that it holds is believed step by step. The room that it makes is at most four times
// n, and it fails where memory lacks for that.
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
