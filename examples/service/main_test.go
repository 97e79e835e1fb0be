package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The ranks are computed here by plain iteration, from the links to each node. 8 clients send 1,000 requests.
func TestEveryAnswerUnderLoadIsRight(t *testing.T) {
	const clients, requests, packages = 8, 1000, 20
	s, err := open(context.Background(), "../data/debian-python.csv.gz")
	require.NoError(t, err)
	want := make([][]float64, packages)
	for k := range want {
		want[k] = s.ranksByHand(t, k*97)
	}
	server := httptest.NewServer(s)
	defer server.Close()

	times := make([]time.Duration, requests)
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for r := c; r < requests; r += clients {
				k := r % packages
				start := time.Now()
				got, err := get(server.URL, s.ids[k*97])
				times[r] = time.Since(start)
				if err != nil || len(got) != 10 {
					t.Errorf("%s: %v, %d lines", s.ids[k*97], err, len(got))
					return
				}
				for id, rank := range got {
					if math.Abs(rank-want[k][s.node[id]]) > 2e-9 {
						t.Errorf("%s, %s: %g instead of %g", s.ids[k*97], id, rank, want[k][s.node[id]])
					}
				}
			}
		})
	}
	group.Wait()
	slices.Sort(times)
	fmt.Printf("%d requests of %d clients: median %v, 99 %% below %v\n", requests, clients, times[requests/2], times[requests*99/100])
}

func TestUnknownPackage(t *testing.T) {
	s, err := open(context.Background(), "../data/debian-python.csv.gz")
	require.NoError(t, err)
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/?package=none", nil))
	require.Equal(t, http.StatusNotFound, answer.Code)
}

// get returns the packages of an answer and their ranks.
func get(address, name string) (map[string]float64, error) {
	answer, err := http.Get(address + "/?package=" + url.QueryEscape(name))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	ranks := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		var rank float64
		var id string
		if _, err := fmt.Sscan(lines.Text(), &rank, &id); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		ranks[id] = rank
	}
	return ranks, nil
}

// ranksByHand returns the personalised PageRank for a node.
func (s *service) ranksByHand(t *testing.T, seed int) []float64 {
	rank, next, share := make([]float64, len(s.ids)), make([]float64, len(s.ids)), make([]float64, len(s.ids))
	rank[seed] = 1
	for range 200 {
		dangling := 0.0
		for i, r := range rank {
			share[i] = 0
			if s.out[i] > 0 {
				share[i] = r / s.out[i]
			} else {
				dangling += r
			}
		}
		require.NoError(t, s.links.SpMV(t.Context(), false, 0.85, share, 0, next))
		next[seed] += 0.15 + 0.85*dangling
		rank, next = next, rank
	}
	return rank
}
