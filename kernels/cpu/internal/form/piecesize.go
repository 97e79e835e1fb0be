package form

const TileRows = 1 << 16

// TileRows and TileCols are the greatest numbers of rows and columns of a tile.
const (
	TileCols = 1 << 16
)

// RunRows is the greatest number of rows of a group of Runs, and of columns of a piece.
const RunRows = 8
