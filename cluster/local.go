package cluster

import (
	"bytes"
	"sync"
)

// Local returns n ranks of one process, each for one goroutine, or none if n is below 1. Run also starts the
// goroutines.
func Local(n int) []Comm {
	if n < 1 {
		return nil
	}
	h := &hub{n: n, failed: make(chan struct{}), mail: map[address]chan []byte{}}
	h.roundDone = sync.NewCond(&h.mu)
	comms := make([]Comm, n)
	for r := range comms {
		comms[r] = &local{hub: h, rank: r}
	}
	return comms
}

// Run calls f for n ranks of this process, each in its own goroutine, and returns their errors by rank. A rank that
// fails ends the others, as in a run of processes. If n is below 1, Run makes no calls and returns no errors.
func Run(n int, f func(c Comm) error) []error {
	comms := Local(n)
	errs := make([]error, len(comms))
	var wg sync.WaitGroup
	for r, c := range comms {
		wg.Go(func() {
			finished := false
			defer func() { // runs after a panic as well
				if !finished || errs[r] != nil {
					c.Abort(1)
				}
			}()
			errs[r] = f(c)
			finished = true
		})
	}
	wg.Wait()
	return errs
}

// hub is the shared state of the ranks of one process.
type hub struct {
	n      int
	once   sync.Once
	failed chan struct{} // closed by Abort

	mu        sync.Mutex
	roundDone *sync.Cond
	round     int // number of finished barriers
	arrived   int
	values    []any // values of the current barrier
	last      []any // values of the previous barrier
	mail      map[address]chan []byte
}

// address identifies the messages of one rank to another in one Link.
type address struct{ link, from, to int }

// local is one rank of a hub.
type local struct {
	*hub
	rank  int
	links int
}

func (l *local) Rank() int { return l.rank }
func (l *local) Size() int { return l.n }

// barrier waits for all ranks and returns the value that each of them passed.
func (l *local) barrier(v any) ([]any, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.arrived == 0 {
		l.values = make([]any, l.n)
	}
	l.values[l.rank] = v
	l.arrived++
	round := l.round
	if l.arrived == l.n {
		l.round, l.arrived, l.last = l.round+1, 0, l.values
		l.roundDone.Broadcast()
	}
	for l.round == round && !l.ended() {
		l.roundDone.Wait()
	}
	if l.round == round {
		return nil, ErrAborted
	}
	return l.last, nil // no rank finishes the next barrier before all ranks have returned from this one
}

func (h *hub) ended() bool {
	select {
	case <-h.failed:
		return true
	default:
		return false
	}
}

func (l *local) Abort(int) {
	l.once.Do(func() { close(l.failed) })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.roundDone.Broadcast()
}

func (l *local) Swap(send [][]byte) ([][]byte, error) {
	own := make([][]byte, len(send))
	for r := range send {
		own[r] = bytes.Clone(send[r])
	}
	all, err := l.barrier(own)
	if err != nil {
		return nil, err
	}
	received := make([][]byte, l.n)
	for r := range all {
		received[r] = all[r].([][]byte)[l.rank]
	}
	return received, nil
}

func (l *local) Share(b []byte) ([][]byte, error) {
	all, err := l.barrier(bytes.Clone(b))
	if err != nil {
		return nil, err
	}
	received := make([][]byte, l.n)
	for r := range all {
		received[r] = bytes.Clone(all[r].([]byte))
	}
	return received, nil
}

func (l *local) Sum(v []float64) error {
	return l.reduce(v, func(a, b float64) float64 { return a + b })
}

func (l *local) Max(v []float64) error {
	return l.reduce(v, func(a, b float64) float64 { return max(a, b) })
}

// reduce combines the elements of all ranks in the order of the ranks.
func (l *local) reduce(v []float64, combine func(a, b float64) float64) error {
	all, err := l.barrier(append([]float64(nil), v...))
	if err != nil {
		return err
	}
	for i := range v {
		v[i] = all[0].([]float64)[i]
		for _, other := range all[1:] {
			v[i] = combine(v[i], other.([]float64)[i])
		}
	}
	return nil
}

// box returns the channel for the messages from one rank to another.
func (h *hub) box(a address) chan []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mail[a] == nil {
		h.mail[a] = make(chan []byte, 1)
	}
	return h.mail[a]
}

func (l *local) Link(out, in []Message) (Link, error) {
	l.links++
	k := &localLink{local: l}
	for _, m := range out {
		if len(m.Data) > 0 {
			k.out = append(k.out, localMessage{m, l.box(address{l.links, l.rank, m.Rank})})
		}
	}
	for _, m := range in {
		if len(m.Data) > 0 {
			k.in = append(k.in, localMessage{m, l.box(address{l.links, m.Rank, l.rank})})
		}
	}
	return k, nil
}

type localLink struct {
	*local
	out, in         []localMessage
	bytes, messages int64
}

type localMessage struct {
	Message
	box chan []byte
}

func (k *localLink) Start() error {
	for _, m := range k.out {
		select {
		case m.box <- bytes.Clone(m.Data):
		case <-k.failed:
			return ErrAborted
		}
		k.bytes += int64(len(m.Data))
		k.messages++
	}
	return nil
}

func (k *localLink) Wait() error {
	for _, m := range k.in {
		select {
		case b := <-m.box:
			copy(m.Data, b)
		case <-k.failed:
			return ErrAborted
		}
	}
	return nil
}

func (k *localLink) Sent() (int64, int64) { return k.bytes, k.messages }
func (k *localLink) Close() error         { return nil }
