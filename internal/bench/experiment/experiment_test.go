package experiment

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

// quick returns options for a fast and inaccurate run.
func quick(devices string, entries int64) Config {
	return Config{Devices: devices, Entries: entries, Options: measure.Options{RelErr: 1, MinSamples: 2, MaxSamples: 2, MaxTime: time.Millisecond}}
}

func session(t *testing.T, c Config, names ...string) *Session {
	t.Helper()
	s, err := New(c, record.New("test", []string{"bench"}))
	require.NoError(t, err)
	var chosen []Experiment
	for _, e := range All() {
		for _, name := range names {
			if e.Name == name {
				chosen = append(chosen, e)
			}
		}
	}
	require.Len(t, chosen, len(names))
	require.NoError(t, s.Run(context.Background(), chosen))
	require.Len(t, s.Page.Sections, len(names))
	return s
}

// requireFull checks that figures and tables are complete, and that nothing modelled is called measured.
func requireFull(t *testing.T, s *Session) {
	t.Helper()
	for _, sec := range s.Page.Sections {
		require.NotEmpty(t, sec.Intro, sec.Name)
		require.NotEmpty(t, sec.Remarks, sec.Name)
		for _, f := range sec.Figures {
			require.NotEmpty(t, f.Series, f.Name)
			for _, line := range f.Series {
				require.NotEmpty(t, line.X, "%s %s", f.Name, line.Name)
				require.Len(t, line.Y, len(line.X))
				for _, v := range line.Y {
					require.False(t, math.IsNaN(v) || math.IsInf(v, 0) || v < 0, "%s %s %v", f.Name, line.Name, line.Y)
				}
				if s.platform != nil {
					require.NotEqual(t, plot.Measured, line.Origin, f.Name)
				} else if line.Origin == plot.Modelled {
					require.True(t, strings.HasPrefix(f.Name, "model-"))
				}
			}
		}
		for _, table := range sec.Tables {
			require.NotEmpty(t, table.Rows, table.Name)
			for _, row := range table.Rows {
				require.Len(t, row, len(table.Header), table.Name)
			}
		}
	}
}

func TestFigure6IsComparedWithThePapers(t *testing.T) {
	steps := 0
	c := quick("cpu:8", 40_000)
	c.Progress = func(done, total int, _ string) {
		require.Less(t, done, total)
		steps++
	}
	s := session(t, c, "msrep-fig6")
	requireFull(t, s)
	require.Equal(t, 64, steps)
	require.Len(t, s.Record.Rows, 3*64)
	require.Equal(t, "559", s.Page.Sections[0].Tables[1].Rows[4][1])
	require.Len(t, s.Page.Sections[0].Tables, 5)
}

func TestFigure6IsModelledAsThePaperFoundIt(t *testing.T) {
	s := session(t, quick("sim:dgx1", 100_000), "msrep-fig6")
	requireFull(t, s)
	for _, r := range s.Record.Rows {
		require.Equal(t, record.Modelled, r.Source)
	}
	blocks := s.Page.Sections[0].Figures[0]
	for i := 0; i+1 < len(blocks.Series); i += 2 {
		require.InDeltaSlice(t, blocks.Series[i+1].Y, blocks.Series[i].Y, 0.06, blocks.Series[i].Name)
	}
	for _, line := range s.Page.Sections[0].Figures[1].Series {
		if line.Origin == plot.Modelled {
			require.InDelta(t, 1, line.Y[0], 0.1)
		}
	}
}

func TestTheFiguresOfThePaperAreMeasured(t *testing.T) {
	s := session(t, quick("cpu:2", 3000), "msrep-fig16", "msrep-fig17", "msrep-fig18", "msrep-fig19", "msrep-fig20", "msrep-fig21", "msrep-fig22", "msrep-fig23")
	requireFull(t, s)
	for _, sec := range s.Page.Sections {
		require.GreaterOrEqual(t, len(sec.Figures), 3, sec.Name)
	}
	require.Positive(t, s.Record.Machine.Bandwidth)
	require.NotEmpty(t, s.Page.Facts)
	six := s.Page.Sections[7].Intro[0] // its runs are those of Figure 22
	require.Contains(t, six, "node of Summit")
	require.Contains(t, six, "gen:like=mouse_gene,")
	require.Contains(t, six, "gen:like=HV15R,")
}

func TestMappedMatricesAreUnmapped(t *testing.T) {
	c := quick("cpu:1", 3000)
	c.Mats = t.TempDir()
	a, src, err := gen.Generate("like=HV15R,scale=1e-5")
	require.NoError(t, err)
	require.NoError(t, matio.Write(filepath.Join(c.Mats, "HV15R.msr"), a, src))
	s, err := New(c, record.New("test", nil))
	require.NoError(t, err)
	var mapped *matio.Matrix
	look := Experiment{"look", "", func(ctx context.Context, s *Session) error {
		_, err := s.load(ctx, "HV15R")
		mapped = s.matrix.file
		return err
	}}
	require.NoError(t, s.Run(t.Context(), []Experiment{look}))
	require.Contains(t, s.from["HV15R"], "HV15R.msr (")
	require.NotNil(t, mapped)
	require.Nil(t, s.matrix.file)
	require.Empty(t, mappings(t, c.Mats))
}

// mappings returns the mappings of this process for files in a folder.
func mappings(t *testing.T, dir string) (lines []string) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("the system does not tell")
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, dir) {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTheFiguresOfThePaperAreModelledOnBothNodes(t *testing.T) {
	for _, devices := range []string{"sim:dgx1", "sim:summit"} {
		names := []string{"msrep-fig16", "msrep-fig19", "msrep-fig20", "msrep-fig21", map[string]string{"sim:dgx1": "msrep-fig22", "sim:summit": "msrep-fig23"}[devices], "outcomes"}
		s := session(t, quick(devices, 3000), names...)
		requireFull(t, s)
		for _, r := range s.Record.Rows {
			require.Equal(t, record.Modelled, r.Source)
			require.Empty(t, r.Samples)
		}
	}
}

func TestTheModelledShareOfPhasesAddsUp(t *testing.T) {
	s := session(t, quick("sim:dgx1", 3000), "msrep-fig17", "msrep-fig19")
	requireFull(t, s)
	for _, sec := range s.Page.Sections {
		for _, f := range sec.Figures {
			for _, line := range f.Series {
				for _, v := range line.Y {
					require.LessOrEqual(t, v, 100.0)
				}
			}
		}
	}
}

func TestTheModelIsComparedWithTheAuthorsTimes(t *testing.T) {
	s := session(t, quick("cpu:1", 20_000), "model")
	requireFull(t, s)
	errs := s.Page.Sections[0].Tables[0]
	require.Equal(t, []string{"DGX-1", "partition", "72"}, errs.Rows[0][:3])
	require.Len(t, errs.Rows, 4*5)
}

func TestTheModelledScalingReachesItsAimsWithRowsLeftWhole(t *testing.T) {
	s := session(t, quick("cpu:1", 300_000), "model")
	aims := map[string]float64{"model-dgx1": 7.6, "model-summit": 5.8}
	for _, table := range s.Page.Sections[0].Tables {
		aim, ok := aims[table.Name]
		if !ok {
			continue
		}
		delete(aims, table.Name)
		mean := table.Rows[len(table.Rows)-1]
		resident, err := strconv.ParseFloat(mean[3], 64)
		require.NoError(t, err)
		require.GreaterOrEqual(t, resident, aim, table.Name)
		byNNZ, err := strconv.ParseFloat(mean[2], 64)
		require.NoError(t, err)
		require.Greater(t, resident, byNNZ)
		for _, row := range table.Rows[:6] {
			require.Equal(t, "whole", row[8])
		}
	}
	require.Empty(t, aims, "both nodes have a table")
}

func TestHeldOutRunsWithinALimitAreCounted(t *testing.T) {
	s := session(t, quick("cpu:1", 3000), "model")
	table := s.Page.Sections[0].Tables[1]
	require.Equal(t, "model-within", table.Name)
	require.Len(t, table.Rows, 6)
	for _, row := range table.Rows {
		within, err := strconv.Atoi(row[3])
		require.NoError(t, err)
		all, err := strconv.Atoi(row[4])
		require.NoError(t, err)
		require.Greater(t, within, all/2, row)
		require.Less(t, within, all, row)
	}
}

func TestProductsOfVectorsAreModelledBeforeAndAfterEachStep(t *testing.T) {
	s := session(t, quick("cpu:1", 300_000), "apply")
	requireFull(t, s)
	require.Len(t, s.Record.Rows, 3*8*7)
	tables := map[string]plot.Table{}
	for _, table := range s.Page.Sections[0].Tables {
		tables[table.Name] = table
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return v
	}
	for _, name := range []string{"apply-h100", "apply-dgx1", "apply-summit"} {
		rows := tables[name].Rows
		require.Len(t, rows, 8)
		for k, row := range rows {
			before, placed, reordered := number(row[2]), number(row[6]), number(row[7])
			if k < 6 { // stencils and bands
				require.Greater(t, placed, before, row)
			}
			require.GreaterOrEqual(t, reordered, placed, row)
		}
		rmat := rows[7]
		require.NotEqual(t, "as it is", rmat[9])
		require.Greater(t, number(rmat[8]), 1.2*number(rmat[6]), name)
	}
	// Stencils are counted in full whatever the number of entries, so that the aims can be checked here.
	require.GreaterOrEqual(t, number(tables["apply-dgx1"].Rows[0][6]), 7.2)
	require.GreaterOrEqual(t, number(tables["apply-summit"].Rows[0][6]), 5.5)
	require.GreaterOrEqual(t, number(tables["apply-h100"].Rows[0][6]), 7.2)
	require.Len(t, tables["apply-products"].Rows, 13)
}

func TestInvalidConfigurationsAreRefused(t *testing.T) {
	for _, devices := range []string{"cpu:0", "cpu:x", "cpu:65", "sim:4", "sim:dgx2", "cuda", "cpu:", "gpu"} {
		_, err := New(quick(devices, 1000), record.New("test", nil))
		require.True(t, sparse.IsInput(err), devices)
	}
	_, err := New(quick("cpu", 0), record.New("test", nil))
	require.True(t, sparse.IsInput(err))
	s, err := New(quick("auto", 10), record.New("test", nil))
	require.NoError(t, err)
	require.Equal(t, 8, s.most)
	require.Equal(t, []int{1, 2, 4, 8}, s.counts())
}

func TestRunsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, e := range All() {
		c := quick("cpu:2", 2000)
		c.Progress = func(int, int, string) { cancel() }
		s, err := New(c, record.New("test", nil))
		require.NoError(t, err)
		require.ErrorIs(t, s.Run(ctx, []Experiment{e}), context.Canceled, e.Name)
	}
}

func TestFigure6EndsInTheMiddleOfAProduct(t *testing.T) {
	for wait := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(wait)*4*time.Millisecond)
		c := quick("cpu:2", 200_000)
		c.Options.MinSamples, c.Options.MaxSamples = 1000, 1000
		s, err := New(c, record.New("test", nil))
		require.NoError(t, err)
		require.ErrorIs(t, s.Run(ctx, All()[:1]), context.DeadlineExceeded)
		cancel()
	}
}
