package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// licenceName matches the names of files that must go with copies of a module.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licenceFiles returns the licence and notice files in the folder of a module.
func licenceFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && licenceName.MatchString(e.Name()) {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if files == nil {
		return nil, errors.New("no licence file in " + folder)
	}
	return files, nil
}

// known are sentences by which licences are told apart, and their SPDX identifiers; the first that matches counts.
var known = []struct{ licence, all string }{
	{"Apache-2.0", `Apache License Version 2\.0`},
	{"BSD-3-Clause", `Redistribution and use in source and binary forms.*(Neither the name|names? of .* may (not )?be used)`},
	{"BSD-2-Clause", `Redistribution and use in source and binary forms`},
	{"MIT", `Permission is hereby granted, free of charge, to any person obtaining a copy`},
	{"ISC", `Permission to use, copy, modify, and/?(or)? distribute this software for any purpose with or without fee`},
	{"MPL-2.0", `Mozilla Public License,? [Vv]ersion 2\.0`},
}

var space = regexp.MustCompile(`\s+`)

// identify returns the SPDX identifier of a licence's text, "" if it is unknown.
func identify(text string) string {
	text = space.ReplaceAllString(text, " ")
	for _, k := range known {
		if regexp.MustCompile(k.all).MatchString(text) {
			return k.licence
		}
	}
	return ""
}

// identifyFiles returns the licences in files as an SPDX expression. Every licence file must be known; notices and
// grants of patents are no licences.
func identifyFiles(files []string) (string, error) {
	var found []string
	for _, file := range files {
		name := strings.ToLower(filepath.Base(file))
		if strings.HasPrefix(name, "notice") || strings.HasPrefix(name, "patents") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		licence := identify(string(text))
		if licence == "" {
			return "", fmt.Errorf("%s: unknown licence: read it, then add it to packaging/notices/licences.go", file)
		}
		found = append(found, licence)
	}
	if found == nil {
		return "", errors.New("no licence beside " + strings.Join(files, ", "))
	}
	return strings.Join(found, " AND "), nil
}

// copyLicences copies the licence files of components to folder, one folder for each component.
func copyLicences(components []component, folder string) error {
	for _, c := range components {
		to := filepath.Join(folder, strings.ReplaceAll(c.String(), "/", "_"))
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		for _, file := range c.files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
