package form

const TileRows = 1 << 16

// TileRows and TileCols are the greatest numbers of rows and columns of a tile.
const (
	TileCols = 1 << 16
)
