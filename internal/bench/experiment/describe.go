package experiment

import (
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/kernels/nvidia"
)

// describe writes the facts about the run and the machine into the report.
func (s *Session) describe() {
	m := &s.Record.Machine
	or := func(v, other string) string {
		if v == "" {
			return other
		}
		return v
	}
	s.Page.Facts = [][2]string{
		{"Command", "msrep " + strings.Join(s.Record.Command, " ")},
		{"Started", s.Record.Started.Format("2006-01-02 15:04 UTC")},
		{"Processor", fmt.Sprintf("%s, %d cores, %d threads in use, L2 %d KiB, L3 %d KiB; kernels for %s", m.CPU, m.Cores, m.Threads, m.L2>>10, m.L3>>10, m.Kernels)},
		{"Memory", fmt.Sprintf("%.1f GiB in %d NUMA nodes; pure reads reach %.1f GB/s", float64(m.Memory)/(1<<30), m.NUMANodes, m.Bandwidth/1e9)},
		{"Governor", or(m.Governor, "not reported by the system")},
		{"GPUs", or(strings.Join(m.GPUs, ", "), "none") + "; driver: " + or(m.Driver, "none")},
		{"CUDA", aboutCUDA(m.CUDA)},
		{"System", m.OS + " " + m.Kernel},
		{"Program", fmt.Sprintf("msrep %s, commit %s, %s", m.Version, or(m.Commit, "unknown"), m.Go)},
		{"Caches", s.aboutCaches()},
		{"Clock", fmt.Sprintf("%.0f ns for each reading", 1e9*m.ClockCost)},
		{"Method", s.aboutMethod()},
	}
	outliers, samples := 0, 0
	for _, r := range s.Record.Rows {
		if r.Source == record.Measured {
			outliers, samples = outliers+r.Outliers, samples+r.N
		}
	}
	s.Page.Facts = append(s.Page.Facts, [2]string{"Outliers", fmt.Sprintf("%d of %d measured samples, all kept", outliers, samples)})
	if s.platform != nil {
		s.Page.Facts = append(s.Page.Facts, [2]string{"Modelled node", s.platform.Title + ": none of its times is measured; the section about the model has its parameters and sources"})
	}
}

// aboutCUDA returns the GPUs and the versions of CUDA, or the reason for their absence.
func aboutCUDA(c nvidia.Status) string {
	if c.Reason != "" {
		return "no GPUs: " + c.Reason
	}
	var names []string
	for _, g := range c.GPUs {
		names = append(names, g.Name)
	}
	return fmt.Sprintf("%s; driver for %s, built for %s, cuSPARSE %s", strings.Join(names, ", "), c.Driver, c.Headers, c.CuSPARSE)
}

// aboutCaches describes the state of the caches before a product.
func (s *Session) aboutCaches() string {
	if s.Cache == CacheCold {
		return "cold: before each product all cores read memory four times as large as the last-level cache; each sample is one product"
	}
	return "warm: products follow each other directly, and find the caches as the last product left them"
}

// aboutMethod describes the sampling.
func (s *Session) aboutMethod() string {
	if s.method != "" {
		return s.method
	}
	o := s.Options
	text := fmt.Sprintf("after %v of warm-up, %d to %d samples until the medians of all quantities are known to %.0f %% or %v have passed; a sample takes at least %v", o.Warmup, o.MinSamples, o.MaxSamples, 100*o.RelErr, o.MaxTime, o.MinSample)
	if s.Passes > 1 {
		text += fmt.Sprintf("; the same in each of %d passes over all cases of the MSREP paper, whose samples are combined", s.Passes)
	}
	return text + "; intervals are 95 % of the median; no sample is dropped"
}
