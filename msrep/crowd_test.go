package msrep

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProductsOfSeveralCallersAreMadeInTheFasterWay(t *testing.T) {
	const shorter, longer = 100 * time.Microsecond, 70 * time.Millisecond // the second one is longer than crowdTime
	var c crowd
	now := time.Second
	for range 1000 {
		now += time.Millisecond
		require.False(t, c.alone(now), "one caller")
	}
	for _, product := range []time.Duration{shorter, 2 * shorter, longer} {
		for _, faster := range []bool{true, false} { // whether products are faster alone
			took := map[bool]time.Duration{}
			for begin := now; now < begin+300*max(crowdTime, product); {
				if c.seen == 0 || now-c.seen > crowdLasts/2 {
					c.seen = now
				}
				one, a := product, c.alone(now)
				if a != faster {
					one *= 2
				}
				now += one
				took[a] += one
			}
			require.Greater(t, took[faster], 5*took[!faster], "%v, %v", product, faster)
			require.Positive(t, took[!faster], "the other way is tried again")
		}
	}
	now += 2 * crowdLasts
	require.False(t, c.alone(now))
	require.Equal(t, crowd{begin: now}, c, "they are gone")
}
