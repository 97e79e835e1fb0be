package msrep

import (
	"testing"

	"github.com/msrep-go/msrep/internal/cases"
)

// atEnd is called after the last test.
var atEnd = func() {}

func TestMain(m *testing.M) {
	cases.Main(m, "2000")
	atEnd()
}
