package msr

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/msrep-go/msrep/sparse"
)

// On a big-endian machine only the refusal of .msr files is tested.
func TestMain(m *testing.M) {
	err := Write(io.Discard, small(), sparse.Source{})
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("refused, and nothing else tested:", err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}
