package cluster

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// watched runs n ranks that watch each other. Each calls act when all are connected; said holds the report of each
// rank, "" for a nil error.
func watched(t *testing.T, n int, act func(w *Watcher)) (said []string) {
	said = make([]string, n)
	var left atomic.Int32
	left.Store(int32(n))
	each(t, n, func(sys *System) error {
		r := sys.Comm().Rank()
		reports := make(chan string, 1)
		w, unwatched, err := Watch(sys, func(err error) {
			if err == nil {
				reports <- ""
			} else {
				reports <- err.Error()
			}
		})
		if err != nil {
			return err
		}
		require.Empty(t, unwatched)
		act(w)
		select {
		case said[r] = <-reports:
		case <-time.After(lossTime + 2*time.Second):
			said[r] = "nothing"
		}
		left.Add(-1)
		for left.Load() > 0 {
			time.Sleep(time.Millisecond)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, conn := range w.peers {
			conn.Close()
		}
		return nil
	})
	return said
}

// abandon closes the connections of a process as its death does, without a last sign, on a new connection either.
func (w *Watcher) abandon() {
	w.mute.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = signEnded
	for _, conn := range w.peers {
		conn.Close()
	}
	w.reports.Do(func() { w.report(nil) })
}

func TestALostProcessIsReportedOnceAndToAll(t *testing.T) {
	said := watched(t, 4, func(w *Watcher) {
		if w.rank == 2 {
			w.abandon()
		}
	})
	require.Regexp(t, `^rank 2 on .*: its process has ended without a word$`, said[0])
	require.Equal(t, []string{"", "", ""}, said[1:], "the others end without a message")
}

func TestRank1ReportsThatRank0IsLost(t *testing.T) {
	said := watched(t, 3, func(w *Watcher) {
		if w.rank == 0 {
			w.abandon()
		}
	})
	require.Regexp(t, `^rank 0 on .*: its process has ended without a word$`, said[1])
}

// One of the ranks that lose rank 0 reports it. Each rank waits for those before it, at most 39 times turnTime.
func TestOneRankReportsThatRank0IsLost(t *testing.T) {
	for rank, turn := range map[int]int{0: 0, 1: 0, 2: 1, 40: 39, 1000: 39} {
		synctest.Test(t, func(t *testing.T) {
			begin, reports := time.Now(), 0
			w := &Watcher{rank: rank, report: func(err error) {
				require.Error(t, err)
				require.Equal(t, time.Duration(turn)*turnTime, time.Since(begin), "rank %d", rank)
				reports++
			}}
			w.lost(&RankError{Rank: 0})
			w.lost(&RankError{Rank: 0})
			require.Equal(t, 1, reports)
		})
		synctest.Test(t, func(t *testing.T) { // another rank has reported it
			begin := time.Now()
			w := &Watcher{rank: rank, report: func(err error) { require.NoError(t, err) }}
			w.lost(nil)
			require.Equal(t, begin, time.Now())
		})
	}
}

// Peers that do not close their connections delay Close by dialTime in total.
func TestCloseEndsAllConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Watcher{peers: map[int]net.Conn{}}
		var there []net.Conn
		for rank := range 3 {
			here, other := net.Pipe()
			w.peers[rank+1], there = here, append(there, other)
			go other.Read(make([]byte, 1))
		}
		begin := time.Now()
		require.NoError(t, w.Close())
		require.Equal(t, dialTime, time.Since(begin))
		for _, conn := range there {
			_, err := conn.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.EOF)
		}
	})
}

func TestAProcessThatReportsItsFailureIsNotReportedAgain(t *testing.T) {
	said := watched(t, 3, func(w *Watcher) {
		if w.rank == 1 {
			w.Fail()
			w.reports.Do(func() { w.report(nil) })
		}
	})
	require.Equal(t, []string{"", "", ""}, said)
}

func TestAProcessThatIsSilentIsReported(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	said := watched(t, 2, func(w *Watcher) {
		if w.rank == 1 { // as if its host were cut off
			w.mute.Store(true)
		}
	})
	require.Regexp(t, `^rank 1 on .*: no sign of life for 5s`, said[0])
}

func TestProcessesThatEndAreNotReported(t *testing.T) {
	each(t, 3, func(sys *System) error {
		w, _, err := Watch(sys, func(err error) { t.Errorf("rank %d reports %v", sys.Comm().Rank(), err) })
		if err != nil {
			return err
		}
		if _, err := sys.Comm().Share(nil); err != nil {
			return err
		}
		if sys.Comm().Rank() == 1 { // busy while the others close, which leaves signs unread
			for begin := time.Now(); time.Since(begin) < 50*time.Millisecond; {
				w.mu.Lock()
				conn := w.peers[0]
				w.mu.Unlock()
				w.send(conn, signBeat)
			}
		}
		return w.Close()
	})
}

func TestConnectionsWithoutTheTokenAreNoRanks(t *testing.T) {
	token := bytes.Repeat([]byte{7}, tokenSize)
	w := &Watcher{token: token, sys: &System{comm: Local(2)[0]}}
	greet := func(hello []byte) (int, error) {
		here, there := net.Pipe()
		defer here.Close()
		go func() {
			defer there.Close()
			if _, err := there.Write(hello); err == nil {
				_, _ = there.Read(make([]byte, 1))
			}
		}()
		return w.greet(here)
	}
	rank, err := greet(binary.BigEndian.AppendUint32(bytes.Clone(token), 1))
	require.NoError(t, err)
	require.Equal(t, 1, rank)
	for _, hello := range [][]byte{
		binary.BigEndian.AppendUint32(bytes.Repeat([]byte{8}, tokenSize), 1),
		binary.BigEndian.AppendUint32(bytes.Clone(token), 2),
		binary.BigEndian.AppendUint32(bytes.Clone(token), 1<<31),
		token,
		nil,
	} {
		_, err := greet(hello)
		require.Error(t, err, "%v", hello)
	}
}
