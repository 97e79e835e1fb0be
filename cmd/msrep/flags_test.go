package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFaultsOfFlagsNameTheFlagAsDocumentedAndWhatItTakes(t *testing.T) {
	for message, args := range map[string][]string{
		"there is no flag --repaet":                            {"spmv", "m.mtx", "-repaet"},
		"--repeat needs a value":                               {"spmv", "m.mtx", "-repeat"},
		`--repeat: "x": use a whole number`:                    {"spmv", "m.mtx", "--repeat", "x"},
		`--alpha: "\" for flag -x: ": use a number`:            {"spmv", "m.mtx", "--alpha", `" for flag -x: `},
		`--json: "maybe": use true or false`:                   {"spmv", "m.mtx", "--json=maybe"},
		`--threads: "1,x": use a whole number`:                 {"spmv", "m.mtx", "--threads", "1,x"},
		`--max-time: "1": use a time such as 300ms or 1.5s`:    {"bench", "all", "--max-time", "1"},
		"--alpha: 1e+300: beyond the range of fp32":            {"spmv", "m.mtx", "--value", "fp32", "--alpha", "1e300"},
		`--repeat: "99999999999999999999": value out of range`: {"spmv", "m.mtx", "--repeat", "99999999999999999999"},
		"--out: is empty: give a value or leave it out":        {"spmv", "m.mtx", "--out", ""},
		`--numa: "no" is not known: use auto, on or off`:       {"topo", "--numa", "no"},
		"arguments: 1 given, it takes none":                    {"version", "x"},
		"bad flag syntax: ---x":                                {"spmv", "m.mtx", "---x"},
		"there is no flag --a; b (see msrep topo --help)":      {"topo", "--a\nb"},
	} {
		var out, stderr bytes.Buffer
		require.Equal(t, exitUsage, run(context.Background(), args, &out, &stderr), "%q", args)
		require.Empty(t, out.String())
		require.Contains(t, stderr.String(), message)
	}
}
