package msrep

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProductsOfSeveralCallersAreMadeInTheFasterWay(t *testing.T) {
	var c crowd
	now := time.Second
	for range 1000 {
		now += time.Millisecond
		require.False(t, c.alone(now, false), "one caller")
	}
	for _, faster := range []bool{true, false} { // whether products are faster alone
		for range 3 {
			alone := map[bool]int{}
			for begin := now; now < begin+crowdTurns*crowdWindow; {
				a := c.alone(now, now%(8*time.Millisecond) < 4*time.Millisecond)
				alone[a]++
				if now += 100 * time.Microsecond; a != faster {
					now += 100 * time.Microsecond
				}
			}
			require.Greater(t, alone[faster], 10*alone[!faster], "%v", faster)
			require.Positive(t, alone[!faster], "the other way is tried again")
		}
	}
	now += 2 * crowdLasts
	require.False(t, c.alone(now, false))
	require.Equal(t, crowd{begin: now}, c, "they are gone")
}
