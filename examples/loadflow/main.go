// Loadflow computes the voltages of the IEEE 118 bus power grid by Newton's method.
package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log"
	"math/cmplx"
	"strings"

	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

//go:embed *.csv
var data embed.FS

const load, slack = 1, 3 // types of buses: the power is given; the voltage and the angle are given

func main() {
	bus := table("buses.csv")
	y := make([]map[int]complex128, len(bus)) // admittances: y[i][j] is the current into bus i per volt at bus j
	x := make([]float64, 2*len(bus))          // the angle and the voltage of each bus
	for i, b := range bus {
		y[i] = map[int]complex128{i: complex(b[4], b[5]) / 100}
		x[2*i+1] = b[7]
	}
	for _, b := range table("branches.csv") {
		i, j, series, charging, ratio := int(b[0])-1, int(b[1])-1, 1/complex(b[2], b[3]), complex(0, b[4]/2), complex(b[5], 0)
		y[i][i] += (series + charging) / (ratio * ratio)
		y[j][j] += series + charging
		y[i][j], y[j][i] = y[i][j]-series/ratio, y[j][i]-series/ratio
	}
	a, f, loss := newton(bus, y, x)
	lu, err := factor.NewLU(context.Background(), a, factor.LUOptions{})
	for step, dx := 0, make([]float64, len(x)); step < 5 && err == nil; step++ {
		err = lu.Apply(f, dx)
		for k := range x {
			x[k] -= dx[k]
		}
		a, f, loss = newton(bus, y, x)
		err = cmp.Or(err, lu.Refactor(context.Background(), a)) // other values in the same structure
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("voltage %.3f at bus 76, losses %.2f MW\n", x[2*75+1], loss)
}

// newton returns the Jacobian, the mismatches f of power, 0 where an unknown is given, and the losses in MW at the state x.
func newton(bus [][8]float64, y []map[int]complex128, x []float64) (a *sparse.CSR[float64], f []float64, loss float64) {
	var rows, cols []int32
	var val []float64
	f = make([]float64, len(x))
	voltage := func(i int) complex128 { return cmplx.Rect(x[2*i+1], x[2*i]) }
	for i, b := range bus {
		var s complex128 // the power that flows from the bus into the grid
		for j := range y[i] {
			s += voltage(i) * cmplx.Conj(y[i][j]*voltage(j))
		}
		loss += 100 * real(s)
		f[2*i], f[2*i+1] = real(s)-(b[6]-b[2])/100, imag(s)+b[3]/100
		for j := range y[i] {
			flow, same := voltage(i)*cmplx.Conj(y[i][j]*voltage(j)), 0.0
			byAngle, byVoltage := -1i*flow, flow/complex(x[2*j+1], 0)
			if i == j {
				byAngle, byVoltage, same = byAngle+1i*s, byVoltage+s/complex(x[2*i+1], 0), 1
			}
			block := []float64{real(byAngle), real(byVoltage), imag(byAngle), imag(byVoltage)}
			if b[1] == slack {
				block[0], block[1], f[2*i] = same, 0, 0
			}
			if b[1] != load {
				block[2], block[3], f[2*i+1] = 0, same, 0
			}
			r, c := int32(2*i), int32(2*j)
			rows, cols, val = append(rows, r, r, r+1, r+1), append(cols, c, c+1, c, c+1), append(val, block...)
		}
	}
	a, err := sparse.FromTriples(len(x), len(x), rows, cols, val)
	if err != nil {
		log.Fatal(err)
	}
	return a, f, loss
}

// table reads the lines of numbers in a file. Commas separate the numbers.
func table(name string) (rows [][8]float64) {
	file, _ := data.ReadFile(name) // embedded: there is no error
	for line := range strings.Lines(string(file)) {
		var r [8]float64
		if n, _ := fmt.Sscan(strings.ReplaceAll(line, ",", " "), &r[0], &r[1], &r[2], &r[3], &r[4], &r[5], &r[6], &r[7]); n > 5 {
			rows = append(rows, r)
		}
	}
	return rows
}
