//go:build cgo && linux

// limits_linux.c is compiled where a file of the package uses cgo.

package main

import "C"
