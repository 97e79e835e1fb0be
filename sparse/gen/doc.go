// Package gen makes sparse matrices by formula: stencils, bands, random and
// power-law graphs, and the imbalanced matrices of the MSREP paper.
//
// A matrix is named by a spec, NAME:key=value,key=value, for example
//
//	stencil:n=1000,points=9
//	rmat:scale=20,edges=16,seed=7
//
// Names gives all names with their parameters, defaults and examples. Whole
// numbers may end in k, M or G for thousands, millions and billions.
//
// A matrix depends on its spec alone: the same spec gives the same bits however
// many processors take part. Every random number is a hash of the seed and of
// the place where it is used, so that rows are made in any order. A matrix is
// made in place: first the lengths of all rows, then the columns, then the
// values, each in parallel, with little memory beside the result.
//
// Values are a hash of the position (value=random, uniform in [-1, 1)) or 1
// (value=ones). Where a generator promises a symmetric matrix the values are
// symmetric too.
package gen
