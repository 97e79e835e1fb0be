package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// keep sends heartbeats on a connection and receives signs from it.
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
			case <-time.After(heartbeatTime):
				w.send(conn, signBeat)
			}
		}
	}()
}

// send writes a sign. It ignores errors: listen notices a lost connection.
func (w *Watcher) send(conn net.Conn, sign byte) {
	if w.mute.Load() {
		return
	}
	conn.SetWriteDeadline(time.Now().Add(heartbeatTime))
	conn.Write([]byte{sign})
}

// listen receives signs until the last one.
func (w *Watcher) listen(rank int, conn net.Conn) {
	var b [64]byte
	for {
		begin := time.Now()
		if !w.listening(conn, begin.Add(lossTime)) {
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
			if time.Since(begin) > lossTime+heartbeatTime { // this process itself was stopped
				w.lost(nil)
				return
			}
			cause = fmt.Errorf("no sign of life for %v: its host is cut off, or the process is stopped", lossTime)
		}
		w.lost(&RankError{rank, w.sys.hosts[rank], cause})
		return
	}
}

// listening sets the read deadline of a connection, and returns false if the process has ended.
func (w *Watcher) listening(conn net.Conn, until time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last != 0 {
		return false
	}
	conn.SetReadDeadline(until)
	return true
}

// hangUp closes a connection after the other end has closed it, at the latest at the deadline. Closing a connection
// with unread signs would discard the signs that it has sent.
func hangUp(conn net.Conn, deadline time.Time) error {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.CloseWrite() // fails if the other end is gone
	}
	conn.SetReadDeadline(deadline)
	_, _ = io.Copy(io.Discard, conn)
	return conn.Close()
}
