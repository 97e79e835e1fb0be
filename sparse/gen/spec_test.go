package gen

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/sparse"
)

func requireInput(t require.TestingT, err error, file, want string) {
	var in *sparse.InputError
	require.True(t, errors.As(err, &in), "%v", err)
	require.Equal(t, file, in.Subject)
	require.ErrorContains(t, err, want)
	require.NotContains(t, err.Error(), "\n")
}

func TestBadSpecsAreRefusedWithTheReason(t *testing.T) {
	for spec, want := range map[string]string{
		"":                               "no generator is named, as in gen:stencil:n=100; known are stencil, banded, random, rmat, powerlaw, chunglu, cfd, mycielskian, planar, like, rows, lowhigh, arrow, diag, dense, empty",
		":n=3":                           "no generator is named",
		"stencl":                         `generator "stencl" is unknown`,
		"diag:n":                         "of the form key=value",
		"diag:n=":                        "of the form key=value",
		"diag:n=3,":                      "of the form key=value",
		"diag:m=3":                       `diag has no parameter "m"; it has n, value, seed`,
		"diag:n=3,n=4":                   "n is given twice",
		"diag:n=x":                       "must be a whole number",
		"diag:n=1.5":                     "must be a whole number",
		"diag:n=-1":                      "must be in [0, 2147483647]",
		"diag:n=3G":                      "must be in [0, 2147483647]",
		"diag:n=99999999999999999999":    "must be a whole number",
		"diag:n=9999999999999G":          "must be a whole number",
		"diag:n=k":                       "must be a whole number",
		"diag:value=two":                 "value=two must be one of random, ones",
		"diag:seed=0.5":                  "must be a whole number",
		"diag:value=ones,seed=x":         "must be a whole number",
		"empty:cols=-2":                  "must be in",
		"stencil:dims=4":                 "must be one of 2, 3",
		"stencil:points=6":               "must be one of 5, 7, 9, 27",
		"stencil:dims=2,points=7":        "points=7 is a stencil of 3 dimensions, not 2",
		"stencil:nz=5":                   "no z axis",
		"stencil:nx=0":                   "must be in [1,",
		"stencil:n=100k":                 "a grid of 100000 x 100000 x 1",
		"stencil:dims=3,n=2000":          "a grid of 2000 x 2000 x 2000",
		"stencil:nx=2G,ny=2G,dims=3":     "has more than 2147483647 points",
		"stencil:value=3":                "must be one of laplace, random, ones",
		"banded:density=1.5":             "must be in [0, 1]",
		"banded:density=NaN":             "must be a number",
		"banded:density=+Inf":            "must be in [0, 1]",
		"banded:band=-1":                 "must be in",
		"random:rows=10,cols=10,nnz=101": "must be in [0, 100]",
		"random:rows=10,nnz=10000000000000000000": "must be a whole number",
		"rmat:scale=31":                "must be in [0, 30]",
		"rmat:a=0.9,b=0.9":             "a+b+c is 1.99",
		"rmat:c=-0.1":                  "must be in [0, 1]",
		"rmat:edges=2G":                "must be in [0, 1048576]",
		"powerlaw:r=1":                 "must be in [1.1, 10]",
		"powerlaw:rows=0,nnz=1":        "must be in [0, 0]",
		"lowhigh:parts=0":              "must be in [1,",
		"lowhigh:rows=4,parts=5,nnz=0": "must be in [1, 4]",
		"lowhigh:low=9":                "must be in [0, 8]",
		"lowhigh:low=8,ratio=0":        "leaves no row block",
		"lowhigh:rows=8,cols=8,nnz=50": "row block 4 would get",
		"lowhigh:ratio=2":              "must be in [0, 1]",
		"like:scale=0":                 "scale=0 must be in [1e-09, 1]",
		"like:scale=1.5":               "must be in [1e-09, 1]",
	} {
		t.Run(spec, func(t *testing.T) {
			m, _, err := Generate(spec)
			requireInput(t, err, strings.TrimRight("gen:"+spec, ":"), want)
			require.Nil(t, m)
		})
	}
}

func TestCheckReturnsTheErrorOfGenerate(t *testing.T) {
	require.NoError(t, Check("stencil:dims=3"))
	for _, spec := range []string{"stencl", "diag:n=-1"} {
		_, _, err := Generate(spec)
		require.Error(t, err)
		require.Equal(t, err, Check(spec))
	}
	require.ErrorContains(t, Check("dense:rows=1G,cols=1G"), "the limit is")
}

func TestLongSpecsAreCutInErrors(t *testing.T) {
	_, _, err := Generate(strings.Repeat("é", 1000))
	require.Less(t, len(err.Error()), 500)
	_, _, err = Generate("diag:n=" + strings.Repeat("9", 1000))
	require.Less(t, len(err.Error()), 500)
}

func TestAMatrixBeyondTheLimitIsRefusedBeforeItIsAllocated(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for spec, want := range map[string]string{
		"empty:rows=2G":            "needs 14.9 GiB for about 0 entries in 2000000000 rows; the limit is 1.0 MiB",
		"dense:rows=2G":            "the limit is 1.0 MiB",
		"rmat:scale=30,edges=1M":   "the limit",
		"banded:n=2G,band=2G":      "the limit",
		"stencil:dims=3,n=1000":    "the limit",
		"random:rows=2G,nnz=1000G": "the limit",
		"powerlaw:rows=2G,nnz=1G":  "the limit",
		"lowhigh:rows=2G,nnz=90G":  "the limit",
		"arrow:n=100k":             "needs 4.2 MiB",
		"diag:n=1M":                "the limit",
	} {
		m, _, err := GenerateContext(context.Background(), spec, 1<<20)
		requireInput(t, err, "gen:"+spec, want)
		require.Nil(t, m)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestGenerationTakesThePlannedMemory(t *testing.T) {
	for _, spec := range specs {
		g, p, err := parse(spec)
		require.NoError(t, err)
		need := g.plan(p).bytes()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err = GenerateContext(context.Background(), spec, need)
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		require.Less(t, float64(after.TotalAlloc-before.TotalAlloc), 1.05*float64(need)+200_000, spec)
	}
}

func TestCountsMayEndInThousandsMillionsOrBillions(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "12": 12, "-3": -3, "2k": 2000, "5M": 5_000_000, "7G": 7_000_000_000, "9223372036854775807": math.MaxInt64} {
		n, ok := parseCount(s)
		require.True(t, ok, s)
		require.Equal(t, want, n)
	}
	for _, s := range []string{"", "k", "1K", "1kk", "0x10", "1e3", " 1", "1_000", "9223372036854775808", "9223372036854775807k"} {
		_, ok := parseCount(s)
		require.False(t, ok, s)
	}
}

func TestNamesMayBeChangedByTheCaller(t *testing.T) {
	Names()[0].Params[0].Name = "other"
	require.Equal(t, "dims", Names()[0].Params[0].Name)
}

// fuzzBytes keeps matrices of random specs small.
const fuzzBytes = 1 << 18

func requireSound(t require.TestingT, spec string) {
	m, src, err := GenerateContext(context.Background(), spec, fuzzBytes)
	if err != nil {
		require.True(t, sparse.IsInput(err), "%v", err)
		return
	}
	requireProper(t, m, src)
}

func TestAnySpecGivesAProperMatrixOrAnInputError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		info := rapid.SampledFrom(Names()).Draw(t, "generator")
		var items []string
		for _, d := range info.Params {
			if rapid.Bool().Draw(t, "give "+d.Name) {
				value := rapid.SampledFrom([]string{"0", "1", "2", "3", "5", "7", "9", "27", "40", "300", "2k", "2G", "-1", "0.3", "1.2", "ones", "random", "x"}).Draw(t, d.Name)
				items = append(items, d.Name+"="+value)
			}
		}
		requireSound(t, info.Name+":"+strings.Join(items, ","))
	})
}

func FuzzSpec(f *testing.F) {
	for _, info := range Names() {
		f.Add(info.Name)
		f.Add(info.Example)
	}
	f.Add("stencil:points=27,nx=4,ny=3,nz=2,value=random")
	f.Add("lowhigh:rows=10,nnz=30,parts=3,low=1,ratio=0.5")
	f.Add("random:rows=200,cols=50,nnz=9999,seed=-1")
	f.Fuzz(func(t *testing.T, spec string) { requireSound(t, spec) })
}

func TestEveryParameterOfEveryGeneratorIsChecked(t *testing.T) {
	for _, g := range Names() {
		for _, p := range g.Params {
			spec := g.Name + ":" + p.Name + "=?"
			requireInput(t, Check(spec), "gen:"+spec, p.Name+"=? must be ")
		}
	}
}
