// Package formtest draws matrices and forms for tests of forms, in memory between inaccessible pages.
package formtest
