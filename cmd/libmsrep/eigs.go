//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
	"unsafe"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/eigen"
	"github.com/msrep-go/msrep/sparse"
)

//export msrepgo_eigs
func msrepgo_eigs(system C.msrep_system, matrix *C.msrep_matrix, k C.int64_t, options *C.msrep_eigs_options, values, vectors, residuals *C.double, result *C.msrep_eigs_result) C.msrep_status {
	return call(func() error {
		s := &eigs{values: values, residuals: residuals, result: result}
		return s.run(system, matrix, k, options, []*C.double{vectors}, func(ctx context.Context, sys *msrep.System, a sparse.Matrix[float64], opt eigen.Options) error {
			res, err := eigen.Solve(ctx, sys, a, opt)
			if res != nil {
				s.found, s.vectors, s.info = res.Values, [][][]float64{res.Vectors}, res.Info
			}
			return err
		})
	})
}

//export msrepgo_svds
func msrepgo_svds(system C.msrep_system, matrix *C.msrep_matrix, k C.int64_t, options *C.msrep_eigs_options, values, u, v, residuals *C.double, result *C.msrep_eigs_result) C.msrep_status {
	return call(func() error {
		s := &eigs{values: values, residuals: residuals, result: result}
		return s.run(system, matrix, k, options, []*C.double{u, v}, func(ctx context.Context, sys *msrep.System, a sparse.Matrix[float64], opt eigen.Options) error {
			res, err := eigen.SolveSingular(ctx, sys, a, opt)
			if res != nil {
				s.found, s.vectors, s.info = res.Values, [][][]float64{res.U, res.V}, res.Info
			}
			return err
		})
	})
}

// eigs is a call of msrep_eigs or msrep_svds.
type eigs struct {
	values, residuals *C.double // of the caller; residuals may be nil
	result            *C.msrep_eigs_result

	found   []float64
	vectors [][][]float64 // the eigenvectors, or the left and the right singular vectors
	info    eigen.Info
}

// run finds k values by way of find, and stores them and their vectors in the caller's memory: out has an array of k vectors
// for the rows of the matrix, and for svds one for the columns. Each may be nil.
func (s *eigs) run(system C.msrep_system, matrix *C.msrep_matrix, k C.int64_t, options *C.msrep_eigs_options, out []*C.double, find func(context.Context, *msrep.System, sparse.Matrix[float64], eigen.Options) error) error {
	o, err := readStruct("options", options)
	if err != nil {
		return err
	}
	if err := writeStruct("result", s.result, C.msrep_eigs_result{}); err != nil {
		return err
	}
	sys, err := get[*openSystem](uint64(system))
	if err != nil {
		return err
	}
	r := begin(uint64(system), 0)
	defer r.end()
	g, err := readMatrix(matrix)
	if err != nil {
		return err
	}
	if k < 1 || k > min(g.m.rows, g.m.cols) {
		return sparse.Inputf("k", "%d: use 1 to %d", int64(k), int64(min(g.m.rows, g.m.cols)))
	}
	opt, err := eigsOptions(o, int64(k), int64(g.m.cols))
	if err != nil {
		return err
	}
	dst, err := s.destinations(int64(k), g, out)
	if err != nil {
		return err
	}
	a, err := loadMatrix[float64](g, false)
	if err != nil {
		return err
	}
	began := time.Now()
	last, ended, err := r.supervise(progress{o.progress, o.arg}, func(ctx context.Context, report func(int, float64)) error {
		opt.Progress = func(at eigen.Step) { report(at.Iteration, at.Residual) }
		return find(ctx, sys.sys, a, opt)
	})
	c := C.msrep_eigs_result{iterations: C.int64_t(last.iteration)}
	if ended {
		n := min(len(s.found), int(k))
		c.count, c.iterations, c.products = C.int64_t(n), C.int64_t(max(s.info.Iterations, last.iteration)), C.int64_t(s.info.Products)
		c.norm = C.double(s.info.Norm)
		copy(dst[0], s.found[:n])
		copy(dst[1], s.info.Residuals[:min(n, len(s.info.Residuals))])
		for i, side := range s.vectors {
			if dst[2+i] == nil {
				continue
			}
			for j, v := range side[:min(n, len(side))] {
				copy(dst[2+i][j*len(v):], v)
			}
		}
	}
	c.seconds = C.double(time.Since(began).Seconds())
	return cmp.Or(err, writeStruct("result", s.result, c))
}

// destinations returns the caller's memory for values, residuals and vectors. That of arrays that the caller does not
// want is nil.
func (s *eigs) destinations(k int64, g *given, out []*C.double) (dst [][]float64, err error) {
	if s.values == nil {
		return nil, isNull("values")
	}
	type array struct {
		name string
		p    *C.double
		n    int64
	}
	all := []array{{"values", s.values, k}, {"residuals", s.residuals, k}}
	switch len(out) {
	case 1:
		all = append(all, array{"vectors", out[0], k * int64(g.m.rows)})
	default:
		all = append(all, array{"u", out[0], k * int64(g.m.rows)}, array{"v", out[1], k * int64(g.m.cols)})
	}
	for _, a := range all { // k and the rows are below 2^31: no overflow
		var v []float64
		if a.p != nil {
			if v, err = view[float64](a.name, unsafe.Pointer(a.p), a.n); err != nil {
				return nil, err
			}
			if err = touch(a.name, v, true); err != nil {
				return nil, err
			}
		}
		dst = append(dst, v)
	}
	return dst, nil
}

func eigsOptions(o C.msrep_eigs_options, k, cols int64) (opt eigen.Options, err error) {
	maxIter, err1 := count("max_iter", o.max_iter)
	basis, err2 := count("basis", o.basis)
	if err = errors.Join(err1, err2, checkFlags(o.flags, C.MSREP_DETERMINISTIC)); err != nil {
		return opt, err
	}
	opt = eigen.Options{
		Count: int(k), Which: eigen.Which(text(o.which)), Sigma: float64(o.sigma), Tol: float64(o.tol), MaxIter: maxIter,
		Basis: basis, Seed: uint64(o.seed), Method: named(o.method), Deterministic: o.flags != 0,
	}
	if o.start != nil {
		start, err := readable[float64]("start", unsafe.Pointer(o.start), cols)
		if err != nil {
			return opt, err
		}
		opt.Start = slices.Clone(start)
	}
	return opt, nil
}
