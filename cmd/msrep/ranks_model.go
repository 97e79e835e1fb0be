package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// rankCounts parses the value of --ranks.
func rankCounts(s string) (counts []int, err error) {
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > partition.MaxParts {
			return nil, sparse.Inputf("--ranks", "%q: use numbers from 1 to %d with commas between them", s, partition.MaxParts)
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// printExchanges prints the messages that products over ranks would send.
func printExchanges(w io.Writer, all []cluster.Exchange) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "  one product over ranks (computed)\n   ranks  imbalance  local       bytes, all   most of one   messages, all   most of one   largest halo\n")
	for _, e := range all {
		fmt.Fprintf(w, "  %6d %10.4f %5.1f %% %16d %13d %15d %13d %14d\n", e.Ranks, e.Imbalance, 100*e.Local, e.Bytes, e.MaxBytes, e.Messages, e.MaxPeers, e.MaxHalo)
	}
}
