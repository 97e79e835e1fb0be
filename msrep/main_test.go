package msrep

import (
	"flag"
	"os"
	"testing"
)

// TestMain raises the number of random cases of each property from rapid's 100,
// unless -rapid.checks says otherwise.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "2000"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
