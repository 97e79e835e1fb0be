//go:build !unix

package mem

const hasMmap = false
