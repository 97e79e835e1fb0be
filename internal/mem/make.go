package mem

import "unsafe"

// Make returns n zero elements in the Go heap. It requests huge pages for many elements: the first writes to new memory
// then take about a quarter of the time, and later reads miss the TLB less often.
func Make[T Elem](n int) []T {
	s := make([]T, n)
	requestHuge(Bytes(s))
	return s
}

// requestHuge requests huge pages for the whole pages in b, if it is large.
func requestHuge(b []byte) {
	if len(b) >= minHuge {
		page := uintptr(pages(1))
		skip := -uintptr(unsafe.Pointer(&b[0])) % page
		adviseHuge(b[skip : uintptr(len(b))-(uintptr(len(b))-skip)%page])
	}
}
