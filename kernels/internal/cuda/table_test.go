package cuda_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/internal/cuda"
)

// entry is the declaration of a kernel in PTX.
type entry struct {
	params []string // "u64", "f32", ...
	block  string   // of .maxntid
	body   string
}

var (
	entryLine = regexp.MustCompile(`(?ms)^\.visible \.entry (\w+)\((.*?)\)\n(.*?)^}`)
	paramLine = regexp.MustCompile(`\.param \.(\w+) `)
	blockLine = regexp.MustCompile(`\.maxntid (\d+), 1, 1`)
)

// entries returns the kernels of a PTX text, by name.
func entries(text string) map[string]entry {
	found := map[string]entry{}
	for _, m := range entryLine.FindAllStringSubmatch(text, -1) {
		e := entry{body: m[3]}
		for _, p := range paramLine.FindAllStringSubmatch(m[2], -1) {
			e.params = append(e.params, p[1])
		}
		if b := blockLine.FindStringSubmatch(m[3]); b != nil {
			e.block = b[1]
		}
		found[m[1]] = e
	}
	return found
}

func text(t testing.TB, family string) string {
	t.Helper()
	s, err := cuda.PTX(family)
	require.NoError(t, err)
	return s
}

func TestThePTXHasTheKernelsOfTheTableAndNoOthers(t *testing.T) {
	var listed, found []string
	for _, k := range cuda.Kernels() {
		listed = append(listed, k.Family+" "+k.Name)
	}
	for _, f := range cuda.Families() {
		for name := range entries(text(t, f)) {
			found = append(found, f+" "+name)
		}
	}
	require.ElementsMatch(t, found, listed)
	require.NotEmpty(t, listed)
}

func TestTheParametersAndBlockSizesAreThoseOfThePTX(t *testing.T) {
	types := map[cuda.Type]string{cuda.Pointer: "u64", cuda.Int64: "u64", cuda.Float64: "f64", cuda.Float32: "f32"}
	for _, k := range cuda.Kernels() {
		e := entries(text(t, k.Family))[k.Name]
		var params []string
		for _, p := range k.Params {
			params = append(params, types[p.Type])
		}
		require.Equal(t, e.params, params, k.Name)
		require.Equal(t, e.block, strconv.Itoa(k.Block), k.Name)
	}
}

// PTX does not keep parameter names, so they are compared with the sources; so are
// pointers and their element types.
func TestTheParametersHaveTheNamesAndTypesOfTheSources(t *testing.T) {
	for _, k := range cuda.Kernels() {
		source, err := os.ReadFile(k.Family + ".cu")
		require.NoError(t, err)
		want := declared(t, string(source), k)
		var have []string
		for _, p := range k.Params {
			switch {
			case p.Type == cuda.Pointer && p.Written:
				have = append(have, p.Elem+"* "+p.Name)
			case p.Type == cuda.Pointer:
				have = append(have, "const "+p.Elem+"* "+p.Name)
			default:
				have = append(have, map[cuda.Type]string{cuda.Int64: "i64", cuda.Float64: "f64", cuda.Float32: "f32"}[p.Type]+" "+p.Name)
			}
		}
		require.Equal(t, want, have, k.Name)
	}
}

// declared returns the parameters of a kernel as its source declares them.
func declared(t *testing.T, source string, k cuda.Kernel) []string {
	name := strings.TrimSuffix(k.Name, "_"+k.Value)
	digits := strings.TrimRight(name, "0123456789")
	source = strings.ReplaceAll(source, "\\\n", "\n")
	segments := k.Name
	for _, r := range [][2]string{{`_\dof\d$`, "_##K##of##S"}, {`_(join|norm1|divide|pick|rank)_\d$`, "_${1}_##S"}} {
		segments = regexp.MustCompile(r[0]).ReplaceAllString(segments, r[1])
	}
	for _, candidate := range []string{k.Name, segments, name + "_##suffix", digits + "##lanes##_##suffix"} {
		at := regexp.MustCompile(`(?s)\b` + regexp.QuoteMeta(candidate) + `\(\s*(.*?)\)`).FindStringSubmatch(source)
		if at == nil {
			continue
		}
		var list []string
		for p := range strings.SplitSeq(at[1], ",") {
			p = strings.Join(strings.Fields(p), " ")
			p = regexp.MustCompile(`\bV\b`).ReplaceAllString(p, k.Value)
			p = strings.NewReplacer("double", "f64", "float", "f32").Replace(p)
			list = append(list, p)
		}
		return list
	}
	require.Fail(t, "not declared", k.Name)
	return nil
}

func TestThePTXIsForVoltaAndNamesNoFiles(t *testing.T) {
	for _, f := range cuda.Families() {
		s := text(t, f)
		require.Contains(t, s, "\n.version 6.3\n.target sm_70\n.address_size 64\n", f)
		require.NotRegexp(t, `\.cuh?\b|\.file|\.loc|/tmp|/home`, s, f)
		require.False(t, regexp.MustCompile(`\.extern \.[^s]`).MatchString(s), "%s names something of another module", f) // dynamic shared memory is extern
	}
}

func TestFewerBlocksAreAtWorkOnOlderGPUs(t *testing.T) {
	for _, f := range cuda.Families() {
		ours := text(t, f)
		for _, capability := range []float64{7, 7.5, 8, 8.6, 8.9, 9, 10, 12} {
			got, err := cuda.PTXFor(f, capability)
			require.NoError(t, err)
			few := strings.HasPrefix(f, "csr") && capability < 8.6
			require.Equal(t, few, ours != got, "%s on %v", f, capability)
			if few {
				require.NotRegexp(t, `minnctapersm [^5]`, got)
			}
		}
	}
	_, err := cuda.PTXFor("nothing", 7)
	require.ErrorContains(t, err, "no family")
}

func TestNoKernelUsesLocalMemory(t *testing.T) {
	for _, k := range cuda.Kernels() {
		body := entries(text(t, k.Family))[k.Name].body
		require.NotEmpty(t, body, k.Name)
		require.NotRegexp(t, `\.local\b|_depot`, body, k.Name)
		require.NotContains(t, body, "call", k.Name)
	}
}

func TestMatricesAndVectorsAreReadThroughTheReadOnlyPath(t *testing.T) {
	for _, k := range cuda.Kernels() {
		body := entries(text(t, k.Family))[k.Name].body
		if strings.Contains(k.Name, "msrep_major_") || strings.Contains(k.Name, "msrep_minor_") {
			require.Contains(t, body, "ld.global.nc.", k.Name)
		}
		atomics := regexp.MustCompile(`(?m)(^|\s)(atom|red)\.`).MatchString(body)
		tickets := k.Family == "triangular" && !strings.Contains(k.Name, "start")
		tables := k.Family == "spgemm"                             // columns enter hash tables and sets of bits
		claims := strings.HasPrefix(k.Name, "msrep_tiles_arrange") // the first of several threads claims a sum
		require.Equal(t, strings.Contains(k.Name, "msrep_minor_") || tickets || tables || claims, atomics, k.Name)
	}
}

func TestEverySourceHasItsPTX(t *testing.T) {
	sources, err := filepath.Glob("*.cu")
	require.NoError(t, err)
	for i := range sources {
		sources[i] = strings.TrimSuffix(sources[i], ".cu")
	}
	slices.Sort(sources)
	require.Equal(t, sources, cuda.Families())
}

func TestAnUnknownFamilyOrKernelIsAnError(t *testing.T) {
	_, err := cuda.PTX("csr")
	require.ErrorContains(t, err, `"csr"`)
	_, err = cuda.Lookup("msrep_major")
	require.ErrorContains(t, err, `"msrep_major"`)
}

func TestTheLanesGrowWithTheRows(t *testing.T) {
	require.Equal(t, 1, cuda.Lanes(0, 0))
	require.Equal(t, 1, cuda.Lanes(1000, 0))
	last := 0
	for mean := range int64(200) {
		l := cuda.Lanes(1000, 1000*mean)
		require.GreaterOrEqual(t, l, last)
		require.Contains(t, []int{1, 2, 4, 8, 16, 32}, l)
		last = l
	}
	require.Equal(t, 32, last)
}

func TestAGridHasAtLeastOneBlock(t *testing.T) {
	k, err := cuda.Lookup("msrep_major_merge_f64")
	require.NoError(t, err)
	require.EqualValues(t, 1, k.Blocks(0))
	require.EqualValues(t, 1, k.Blocks(1408))
	require.EqualValues(t, 2, k.Blocks(1409))
	require.EqualValues(t, 0, k.Carries(0))
	require.EqualValues(t, 2, k.Carries(1409))
	carries, err := cuda.Lookup("msrep_add_carries_f64")
	require.NoError(t, err)
	require.EqualValues(t, 0, carries.Carries(1409))
	require.Equal(t, int64((1<<63-2)/1408+1), k.Blocks(1<<63-1))
	total, err := cuda.Lookup("msrep_total")
	require.NoError(t, err)
	require.EqualValues(t, 1, total.Blocks(1<<40))
}
