package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/internal/source"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

var convertCommand = &command{
	name: "convert", args: "IN OUT",
	summary:   "convert a matrix file",
	details:   "The formats follow from the names: " + strings.Join(matio.Extensions(), " ") + ",\neach also gzipped, with .gz after the name. IN may also be a .tar.gz of the SuiteSparse collection,\nor gen:NAME:key=value,..., a generated matrix (see msrep gen --help). OUT may be IN: a file is replaced\nwhen the new one is complete.",
	example:   "msrep convert matrix.mtx.gz matrix.msr",
	opensNone: true,
	setup: func(c *call) func(context.Context) error {
		return func(ctx context.Context) error {
			if err := c.want(2); err != nil {
				return err
			}
			return c.copyMatrix(ctx, c.args[0], c.args[1])
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
			return c.copyMatrix(ctx, "gen:"+spec, *out)
		}
	},
}

// copyMatrix reads the matrix in and writes it to out.
func (c *call) copyMatrix(ctx context.Context, in, out string) error {
	file, err := matio.Create(out)
	if err != nil {
		return err
	}
	defer file.Close()
	m, err := matio.Read(ctx, in)
	if err != nil {
		return err
	}
	c.note(in, m.Source)
	f, keeps := m.Source.Field, file.Format() == matio.MatrixMarket || file.Format() == matio.HarwellBoeing
	if f == sparse.Integer && keeps && source.Field(m.Val, f) != f {
		c.warn(in + ": some values do not fit a signed 64-bit integer: the field of " + out + " is real")
	}
	if err := file.Write(m.CSR, m.Source); err != nil {
		return errors.Join(err, m.Close())
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
