package cluster

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// How the processes of a run look after each other: each sends a sign of life every
// beatTime, and counts as lost when none has come for patience.
const (
	beatTime = time.Second
	patience = 5 * time.Second
	dialTime = time.Second
	joinTime = 10 * time.Second // for all connections to be made
)

// Signs that a connection carries.
const (
	signBeat   = 'b'
	signEnded  = 'e' // this process ends as it should
	signFailed = 'f' // a process failed and has said why
)

// Watcher keeps a connection to rank 0, or on rank 0 to all others.
type Watcher struct {
	rank    int
	report  func(err error)
	sys     *System
	token   []byte
	reports sync.Once

	mu    sync.Mutex
	peers map[int]net.Conn
	last  byte // sign that this process has ended with; then what happens to connections means nothing. 0 before

	mute atomic.Bool // tests: sends nothing, like a host that is cut off
}

// Watch begins to look after the other processes, over TCP connections to rank 0 that
// have nothing to do with how the ranks exchange data: launchers do not always notice
// that a process or a host is gone, and MPI then waits for ever. All ranks call it.
//
// report is called at most once, on another goroutine: with a *RankError when a rank
// is gone, or with nil when another process has failed and said so itself. It should
// end the process. unwatched names the ranks that no connection could be made to.
func Watch(sys *System, report func(err error)) (w *Watcher, unwatched []int, err error) {
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
		where.Token = make([]byte, 16)
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

// addresses is where other hosts may reach this one.
func addresses() (hosts []string) {
	nets, _ := net.InterfaceAddrs()
	for _, a := range nets {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLinkLocalUnicast() {
			hosts = append(hosts, ip.IP.String())
		}
	}
	return hosts
}

// accept takes the connections of the other ranks until all have tried.
func (w *Watcher) accept(l net.Listener, joined <-chan struct{}) {
	go func() {
		select {
		case <-joined:
		case <-time.After(joinTime):
		}
		l.Close()
	}()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			var hello [20]byte
			conn.SetDeadline(time.Now().Add(dialTime))
			n := 0
			for n < len(hello) {
				k, err := conn.Read(hello[n:])
				if n += k; err != nil {
					break
				}
			}
			rank := int(hello[16])<<24 | int(hello[17])<<16 | int(hello[18])<<8 | int(hello[19])
			if n < len(hello) || !bytes.Equal(hello[:16], w.token) || rank >= w.sys.comm.Size() {
				conn.Close() // a stranger
				return
			}
			if _, err := conn.Write([]byte{signBeat}); err != nil {
				conn.Close()
				return
			}
			w.keep(rank, conn)
		}()
	}
}

// dial connects to rank 0 at the first of its addresses that answers as it should; nil
// where none does.
func (w *Watcher) dial(hosts []string, port int) net.Conn {
	hello := append(bytes.Clone(w.token), byte(w.rank>>24), byte(w.rank>>16), byte(w.rank>>8), byte(w.rank))
	for _, h := range hosts {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(h, strconv.Itoa(port)), dialTime)
		if err != nil {
			continue
		}
		conn.SetDeadline(time.Now().Add(dialTime))
		var answer [1]byte
		if _, err = conn.Write(hello); err == nil {
			_, err = conn.Read(answer[:])
		}
		if err == nil && answer[0] == signBeat {
			return conn
		}
		conn.Close()
	}
	return nil
}

// keep beats and listens on a connection.
func (w *Watcher) keep(rank int, conn net.Conn) {
	conn.SetDeadline(time.Time{})
	w.mu.Lock()
	if w.last != 0 {
		w.mu.Unlock()
		w.send(conn, w.last)
		hangUp(conn, time.Now().Add(dialTime))
		return
	}
	w.peers[rank] = conn
	w.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		w.listen(rank, conn)
	}()
	go func() {
		for {
			select {
			case <-gone:
				return
			case <-time.After(beatTime):
				w.send(conn, signBeat)
			}
		}
	}()
}

// send writes a sign. That it fails shows when nothing comes back.
func (w *Watcher) send(conn net.Conn, sign byte) {
	if w.mute.Load() {
		return
	}
	conn.SetWriteDeadline(time.Now().Add(beatTime))
	conn.Write([]byte{sign})
}

// listen waits for signs until the last one.
func (w *Watcher) listen(rank int, conn net.Conn) {
	var b [64]byte
	for {
		begin := time.Now()
		if !w.listening(conn, begin.Add(patience)) {
			return
		}
		n, err := conn.Read(b[:])
		switch {
		case bytes.IndexByte(b[:n], signFailed) >= 0:
			w.lost(rank, nil)
			return
		case bytes.IndexByte(b[:n], signEnded) >= 0:
			return
		case err == nil:
			continue
		}
		cause := errors.New("its process has ended without a word")
		if e, ok := err.(net.Error); ok && e.Timeout() {
			if time.Since(begin) > patience+beatTime { // it was this process that was stopped
				w.lost(rank, nil)
				return
			}
			cause = fmt.Errorf("no sign of life for %v: its host is cut off, or the process is stopped", patience)
		}
		w.lost(rank, &RankError{rank, w.sys.hosts[rank], cause})
		return
	}
}

// listening sets until when a connection is listened to, and reports whether it is.
func (w *Watcher) listening(conn net.Conn, until time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last != 0 {
		return false
	}
	conn.SetReadDeadline(until)
	return true
}

// turnTime is what a rank waits for those before it to report that rank 0 is gone, so
// that one of them does.
const turnTime = 50 * time.Millisecond

// lost reports that a rank is gone, or with a nil error that it said itself why.
func (w *Watcher) lost(rank int, err *RankError) {
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

// signal sends a last sign to all and stops to mind them.
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

// Fail tells the other processes that this one fails and says why itself.
func (w *Watcher) Fail() { w.signal(signFailed) }

// End tells the other processes that this one ends as it should.
func (w *Watcher) End() { w.signal(signEnded) }

// Close ends the connections, after End.
func (w *Watcher) Close() error {
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

// hangUp closes a connection when the other end has, but no later than at the deadline:
// one that is closed while there are signs that were not read takes back those that it
// has sent.
func hangUp(conn net.Conn, deadline time.Time) error {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.CloseWrite() // it fails where the other end is gone
	}
	conn.SetReadDeadline(deadline)
	_, _ = io.Copy(io.Discard, conn)
	return conn.Close()
}
