//go:build mpi

package main

import "github.com/msrep-go/msrep/cluster/mpi"

func init() {
	startRanks = func() (rankComm, error) {
		c, err := mpi.Start()
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}
