package npz

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// archive is an .npz file: arrays by name, without the extension .npy.
type archive struct {
	name   string
	size   int64 // bytes
	member map[string]*zip.File
	arrays []string // sorted
	others []string // files that are not arrays

	unpacked int64 // bytes of the arrays opened so far
}

func openArchive(r io.ReaderAt, size int64, name string) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // paths are not used to create files
		if errors.Is(err, zip.ErrFormat) || err == io.ErrUnexpectedEOF || err == io.EOF {
			return nil, sparse.Inputf(name, "is not a complete zip archive, which an .npz file must be: it is truncated or has another format")
		}
		return nil, &sparse.InputError{Subject: name, Msg: "cannot be read as a zip archive", Err: err}
	}
	a := &archive{name: name, size: size, member: map[string]*zip.File{}}
	for _, f := range z.File {
		key, isArray := strings.CutSuffix(f.Name, ".npy")
		if !isArray {
			a.others = append(a.others, f.Name)
			continue
		}
		if a.member[key] != nil {
			return nil, sparse.Inputf(name, "holds the array %q twice", clip(key))
		}
		a.member[key] = f
		a.arrays = append(a.arrays, key)
	}
	slices.Sort(a.arrays)
	return a, nil
}

// groups returns the sorted names of the matrices in the archive. The matrix without a
// prefix has the name "".
func (a *archive) groups() []string {
	var out []string
	for _, key := range a.arrays {
		for _, mark := range []string{"indptr", "row", "coords", "offsets", "format"} {
			group, ok := strings.CutSuffix(key, mark)
			if !ok || mark == "row" && a.member[group+"col"] == nil || mark == "format" && group != "" {
				continue
			}
			if group != "" {
				if end := group[len(group)-1]; end != '_' && end != '.' || len(group) == 1 {
					continue
				}
				group = group[:len(group)-1]
			}
			out = append(out, group)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// choose returns the prefix of the arrays of a group; "" chooses the only group.
func (a *archive) choose(group string) (prefix string, err error) {
	all := a.groups()
	switch {
	case len(all) == 0:
		return "", sparse.Inputf(a.name, "holds no sparse matrix, which has arrays data, indices, indptr and shape (or row and col): it holds %s", list(append(a.arrays, a.others...)))
	case group == "" && len(all) == 1:
		group = all[0]
	case group == "" && all[0] != "":
		return "", sparse.Inputf(a.name, "holds %d sparse matrices, %s: choose one by its name after the file name, as in FILE.npz#%s", len(all), list(all), clip(all[0]))
	case !slices.Contains(all, group):
		return "", sparse.Inputf(a.name, "holds no sparse matrix %q: it holds %s", clip(group), list(all))
	}
	if group == "" {
		return "", nil
	}
	for _, end := range []string{"_", "."} {
		for _, mark := range []string{"indptr", "row", "coords", "offsets"} {
			if a.member[group+end+mark] != nil {
				return group + end, nil
			}
		}
	}
	return group + "_", nil
}

// list formats names for a message; it shortens a long list.
func list(names []string) string {
	const most = 8
	if len(names) == 0 {
		return "nothing"
	}
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == most {
			fmt.Fprintf(&b, "and %d more", len(names)-most)
			break
		}
		if n == "" {
			n = "one without a name"
		} else if clip(n) != n || strings.ContainsFunc(n, func(r rune) bool { return r <= ' ' || r > '~' }) {
			n = fmt.Sprintf("%q", clip(n))
		}
		b.WriteString(n)
	}
	return b.String()
}
