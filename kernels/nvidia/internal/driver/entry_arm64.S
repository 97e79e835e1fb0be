//go:build cuda

// Each function of the driver jumps to the address that load.c found.

	.macro entry name
	.globl \name
	.type \name, %function
\name:
	adrp x16, msrep_cuda_table+8*slot
	ldr x16, [x16, #:lo12:msrep_cuda_table+8*slot]
	br x16
	.size \name, .-\name
	.set slot, slot+1
	.endm

#define X(name) entry name;

	.text
	.set slot, 0
#include "symbols.h"

	.section .note.GNU-stack,"",%progbits
