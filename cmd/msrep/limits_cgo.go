//go:build cgo && linux

// The compiler includes limits_linux.c only if a Go file of the package uses cgo.

package main

// #cgo LDFLAGS: -ldl
import "C"
