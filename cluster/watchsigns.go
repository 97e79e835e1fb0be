package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

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
			w.lost(nil)
			return
		case bytes.IndexByte(b[:n], signEnded) >= 0:
			return
		case err == nil:
			continue
		}
		cause := errors.New("its process has ended without a word")
		if e, ok := err.(net.Error); ok && e.Timeout() {
			if time.Since(begin) > patience+beatTime { // it was this process that was stopped
				w.lost(nil)
				return
			}
			cause = fmt.Errorf("no sign of life for %v: its host is cut off, or the process is stopped", patience)
		}
		w.lost(&RankError{rank, w.sys.hosts[rank], cause})
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
