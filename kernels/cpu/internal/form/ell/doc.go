// Package ell has the ELLPACK family of the PELLR paper.
package ell
