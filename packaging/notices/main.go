// Command notices lists what released binaries contain, read from the binaries themselves:
//
//	notices -licences FOLDER BINARY...
//	notices -sbom FILE -version VERSION -time SECONDS ARTEFACT=BINARY,BINARY...
//
// The first form copies the licences of all modules in the binaries, and of Go, to FOLDER. The second writes a software
// bill of materials in the format SPDX 2.3 for the artefacts, each given with the binaries in it. -zig FOLDER is the installation of zig that linked binaries with cgo: they also contain
// its runtime functions and start files of glibc. A module without a licence, or with one that is not known, is an error.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "notices:", err)
		}
		os.Exit(2)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("notices", flag.ContinueOnError)
	licences := flags.String("licences", "", "`folder` for the licences")
	sbom := flags.String("sbom", "", "`file` for the bill of materials")
	version := flags.String("version", "", "version of the release")
	seconds := flags.Int64("time", 0, "time of the release in `seconds` since 1970")
	zig := flags.String("zig", "", "`folder` of zig")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if (*licences == "") == (*sbom == "") || flags.NArg() == 0 {
		return errors.New("give -licences or -sbom, and binaries")
	}
	find := finder{zig: *zig}
	if *licences != "" {
		for _, binary := range flags.Args() {
			components, err := find.components(binary)
			if err != nil {
				return err
			}
			if err := copyLicences(components, *licences); err != nil {
				return err
			}
		}
		return nil
	}
	var artefacts []artefact
	for _, pair := range flags.Args() {
		path, binaries, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%s: it must be ARTEFACT=BINARY or ARTEFACT=BINARY,BINARY", pair)
		}
		a, err := newArtefact(path)
		if err != nil {
			return err
		}
		for binary := range strings.SplitSeq(binaries, ",") {
			components, err := find.components(binary)
			if err != nil {
				return err
			}
			a.add(components)
		}
		artefacts = append(artefacts, a)
	}
	return writeSBOM(*sbom, *version, time.Unix(*seconds, 0).UTC(), artefacts)
}
