package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// tokenSize is the size in bytes of the token that identifies the ranks of a run to each other.
const tokenSize = 16

// addresses returns the addresses at which other hosts may reach this one.
func addresses() (hosts []string) {
	nets, _ := net.InterfaceAddrs()
	for _, a := range nets {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLinkLocalUnicast() {
			hosts = append(hosts, ip.IP.String())
		}
	}
	return hosts
}

// accept accepts the connections of the other ranks until all ranks have tried to connect.
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
			if rank, err := w.greet(conn); err != nil {
				conn.Close()
			} else {
				w.keep(rank, conn)
			}
		}()
	}
}

// greet reads the rank of a new connection and answers it.
func (w *Watcher) greet(conn net.Conn) (rank int, err error) {
	conn.SetDeadline(time.Now().Add(dialTime))
	hello := make([]byte, tokenSize+4)
	if _, err := io.ReadFull(conn, hello); err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(hello[tokenSize:])
	if !bytes.Equal(hello[:tokenSize], w.token) || int64(n) >= int64(w.sys.comm.Size()) {
		return 0, errors.New("a stranger")
	}
	_, err = conn.Write([]byte{signBeat})
	return int(n), err
}

// dial connects to rank 0 at the first of its addresses that answers correctly, and returns nil if none does.
func (w *Watcher) dial(hosts []string, port int) net.Conn {
	hello := binary.BigEndian.AppendUint32(bytes.Clone(w.token), uint32(w.rank))
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
