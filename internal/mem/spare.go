package mem

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Spare keeps unused regions for later use. Their pages need only be cleared, while new
// pages come from the system, which takes some 100 times as long in a virtual machine
// whose host must provide them. A region is kept for at most keepFor. All Spares together
// keep at most an eighth of the available memory, and Fits frees it before it returns
// false. The zero value is an empty Spare.
type Spare struct {
	kept   []spareRegion
	timer  *time.Timer // runs while a region is kept
	closed bool
	bytes  atomic.Int64
}

// spareRegion is a region whose first touched bytes have pages.
type spareRegion struct {
	*Region
	touched int64
	since   time.Time
}

// The limits on all kept memory: up to keptUnchecked bytes without a check of the available
// memory, beyond that 1/keptFraction of the available memory.
const (
	keptUnchecked = 16 << 20
	keptFraction  = 8
)

// keepFor is a variable because tests replace it.
var keepFor = 10 * time.Second

// spares holds every Spare that keeps a region. Its mutex guards all Spares.
var spares = struct {
	mu    sync.Mutex
	all   map[*Spare]bool
	bytes int64
}{all: map[*Spare]bool{}}

// Keep frees a region: later if there is enough memory, otherwise at once. Only its first
// touched bytes have pages. The caller must not use the region afterwards.
func (s *Spare) Keep(r *Region, touched int64) error {
	if !r.Mapped() || touched <= 0 {
		return r.Free()
	}
	spares.mu.Lock()
	defer spares.mu.Unlock()
	all := spares.bytes + touched
	if s.closed || all > keptUnchecked && all > available()/keptFraction {
		return r.Free()
	}
	s.kept = append(s.kept, spareRegion{r, touched, time.Now()})
	s.count(touched)
	spares.all[s] = true
	if s.timer == nil {
		s.timer = time.AfterFunc(keepFor, s.expire)
	}
	return nil
}

// Take returns a region of at least room bytes. Its first touched bytes have pages and
// arbitrary content; the others are zero and have no pages. It is the smallest region
// with pages for need bytes, else the one with the most pages, or nil if there is none.
func (s *Spare) Take(need, room int64) (r *Region, touched int64) {
	spares.mu.Lock()
	defer spares.mu.Unlock()
	best := -1
	for i, k := range s.kept {
		if best < 0 || better(k.touched, s.kept[best].touched, need) {
			best = i
		}
	}
	if best < 0 {
		return nil, 0
	}
	r, touched = s.remove(best)
	if int64(len(r.Bytes())) < room && r.grow(room) != nil {
		_ = r.Free() // the caller allocates new memory
		return nil, 0
	}
	return r, touched
}

// better reports whether a region with bytes of pages suits need better than one with
// others bytes.
func better(bytes, others, need int64) bool {
	if bytes >= need && others >= need {
		return bytes < others
	}
	return bytes > others
}

// Bytes returns the number of bytes that are kept.
func (s *Spare) Bytes() int64 { return s.bytes.Load() }

// Drop frees all kept regions.
func (s *Spare) Drop() error {
	spares.mu.Lock()
	defer spares.mu.Unlock()
	return s.drop(func(spareRegion) bool { return true })
}

// Close is Drop, and later calls of Keep keep nothing.
func (s *Spare) Close() error {
	spares.mu.Lock()
	defer spares.mu.Unlock()
	s.closed = true
	return s.drop(func(spareRegion) bool { return true })
}

// dropSpares frees the kept regions of all Spares.
func dropSpares() {
	spares.mu.Lock()
	defer spares.mu.Unlock()
	for s := range spares.all {
		_ = s.drop(func(spareRegion) bool { return true })
	}
}

// expire frees the regions that were kept for keepFor.
func (s *Spare) expire() {
	spares.mu.Lock()
	defer spares.mu.Unlock()
	old := time.Now().Add(-keepFor)
	_ = s.drop(func(k spareRegion) bool { return !k.since.After(old) })
	if s.timer != nil {
		s.timer.Reset(s.kept[0].since.Sub(old))
	}
}

// drop frees the regions for which goes is true. Callers of drop, remove and count hold
// spares.mu.
func (s *Spare) drop(goes func(spareRegion) bool) error {
	var errs []error
	for i := len(s.kept) - 1; i >= 0; i-- {
		if goes(s.kept[i]) {
			r, _ := s.remove(i)
			errs = append(errs, r.Free())
		}
	}
	if len(s.kept) == 0 {
		delete(spares.all, s)
		if s.timer != nil {
			s.timer.Stop()
			s.timer = nil
		}
	}
	return errors.Join(errs...)
}

// remove removes the i-th kept region from s and returns it.
func (s *Spare) remove(i int) (*Region, int64) {
	k := s.kept[i]
	s.kept = append(s.kept[:i], s.kept[i+1:]...)
	s.count(-k.touched)
	return k.Region, k.touched
}

func (s *Spare) count(bytes int64) {
	s.bytes.Add(bytes)
	spares.bytes += bytes
}
