package plot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTextInBracketsHasASeparateColumnInCSV(t *testing.T) {
	var b strings.Builder
	require.NoError(t, writeTableCSV(&b, Table{
		Header: []string{"graph", "1e-02", "all", "kept"},
		Rows: [][]string{
			{"road (far)", "0.92 (1.00)", "7", "32 + 64"},
			{"web", "1e+10 (8 devices, 2 nodes)", "", "-"},
			{"gene", "", "-1.5", "(none)"},
		},
	}))
	require.Equal(t, "graph,1e-02,1e-02 in brackets,all,kept\n"+
		"road (far),0.92,1.00,7,32 + 64\n"+
		"web,1e+10,\"8 devices, 2 nodes\",,-\n"+
		"gene,,,-1.5,(none)\n", b.String())
}
