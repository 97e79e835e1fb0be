package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// parse accepts flags before, between and after the other arguments.
func (c *call) parse(args []string) error {
	for {
		if err := c.flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return err
			}
			return usageError("%s (see msrep %s --help)", c.flagFault(err), c.name)
		}
		rest := c.flags.Args()
		if len(rest) == 0 {
			break
		}
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			c.args = append(c.args, rest...)
			break
		}
		c.args = append(c.args, rest[0])
		args = rest[1:]
	}
	var err error
	c.flags.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = sparse.Inputf("--"+f.Name, "is empty: give a value or leave it out")
		}
	})
	if err != nil {
		return err
	}
	for _, n := range c.counts {
		if n < 0 || n > msrep.MaxThreads {
			return sparse.Inputf("--threads", "%d: use 1 to %d, or 0 for all", n, msrep.MaxThreads)
		}
		if most, _ := mem.MostThreads(); n > most {
			return sparse.Inputf("--threads", "%d: the limit of the process (ulimit -v or -d) leaves room for %d", n, most)
		}
		c.threads = n
	}
	if c.opensNone && !devicesSpec.MatchString(c.devices) {
		return sparse.Inputf("--devices", "%q is not known: use auto, cpu, cpu:N, cuda, cuda:0,1,... or sim:N", c.devices)
	}
	if len(c.counts) > 1 && !c.severalThreads {
		return sparse.Inputf("--threads", "%d numbers: %s takes one number", len(c.counts), c.name)
	}
	if c.threads > 0 && !c.severalThreads {
		runtime.GOMAXPROCS(c.threads)
	}
	return nil
}

// devicesSpec is the syntax of --devices. Opening the devices checks that they exist.
var devicesSpec = regexp.MustCompile(`^(auto|cpu(:[1-9][0-9]*)?|cuda(:[0-9]+([,+][0-9]+)*)?|sim:([1-9][0-9]*|dgx1|summit))$`)

// choice is a flag whose value is one of a few words.
type choice struct {
	name, value string
	known       []string
}

func (c choice) check() error {
	if slices.Contains(c.known, c.value) {
		return nil
	}
	last := len(c.known) - 1
	return sparse.Inputf(c.name, "%q is not known: use %s or %s", c.value, strings.Join(c.known[:last], ", "), c.known[last])
}

// threadCounts is the value of --threads: a number, or several separated by commas.
type threadCounts []int

func (t *threadCounts) String() string {
	if t == nil || len(*t) == 0 {
		return "0"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*t)), " ", ","), "[]")
}

func (t *threadCounts) Set(s string) error {
	*t = nil
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return errors.New("use a whole number")
		}
		*t = append(*t, n)
	}
	return nil
}

// flagError matches the errors of package flag that name a flag: unknown flag, missing value, bad value.
var flagError = regexp.MustCompile(`(?s)^(?:flag provided but not defined: -(.+)|flag needs an argument: -(.+)|` +
	`invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([^:]+): (.*))$`)

// flagFault rewords an error of package flag; msrep writes flags with two dashes.
func (c *call) flagFault(err error) string {
	m := flagError.FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return err.Error()
	case m[1] != "":
		return fmt.Sprintf("there is no flag --%s", m[1])
	case m[2] != "":
		return fmt.Sprintf("--%s needs a value", m[2])
	}
	value, name, why := m[3], m[4], m[5]
	if why == "parse error" {
		why = c.takes(name)
	}
	return fmt.Sprintf("--%s: %s: %s", name, value, why)
}

// takes says which values a flag accepts, for types that package flag parses.
func (c *call) takes(name string) string {
	switch c.flags.Lookup(name).Value.(flag.Getter).Get().(type) {
	case bool:
		return "use true or false"
	case float64:
		return "use a number"
	case time.Duration:
		return "use a time such as 300ms or 1.5s"
	}
	return "use a whole number"
}

// job is a matrix and the devices that work on it.
type job struct {
	sys   *msrep.System
	m     *matio.Matrix
	out   *fileio.Out // output file of the resulting vector; nil for none
	begin time.Time   // start of reading
	read  time.Duration
}

// given reports whether the flag is among the arguments.
func (c *call) given(name string) (found bool) {
	c.flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// onMatrix opens the devices, reads the matrix of the first argument with opts, runs do and closes both. out names
// the file of the resulting vector, "" for none; onMatrix creates it first, so an unwritable path fails before the
// work.
func (c *call) onMatrix(ctx context.Context, out string, config msrep.Config, do func(j *job) error, opts ...matio.Option) (err error) {
	j := &job{}
	if out != "" {
		if j.out, err = fileio.Create(out); err != nil {
			return &sparse.InputError{Err: err}
		}
		defer j.out.Close()
	}
	config.Devices, config.Threads, config.Warn = c.devices, c.threads, c.warn
	if j.sys, err = msrep.Open(config); err != nil {
		return err
	}
	j.begin = time.Now()
	if j.m, err = c.readMatrix(ctx, c.args[0], opts...); err != nil {
		return errors.Join(err, j.sys.Close())
	}
	j.read = time.Since(j.begin)
	err = do(j)
	return errors.Join(err, j.sys.Close(), j.m.Close())
}

// readMatrix is matio.Read with a progress line and with the notes of the file.
func (c *call) readMatrix(ctx context.Context, path string, opts ...matio.Option) (*matio.Matrix, error) {
	var done, size atomic.Int64
	ctx = fileio.WithReads(ctx, func(n, all int64) {
		done.Store(n)
		size.Store(all)
	})
	c.progress.doing("reading "+path, func() float64 { return float64(done.Load()) / float64(max(size.Load(), 1)) })
	m, err := matio.Read(ctx, path, opts...)
	if err != nil {
		return nil, err
	}
	c.note(path, m.Source)
	c.progress.doing(c.name, nil)
	return m, nil
}

// onRanks opens the devices of all ranks. Each rank reads its rows of the matrix of the first argument; its first row
// is a multiple of align. onRanks checks first that out can be written. writeOutput creates the file at the end,
// because a launcher that kills the ranks would otherwise leave a partial file.
func (c *call) onRanks(ctx context.Context, out string, config msrep.Config, align int) (m *cluster.Matrix[float64], src sparse.Source, read time.Duration, err error) {
	t := c.team
	file, err := t.create(out)
	if file != nil {
		err = file.Close()
	}
	if err := c.agree(err); err != nil {
		return nil, src, 0, err
	}
	config.Devices, config.Threads, config.Warn = c.devices, c.threads, c.warn
	if err := t.open(ctx, config); err != nil {
		return nil, src, 0, err
	}
	begin := time.Now()
	m, src, err = cluster.Read(ctx, t.sys, c.args[0], cluster.Align(align))
	if err == nil {
		c.note(c.args[0], src)
	}
	return m, src, time.Since(begin), err
}
