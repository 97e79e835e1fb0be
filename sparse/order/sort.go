package order

import "slices"

// sortByKey sorts nodes by ascending key, stably.
func sortByKey(nodes []int32, key func(int32) int) {
	slices.SortStableFunc(nodes, func(a, b int32) int { return key(a) - key(b) })
}
