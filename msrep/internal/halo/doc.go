// Package halo states which elements of a vector the part of each device needs, and brings them there from the pieces of
// a vector.
//
// A device owns a piece of the vector. The elements of other pieces that its part needs are its halo. A Map numbers the
// piece and the halo together, in ascending order, so that the piece stays in one stretch:
//
//	all elements   | device 0 | device 1  | device 2 | device 3 |
//	needed             * **     *own piece*   *****    *
//	of device 1      ( * **    [own piece ]  (*****)  (*)
//	local numbers       0 1 2   3 ...                          N
//
// The order of the entries of a row stays, and so do the bits of its sum.
package halo
