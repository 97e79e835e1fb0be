package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Values is a storage of the values of a column, one value per lane.
type Values struct {
	Name  string            // in the names of functions
	Bytes func(l Lanes) int // of a column
	// Begin loads the constants of the whole call; table points to them.
	Begin func(l Lanes, table Register) (column func(at Mem) Op)
}

// Full is values without change.
var Full = Values{
	"Full",
	Lanes.Bytes,
	func(l Lanes, _ Register) func(Mem) Op {
		return func(at Mem) Op { return at }
	},
}

// Short is float32, for values that are exact in float32, in float64 kernels.
var Short = Values{
	"Short",
	func(l Lanes) int { return l.Bytes() / 2 },
	func(l Lanes, _ Register) func(Mem) Op {
		return func(at Mem) Op {
			v := l.Reg()
			VCVTPS2PD(at, v)
			return v
		}
	},
}

// Same is one value for all.
var Same = Values{
	"Same",
	func(Lanes) int { return 0 },
	func(l Lanes, table Register) func(Mem) Op {
		v := l.Reg()
		l.Broadcast(Mem{Base: table}, v)
		return func(Mem) Op { return v }
	},
}

// Table is a 4-bit code for each lane, an index in a table of 16 values.
//
// In 512 bits of float32 the code of lane i is nibble i/2 of half i%2 of the 64 bits, otherwise
// nibble i.
var Table = Values{
	"Table",
	func(l Lanes) int { return l.Count() / 2 },
	func(l Lanes, table Register) func(Mem) Op {
		shifts := l.Reg()
		low, high := l.Reg(), l.Reg()
		VMOVUPS(static(tableShifts(l)), shifts)
		switch {
		case l.Long && l.Double:
			VMOVUPD(Mem{Base: table}, low)
			VMOVUPD(Mem{Base: table, Disp: 64}, high)
			return func(at Mem) Op {
				v := ZMM()
				VPBROADCASTD(at, v.AsY())
				VPMOVZXDQ(v.AsY(), v)
				VPSRLVQ(shifts, v, v)
				VPERMI2PD(high, low, v)
				return v
			}
		case l.Long:
			VMOVUPS(Mem{Base: table}, low)
			return func(at Mem) Op {
				v := ZMM()
				VPBROADCASTQ(at, v)
				VPSRLVD(shifts, v, v)
				VPERMPS(low, v, v)
				return v
			}
		case l.Double:
			fifteen := fifteens()
			return func(at Mem) Op {
				g, v, all, out := GP32(), YMM(), YMM(), YMM()
				MOVWLZX(at, g)
				VMOVD(g, v.AsX())
				VPBROADCASTQ(v.AsX(), v)
				VPSRLVQ(shifts, v, v)
				VPAND(fifteen, v, v)
				VPCMPEQQ(all, all, all)
				VXORPD(out, out, out)
				VGATHERQPD(all, Mem{Base: table, Index: v, Scale: 8}, out)
				return out
			}
		default:
			VMOVUPS(Mem{Base: table}, low)
			VMOVUPS(Mem{Base: table, Disp: 32}, high)
			return func(at Mem) Op {
				v, a, b := YMM(), YMM(), YMM()
				VPBROADCASTD(at, v)
				VPSRLVD(shifts, v, v)
				VPERMPS(low, v, a)
				VPERMPS(high, v, b)
				VPSLLD(Imm(28), v, v)
				VBLENDVPS(v, b, a, a)
				return a
			}
		}
	},
}

// fifteens returns a register of 64-bit fifteens.
func fifteens() VecVirtual {
	v, g := YMM(), GP64()
	MOVQ(U32(15), g)
	VMOVQ(g, v.AsX())
	VPBROADCASTQ(v.AsX(), v)
	return v
}

func tableShifts(l Lanes) string {
	switch {
	case l.Double:
		return "nibblesOf64"
	case l.Long:
		return "nibblesOfHalves"
	default:
		return "nibblesOf32"
	}
}

// DefineNibbles defines the data of Table, once per file.
func DefineNibbles() {
	nibble := func(i int) uint64 { return 4 * uint64(i) }
	Lanes{Double: true}.Define("nibblesOf64", 8, nibble)
	Lanes{}.Define("nibblesOf32", 8, nibble)
	Lanes{}.Define("nibblesOfHalves", 16, func(i int) uint64 { return nibble(i / 2) })
}

// ValuesOf returns the storages of values of the type of l.
func ValuesOf(l Lanes) []Values {
	if l.Double {
		return []Values{Full, Short, Table, Same}
	}
	return []Values{Full, Table, Same}
}
