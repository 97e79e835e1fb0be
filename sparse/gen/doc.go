// Package gen generates sparse matrices by formula: stencils, bands, random and power-law
// graphs, and the imbalanced matrices of the MSREP paper.
//
// A matrix is named by a spec, NAME:key=value,key=value, for example
//
//	stencil:n=1000,points=9
//	rmat:scale=20,edges=16,seed=7
//
// Names returns all generators with their parameters, defaults and examples. Whole
// numbers may end in k, M or G for thousands, millions and billions.
//
// A matrix depends only on its spec: the same spec gives the same bits for any number of
// processors. Every random number is a hash of the seed and of the position where it is
// used, so rows can be generated in any order. Generation allocates little besides the
// result: first it computes the lengths of all rows, then the columns, then the values,
// each on several goroutines.
//
// A value is a hash of its position (value=random, uniform in [-1, 1)) or 1 (value=ones).
// Generators whose summary says symmetric make symmetric values too.
package gen
