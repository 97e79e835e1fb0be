package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/cmd/msrep/internal/nodes"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

var convertCommand = &command{
	name: "convert", args: "IN OUT",
	summary:   "convert a matrix file",
	details:   "The formats follow from the names: " + strings.Join(matio.Extensions(), " ") + ",\neach also compressed, with .gz or .zst after the name; .csv and .tsv, edge lists with ids of any kind, are only\nread. IN may also be a .tar.gz of the SuiteSparse collection,\nor gen:NAME:key=value,..., a generated matrix (see msrep gen --help). OUT may be IN: a file is replaced\nwhen the new one is complete.",
	example:   "msrep convert matrix.mtx.gz matrix.msr",
	opensNone: true,
	setup: func(c *call) func(context.Context) error {
		ids := c.flags.String("ids", "", "write the ids of the nodes of a .csv or .tsv edge list to `FILE`, one a line, for msrep pagerank --ids")
		transpose := c.flags.Bool("transpose", false, "write the transpose; of a graph, the links into each node, for msrep pagerank --in-links")
		weights := c.flags.String("weights", "auto", "`WEIGHTS` of a .csv or .tsv edge list: on (the third field, unless the header names another one weight), or auto (on if the header names a field weight)")
		return func(ctx context.Context) error {
			if err := c.want(2); err != nil {
				return err
			}
			if err := (choice{"--weights", *weights, []string{"auto", "on"}}).check(); err != nil {
				return err
			}
			return c.copyMatrix(ctx, c.args[0], c.args[1], *ids, *transpose, matio.WithEdges(matio.EdgeOptions{Weighted: *weights == "on"}))
		}
	},
}

var genCommand = &command{
	name: "gen", args: "NAME [key=value ...]",
	summary:   "make a matrix and write it to a file",
	more:      generators,
	example:   "msrep gen stencil dims=3 n=100 --out stencil.msr",
	opensNone: true,
	setup: func(c *call) func(context.Context) error {
		out := c.flags.String("out", "", "`FILE` to write; its extension sets the format")
		return func(ctx context.Context) error {
			if len(c.args) == 0 {
				return usageError("no generator given (see msrep gen --help)")
			}
			for _, a := range c.args {
				if strings.ContainsAny(a, ",:") {
					return usageError("%q: separate the name and the parameters by spaces, not by commas or colons", a)
				}
			}
			spec := c.args[0] + ":" + strings.Join(c.args[1:], ",")
			if err := gen.Check(spec); err != nil {
				return err
			}
			if *out == "" {
				return sparse.Inputf("--out", "is missing: name the file to write")
			}
			return c.copyMatrix(ctx, "gen:"+spec, *out, "", false)
		}
	},
}

// copyMatrix reads the matrix in with opts and writes it, or its transpose, to out. It writes the ids of its nodes to the
// file ids, if ids is not empty.
func (c *call) copyMatrix(ctx context.Context, in, out, ids string, transpose bool, opts ...matio.Option) error {
	if ids != "" && (ids == out || ids == in) {
		return sparse.Inputf("--ids", "%s: is a file of the matrix: name another one", ids)
	}
	file, err := matio.Create(out)
	if err != nil {
		return err
	}
	defer file.Close()
	var names *fileio.Out
	if ids != "" {
		if names, err = fileio.Create(ids); err != nil {
			return &sparse.InputError{Err: err}
		}
		defer names.Close()
	}
	m, err := c.readMatrix(ctx, in, opts...)
	if err != nil {
		return err
	}
	if names != nil {
		if m.Names == nil {
			return errors.Join(sparse.Inputf("--ids", "%s has no ids of nodes: only .csv and .tsv edge lists have them", in), m.Close())
		}
		if err := nodes.Write(names, m.Names); err != nil {
			return err
		}
	}
	if transpose {
		t := sparse.ToCSC(m.CSR)
		m.CSR = &sparse.CSR[float64]{Rows: t.Cols, Cols: t.Rows, RowPtr: t.ColPtr, ColIdx: t.RowIdx, Val: t.Val}
	}
	c.progress.doing("writing "+out, nil)
	f, keeps := m.Source.Field, file.Format() == matio.MatrixMarket || file.Format() == matio.HarwellBoeing
	if f == sparse.Integer && keeps && source.Field(m.Val, f) != f {
		c.warn(in + ": some values do not fit a signed 64-bit integer: the field of " + out + " is real")
	}
	if err := file.Write(m.CSR, m.Source); err != nil {
		return errors.Join(err, m.Close())
	}
	if names != nil {
		if err := names.Commit(); err != nil {
			return err
		}
	}
	if c.json {
		err = c.printJSON(struct {
			Out    string     `json:"out"`
			Matrix matrixName `json:"matrix"`
		}{out, matrixName{shortName(m.Name), m.Rows, m.Cols, m.NNZ()}})
	} else if !c.quiet {
		_, err = fmt.Fprintf(c.stdout, "%s  %d x %d, %d nonzeros\n", out, m.Rows, m.Cols, m.NNZ())
	}
	return errors.Join(err, m.Close())
}

func generators() string {
	var b strings.Builder
	b.WriteString("generators:\n")
	for _, g := range gen.Names() {
		fmt.Fprintf(&b, "  %-11s %s\n", g.Name, g.Summary)
		for _, p := range g.Params {
			name := p.Name
			if p.Default != "" {
				name += "=" + p.Default
			}
			fmt.Fprintf(&b, "              %-14s %s\n", name, p.Doc)
		}
	}
	return b.String()
}
