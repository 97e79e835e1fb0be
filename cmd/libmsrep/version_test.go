package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
)

func TestTheHeaderStatesTheVersionOfTheModule(t *testing.T) {
	text, err := os.ReadFile("msrep.h")
	require.NoError(t, err)
	var parts []string
	for _, part := range []string{"MAJOR", "MINOR", "PATCH"} {
		m := regexp.MustCompile(`(?m)^#define MSREP_VERSION_` + part + ` (\d+)$`).FindSubmatch(text)
		require.NotNil(t, m, part)
		parts = append(parts, string(m[1]))
	}
	release, _, _ := strings.Cut(msrep.Version, "-")
	require.Equal(t, release, strings.Join(parts, "."))
}
