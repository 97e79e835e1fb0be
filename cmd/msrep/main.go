// Command msrep multiplies sparse matrices by vectors over all devices of a node,
// and describes, converts and makes the matrices. Run "msrep help".
package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/msrep-go/msrep/internal/ended"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/mem"
)

// grace is how long a command has to end by itself once it was interrupted.
const grace = 700 * time.Millisecond

func main() {
	if most, limited := mem.MostThreads(); limited {
		runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), most))
		debug.SetTraceback("none") // where memory lacks for Go's runtime its one or two lines are enough
	}
	ctx, stop := ended.BySignals(context.Background())
	defer stop()
	go func() {
		<-ctx.Done()
		fileio.RemovePending()
		time.Sleep(grace)
		if speaks() && !told.Load() {
			os.Stderr.WriteString("msrep: interrupted\n")
		}
		os.Exit(exitFailed)
	}()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	fileio.RemovePending()
	os.Exit(code)
}
