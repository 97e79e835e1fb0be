package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// explanation is the form in which a device would keep its part, and the reason.
type explanation struct {
	Device string       `json:"device"`
	Form   kernels.Form `json:"form"`
	Why    string       `json:"why"`
	Bytes  int64        `json:"bytes"`
	TookS  float64      `json:"took_s"`
	Doubt  float64      `json:"doubt"` // kernels.PackInfo.Doubt
	Tried  []tried      `json:"tried"`
}

// tried is a form that a device considered.
type tried struct {
	Form     kernels.Form `json:"form"`
	Why      string       `json:"why"`
	ProductS float64      `json:"product_s,omitempty"`
	BuildS   float64      `json:"build_s,omitempty"`
	Bytes    int64        `json:"bytes,omitempty"`
	Skipped  string       `json:"skipped,omitempty"`
}

// explain packs the matrix as a plan does and returns which forms each device considered.
func explain(ctx context.Context, c *call, a *sparse.CSR[float64]) (out []explanation, err error) {
	sys, err := msrep.Open(msrep.Config{Devices: c.devices, Threads: c.threads, Warn: c.warn})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{SkipValidation: true})
	if err != nil {
		return nil, err
	}
	for i, p := range plan.Packed(msrep.NoTrans) {
		e := explanation{Device: sys.Devices()[i].ID, Form: p.Form, Why: p.Why, Bytes: p.Bytes, TookS: p.Took.Seconds(), Doubt: p.Doubt, Tried: []tried{}}
		for _, t := range p.Tried {
			e.Tried = append(e.Tried, tried{t.Form, t.Why, t.Product.Seconds(), t.Build.Seconds(), t.Bytes, t.Skipped})
		}
		out = append(out, e)
	}
	return out, nil
}

// printExplanation prints explanations as text.
func printExplanation(c *call, all []explanation) {
	if len(all) > 0 {
		fmt.Fprintln(c.stdout, "forms that a plan would use, with measured times:")
	}
	for _, e := range all {
		if e.Form == "" {
			fmt.Fprintf(c.stdout, "%-8s keeps its part as it is\n", e.Device)
			continue
		}
		fmt.Fprintf(c.stdout, "%-8s form %s: %s; %s, found in %s\n", e.Device, e.Form, e.Why, memoryOf(e.Bytes), seconds(e.TookS))
		for _, t := range e.Tried {
			if t.Skipped != "" {
				fmt.Fprintf(c.stdout, "  %-19s not timed: %s (%s)\n", t.Form, t.Skipped, t.Why)
				continue
			}
			fmt.Fprintf(c.stdout, "  %-19s product %s, made in %s, %s (%s)\n", t.Form, seconds(t.ProductS),
				time.Duration(t.BuildS*1e9).Round(time.Microsecond), memoryOf(t.Bytes), t.Why)
		}
	}
}

// memoryOf returns the memory of a form as text. A form with 0 bytes uses the matrix in place.
func memoryOf(bytes int64) string {
	if bytes == 0 {
		return "in place"
	}
	return fmt.Sprintf("%d bytes", bytes)
}
