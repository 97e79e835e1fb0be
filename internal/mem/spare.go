package mem

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Spare keeps regions that are not used any more for those that are wanted next. Their pages
// need only be cleared, where the system would have to provide others: in a virtual machine
// whose host must do so first that takes some 100 times as long. A region is kept for keepFor
// at most, all together take an eighth of the memory that is available then, and Fits gives
// them back before it says no. The zero value keeps nothing yet.
type Spare struct {
	kept   []spareRegion
	timer  *time.Timer // runs while anything is kept
	closed bool
	bytes  atomic.Int64
}

// spareRegion is a region whose first bytes have pages.
type spareRegion struct {
	*Region
	touched int64
	since   time.Time
}

// What is kept in all: up to keptUnasked nobody looks what is available, beyond it 1/keptShare
// of that.
const (
	keptUnasked = 16 << 20
	keptShare   = 8
)

// keepFor is replaced in tests.
var keepFor = 10 * time.Second

// spares is those that keep anything, and guards them all.
var spares = struct {
	mu    sync.Mutex
	all   map[*Spare]bool
	bytes int64
}{all: map[*Spare]bool{}}

// Keep frees a region, the first bytes of which were touched: at once or, where there is
// memory enough, later. It is the last that its owner does with it.
func (s *Spare) Keep(r *Region, touched int64) error {
	if !r.Mapped() || touched <= 0 {
		return r.Free()
	}
	spares.mu.Lock()
	defer spares.mu.Unlock()
	all := spares.bytes + touched
	if s.closed || all > keptUnasked && all > available()/keptShare {
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

// Take gives a region of room bytes at least, the first touched of which may hold anything and
// have pages; the others are zero and have none. It is the smallest one with need bytes that
// have pages, else the largest, and nil where there is none.
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
		_ = r.Free() // new memory does as well
		return nil, 0
	}
	return r, touched
}

// better reports whether so many bytes suit a need better than others do.
func better(bytes, others, need int64) bool {
	if bytes >= need && others >= need {
		return bytes < others
	}
	return bytes > others
}

// Bytes is what is kept.
func (s *Spare) Bytes() int64 { return s.bytes.Load() }

// Drop gives all that is kept back to the system.
func (s *Spare) Drop() error {
	spares.mu.Lock()
	defer spares.mu.Unlock()
	return s.drop(func(spareRegion) bool { return true })
}

// Close is Drop; nothing is kept any more.
func (s *Spare) Close() error {
	spares.mu.Lock()
	defer spares.mu.Unlock()
	s.closed = true
	return s.drop(func(spareRegion) bool { return true })
}

// dropSpares gives back all that is kept anywhere.
func dropSpares() {
	spares.mu.Lock()
	defer spares.mu.Unlock()
	for s := range spares.all {
		_ = s.drop(func(spareRegion) bool { return true })
	}
}

// expire gives back what was kept for long enough.
func (s *Spare) expire() {
	spares.mu.Lock()
	defer spares.mu.Unlock()
	old := time.Now().Add(-keepFor)
	_ = s.drop(func(k spareRegion) bool { return !k.since.After(old) })
	if s.timer != nil {
		s.timer.Reset(s.kept[0].since.Sub(old))
	}
}

// drop frees those that are to go. spares.mu is held, as in those that follow.
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

// remove takes out what was kept as the i-th.
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
