package experiment

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/bench"
	"github.com/msrep-go/msrep/bench/gpuruns"
	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/sparse"
)

var updateFigures = flag.Bool("update", false, "write the figures of README.md and docs/ anew")

// A figure of a document stands between two comments. The first one names the generator
// in docFigures that it comes from.
var figureMark = regexp.MustCompile(`(?s)(<!-- figure: ([a-z0-9-]+) -->)(.*?)(<!-- end -->)`)

// docFigures are the generators. Each gets the text that stands in the document and gives
// the one that should.
var docFigures = map[string]func(t *testing.T, old string) string{
	"pellr-means":   pellrMeans,
	"pellr-claims":  pellrCounted,
	"gpu-matrices":  gpuFigure(func(all []gpuRatio) string { return strconv.Itoa(len(matricesOf(all))) }),
	"gpu-ratio":     gpuFigure(func(all []gpuRatio) string { return meanRatio(all, func(gpuRatio) bool { return true }) }),
	"gpu-regular":   gpuFigure(func(all []gpuRatio) string { return meanRatio(all, func(r gpuRatio) bool { return r.regular }) }),
	"gpu-irregular": gpuFigure(func(all []gpuRatio) string { return meanRatio(all, func(r gpuRatio) bool { return !r.regular }) }),
	"gpu-range":     gpuFigure(ratioRange),
	"gpu-share":     gpuShares,
	"testdata-matrices": func(t *testing.T, _ string) string {
		return strconv.Itoa(len(corpus.Table(t, corpus.Testdata("products.tsv"))))
	},
}

// Every marked figure in README.md and docs/ is the one that its generator gives, and
// every generator has a figure. With -update the documents are written anew.
func TestFiguresInDocuments(t *testing.T) {
	docs := []string{filepath.Join(corpus.Root(), "README.md")}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		more, err := filepath.Glob(filepath.Join(corpus.Root(), pattern))
		require.NoError(t, err)
		docs = append(docs, more...)
	}
	used := map[string]bool{}
	for _, path := range docs {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		doc, err := filepath.Rel(corpus.Root(), path)
		require.NoError(t, err)
		marks := figureMark.FindAllStringSubmatch(string(text), -1)
		require.Len(t, marks, strings.Count(string(text), "<!-- figure:"), "%s: a figure without an end, or with a bad name", doc)
		for _, m := range marks {
			require.Contains(t, docFigures, m[2], "%s: no generator of that name", doc)
			used[m[2]] = true
		}
		now := figureMark.ReplaceAllStringFunc(string(text), func(s string) string {
			m := figureMark.FindStringSubmatch(s)
			want := docFigures[m[2]](t, m[3])
			if !*updateFigures && want != m[3] {
				t.Errorf("%s: figure %s is stale: go test ./bench/experiment -run FiguresInDocuments -update\nwant:\n%s\nit has:\n%s", doc, m[2], want, m[3])
			}
			return m[1] + want + m[4]
		})
		if *updateFigures && now != string(text) {
			require.NoError(t, os.WriteFile(path, []byte(now), 0o644))
		}
	}
	for name := range docFigures {
		require.True(t, used[name], "no document has figure %s", name)
	}
}

// countsFile is a table that msrep bench pellr --devices sim:dgx1 --mats MATRICES wrote.
func countsFile(t *testing.T, name string) [][]string {
	f, err := os.Open(filepath.Join(corpus.Root(), "bench", "results", "pellr-counts", name+".csv"))
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows
}

func float(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return x
}

// countedView are the matrices whose counts are kept in bench/results/pellr-counts.
func countedView(t *testing.T) *pellrView {
	v := &pellrView{}
	counts := map[string]map[sparse.Format]*bench.Counted{}
	for i, name := range []string{"warp", "sectors"} {
		rows := countsFile(t, name)
		for _, row := range rows[1:] {
			if counts[row[0]] == nil {
				counts[row[0]] = map[sparse.Format]*bench.Counted{}
			}
			for k, text := range row[1:] {
				f := sparse.Format(rows[0][1+k])
				if counts[row[0]][f] == nil {
					counts[row[0]][f] = &bench.Counted{}
				}
				if n, err := strconv.ParseInt(text, 10, 64); err != nil {
					require.Contains(t, []string{"", "-"}, text)
				} else if i == 0 {
					counts[row[0]][f].Instructs = n
				} else {
					counts[row[0]][f].Distinct = n
				}
			}
		}
	}
	for _, row := range countsFile(t, "matrices")[1:] {
		_, name, _ := strings.Cut(row[0], " ") // after its number
		require.Contains(t, counts, name)
		m := bench.PELLRMatrix{Name: name, Mean: float(t, row[3]), StdDev: float(t, row[4]), Spread: int64(float(t, row[5]))}
		for f, n := range counts[name] {
			m.Runs = append(m.Runs, bench.FormatRun{Format: f, Counted: *n})
		}
		v.matrices = append(v.matrices, m)
	}
	require.NotEmpty(t, v.matrices)
	return v
}

// threeDigits writes a number as the tables of docs/formats.md have it.
func threeDigits(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// counted writes the last two columns of a table anew, instructions and sectors; row
// gives them for the first column.
func counted(t *testing.T, old string, row func(first string, c pellrMeasure) string) string {
	v := countedView(t)
	lines := strings.Split(old, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || strings.Contains(line, "---") || strings.Contains(line, "instructions") {
			continue
		}
		for k, c := range v.measures() {
			cells[len(cells)-3+k] = " " + row(strings.TrimSpace(cells[1]), c) + " "
		}
		lines[i] = strings.Join(cells, "|")
	}
	return strings.Join(lines, "\n")
}

// pellrMeans are the means of all formats over PELLR, by sigma.
func pellrMeans(t *testing.T, old string) string {
	v := countedView(t)
	return counted(t, old, func(first string, c pellrMeasure) string {
		name, _, _ := strings.Cut(first, " (")
		f := sparse.Format(strings.TrimSuffix(name, ", our kernel"))
		var three []string
		for _, by := range [][2]float64{{-1, 3}, {3, 10}, {10, math.Inf(1)}} {
			mean := v.mean(c, f, sigma(by[0], by[1]))
			require.False(t, math.IsNaN(mean), "%s: no counts", f)
			three = append(three, threeDigits(mean))
		}
		return strings.Join(three, ", ")
	})
}

// pellrCounted are the statements of the paper; bold where they hold.
func pellrCounted(t *testing.T, old string) string {
	v := countedView(t)
	next := -1
	return counted(t, old, func(first string, c pellrMeasure) string {
		if c.name == v.measures()[0].name {
			next++
		}
		require.Less(t, next, len(pellrClaims), "more rows than statements")
		claim := pellrClaims[next]
		x := claim.value(v, c)
		text := threeDigits(x)
		if strings.HasSuffix(first, "% of matrices") {
			text = fmt.Sprintf("%.0f", x)
		}
		if claim.holds(x) {
			return "**" + text + "**"
		}
		return text
	})
}

// The counts that are kept are those of the kernels as they are now: of the matrix in
// testdata always, of all where the collection is at hand.
func TestKeptCountsAreThoseOfTheKernels(t *testing.T) {
	recount := func(t *testing.T, paths []string) {
		all, err := bench.PELLR{Paths: paths}.Measure(t.Context())
		require.NoError(t, err)
		require.Len(t, all, len(paths))
		kept := countedView(t)
		for _, m := range all {
			i := slices.IndexFunc(kept.matrices, func(k bench.PELLRMatrix) bool { return k.Name == m.Name })
			require.GreaterOrEqual(t, i, 0, m.Name)
			for _, r := range kept.matrices[i].Runs {
				now, ok := m.Run(r.Format)
				require.True(t, ok)
				require.Equal(t, [2]int64{now.Instructs, now.Distinct}, [2]int64{r.Instructs, r.Distinct},
					"%s %s: kept counts are stale; write them anew as bench/results/README.md says", m.Name, r.Format)
			}
		}
	}
	t.Run("testdata", func(t *testing.T) { recount(t, []string{corpus.Testdata("memplus.mtx.gz")}) })
	t.Run("collection", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes half a minute")
		}
		var paths []string
		for _, m := range countedView(t).matrices {
			paths = append(paths, corpus.Shared(t, "matrices", m.Name+".mtx.gz"))
		}
		recount(t, paths)
	})
}

// gpuRatio is a product on the H100: the time of the best rival by that of the plan.
type gpuRatio struct {
	matrix  string
	regular bool
	ratio   float64
}

// keptRun is the folder of the H100's results that the documents quote.
func keptRun() string { return filepath.Join(corpus.Root(), "bench", "results", "2026-11-26-h100") }

// regular says that a matrix is a stencil or a band.
func regular(matrix string) bool {
	return strings.Contains(matrix, "stencil") || strings.Contains(matrix, "banded")
}

// gpuFigure is a generator from the results that are kept of the H100.
func gpuFigure(text func([]gpuRatio) string) func(*testing.T, string) string {
	return func(t *testing.T, _ string) string {
		run, err := gpuruns.Read(keptRun())
		require.NoError(t, err)
		var all []gpuRatio
		for i := range run.Products {
			p := &run.Products[i]
			best := math.Inf(1)
			for _, rival := range rivals {
				if s, ok := p.Seconds[rival]; ok {
					best = min(best, s)
				}
			}
			r := gpuRatio{matrix: p.Matrix, regular: regular(p.Matrix), ratio: best / p.Seconds[gpuruns.Auto]}
			require.False(t, math.IsInf(r.ratio, 0) || math.IsNaN(r.ratio), p.Matrix)
			all = append(all, r)
		}
		require.NotEmpty(t, all)
		return text(all)
	}
}

func matricesOf(all []gpuRatio) map[string]bool {
	names := map[string]bool{}
	for _, r := range all {
		names[r.matrix] = true
	}
	return names
}

func meanRatio(all []gpuRatio, pick func(gpuRatio) bool) string {
	var of []float64
	for _, r := range all {
		if pick(r) {
			of = append(of, r.ratio)
		}
	}
	return fmt.Sprintf("%.2f", geometricMean(of))
}

// extent is "least to most".
func extent(of []float64) string { return fmt.Sprintf("%.2f to %.2f", slices.Min(of), slices.Max(of)) }

func ratioRange(all []gpuRatio) string {
	var of []float64
	for _, r := range all {
		of = append(of, r.ratio)
	}
	return extent(of)
}

// gpuShares is what share of the bandwidth of copies the fastest own kernel reaches, on
// stencils and bands, by the least bytes that its form moves.
func gpuShares(t *testing.T, _ string) string {
	text, err := os.ReadFile(filepath.Join(keptRun(), "results.jsonl"))
	require.NoError(t, err)
	var bandwidth float64
	speed := map[string]float64{} // of the fastest form of a matrix and a type of values
	least := map[string]float64{} // its time
	for line := range strings.Lines(string(text)) {
		var l struct {
			What, Matrix, Value string
			Rate                float64 `json:"gb_per_s"`
			Forms               []struct {
				Form    string
				Seconds float64
				Rate    float64 `json:"gb_per_s"`
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		if l.What == "copy" {
			bandwidth = l.Rate
		}
		if l.What != "product" || !regular(l.Matrix) {
			continue
		}
		key := l.Matrix + " " + l.Value
		for _, f := range l.Forms {
			own := f.Form == gpuruns.Vector || f.Form == gpuruns.Merge || f.Form == gpuruns.Slices
			if before, ok := least[key]; own && f.Seconds > 0 && (!ok || f.Seconds < before) {
				least[key], speed[key] = f.Seconds, f.Rate
			}
		}
	}
	require.NotEmpty(t, speed)
	var shares []float64
	for _, s := range speed {
		shares = append(shares, s/bandwidth)
	}
	return extent(shares)
}
