package ptx

import (
	"testing"

	"github.com/msrep-go/msrep/internal/cases"
)

func TestMain(m *testing.M) { cases.Main(m, "100") }
