// Command msrep multiplies sparse matrices by vectors on all devices of a node. It also solves systems, ranks graphs,
// and describes, converts and generates matrices. "msrep help" lists its commands.
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

// grace is the time that an interrupted command has to end by itself.
const grace = 700 * time.Millisecond

func main() {
	if most, limited := mem.MostThreads(); limited {
		runtime.GOMAXPROCS(min(runtime.GOMAXPROCS(0), most))
		debug.SetTraceback("none") // the runtime prints one or two lines when it runs out of memory; a trace adds nothing
	}
	ctx, stop := ended.BySignals(context.Background())
	defer stop()
	go func() {
		<-ctx.Done()
		fileio.RemovePending()
		time.Sleep(grace)
		if printsMessages() && !failureReported.Load() {
			os.Stderr.WriteString("msrep: interrupted\n")
		}
		os.Exit(exitFailed)
	}()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	fileio.RemovePending()
	os.Exit(code)
}
