package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
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
