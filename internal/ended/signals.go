package ended

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// BySignals gives a context that ends when the process gets SIGINT, SIGTERM or SIGHUP, and the
// function that gives its resources back.
//
// A signal that the process ignored at its start stays ignored, as under nohup (SIGHUP) and in the
// background jobs of a script (SIGINT and SIGQUIT). Go tells this of SIGHUP and SIGINT alone, and
// only before it is asked to deliver them. Shells ignore SIGQUIT together with SIGINT, so it is
// ignored where SIGINT was.
func BySignals(parent context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGTERM}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	if signal.Ignored(os.Interrupt) {
		signal.Ignore(syscall.SIGQUIT)
	}
	return signal.NotifyContext(parent, signals...)
}
