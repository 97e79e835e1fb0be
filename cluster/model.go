package cluster

import "github.com/msrep-go/msrep/sparse"

// Exchange describes the messages of a product over several ranks. Model computes it in one process; a Plan of the same
// matrix over the same number of ranks sends exactly these messages.
type Exchange struct {
	Ranks     int     `json:"ranks"`
	Imbalance float64 `json:"imbalance"`    // largest number of entries of a rank over the mean
	Local     float64 `json:"local_share"`  // fraction of the entries in columns of their own rank
	Bytes     int64   `json:"bytes"`        // sent by all ranks
	MaxBytes  int64   `json:"max_bytes"`    // largest number sent by one rank
	MaxHalo   int64   `json:"max_halo"`     // largest number of elements that one rank receives
	Messages  int64   `json:"messages"`     // sent by all ranks
	MaxPeers  int     `json:"max_messages"` // largest number sent by one rank
	Halo      []int64 `json:"halo"`         // elements that each rank receives
}

// Model computes the messages of a product with a, or with its transpose, over n ranks, without sending any. align is
// the argument of Slice, and elementBytes the size of an element of x. n is at most partition.MaxParts; errors are
// *sparse.InputError.
func Model[V sparse.Value](a *sparse.CSR[V], n int, align Align, elementBytes int64) (Exchange, error) {
	if a == nil {
		return Exchange{}, sparse.Inputf("matrix", "is nil")
	}
	if err := a.Validate(); err != nil {
		return Exchange{}, err
	}
	rowCut, err := rowCuts(a.RowPtr, n, int(align))
	if err != nil {
		return Exchange{}, err
	}
	colCut := columnCuts(rowCut, a.Rows, a.Cols)
	e := Exchange{Ranks: n, Imbalance: 1, Local: 1}
	sent, peers := make([]int64, n), make([]int, n)
	column, peer := make([]int32, a.Cols), make([]int32, n) // last rank that needs the column (or the peer), from 1
	var most, local int64
	for r := range n {
		first, end := int32(colCut[r]), int32(colCut[r+1])
		k0, k1 := a.RowPtr[rowCut[r]], a.RowPtr[rowCut[r+1]]
		most = max(most, k1-k0)
		var halo int64
		for _, j := range a.ColIdx[k0:k1] {
			switch {
			case j >= first && j < end:
				local++
			case column[j] != int32(r+1):
				column[j] = int32(r + 1)
				halo++
				q := owner(colCut, int(j))
				sent[q] += elementBytes
				if peer[q] != int32(r+1) {
					peer[q] = int32(r + 1)
					peers[q]++
				}
			}
		}
		e.Halo = append(e.Halo, halo)
		e.MaxHalo = max(e.MaxHalo, halo)
	}
	for q := range n {
		e.Bytes, e.MaxBytes = e.Bytes+sent[q], max(e.MaxBytes, sent[q])
		e.Messages, e.MaxPeers = e.Messages+int64(peers[q]), max(e.MaxPeers, peers[q])
	}
	if nnz := a.NNZ(); nnz > 0 {
		e.Imbalance, e.Local = float64(most)*float64(n)/float64(nnz), float64(local)/float64(nnz)
	}
	return e, nil
}
