package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// component is something with a licence of its own in a binary: a Go module, Go itself, or a part of zig.
type component struct {
	name, version string
	purl          string   // package URL; "" if there is none
	licence       string   // SPDX expression
	files         []string // licence and notice files
}

func (c component) String() string { return c.name + "@" + c.version }

// finder finds the components of binaries.
type finder struct {
	zig string // folder of zig; "" for none
}

// components returns what binary contains besides the main module, sorted by name as in its build information. All
// modules must be in the module cache.
func (f finder) components(binary string) ([]component, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	goRelease, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ")
	all := []component{{name: "go", version: goRelease, purl: "pkg:golang/std@" + goRelease}}
	folders := []string{root}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		folder, err := output("go", "list", "-m", "-f", "{{.Dir}}", m.Path+"@"+m.Version)
		if err != nil {
			return nil, err
		}
		if folder == "" {
			return nil, fmt.Errorf("%s@%s is not in the module cache", m.Path, m.Version)
		}
		all = append(all, component{name: m.Path, version: m.Version, purl: "pkg:golang/" + m.Path + "@" + m.Version})
		folders = append(folders, folder)
	}
	for i := range all {
		if all[i].files, err = licenceFiles(folders[i]); err == nil {
			all[i].licence, err = identifyFiles(all[i].files)
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", all[i], err)
		}
	}
	if f.zig != "" && setting(info, "CGO_ENABLED") == "1" {
		version, err := output(filepath.Join(f.zig, "zig"), "version")
		if err != nil {
			return nil, err
		}
		all = append(all,
			component{name: "zig", version: version, licence: "MIT", files: []string{filepath.Join(f.zig, "LICENSE")}},
			// The start files have an exception: programs that are linked with them may have any licence.
			component{name: "glibc-start-files", version: version, licence: "LGPL-2.1-or-later WITH GCC-exception-2.0",
				files: []string{filepath.Join(f.zig, "lib", "libc", "glibc", "LICENSES")}})
	}
	return all, nil
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// output runs a command and returns its standard output without the last newline.
func output(name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}
