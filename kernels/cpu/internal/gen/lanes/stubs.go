package lanes

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"os"
	"regexp"
	"strings"

	"github.com/mmcloughlin/avo/build"
)

// avo knows only the types that are built in. A function whose parameter points to a struct of
// arguments is generated with another pointer; WriteFiles then writes the type into the stubs.

// argumentType matches the signature of a function with a struct of arguments.
var argumentType = regexp.MustCompile(`^func\(a \*(\w+(\[\w+\])?)\)$`)

var (
	byValue = map[string]string{} // the type of the argument of each function of FuncOf
	structs = map[string]string{} // the type of the arguments of each function that has one
	current string                // the type of the arguments of the current function
	layouts []layout              // the layouts on which the functions depend
)

// layout is a type and its fields.
type layout struct {
	name   string
	fields []string
}

// checkLayout makes WriteFiles write a check of the type of the arguments of the current function.
func checkLayout(fields []string) {
	for _, l := range layouts {
		if l.name == current {
			return
		}
	}
	layouts = append(layouts, layout{current, fields})
}

// WriteFiles writes the assembly and the stubs. The stubs compile only if the structs of arguments
// have the layout that the assembly has.
func WriteFiles() {
	build.Generate()
	assembly, stubs := flag.Lookup("out").Value.String(), flag.Lookup("stubs").Value.String()
	var err error
	if stubs != "" && len(structs) > 0 {
		err = complete(stubs)
	}
	if assembly != "" && stubs != "" && len(byValue) > 0 {
		err = errors.Join(err, replace(stubs, stubStructs), replace(assembly, assemblyStructs))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// replace replaces the text of a file.
func replace(file string, f func(text string) string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(f(string(text))), 0o644)
}

var (
	declaration = regexp.MustCompile(`func (\w+)\((.*)\)`)
	argument    = regexp.MustCompile(`\b(\w+\+\d+\(FP\))`)
	beginning   = regexp.MustCompile(`(?m)^// func `)
)

// stubStructs writes the parameters of functions of FuncOf as their struct.
func stubStructs(text string) string {
	return declaration.ReplaceAllStringFunc(text, func(s string) string {
		name := declaration.FindStringSubmatch(s)[1]
		if typ := byValue[name]; typ != "" {
			return fmt.Sprintf("func %s(a %s)", name, typ)
		}
		return s
	})
}

// assemblyStructs names the parameters of functions of FuncOf as go vet expects it: a_n is field n of a.
func assemblyStructs(text string) string {
	var out strings.Builder
	for _, part := range splitBefore(text, beginning) {
		if m := declaration.FindStringSubmatch(part); m != nil && byValue[m[1]] != "" {
			part = argument.ReplaceAllString(stubStructs(part), "a_$1")
		}
		out.WriteString(part)
	}
	return out.String()
}

// splitBefore cuts a text before each match.
func splitBefore(text string, at *regexp.Regexp) (parts []string) {
	from := 0
	for _, m := range at.FindAllStringIndex(text, -1) {
		parts = append(parts, text[from:m[0]])
		from = m[0]
	}
	return append(parts, text[from:])
}

// complete writes the types of arguments and the checks of their layouts into the stubs.
func complete(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for name, of := range structs {
		text = bytes.Replace(text, fmt.Appendf(nil, "func %s(a *byte)", name), fmt.Appendf(nil, "func %s(a *%s)", name, of), 1)
	}
	var checks strings.Builder
	checks.WriteString("\n// The layouts of arguments on which the assembly depends. With others this does not compile.\nvar (\n")
	for _, l := range layouts {
		var all []string
		for i, f := range l.fields {
			if i > 0 {
				all = append(all, fmt.Sprintf("unsafe.Offsetof(%s{}.%s)^%d", l.name, f, 8*i))
			}
		}
		fmt.Fprintf(&checks, "_ = [1]bool{}[%s]\n", strings.Join(all, "|\n"))
	}
	checks.WriteString(")\n")
	text = regexp.MustCompile(`(?m)^package .*$`).ReplaceAll(text, []byte("$0\n\nimport \"unsafe\""))
	text, err = format.Source(append(text, checks.String()...))
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
