// Command prefetch generates the loop of package spgemm that prefetches rows.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	TEXT("prefetchRows", NOSPLIT, "func(row *int32, n int, ptr *int64, rows int, data *byte, shift int)")
	Doc("prefetchRows prefetches the first and the last cache line of n > 0 rows of a matrix in CSR. Their numbers are in row;",
		"those outside [0, rows) are left out. data has elements of 1<<shift bytes.")
	Pragma("noescape")
	row, n := Load(Param("row"), GP64()), Load(Param("n"), GP64())
	ptr, rows := Load(Param("ptr"), GP64()), Load(Param("rows"), GP64())
	data := Load(Param("data"), GP64())
	Load(Param("shift"), RCX)
	Label("loop")
	k, first, end := GP64(), GP64(), GP64()
	MOVL(Mem{Base: row}, k.As32()) // without sign: negative numbers are large
	CMPQ(k, rows)
	JAE(LabelRef("next"))
	MOVQ(Mem{Base: ptr, Index: k, Scale: 8}, first)
	MOVQ(Mem{Base: ptr, Index: k, Scale: 8, Disp: 8}, end)
	SHLQ(CL, first)
	SHLQ(CL, end)
	PREFETCHT0(Mem{Base: data, Index: first, Scale: 1})
	PREFETCHT0(Mem{Base: data, Index: end, Scale: 1, Disp: -1})
	Label("next")
	ADDQ(Imm(4), row)
	DECQ(n)
	JNZ(LabelRef("loop"))
	RET()
	Generate()
}
