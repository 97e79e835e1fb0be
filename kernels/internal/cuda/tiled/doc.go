// Package tiled builds the form of the msrep_major_tiles kernels of kernels/internal/cuda, for matrices whose columns jump
// about.
//
// A tile is a block of consecutive rows. One thread block multiplies it and keeps the sums of all its rows in shared
// memory, so it can take the entries in the order of their columns: neighbouring threads then often read the same 64 bytes
// of x, and all blocks go through x at the same pace.
//
// The entries of a tile are arranged in rounds of 512 places, one for each thread. The entries of a round have different
// sums, so threads add without atomics, and results have the same bits each time. A row has one sum, none if it has no
// entries, or several if it has more entries than an eighth of the rounds of its tile: rows whose last columns hold most of
// their entries would need many rounds of their own. Several sums are added at the end, in order. The tiles have about
// equal numbers of entries: a row that is too long for its tile continues in the next ones. Each of these leaves a carry,
// which msrep_add_carries adds to the row.
//
// A place takes a value and a code of 4 bytes: the number of its sum in the upper 16 bits, its column in the lower 16,
// counted from the base of its 32 places. Places without an entry have the sum 0xffff and the value 0; they take part in
// no sum, so an infinity or NaN in x affects only rows with an entry in its column. float64 values that float32 represents
// exactly are stored in 4 bytes.
//
// The kernels of tiles_build.cu build the same arrays on the device, for a part that is there.
package tiled
