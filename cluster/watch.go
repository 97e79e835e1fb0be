package cluster

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/sparse"
)

// The processes of a run watch each other: each sends a heartbeat every heartbeatTime, and is lost when none has
// arrived for lossTime.
const (
	heartbeatTime = time.Second
	lossTime      = 5 * time.Second
	dialTime      = time.Second
	joinTime      = 10 * time.Second // until all connections are made
)

// Signs that a process sends over a connection.
const (
	signBeat   = 'b'
	signEnded  = 'e' // this process ends normally
	signFailed = 'f' // a process failed and has reported the reason
)

// Watcher keeps a connection to rank 0, or on rank 0 to all other ranks.
type Watcher struct {
	rank    int
	report  func(err error)
	sys     *System
	token   []byte
	reports sync.Once

	mu    sync.Mutex
	peers map[int]net.Conn
	last  byte // sign with which this process has ended, after which connections no longer matter; 0 before

	mute atomic.Bool // for tests: sends nothing, like a host that is cut off
}

// Watch starts to watch the other processes over TCP connections to rank 0, separate from the Comm. Launchers do not
// always notice that a process or host is lost, and MPI then waits forever. All ranks call Watch.
//
// report is called at most once, on another goroutine: with a *RankError when a rank is lost, or with nil when
// another process has failed and reported the reason itself. It should end the process. unwatched lists the ranks
// without a connection.
func Watch(sys *System, report func(err error)) (w *Watcher, unwatched []int, err error) {
	switch {
	case sys.none():
		return nil, nil, errNoSystem
	case report == nil:
		return nil, nil, sparse.Inputf("report", "is nil")
	}
	w = &Watcher{rank: sys.comm.Rank(), report: report, sys: sys, peers: map[int]net.Conn{}}
	if sys.comm.Size() == 1 {
		return w, nil, nil
	}
	var where struct {
		Token []byte
		Port  int
		Hosts []string
	}
	var joined chan struct{}
	if w.rank == 0 {
		where.Token = make([]byte, tokenSize)
		rand.Read(where.Token)
		w.token = where.Token
		if l, err := net.Listen("tcp", ":0"); err == nil {
			where.Port, where.Hosts = l.Addr().(*net.TCPAddr).Port, addresses()
			joined = make(chan struct{})
			go w.accept(l, joined)
		}
	}
	own, err := json.Marshal(where)
	if err != nil {
		return nil, nil, err
	}
	all, err := sys.comm.Share(own)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(all[0], &where); err != nil {
		return nil, nil, err
	}
	reached := []byte{1}
	if w.rank != 0 {
		w.token = where.Token
		if conn := w.dial(where.Hosts, where.Port); conn != nil {
			w.keep(0, conn)
		} else {
			reached[0] = 0
		}
	}
	if all, err = sys.comm.Share(reached); err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	if joined != nil {
		close(joined)
	}
	for r, b := range all {
		if b[0] == 0 {
			unwatched = append(unwatched, r)
		}
	}
	return w, unwatched, nil
}

// turnTime is the time by which each rank delays its report of a lost rank 0 after the rank before it, so only one
// rank reports.
const turnTime = 50 * time.Millisecond

// lost reports a lost rank; err is nil if a rank has reported the reason itself.
func (w *Watcher) lost(err *RankError) {
	w.mu.Lock()
	over := w.last != 0
	w.mu.Unlock()
	if over {
		return
	}
	if w.rank != 0 && err != nil {
		time.Sleep(time.Duration(min(w.rank, 40)-1) * turnTime)
	}
	w.reports.Do(func() {
		w.signal(signFailed)
		if err == nil {
			w.report(nil)
		} else {
			w.report(err)
		}
	})
}

// signal sends a last sign to all and stops watching.
func (w *Watcher) signal(sign byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last != 0 {
		return
	}
	w.last = sign
	for _, conn := range w.peers {
		w.send(conn, sign)
	}
}

// Fail tells the other processes that this one fails and reports the reason itself.
func (w *Watcher) Fail() { w.signal(signFailed) }

// End tells the other processes that this one ends normally.
func (w *Watcher) End() { w.signal(signEnded) }

// Close closes the connections, after End.
func (w *Watcher) Close() error {
	if w == nil {
		return nil
	}
	w.End()
	w.mu.Lock()
	defer w.mu.Unlock()
	deadline := time.Now().Add(dialTime)
	errs := make([]error, len(w.peers))
	var wg sync.WaitGroup
	i := 0
	for _, conn := range w.peers {
		err := &errs[i]
		i++
		wg.Go(func() { *err = hangUp(conn, deadline) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
