// Package commtest checks that a cluster.Comm fulfils its interface.
package commtest

import (
	"bytes"
	"fmt"

	"github.com/msrep-go/msrep/cluster"
)

// Check tests all methods of c except Abort. All ranks call it together; it returns nil on success.
func Check(c cluster.Comm) error {
	for _, f := range []func(cluster.Comm) error{swap, share, reduce, links} {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// text returns the bytes that rank from sends to rank to. Lengths range from 0 to some thousand bytes.
func text(from, to, turn int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "%d>%d#%d;", from, to, turn), (from*7+to*3+turn)%5*200)
}

func swap(c cluster.Comm) error {
	for turn := range 4 {
		send := make([][]byte, c.Size())
		for r := range send {
			send[r] = text(c.Rank(), r, turn)
		}
		received, err := c.Swap(send)
		if err != nil {
			return err
		}
		if len(received) != c.Size() {
			return fmt.Errorf("swap gives %d messages from %d ranks", len(received), c.Size())
		}
		for r, b := range received {
			if !bytes.Equal(b, text(r, c.Rank(), turn)) {
				return fmt.Errorf("swap gives %d bytes from rank %d, which are not those that it sent", len(b), r)
			}
		}
	}
	return nil
}

func share(c cluster.Comm) error {
	for turn := range 4 {
		all, err := c.Share(text(c.Rank(), 0, turn))
		if err != nil {
			return err
		}
		for r := range c.Size() {
			if !bytes.Equal(all[r], text(r, 0, turn)) {
				return fmt.Errorf("share gives %d bytes from rank %d, which are not those that it sent", len(all[r]), r)
			}
		}
	}
	return nil
}

func reduce(c cluster.Comm) error {
	n := float64(c.Size())
	for length := range 20 {
		sum, most := make([]float64, length), make([]float64, length)
		for i := range sum {
			sum[i], most[i] = float64(c.Rank()*i), float64(-c.Rank()+i)
		}
		if err := c.Sum(sum); err != nil {
			return err
		}
		if err := c.Max(most); err != nil {
			return err
		}
		for i := range sum {
			if want := n * (n - 1) / 2 * float64(i); sum[i] != want || most[i] != float64(i) {
				return fmt.Errorf("element %d has sum %g and maximum %g, want %g and %d", i, sum[i], most[i], want, i)
			}
		}
	}
	return nil
}

// links uses two links at once: each rank sends to the next rank and to itself, and longer messages to the rank
// before.
func links(c cluster.Comm) error {
	n, r := c.Size(), c.Rank()
	next, before := (r+1)%n, (r+n-1)%n
	make1 := func(to, from, length int) (cluster.Link, []byte, []byte, error) {
		out, in := make([]byte, length), make([]byte, length)
		l, err := c.Link([]cluster.Message{{Rank: to, Data: out}}, []cluster.Message{{Rank: from, Data: in}})
		return l, out, in, err
	}
	const short, long = 5, 300_000
	forth, out1, in1, err := make1(next, before, short)
	if err != nil {
		return err
	}
	defer forth.Close()
	back, out2, in2, err := make1(before, next, long)
	if err != nil {
		return err
	}
	defer back.Close()
	for turn := range 10 {
		fill(out1, r, turn)
		fill(out2, r, turn+1)
		for _, l := range []cluster.Link{forth, back} {
			if err := l.Start(); err != nil {
				return err
			}
		}
		for _, l := range []cluster.Link{back, forth} {
			if err := l.Wait(); err != nil {
				return err
			}
		}
		want1, want2 := make([]byte, short), make([]byte, long)
		fill(want1, before, turn)
		fill(want2, next, turn+1)
		if !bytes.Equal(in1, want1) || !bytes.Equal(in2, want2) {
			return fmt.Errorf("turn %d: messages are not what was sent", turn)
		}
	}
	if b, m := forth.Sent(); b != 10*short || m != 10 {
		return fmt.Errorf("10 messages of %d bytes count as %d of %d bytes", short, m, b)
	}
	empty, err := c.Link(nil, nil)
	if err != nil {
		return err
	}
	if err := empty.Start(); err != nil {
		return err
	}
	if err := empty.Wait(); err != nil {
		return err
	}
	return empty.Close()
}

func fill(b []byte, rank, turn int) {
	for i := range b {
		b[i] = byte(i*31 + rank*7 + turn*13)
	}
}
