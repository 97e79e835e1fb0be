package corpus

import (
	"os"
	"strconv"
	"testing"
)

// EnvInt returns an environment variable as a number, or def if it is not set. It sets sizes and limits of tests and
// benchmarks.
func EnvInt(t testing.TB, name string, def int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: a positive number is needed", name, s)
	}
	return n
}
