package placement

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPanicOfWarnIsIgnored(t *testing.T) {
	warned = sync.Once{}
	defer func() { warned = sync.Once{} }() // as at the start of the process
	called := false
	r := Refusal{Warn: func(string) {
		called = true
		panic("mine")
	}}
	r.Report("no")
	require.True(t, called)
	require.Equal(t, "no", r.First())
}
