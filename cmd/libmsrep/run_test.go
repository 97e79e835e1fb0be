//go:build cgo

package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
)

// stopWhen runs work, and stops the handle h when work closes the channel that it gets.
func stopWhen(t *testing.T, h uint64, work func(ctx context.Context, begun chan struct{}, report func(int, float64)) error) (step, bool, error) {
	r := begin(1, 2)
	defer r.end()
	begun := make(chan struct{})
	go func() {
		select {
		case <-begun:
			stop(h, errByStop)
		case <-r.ctx.Done():
		}
	}()
	return r.supervise(progress{}, func(ctx context.Context, report func(int, float64)) error { return work(ctx, begun, report) })
}

func TestStopEndsTheRunsOfASystemAndOfAnObject(t *testing.T) {
	for _, h := range []uint64{1, 2} {
		last, ended, err := stopWhen(t, h, func(ctx context.Context, begun chan struct{}, report func(int, float64)) error {
			report(7, 0.5)
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		})
		require.ErrorIs(t, err, errStopped)
		require.True(t, ended)
		require.Equal(t, step{7, 0.5}, last)
	}
}

func TestWorkThatDoesNotEndIsLeftBehind(t *testing.T) {
	release := make(chan struct{})
	begin := time.Now()
	_, ended, err := stopWhen(t, 1, func(_ context.Context, begun chan struct{}, report func(int, float64)) error {
		close(begun)
		<-release
		for k := range 5000 { // more than fit: no one receives them
			report(k, 1)
		}
		return nil
	})
	require.ErrorIs(t, err, errStopped)
	require.False(t, ended)
	require.Less(t, time.Since(begin), 10*time.Second)
	close(release)
}

func TestARunReturnsErrorsAndPanicsOfItsWork(t *testing.T) {
	broken := errors.New("broken")
	_, ended, err := stopWhen(t, 3, func(context.Context, chan struct{}, func(int, float64)) error { return broken })
	require.ErrorIs(t, err, broken)
	require.True(t, ended)
	_, ended, err = stopWhen(t, 3, func(context.Context, chan struct{}, func(int, float64)) error { panic("boom") })
	require.ErrorContains(t, err, "boom")
	require.True(t, ended)
	require.Empty(t, runs.running)
}

func TestSolvesOfOnePlanRunTogether(t *testing.T) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(t, err)
	system := handles.add(&openSystem{sys: sys})
	p := planOf(t, system)
	h, err := handles.addOwned(p)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r := begin(system, h)
			defer r.end()
			x := []float64{0}
			_, ended, err := r.supervise(progress{}, func(ctx context.Context, report func(int, float64)) error {
				_, err := p.method(ctx, solver.SolveOptions{Progress: func(s solver.Step) { report(s.Iteration, s.Residual) }}, []float64{1}, x)
				return err
			})
			if err != nil || !ended || x[0] != 0.5 {
				t.Errorf("x %g, error %v", x[0], err)
			}
		})
	}
	all.Wait()
	require.NoError(t, handles.close(system))
}

// closed is a closer that counts its calls.
type closed struct{ calls chan bool }

func (c closed) Close() error {
	c.calls <- true
	return nil
}

func TestAnObjectMadeAfterTheCallIsClosed(t *testing.T) {
	r := begin(1, 2)
	defer r.end()
	begun, release, made := make(chan struct{}), make(chan struct{}), closed{make(chan bool, 1)}
	go func() {
		<-begun
		stop(1, errByStop)
	}()
	_, err := supervised(r, progress{}, func(context.Context, func(int, float64)) (closed, error) {
		close(begun)
		<-release
		return made, nil
	})
	require.ErrorIs(t, err, errStopped)
	close(release)
	select {
	case <-made.calls:
	case <-time.After(10 * time.Second):
		t.Fatal("the object stays open")
	}
}

func TestWorkWithMemoryOfTheCallerIsWaitedFor(t *testing.T) {
	r := begin(1, 2)
	defer r.end()
	r.usesCaller = true
	ended := false
	made, err := supervised(r, progress{}, func(context.Context, func(int, float64)) (closed, error) {
		stop(1, errByStop)
		time.Sleep(3 * other)
		ended = true
		return closed{}, nil
	})
	require.NoError(t, err) // it was made
	require.True(t, ended)
	require.Zero(t, made)
}
