package kernels

// Forms of GPUs beside FormCSR, which their vector kernels multiply.
const (
	// FormMerge is a part in CSR with the start of each merge-path tile.
	FormMerge Form = "csr-merge"
	// FormSlices is a part in slices of 32 rows with few bytes for each entry.
	FormSlices Form = "slices"
	// FormTiles is a part in tiles of rows, with the entries of each tile in the order of their columns: for columns that jump
	// about.
	FormTiles Form = "tiles"
	// FormStreamed is a part that stays in host memory: each product copies it to the device piece by piece, and one
	// piece is copied while the previous one is multiplied.
	FormStreamed Form = "streamed"
	// FormCSRScalar and FormCSRVector are the baselines of the PELLR paper: CSR with one thread for each row, and with
	// half a warp for each row.
	FormCSRScalar Form = "csrs"
	FormCSRVector Form = "csrv"
)
