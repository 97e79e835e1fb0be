package docs

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/bench/experiment"
	"github.com/msrep-go/msrep/internal/bench/gpuruns"
	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
	"github.com/msrep-go/msrep/sparse/matio"
)

// generators make the figures. One that needs what is not here skips the test.
var generators = map[string]func(t *testing.T) string{
	"go-version": func(t *testing.T) string {
		return regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, filepath.Join(corpus.Root(), "go.mod")))[1]
	},
	"forms": func(*testing.T) string { return number(len(cpu.Forms()) - len(ellpack.Formats())) },
	"mpi-functions": func(t *testing.T) string {
		called := map[string]bool{}
		files, err := filepath.Glob(filepath.Join(corpus.Root(), "cluster", "mpi", "*"))
		require.NoError(t, err)
		for _, f := range files {
			for _, name := range regexp.MustCompile(`\bMPI_[A-Z][a-z]+(?:_[a-z]+)*\(`).FindAllString(readFile(t, f), -1) {
				called[name] = true
			}
		}
		return fmt.Sprint(len(called))
	},
	"c-functions": func(t *testing.T) string {
		header := readFile(t, filepath.Join(corpus.Root(), "cmd", "libmsrep", "msrep.h"))
		return number(len(regexp.MustCompile(`(?m)^(?:msrep_status|const char \*)\s*msrep_\w+\(`).FindAllString(header, -1)))
	},
	"matrices-here": func(t *testing.T) string {
		files, err := filepath.Glob(corpus.Testdata("*.mtx.gz"))
		require.NoError(t, err)
		return fmt.Sprint(len(files))
	},
	"matrices-all":     func(t *testing.T) string { all, _ := collection(t); return fmt.Sprint(all) },
	"matrices-real":    func(t *testing.T) string { all, complex := collection(t); return fmt.Sprint(all - complex) },
	"matrices-complex": func(t *testing.T) string { _, complex := collection(t); return upper(number(complex)) },

	"cases-msrep":     func(t *testing.T) string { return cases(t, "msrep/main_test.go") },
	"cases-partition": func(t *testing.T) string { return cases(t, "partition/helpers_test.go") },

	"partition-example": partitionExample,

	"exchange-table":      exchangeTable,
	"exchange-slashdot":   func(t *testing.T) string { return megabytes(exchange(t, "soc-Slashdot0902", 16).Bytes) },
	"exchange-grid-2":     func(t *testing.T) string { return kilobytes(exchange(t, "gen:stencil:dims=3,n=100", 2).Bytes) },
	"exchange-grid-16":    func(t *testing.T) string { return megabytes(exchange(t, "gen:stencil:dims=3,n=100", 16).Bytes) },
	"exchange-grid-4096":  func(t *testing.T) string { return megabytes(exchange(t, "gen:stencil:dims=3,n=100", 4096).Bytes) },
	"pellr-claims":        pellrClaims,
	"pellr-matrices":      func(t *testing.T) string { return fmt.Sprint(len(pellr(t).Tables[2].Rows)) },
	"recommended-formats": recommendedFormats,
	"recommended-gpu":     recommendedOnGPU,

	"h100-table":           h100Table,
	"h100-mean":            func(t *testing.T) string { return h100(t, func(h100Product) bool { return true }).mean() },
	"h100-range":           func(t *testing.T) string { return h100(t, func(h100Product) bool { return true }).span() },
	"h100-regular":         func(t *testing.T) string { return h100(t, h100Product.regular).mean() },
	"h100-regular-range":   func(t *testing.T) string { return h100(t, h100Product.regular).span() },
	"h100-irregular":       func(t *testing.T) string { return h100(t, h100Product.irregular).mean() },
	"h100-irregular-range": func(t *testing.T) string { return h100(t, h100Product.irregular).span() },
	"h100-own-mean":        func(t *testing.T) string { return h100Own(t).mean() },
	"h100-own-range":       func(t *testing.T) string { return h100Own(t).span() },
	"h100-partition":       func(t *testing.T) string { return h100Phases(t, "", 0) },
	"h100-merge":           func(t *testing.T) string { return h100Phases(t, "", 1) },
	"h100-partition-four":  func(t *testing.T) string { return h100Phases(t, "cuda:0,0,0,0", 0) },
	"h100-bicgstab":        func(t *testing.T) string { return fmt.Sprintf("%.2f ms", h100Iteration(t, "solve bicgstab", "s7")/1e3) },
	"h100-pagerank": func(t *testing.T) string {
		return fmt.Sprintf("%.0f ms", h100Iteration(t, "pagerank cpms2", "rmat")/1e3)
	},
	"h100-copy": h100Copy,
	"h100-share": func(t *testing.T) string {
		shares := ratios{}
		for _, p := range h100Products(t) {
			if p.regular() {
				shares = append(shares, p.share)
			}
		}
		return shares.span()
	},
}

var words = []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}

// number writes small numbers as words.
func number(n int) string {
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func kilobytes(n int64) string { return fmt.Sprintf("%.0f kB", float64(n)/1e3) }

func megabytes(n int64) string {
	if n < 10e6 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

// cases is how many random cases the tests of a package run.
func cases(t *testing.T, file string) string {
	m := regexp.MustCompile(`cases\.Main\(m, "(\d+)"\)`).FindStringSubmatch(readFile(t, filepath.Join(corpus.Root(), filepath.FromSlash(file))))
	require.NotNil(t, m, file)
	n, err := strconv.ParseInt(m[1], 10, 64)
	require.NoError(t, err)
	return thousands(n)
}

// collection counts the matrices of the test collection, and the complex ones.
func collection(t *testing.T) (all, complex int) {
	for _, row := range corpus.Table(t, corpus.Shared(t, "matrices", "INDEX.tsv")) {
		all++
		if row["field"] == "complex" {
			complex++
		}
	}
	return all, complex
}

// read reads a matrix of the collection, or generates one.
func read(t *testing.T, name string) *sparse.CSR[float64] {
	if !strings.HasPrefix(name, "gen:") {
		name = corpus.Shared(t, "matrices", name+".mtx.gz")
	}
	m, err := matio.Read(t.Context(), name)
	require.NoError(t, err)
	t.Cleanup(func() { m.Close() })
	return m.CSR
}

// markdown is a table.
func markdown(header []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(header)
	b.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// partitionExample is the split of the MSREP paper's Figure 1 among four parts.
func partitionExample(t *testing.T) string {
	ptr := []int64{0, 2, 5, 8, 12, 16, 19}
	parts, _, err := partition.Split(ptr, 4, partition.RuleNNZ)
	require.NoError(t, err)
	var rows [][]string
	for i, p := range parts {
		local, err := partition.OwnPtr(ptr, p)
		require.NoError(t, err)
		flag, carry := "no", "-"
		if p.StartFlag {
			flag, carry = "yes", fmt.Sprintf("row %d", p.StartMajor)
		}
		owns := []string{}
		for r := p.OwnFirst; r < p.OwnEnd; r++ {
			owns = append(owns, fmt.Sprint(r))
		}
		rows = append(rows, []string{fmt.Sprint(i), fmt.Sprintf("%d to %d", p.StartIdx, p.EndIdx), fmt.Sprintf("%d to %d", p.StartMajor, p.EndMajor),
			flag, strings.Join(owns, ", "), carry, strings.Trim(fmt.Sprint(local), "[]")})
	}
	return markdown([]string{"part", "entries", "rows", "`StartFlag`", "owns", "carry to", "local row pointers"}, rows)
}

func exchange(t *testing.T, name string, ranks int) cluster.Exchange {
	e, err := cluster.Model(read(t, name), ranks, 1, 8)
	require.NoError(t, err)
	return e
}

func exchangeTable(t *testing.T) string {
	var rows [][]string
	a := read(t, "cnr-2000")
	for _, n := range []int{2, 16, 4096} {
		e, err := cluster.Model(a, n, 1, 8)
		require.NoError(t, err)
		rows = append(rows, []string{fmt.Sprint(n), fmt.Sprintf("%.4f", e.Imbalance), fmt.Sprintf("%.1f %%", 100*e.Local), thousands(e.Bytes),
			thousands(e.MaxBytes), fmt.Sprint(e.MaxPeers)})
	}
	table := markdown([]string{"ranks", "imbalance", "entries in local columns", "bytes, all ranks", "bytes, largest", "messages, largest"}, rows)
	return strings.ReplaceAll(table, "|---", "|---:") // numbers, to the right
}

func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// interpreted is the most steps of threads of a product that these tests interpret.
const interpreted = 1 << 20

var pellrSection *plot.Section

// pellr is what the interpreter counts in msrep bench pellr.
func pellr(t *testing.T) *plot.Section {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if pellrSection == nil {
		c := experiment.Config{Devices: "sim:dgx1", Entries: 300_000, Mats: corpus.Shared(t, "matrices"), Interpreted: interpreted,
			Options: measure.Options{RelErr: 1, MinSamples: 2, MaxSamples: 2, MaxTime: time.Millisecond}}
		s, err := experiment.New(c, record.New("test", []string{"bench"}))
		require.NoError(t, err)
		all := experiment.All()
		i := slices.IndexFunc(all, func(e experiment.Experiment) bool { return e.Name == "pellr" })
		require.NoError(t, s.Run(context.Background(), all[i:i+1]))
		pellrSection = &s.Page.Sections[0]
	}
	return pellrSection
}

// pellrClaims has the statements of the paper beside what was counted.
func pellrClaims(t *testing.T) string {
	var rows [][]string
	for _, r := range pellr(t).Tables[0].Rows {
		rows = append(rows, []string{r[0], r[1], r[2], verdict(r[4]), verdict(r[5])})
	}
	return markdown([]string{"statement", "figure", "paper", "instructions", "sectors"}, rows)
}

// verdict is bold where the statement holds.
func verdict(cell string) string {
	n, says, found := strings.Cut(cell, ", ")
	if found && says == "holds" {
		return "**" + n + "**"
	}
	return n
}

// recommendedFormats is how often each format is recommended.
func recommendedFormats(t *testing.T) string {
	cpu, gpu := map[sparse.Format]int{}, map[sparse.Format]int{}
	eachMatrix(t, math.MaxInt64, func(a *sparse.CSR[float64]) {
		s := stats.Of(a)
		cpu[s.Recommend().Format]++
		gpu[s.RecommendGPU().Format]++
	})
	return fmt.Sprintf("for a CPU %s, for a GPU %s", often(cpu), often(gpu))
}

func often(n map[sparse.Format]int) string {
	var all []string
	for _, f := range append([]sparse.Format{sparse.FormatCSR, sparse.FormatCOO}, ellpack.Formats()...) {
		if n[f] > 0 {
			all = append(all, fmt.Sprintf("%s %d", f, n[f]))
		}
	}
	return strings.Join(all, ", ")
}

// countedEntries bounds the matrices whose recommendation is checked by counts.
const countedEntries = 30_000

func recommendedOnGPU(t *testing.T) string {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	var all ratios
	within := 0
	eachMatrix(t, countedEntries, func(a *sparse.CSR[float64]) {
		_, ratio, err := bench.RegretOnGPU(a)
		require.NoError(t, err)
		if ratio <= 1.1 {
			within++
		}
		all = append(all, ratio)
	})
	return fmt.Sprintf("%.1f %% of the %d", 100*float64(within)/float64(len(all)), len(all))
}

// eachMatrix calls f with the real matrices of the collection of at most so many entries.
func eachMatrix(t *testing.T, most int64, f func(a *sparse.CSR[float64])) {
	for _, row := range corpus.Table(t, corpus.Shared(t, "matrices", "INDEX.tsv")) {
		if row["field"] == "complex" {
			continue
		}
		m, err := matio.Read(t.Context(), corpus.Shared(t, "matrices", row["file"]))
		require.NoError(t, err)
		if n := m.NNZ(); n > 0 && n <= most {
			f(m.CSR)
		}
		require.NoError(t, m.Close())
	}
}

// ratios are summed up by their geometric mean and their range.
type ratios []float64

func (r ratios) mean() string {
	sum := 0.0
	for _, v := range r {
		sum += math.Log(v)
	}
	return fmt.Sprintf("%.2f", math.Exp(sum/float64(len(r))))
}

func (r ratios) span() string { return fmt.Sprintf("%.2f to %.2f", slices.Min(r), slices.Max(r)) }

// h100Product is a line of the summary of what an H100 measured.
type h100Product struct {
	matrix, value, keeps string
	share, ratio, own    float64 // of the copy bandwidth; the best rival over the plan, and over our fastest kernel
}

func (p h100Product) regular() bool {
	return strings.HasPrefix(p.matrix, "stencil") || strings.HasPrefix(p.matrix, "banded")
}

func (p h100Product) irregular() bool { return !p.regular() }

const h100Folder = "bench/results/2026-11-26-h100"

func h100Summary(t *testing.T) string {
	return readFile(t, filepath.Join(corpus.Root(), filepath.FromSlash(h100Folder), "summary.txt"))
}

func h100Products(t *testing.T) (all []h100Product) {
	for _, line := range strings.Split(h100Summary(t), "\n")[2:] {
		f := strings.Fields(line)
		if len(f) != 13 {
			break
		}
		p := h100Product{matrix: f[0], value: f[1], keeps: f[3]}
		_, err := fmt.Sscan(f[6]+" "+f[11]+" "+f[10], &p.share, &p.ratio, &p.own)
		require.NoError(t, err, line)
		all = append(all, p)
	}
	require.Len(t, all, 26)
	return all
}

func h100Own(t *testing.T) (r ratios) {
	for _, p := range h100Products(t) {
		r = append(r, p.own)
	}
	return r
}

// h100Phases is the range of the shares of the time for partition (0) or merge (1), in
// percent, of products with transfers in csr, csc and coo, or on some devices.
func h100Phases(t *testing.T, devices string, column int) string {
	line := regexp.MustCompile(`(?m)^\S+ +(?:--devices (\S+) )?--format \w+ .* ([0-9.]+)% ([0-9.]+)%$`)
	var all []float64
	for _, m := range line.FindAllStringSubmatch(h100Summary(t), -1) {
		if m[1] != devices {
			continue
		}
		var v float64
		_, err := fmt.Sscan(m[2+column], &v)
		require.NoError(t, err)
		all = append(all, v)
	}
	require.NotEmpty(t, all)
	return fmt.Sprintf("%.1f to %.1f %%", slices.Min(all), slices.Max(all))
}

// h100Iteration is the microseconds of an iteration.
func h100Iteration(t *testing.T, what, matrix string) (us float64) {
	m := regexp.MustCompile(`(?m)^` + what + ` +` + matrix + ` +\d+ +([0-9.]+) `).FindStringSubmatch(h100Summary(t))
	require.NotNil(t, m, what)
	_, err := fmt.Sscan(m[1], &us)
	require.NoError(t, err)
	return us
}

func h100Copy(t *testing.T) string {
	run, err := gpuruns.Read(filepath.Join(corpus.Root(), filepath.FromSlash(h100Folder)))
	require.NoError(t, err)
	return fmt.Sprintf("%.2f TB/s", run.Copy/1e12)
}

// h100 is the ratios of some products.
func h100(t *testing.T, pick func(h100Product) bool) (r ratios) {
	for _, p := range h100Products(t) {
		if pick(p) {
			r = append(r, p.ratio)
		}
	}
	return r
}

// h100Names are those by which the pages speak of the matrices.
var h100Names = map[string]string{
	"stencil-dims-3-points-27-n-150-value-random": "27-point stencil (s27)",
	"powerlaw-rows-2M-nnz-40M":                    "powerlaw",
	"random-rows-2M-nnz-50M":                      "random, 2 M columns",
	"banded-n-2M-band-25":                         "band of 51",
	"stencil-dims-3-points-7-n-113":               "7-point stencil (s7)",
	"rmat-scale-21-edges-16":                      "rmat, 2 M nodes",
	"stencil-dims-2-points-5-n-4500-value-random": "5-point stencil (s5)",
	"random-rows-1M-nnz-10M":                      "random, 1 M columns",
	"powerlaw-rows-1M-nnz-10M":                    "powerlaw, 1 M rows",
	"stencil-dims-3-points-27-n-224":              "27-point stencil",
	"banded-n-5M-band-29":                         "band of 59",
	"rmat-scale-23-edges-16":                      "rmat, 8 M nodes",
	"random-rows-10M-nnz-150M":                    "random, 10 M columns",
}

// h100Table has both types of values of a matrix in a line.
func h100Table(t *testing.T) string {
	run, err := gpuruns.Read(filepath.Join(corpus.Root(), filepath.FromSlash(h100Folder)))
	require.NoError(t, err)
	us := func(p h100Product) (float64, int64) {
		i := slices.IndexFunc(run.Products, func(q gpuruns.Product) bool {
			return strings.Contains(q.Matrix, p.matrix) && q.Value == p.value && q.Seconds[gpuruns.Auto] > 0
		})
		require.GreaterOrEqual(t, i, 0, p.matrix)
		return 1e6 * run.Products[i].Seconds[gpuruns.Auto], run.Products[i].NNZ
	}
	all := h100Products(t)
	var rows [][]string
	for i := 0; i < len(all); i += 2 {
		a, b := all[i], all[i+1]
		require.Equal(t, []string{a.matrix, "fp64", "fp32"}, []string{b.matrix, a.value, b.value})
		require.Contains(t, h100Names, a.matrix)
		if b.keeps != a.keeps {
			a.keeps += ", " + b.keeps
		}
		double, nnz := us(a)
		single, _ := us(b)
		rows = append(rows, []string{h100Names[a.matrix], fmt.Sprintf("%.0f M", float64(nnz)/1e6), a.keeps, fmt.Sprintf("%.0f, %.0f", double, single),
			fmt.Sprintf("%.2f, %.2f", a.share, b.share), fmt.Sprintf("%.2f, %.2f", a.ratio, b.ratio)})
	}
	return markdown([]string{"matrix", "entries", "the plan keeps", "us", "fraction", "ratio"}, rows)
}
