package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// busyLoop keeps a CPU busy until the parent process has ended.
const busyLoop = `while kill -0 $PPID 2>/dev/null; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done`

// besideBusy calls f while n shells keep one CPU busy each, and then ends the shells.
func besideBusy(ctx context.Context, n int, f func() error) (err error) {
	for range n {
		c := exec.CommandContext(ctx, "sh", "-c", busyLoop)
		if err := c.Start(); err != nil {
			return fmt.Errorf("a busy process: %w", err)
		}
		defer func() {
			err = errors.Join(err, c.Process.Kill())
			_ = c.Wait() // "signal: killed"
		}()
	}
	return f()
}
