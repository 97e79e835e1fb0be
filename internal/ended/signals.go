package ended

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// BySignals returns a context that ends when the process receives SIGINT, SIGTERM or
// SIGHUP, and the function that releases its resources.
//
// A signal that the process ignored at its start remains ignored, as under nohup (SIGHUP)
// and in the background jobs of a script (SIGINT and SIGQUIT). Go reports ignored signals
// only for SIGHUP and SIGINT, and only before Notify. Shells ignore SIGQUIT together with
// SIGINT, so BySignals ignores SIGQUIT if SIGINT was ignored.
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
