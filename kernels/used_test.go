package kernels_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
)

// Package sim checks that each kernel in the table of kernels/internal/cuda belongs to an operation. This test checks
// that the library launches each operation, so that the table has no unused kernels.
func TestTheLibraryUsesEveryOperation(t *testing.T) {
	ops := operations(t)
	require.Greater(t, len(ops), 20)
	formulas := formulaNames(t)
	require.Len(t, formulas, len(kernels.Formulas()))
	used := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path == filepath.Join("..", "kernels"):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				used[named(n.Type, "kernels")] = true
			case *ast.CallExpr: // a formula is an argument of compute
				for _, a := range n.Args {
					used[named(a, "kernels")] = true
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	for _, op := range append(ops, formulas...) {
		require.True(t, used[op], "nothing outside kernels uses kernels.%s", op)
	}
}

// operations returns the names of the types of this package with a method Name.
func operations(t *testing.T) (names []string) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "Name" || f.Recv == nil {
				continue
			}
			star, ok := f.Recv.List[0].Type.(*ast.StarExpr)
			require.True(t, ok, path)
			of := star.X
			if generic, ok := of.(*ast.IndexExpr); ok {
				of = generic.X
			}
			names = append(names, of.(*ast.Ident).Name)
		}
	}
	return names
}

// formulaNames returns the names of the variables of this package that define makes.
func formulaNames(t *testing.T) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "formulas.go", nil, 0)
	require.NoError(t, err)
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				names = append(names, s.(*ast.ValueSpec).Names[0].Name)
			}
		}
	}
	return names
}

// named returns the name of a type or a variable of package pkg, or "" for another type.
func named(of ast.Expr, pkg string) string {
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if s, ok := of.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
			return s.Sel.Name
		}
	}
	return ""
}
