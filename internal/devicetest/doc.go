// Package devicetest tests the products of devices that have their own memory against
// internal/reference.
package devicetest
