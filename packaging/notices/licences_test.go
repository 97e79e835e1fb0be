package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLicencesAreToldApart(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0, January 2004":                                                    "Apache-2.0",
		"Permission is hereby granted, free\nof charge, to any person obtaining a copy of this software": "MIT",
		"Redistribution and use in source and binary forms, with or without":                             "BSD-2-Clause",
		"Redistribution and use in source and binary forms ...\n * Neither the name of X":                "BSD-3-Clause",
		"All rights reserved.": "",
	} {
		require.Equal(t, want, identify(text), text)
	}
}

func TestAModuleWithoutAKnownLicenceIsAnError(t *testing.T) {
	folder := t.TempDir()
	_, err := licenceFiles(folder)
	require.ErrorContains(t, err, "no licence file in "+folder)

	for name, text := range map[string]string{"PATENTS": "grant", "README": "Apache License Version 2.0"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	files, err := licenceFiles(folder)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(folder, "PATENTS")}, files)
	_, err = identifyFiles(files)
	require.ErrorContains(t, err, "no licence beside")

	require.NoError(t, os.WriteFile(filepath.Join(folder, "LICENSE.txt"), []byte("for friends only"), 0o600))
	files, err = licenceFiles(folder)
	require.NoError(t, err)
	_, err = identifyFiles(files)
	require.ErrorContains(t, err, "unknown licence")
}
