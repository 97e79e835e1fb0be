package npz

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestBadArchivesAreRefusedWithTheArrayAndTheReason(t *testing.T) {
	const good = "{'descr': '<f8', 'fortran_order': False, 'shape': (5,), }\n"
	five := strings.Repeat("12345678", 5)
	data := func(text string) []byte { return csr(raw("data", "\x01\x00", text, five)) }
	without := func(name string) []byte { return csr(entry{name, nil}) }
	bsr := func(shape string, items any) []byte {
		return csr(npy("format", "|S3", "()", []byte("bsr")), npy("data", "<f8", shape, items))
	}
	coo := func(change ...entry) []byte {
		return archiveOf(append([]entry{
			npy("format", "|S3", "()", []byte("coo")), npy("shape", "<i8", "(2,)", []int64{3, 3}), npy("data", "<f8", "(2,)", []float64{1, 2}),
			npy("row", "<i4", "(2,)", []int32{0, 1}), npy("col", "<i4", "(2,)", []int32{0, 1}),
		}, change...)...)
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                    {nil, "t.npz: is not a complete zip archive"},
		"text":                     {[]byte("%%MatrixMarket matrix"), "is not a complete zip archive"},
		"cut in half":              {csr()[:500], "is not a complete zip archive"},
		"an array alone":           {csrArrays("")[4].data, "is not a complete zip archive"},
		"no arrays":                {archiveOf(entry{"a.txt", []byte("x")}), "holds no sparse matrix, which has arrays data, indices, indptr and shape (or row and col): it holds a.txt"},
		"nothing":                  {archiveOf(), "(or row and col): it holds nothing"},
		"dense array":              {archiveOf(npy("arr_0", "<f8", "(2, 2)", []float64{1, 2, 3, 4})), "it holds arr_0"},
		"no data":                  {without("data.npy"), "the array data is missing: it holds format, indices, indptr, shape"},
		"no indices":               {without("indices.npy"), "the array indices is missing"},
		"no indptr":                {without("indptr.npy"), "the array indptr is missing"},
		"no shape":                 {without("shape.npy"), "the array shape is missing"},
		"coo without col":          {coo(entry{"col.npy", nil}), "the array col is missing"},
		"dok":                      {csr(npy("format", "|S3", "()", []byte("dok"))), "sparse format \"dok\" is not supported, only csr, csc, coo, bsr, dia and gcxs are"},
		"dia without offsets":      {dia(entry{"offsets.npy", nil}), "the array offsets is missing"},
		"dia of one dimension":     {dia(npy("data", "<f8", "(2,)", []float64{1, 2})), "data.npy: has the shape [2]: must have 2 dimensions"},
		"too few offsets":          {dia(npy("offsets", "<i4", "(2,)", []int32{0, 1})), "offsets.npy: holds 2 offsets for the 3 diagonals of data"},
		"real offsets":             {dia(npy("offsets", "<f8", "(3,)", []float64{0, 1, 2})), "offsets.npy: holds items of type <f8: must be integers"},
		"a billion rows of dia":    {dia(npy("shape", "<i8", "(2,)", []int64{1e9, 3})), "1000000000 rows for 12 entries"},
		"format of numbers":        {csr(npy("format", "<f8", "()", 1.0)), "format.npy: has the shape [] and type <f8: must be one short string"},
		"several formats":          {csr(npy("format", "|S3", "(2,)", []byte("csrcsr"))), "must be one short string"},
		"not NumPy":                {csr(entry{"data.npy", []byte("hello, world")}), "data.npy: does not begin as a NumPy array"},
		"empty array file":         {csr(entry{"data.npy", []byte{}}), "data.npy: ends early"},
		"future version":           {csr(raw("data", "\x04\x00", good, five)), "version 4.0 of the .npy format is not supported"},
		"header of 4 GB":           {csr(entry{"data.npy", []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{")}), "a header of 4294967295 bytes"},
		"header cut":               {csr(entry{"data.npy", []byte("\x93NUMPY\x01\x00\x70\x00{'descr'")}), "ends early"},
		"no dictionary":            {data("hello"), "{ is expected where it says \"hello\""},
		"key missing":              {data("{'descr': '<f8', 'shape': (5,), }"), "must have the keys descr, fortran_order and shape"},
		"key twice":                {data("{'descr': '<f8', 'descr': '<f8', 'shape': (5,), }"), "has the key \"descr\" twice"},
		"unknown key":              {data("{'descr': '<f8', 'order': 'C', 'shape': (5,), }"), "unknown key \"order\""},
		"text after dictionary":    {data(strings.TrimSpace(good) + "x"), "\"x\" follows its header"},
		"negative size":            {data(strings.Replace(good, "5", "-5", 1)), "a size is expected where it says \"-5"},
		"size beyond 64 bits":      {data(strings.Replace(good, "5", "99999999999999999999", 1)), "a size is expected"},
		"sizes whose product is":   {data(strings.Replace(good, "(5,)", "(4294967296, 4294967296)", 1)), "too large"},
		"as many empty strings":    {data(strings.Replace(strings.Replace(good, "<f8", "|S0", 1), "(5,)", "(4294967296, 4294967296)", 1)), "too large"},
		"bytes beyond 63 bits":     {data(strings.Replace(good, "5", "1152921504606846976", 1)), "too large"},
		"bool that is none":        {data(strings.Replace(good, "False", "Maybe", 1)), "True or False is expected where it says \"Maybe"},
		"unquoted key":             {data("{descr: '<f8'}"), "a string is expected where it says"},
		"no colon":                 {data("{'descr' '<f8'}"), ": is expected where"},
		"no comma":                 {data("{'descr': '<f8' 'shape': (5,)}"), ", or } is expected"},
		"100 dimensions":           {data(strings.Replace(good, "(5,)", "("+strings.Repeat("1,", 100)+")", 1)), "a size is expected"},
		"objects":                  {data(strings.Replace(good, "<f8", "|O", 1)), "pickled objects are never read"},
		"complex":                  {data(strings.Replace(good, "<f8", "<c16", 1)), "holds complex numbers (<c16)"},
		"half precision":           {data(strings.Replace(good, "<f8", "<f2", 1)), "items of type \"<f2\", which is not supported"},
		"extended precision":       {data(strings.Replace(good, "<f8", "<f16", 1)), "is not supported"},
		"dates":                    {data(strings.Replace(good, "<f8", "<M8[s]", 1)), "is not supported"},
		"native order":             {data(strings.Replace(good, "<f8", "=f8", 1)), "is not supported"},
		"records":                  {data(strings.Replace(good, "'<f8'", "[('a', '<f8')]", 1)), "is an array of records"},
		"text as values":           {data(strings.Replace(good, "<f8", "|S8", 1)), "holds text (|S8): must be numbers"},
		"real indices":             {csr(npy("indices", "<f8", "(5,)", []float64{0, 2, 1, 0, 2})), "indices.npy: holds items of type <f8: must be integers"},
		"fewer bytes than claimed": {csr(raw("data", "\x01\x00", good, five[1:])), "data.npy: holds 107 bytes where its header (shape [5], type <f8) makes 108"},
		"more bytes than claimed":  {csr(raw("data", "\x01\x00", good, five+"x")), "holds 109 bytes where"},
		"terabytes claimed":        {data(strings.Replace(good, "5", "1099511627776", 1)), "makes 8796093022288"},
		"matrix as data":           {csr(npy("data", "<f8", "(5, 1)", []float64{1, 2, 3, 4, 5})), "data.npy: has the shape [5 1]: must have 1 dimensions"},
		"data and indices differ":  {csr(npy("data", "<f8", "(4,)", []float64{1, 2, 3, 4})), "data.npy: holds 4 items for the 5 of indices"},
		"three sizes":              {csr(npy("shape", "<i8", "(3,)", []int64{3, 3, 3})), "shape.npy: holds 3 sizes"},
		"one size":                 {csr(npy("shape", "<i8", "(1,)", []int64{3})), "shape.npy: holds 1 sizes"},
		"negative rows":            {csr(npy("shape", "<i8", "(2,)", []int64{-3, 3})), "-3 rows: a size must not be negative"},
		"2^40 columns":             {csr(npy("shape", "<i8", "(2,)", []int64{3, 1 << 40})), "1099511627776 columns: more than"},
		"a billion rows":           {csr(npy("shape", "<i8", "(2,)", []int64{1e9, 3})), "1000000000 rows for 5 entries"},
		"too few pointers":         {csr(npy("indptr", "<i4", "(3,)", []int32{0, 2, 5})), "indptr.npy: holds 3 pointers: must be 4"},
		"first pointer":            {csr(npy("indptr", "<i4", "(4,)", []int32{1, 2, 3, 5})), "begins with 1: it must begin with 0"},
		"falling pointers":         {csr(npy("indptr", "<i4", "(4,)", []int32{0, 3, 2, 5})), "item 2 falls from 3 to 2"},
		"last pointer":             {csr(npy("indptr", "<i4", "(4,)", []int32{0, 2, 3, 6})), "ends with 6: there are only 5 indices"},
		"index too large":          {csr(npy("indices", "<i4", "(5,)", []int32{0, 2, 1, 0, 3})), "indices.npy: item 4 is 3: a column index must be from 0 to 2"},
		"negative index":           {csr(npy("indices", "<i4", "(5,)", []int32{0, -1, 1, 0, 2})), "item 1 is -1: a column index"},
		"index beyond int64":       {csr(npy("indices", "<u8", "(5,)", []uint64{0, 1 << 63, 1, 0, 2})), "a column index must be"},
		"entries without columns":  {csr(npy("shape", "<i8", "(2,)", []int64{3, 0})), "holds 5 values for a matrix of 3 rows and 0 columns"},
		"entries without rows":     {coo(npy("shape", "<i8", "(2,)", []int64{0, 3})), "holds 2 values for a matrix of 0 rows and 3 columns"},
		"coo row index":            {coo(npy("row", "<i4", "(2,)", []int32{0, 3})), "row.npy: item 1 is 3: a row index must be from 0 to 2"},
		"coo lengths":              {coo(npy("col", "<i4", "(3,)", []int32{0, 1, 2})), "col.npy: holds 3 items for the 2 of data"},
		"coords of one row":        {coo(npy("coords", "<i4", "(1, 2)", []int32{0, 1})), "coords.npy: has the shape [1 2]: must be [2 2]"},
		"coords too large":         {coo(npy("coords", "<i4", "(2, 2)", []int32{0, 1, 0, 7})), "item 3 is 7: a column index"},
		"coords by column":         {coo(npyOrder("coords", "<i4", "(2, 2)", true, binary.LittleEndian, []int32{0, 0, 7, 1})), "item 2 is 7: a row index"},
		"coords of reals":          {coo(npy("coords", "<f8", "(2, 2)", []float64{0, 1, 0, 1})), "coords.npy: holds items of type <f8: must be integers"},
		"blocks that do not fit":   {bsr("(5, 2, 1)", make([]float64, 10)), "holds blocks of 2 x 1 for a matrix of 3 rows"},
		"blocks of nothing":        {bsr("(5, 0, 1)", []float64{}), "holds blocks of 0 x 1"},
		"array twice":              {twice(), "holds the array \"data\" twice"},
		"encrypted":                {patched(func(h *zip.FileHeader) { h.Flags |= 1 }), "data.npy: is encrypted"},
		"bzip2":                    {patched(func(h *zip.FileHeader) { h.Method = 12 }), "data.npy: is compressed by method 12"},
		"wrong checksum":           {patched(func(h *zip.FileHeader) { h.CRC32++ }), "data.npy: does not match its checksum"},
		"content cut":              {patched(func(h *zip.FileHeader) { h.CompressedSize64 -= 9 }), "data.npy: "},
		"size in directory":        {patched(func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 50 }), "data.npy: holds 1125899906842624 bytes where"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _, err := readAll(c.file)
			require.Nil(t, m)
			require.ErrorContains(t, err, c.want)
			require.True(t, sparse.IsInput(err), "must be an InputError: %v", err)
			require.True(t, strings.HasPrefix(err.Error(), "t.npz: "), err.Error())
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, len(err.Error()), 300)
		})
	}
}

// twice is an archive with two arrays of one name.
func twice() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for range 2 {
		w, err := z.Create("data.npy")
		must(err)
		_, err = w.Write(csrArrays("")[4].data)
		must(err)
	}
	must(z.Close())
	return b.Bytes()
}

// patched is csr with a change in the directory entry of data.npy.
func patched(change func(h *zip.FileHeader)) []byte {
	file := csr()
	r, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	must(err)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range r.File {
		content, err := f.OpenRaw()
		must(err)
		h := f.FileHeader
		h.Flags &^= 8 // sizes stand before the content
		if f.Name == "data.npy" {
			change(&h)
		}
		w, err := z.CreateRaw(&h)
		must(err)
		_, err = io.Copy(w, content)
		must(err)
	}
	must(z.Close())
	return b.Bytes()
}

func TestDeclaredSizesOfAnArchiveTakeLittleMemory(t *testing.T) {
	// The directory and the header agree on 2^40 values, but the file has 40 bytes of them.
	claim := "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }"
	index := strings.Replace(claim, "<f8", "<i4", 1)
	pointers := strings.Replace(claim, "<f8", "<i4", 1)
	pointers = strings.Replace(pointers, "1099511627776", "1000000001", 1)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range []struct {
		entry
		size uint64
	}{
		{raw("data", "\x01\x00", claim, "only this"), 8<<40 + 10 + uint64(len(claim))},
		{raw("indices", "\x01\x00", index, "only this"), 4<<40 + 10 + uint64(len(index))},
		{raw("indptr", "\x01\x00", pointers, strings.Repeat("\x00", 1<<20)), 4*1000000001 + 10 + uint64(len(pointers))},
		{npy("shape", "<i8", "(2,)", []int64{1e9, 1e9}), 0},
	} {
		h := &zip.FileHeader{Name: a.name, Method: zip.Store, CompressedSize64: uint64(len(a.data)), UncompressedSize64: a.size}
		if a.size == 0 {
			w, err := z.Create(a.name)
			must(err)
			_, err = w.Write(a.data)
			must(err)
			continue
		}
		w, err := z.CreateRaw(h)
		must(err)
		_, err = w.Write(a.data)
		must(err)
	}
	must(z.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	_, _, err := Read(context.Background(), bytes.NewReader(b.Bytes()), int64(b.Len()), "t.npz", "", sparse.Limits{})
	require.Less(t, time.Since(start), time.Second)
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "t.npz: indptr.npy: ends early: the file is truncated or damaged")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(50<<20))
}

func TestEveryPrefixOfAnArchiveIsRefused(t *testing.T) {
	whole := csr()
	for n := range whole {
		_, _, err := readAll(whole[:n])
		require.True(t, sparse.IsInput(err), "%d bytes: %v", n, err)
	}
}
