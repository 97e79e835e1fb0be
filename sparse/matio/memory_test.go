package matio

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatricesLargerThanTheMachineAreRefusedBeforeTheyAreRead(t *testing.T) {
	const entries = 1 << 40
	var bin bytes.Buffer
	require.NoError(t, binary.Write(&bin, binary.LittleEndian, []int64{100, 100, entries}))
	for name, content := range map[string]string{
		"m.mtx": "%%MatrixMarket matrix coordinate real general\n100 100 1099511627776\n" + strings.Repeat("1 1 1\n", 500_000),
		"m.bin": bin.String(),
		"m.rua": "title                                                                   key     \n" +
			"             3             1             1             1             0\n" +
			"RUA                      100             1 1099511627776             0\n" +
			"(2I16)          (1I8)           (1E20.12)           \n" +
			"               1   1099511627777\n",
	} {
		_, err := Read(ctx, write(t, name, []byte(content)))
		requireInput(t, err, name, "1099511627776 entries in 100 rows: to read them takes at least ")
	}
}
