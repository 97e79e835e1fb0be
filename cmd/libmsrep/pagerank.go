//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unsafe"

	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse"
)

//export msrepgo_pagerank
func msrepgo_pagerank(system C.msrep_system, matrix *C.msrep_matrix, n C.int64_t, ranks *C.double, options *C.msrep_pagerank_options, result *C.msrep_pagerank_result) C.msrep_status {
	return call(func() error {
		o, err := readStruct("options", options)
		if err != nil {
			return err
		}
		if err := writeStruct("result", result, C.msrep_pagerank_result{}); err != nil {
			return err
		}
		sys, err := get[*openSystem](uint64(system))
		if err != nil {
			return err
		}
		r := begin(uint64(system), 0)
		defer r.end()
		out, err := view[float64]("ranks", unsafe.Pointer(ranks), int64(n))
		if err != nil {
			return err
		}
		g, err := readMatrix(matrix)
		if err != nil {
			return err
		}
		if n != g.m.rows {
			return sparse.Inputf("ranks", "%d elements: the matrix has %d rows", int64(n), int64(g.m.rows))
		}
		if err := touch("ranks", out, true); err != nil {
			return err
		}
		opt, err := pageRankOptions(o, int64(n))
		if err != nil {
			return err
		}
		a, err := loadMatrix[float64](g, false)
		if err != nil {
			return err
		}
		if err := a.Validate(); err != nil {
			return err
		}
		began := time.Now()
		var res *graph.Result
		_, ended, err := r.supervise(progress{o.progress, o.arg}, func(ctx context.Context, report func(int, float64)) (err error) {
			res, err = graph.PageRank(ctx, sys.sys, sparse.ToCSR(a), opt)
			return err
		})
		var c C.msrep_pagerank_result
		if ended && res != nil {
			copy(out, res.Ranks)
			c.iterations, c.residual, c.dangling = C.int64_t(res.Iterations), C.double(res.Residual), C.int64_t(res.Dangling)
			if err == nil && !res.Converged {
				err = &unconverged{res.Iterations, res.Residual}
			}
		}
		c.seconds = C.double(time.Since(began).Seconds())
		return cmp.Or(err, writeStruct("result", result, c))
	})
}

func pageRankOptions(o C.msrep_pagerank_options, n int64) (opt graph.Options, err error) {
	if err := checkFlags(o.flags, 0); err != nil {
		return opt, err
	}
	opt = graph.Options{Damping: float64(o.damping), Tol: float64(o.tol), Weighted: o.weighted != 0, Dangling: graph.Dangling(text(o.dangling))}
	if opt.MaxIter, err = count("max_iter", o.max_iter); err != nil {
		return opt, err
	}
	for _, v := range []struct {
		name string
		p    *C.double
		dst  *[]float64
	}{{"teleport", o.teleport, &opt.Teleport}, {"start", o.start, &opt.Start}} {
		if v.p == nil {
			continue
		}
		given, err := readable[float64](v.name, unsafe.Pointer(v.p), n)
		if err != nil {
			return opt, err
		}
		*v.dst = slices.Clone(given)
	}
	return opt, nil
}
