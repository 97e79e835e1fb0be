// Package cases sets the random cases for each property of a test package.
package cases

import (
	"flag"
	"strconv"
	"testing"

	_ "pgregory.net/rapid" // defines -rapid.checks
)

// Main runs the tests with n random cases per property, a tenth with -short, or as many as -rapid.checks says. The cases are
// the same in each run, so a test that begins to fail does so because of a change; -rapid.seed=0 draws others. Call Main from
// TestMain; when TestMain returns, the program ends with the exit status of the tests.
func Main(m *testing.M, n string) {
	flag.Parse()
	if testing.Short() && len(n) > 1 {
		n = n[:len(n)-1]
	}
	set("rapid.checks", n)
	set("rapid.seed", "1")
	m.Run()
}

// set sets a flag that the command line does not set.
func set(name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}

// Divide divides the cases by n for a test with n properties.
func Divide(t testing.TB, n int) {
	f := flag.Lookup("rapid.checks")
	all := f.Value.String()
	count, err := strconv.Atoi(all)
	if err != nil {
		t.Fatal(err)
	}
	least := 1
	if testing.Short() {
		least = 5 // rapid takes a fifth with -short
	}
	t.Cleanup(func() { f.Value.Set(all) })
	f.Value.Set(strconv.Itoa(max(count/n, least)))
}
