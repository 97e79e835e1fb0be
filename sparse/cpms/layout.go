package cpms

import (
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/sparse"
)

// Separated is the Bank of a layout in which all segments with the same index are
// consecutive.
const Separated = 0

// BankStep and MaxBank are the limits of Layout.Bank, in bytes. The paper uses 128 bytes on
// GPUs and 8 KiB on CPUs.
const (
	BankStep = 64
	MaxBank  = 1 << 20
)

// Layout describes how an Array splits values and where it stores their segments.
type Layout struct {
	Segments int // 2 or 4
	// Bank is the number of bytes of consecutive segments with the same index: a multiple
	// of BankStep up to MaxBank, or Separated.
	Bank int
}

// Check returns a *sparse.InputError if l is not a valid layout.
func (l Layout) Check() error {
	if l.Segments != 2 && l.Segments != 4 {
		return sparse.Inputf("segments", "%d: a value is cut into 2 or 4", l.Segments)
	}
	if l.Bank < 0 || l.Bank%BankStep != 0 || l.Bank > MaxBank {
		return sparse.Inputf("bank", "%d bytes: use a multiple of %d up to %d, or 0 for separated segments", l.Bank, BankStep, MaxBank)
	}
	return nil
}

// PerBank returns the number of values whose segments share a bank: a multiple of 16, or
// 0 if the segments are separated.
func (l Layout) PerBank() int { return l.Bank * l.Segments / 8 }

// Bits returns the size of a segment in bits.
func (l Layout) Bits() int { return 64 / l.Segments }

// String returns "interleaved:BYTES" or "separated".
func (l Layout) String() string {
	if l.Bank == Separated {
		return "separated"
	}
	return "interleaved:" + strconv.Itoa(l.Bank)
}

// ParseBank parses a string from String and returns the Bank of its layout. Errors are
// *sparse.InputError.
func ParseBank(s string) (int, error) {
	if s == "separated" {
		return Separated, nil
	}
	digits, ok := strings.CutPrefix(s, "interleaved:")
	bank, err := strconv.Atoi(digits)
	if !ok || err != nil || bank == 0 {
		return 0, sparse.Inputf("layout", "%q: use interleaved:BYTES or separated", s)
	}
	return bank, Layout{2, bank}.Check()
}
