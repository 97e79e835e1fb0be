package crash_test

import (
	"errors"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/crash"
)

func recovered(f func()) (err *crash.Error) {
	defer func() { err = crash.Recovered(recover()) }()
	f()
	return nil
}

func TestAPanicIsOneLineThatNamesItsPlace(t *testing.T) {
	var none []int
	var nobody *crash.Error
	for text, f := range map[string]func(){
		"own words (crash/crash_test.go:N)":                                                        func() { panic(errors.New("own words")) },
		"runtime error: index out of range [0] with length 0 (crash/crash_test.go:N)":              func() { _ = none[len(none)] },
		"runtime error: invalid memory address or nil pointer dereference (crash/crash_test.go:N)": func() { nobody.Where = "" },
		"runtime error: integer divide by zero (crash/crash_test.go:N)":                            func() { none = append(none, 1/len(none)) },
		"interface conversion: interface {} is string, not int (crash/crash_test.go:N)":            func() { _ = any("a").(int) },
	} {
		err := recovered(f)
		require.Equal(t, text, regexp.MustCompile(`:\d+\)`).ReplaceAllString(err.Error(), ":N)"))
		again := recovered(func() { panic(err) })
		require.Same(t, err, again)
	}
}
