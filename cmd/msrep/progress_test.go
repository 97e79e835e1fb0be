package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// drawn returns what the line writes a time after its text was set.
func drawn(p *progress, after time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.w.(*bytes.Buffer)
	b.Reset()
	p.draw(p.since.Add(after))
	return b.String()
}

func TestALineAppearsAfterTwoSecondsAndIsErased(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, width: 30, created: time.Now()}
	p.show("solving")
	require.Empty(t, drawn(p, showAfter-time.Millisecond))
	require.Equal(t, "\r\x1b[Ksolving, 3s", drawn(p, 3*time.Second))
	b.Reset()
	p.erase()
	require.Equal(t, "\r\x1b[K", b.String())
	p.erase()
	require.Equal(t, "\r\x1b[K", b.String(), "there is nothing to erase")

	half := count{total: 10}
	half.done.Store(5)
	p.doing("multiplying", half.part)
	require.Equal(t, "\r\x1b[Kmultiplying, 50 %, 10s left", drawn(p, 10*time.Second))
	half.done.Store(10)
	require.Equal(t, "\r\x1b[Kmultiplying, 10s", drawn(p, 10*time.Second), "no time is left")
	p.doing("planning with a line that is too long", nil)
	require.Len(t, strings.TrimPrefix(drawn(p, 5*time.Second), "\r\x1b[K"), 29, "it does not wrap")
	b.Reset()
	p.end()
	require.Equal(t, "\r\x1b[K", b.String())
	time.Sleep(2 * showEvery)
	require.Equal(t, "\r\x1b[K", b.String(), "nothing is drawn after the end")
	p.doing("again", nil) // a later phase may follow
	p.end()
}

func TestTheTimeLeftFollowsFromTheRateOfAMethod(t *testing.T) {
	p := &progress{w: &bytes.Buffer{}, created: time.Now()}
	defer p.end()
	p.converging("cg", time.Now().Add(-10*time.Second), 10, 1e-5, 1e-15) // half a digit each second: 20 s more
	require.Equal(t, "\r\x1b[Kcg, 20s left, iteration 10, residual 1.00e-05, rate 0.316, 3s", drawn(p, 3*time.Second))
	require.False(t, p.due(), "so soon after another")
	p.since = time.Now().Add(-time.Second)
	require.True(t, p.due())
	require.False(t, (*progress)(nil).due())
	p.converging("cg", time.Now(), 12, 7, 1e-15)
	require.Contains(t, drawn(p, 3*time.Second), "cg, ? left, iteration 12", "it does not converge")
}

func TestALineThatIsNotShownNeedsNothing(t *testing.T) {
	for _, p := range []*progress{nil, {}} {
		p.show("x")
		p.doing("x", nil)
		p.step(1, 2, "x")
		p.erase()
		p.end()
	}
	require.Equal(t, &progress{}, newProgress(&bytes.Buffer{}, false))
}
