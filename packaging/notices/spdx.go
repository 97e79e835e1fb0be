package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// artefact is a released file and the components in it.
type artefact struct {
	name, sha256 string
	components   []component
}

func newArtefact(path string) (artefact, error) {
	f, err := os.Open(path)
	if err != nil {
		return artefact{}, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return artefact{}, err
	}
	return artefact{name: filepath.Base(path), sha256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// add adds the components that a does not have yet.
func (a *artefact) add(components []component) {
	for _, c := range components {
		if !slices.ContainsFunc(a.components, func(has component) bool { return has.String() == c.String() }) {
			a.components = append(a.components, c)
		}
	}
}

// The parts of SPDX 2.3 that the bill of materials uses: https://spdx.github.io/spdx-spec/v2.3.
type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		License       string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID        string          `json:"SPDXID"`
		Name      string          `json:"name"`
		Version   string          `json:"versionInfo"`
		FileName  string          `json:"packageFileName,omitempty"`
		Location  string          `json:"downloadLocation"`
		Analyzed  bool            `json:"filesAnalyzed"`
		Concluded string          `json:"licenseConcluded"`
		Declared  string          `json:"licenseDeclared"`
		Copyright string          `json:"copyrightText"`
		Checksums []spdxChecksum  `json:"checksums,omitempty"`
		Refs      []spdxReference `json:"externalRefs,omitempty"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxReference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func spdxID(name string) string { return "SPDXRef-" + notInID.ReplaceAllString(name, "-") }

// writeSBOM writes the bill of materials of a release: the artefacts, and for each the components it contains.
func writeSBOM(file, version string, created time.Time, artefacts []artefact) error {
	all := sha256.New() // names the document: other artefacts give another name
	d := spdxDocument{Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "msrep-" + version,
		Creation: spdxCreation{Created: created.Format(time.RFC3339), Creators: []string{"Tool: msrep-packaging-notices-" + version}}}
	pack := func(id, name, version, licence string) spdxPackage {
		return spdxPackage{ID: id, Name: name, Version: version, Location: "NOASSERTION", Concluded: licence, Declared: licence,
			Copyright: "NOASSERTION"}
	}
	seen := map[string]bool{}
	for _, a := range artefacts {
		fmt.Fprintln(all, a.name, a.sha256)
		p := pack(spdxID(a.name), a.name, version, "Apache-2.0")
		p.FileName = a.name
		p.Checksums = []spdxChecksum{{"SHA256", a.sha256}}
		d.Packages = append(d.Packages, p)
		d.Relationships = append(d.Relationships, spdxRelationship{d.ID, "DESCRIBES", p.ID})
		for _, c := range a.components {
			id := spdxID(c.String())
			d.Relationships = append(d.Relationships, spdxRelationship{p.ID, "CONTAINS", id})
			if seen[id] {
				continue
			}
			seen[id] = true
			part := pack(id, c.name, c.version, c.licence)
			if c.purl != "" {
				part.Refs = []spdxReference{{"PACKAGE-MANAGER", "purl", c.purl}}
			}
			d.Packages = append(d.Packages, part)
		}
	}
	d.Namespace = fmt.Sprintf("https://github.com/msrep-go/msrep/sbom/%s/%x", version, all.Sum(nil)[:16])
	text, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
