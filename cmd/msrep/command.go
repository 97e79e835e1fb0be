package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/lostfile"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // something failed at run time
	exitUsage  = 2 // wrong usage, bad input, or input too large for the memory
)

// exitCode returns the exit code of a command that ends with err.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case sparse.IsInput(err), errors.Is(err, kernels.ErrOutOfMemory):
		return exitUsage
	}
	return exitFailed
}

// command is a subcommand.
type command struct {
	name, args, summary, example string
	details                      string        // further lines of the help text, or empty
	more                         func() string // returns computed lines of the help text; may be nil
	severalThreads               bool          // --threads may list several numbers
	ranks                        bool          // runs on all ranks that an MPI launcher started
	apart                        bool          // reports on this machine only, so it runs even where MPI fails
	opensNone                    bool          // checks --devices but opens no device (except info --explain)
	// setup declares the flags and returns the function that runs after they are parsed.
	setup func(c *call) func(ctx context.Context) error
}

var commands = []*command{spmvCommand, spgemmCommand, solveCommand, trsvCommand, eigCommand, svdCommand, pagerankCommand, infoCommand, convertCommand, genCommand,
	topoCommand, benchCommand, versionCommand}

// matrixHelp explains the MATRIX argument.
var matrixHelp = "MATRIX is a file (" + strings.Join(matio.Extensions(), " ") + ";\nalso compressed, with .gz or .zst after the name, or in a .tar.gz of the SuiteSparse collection),\nor gen:NAME:key=value,..., a generated matrix (see msrep gen --help)."

// call is one run of a command.
type call struct {
	*command
	flags  *flag.FlagSet
	args   []string // arguments that are no flags
	line   string   // command line without "msrep"
	stdout io.Writer
	stderr io.Writer

	devices  string
	threads  int
	counts   []int // all numbers of --threads, for commands that take several
	json     bool
	quiet    bool
	progress *progress
	team     *team // nil when this process runs alone
	alone    bool  // a failure here does not imply a failure on the other ranks
}

// run runs the command line args and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if err := lostfile.Error(r); err != nil {
			fmt.Fprintf(stderr, "msrep: %v\n", err)
			code = exitUsage
		} else {
			fmt.Fprintf(stderr, "msrep: internal error: %v\n%s", r, debug.Stack())
			code = exitFailed
		}
	}()
	if len(args) == 0 {
		return refuse(ctx, stderr, usageError("no command is given; %s (see msrep help)", commandList()))
	}
	switch {
	case asksHelp(args[0]):
		if len(args) > 2 {
			fmt.Fprintf(stderr, "msrep help: %q: name one command\n", args[2])
			return exitUsage
		}
		if len(args) > 1 && !asksHelp(args[1]) {
			return run(ctx, []string{args[1], "--help"}, stdout, stderr)
		}
		out := bufio.NewWriter(stdout)
		usage(out)
		if err := out.Flush(); err != nil {
			fmt.Fprintf(stderr, "msrep: %v\n", err)
			return exitFailed
		}
		return exitOK
	case args[0] == "--version", args[0] == "-version":
		args[0] = versionCommand.name
	}
	for _, cmd := range commands {
		if cmd.name == args[0] {
			return cmd.run(ctx, args[1:], stdout, stderr)
		}
	}
	return refuse(ctx, stderr, usageError("%q is not a command; %s", args[0], commandList()))
}

// refuse reports err, the error of a command line that names no command, and returns the exit code.
func refuse(ctx context.Context, stderr io.Writer, err error) int {
	c := &call{command: &command{}, stdout: io.Discard, stderr: stderr, flags: flag.NewFlagSet("", flag.ContinueOnError)}
	err = c.overRanks(ctx, err, nil)
	c.complain(ctx, err)
	return exitCode(err)
}

func asksHelp(arg string) bool {
	return slices.Contains([]string{"help", "-h", "-help", "--help"}, arg)
}

func (cmd *command) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := &call{command: cmd, stderr: stderr, line: strings.Join(append([]string{cmd.name}, args...), " "), flags: flag.NewFlagSet(cmd.name, flag.ContinueOnError)}
	out := bufio.NewWriter(&resultWriter{stdout, c}) // keeps its first error until Flush
	c.stdout = out
	c.flags.SetOutput(io.Discard)
	c.flags.StringVar(&c.devices, "devices", "auto", "`SPEC`: auto, cpu, cpu:N (N CPU devices), cuda, cuda:0,1,... (GPUs) or sim:N (N simulated GPUs, slow; sim:dgx1 has 8, sim:summit 6)")
	c.flags.Var((*threadCounts)(&c.counts), "threads", "`N` CPU threads in total; 0 means all")
	c.flags.BoolVar(&c.json, "json", false, "print one JSON object")
	c.flags.BoolVar(&c.quiet, "quiet", false, "print the result only, no messages")
	do := cmd.setup(c)
	err := c.parse(args)
	c.progress = newProgress(stderr, c.quiet || !printsMessages() || c.json && !isTerminal(stdout))
	defer c.progress.end()
	if errors.Is(err, flag.ErrHelp) {
		c.help()
		err = nil
	} else {
		err = c.overRanks(ctx, err, do)
	}
	if e := out.Flush(); err == nil { // a solve that fails still prints its result
		err = e
	}
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && !isLate(err) {
		err = errors.New("interrupted")
	}
	c.complain(ctx, err)
	return exitCode(err)
}

// resultWriter writes results, and erases the progress line first.
type resultWriter struct {
	io.Writer
	c *call
}

func (w *resultWriter) Write(p []byte) (int, error) {
	w.c.progress.end()
	return w.Writer.Write(p)
}

// complain prints why the command ends. Of several ranks, rank 0 prints; another rank prints after othersFirst if it
// fails alone.
func (c *call) complain(ctx context.Context, err error) {
	c.progress.end()
	c.inFlags(err)
	if rank, _, _ := launched(); rank > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(othersFirst): // launchers end all ranks when one fails
		}
		if !c.alone {
			return
		}
		err = &cluster.RankError{Rank: rank, Host: hostName(), Err: err}
	}
	fmt.Fprintf(c.stderr, "%s: %s\n", c.messagePrefix(), oneLine(err))
}

// messagePrefix returns the prefix of the command's messages.
func (c *call) messagePrefix() string { return strings.TrimSpace("msrep " + c.name) }

// want checks the number of arguments that are no flags.
func (c *call) want(n int) error {
	if len(c.args) == n {
		if slices.Contains(c.args, "") {
			return usageError("an empty argument is given; expected %s (see msrep %s --help)", c.command.args, c.name)
		}
		return nil
	}
	takes := c.command.args
	if takes == "" {
		takes = "none"
	}
	return usageError("arguments: %d given, it takes %s (see msrep %s --help)", len(c.args), takes, c.name)
}

// warn prints a warning about something that does not change the result.
func (c *call) warn(msg string) {
	if !c.quiet {
		c.progress.erase()
		fmt.Fprintf(c.stderr, "msrep %s: warning: %s\n", c.name, msg)
	}
}

// note warns where the matrix or vector in memory differs from the contents of the file.
func (c *call) note(file string, src sparse.Source) {
	if src.Note != "" {
		c.warn(file + ": " + src.Note)
	}
}

func (c *call) help() {
	fmt.Fprintf(c.stdout, "usage: msrep %s [flags]\n\n%s\n", strings.TrimSpace(c.name+" "+c.command.args), c.summary)
	if c.details != "" {
		fmt.Fprintf(c.stdout, "\n%s\n", c.details)
	}
	if c.more != nil {
		fmt.Fprintf(c.stdout, "\n%s", c.more())
	}
	if c.example != "" {
		fmt.Fprintf(c.stdout, "\nexample:\n  %s\n", c.example)
	}
	fmt.Fprint(c.stdout, "\nflags:\n")
	c.flags.VisitAll(func(f *flag.Flag) {
		name, text := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			text += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(c.stdout, "  --%-22s %s\n", strings.TrimSpace(f.Name+" "+name), text)
	})
}

func usage(w io.Writer) {
	fmt.Fprint(w, "msrep multiplies sparse matrices by vectors on all devices of a node: y = alpha*op(A)*x + beta*y\n\nusage: msrep COMMAND [arguments] [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-9s %-21s %s\n", c.name, c.args, c.summary)
	}
	fmt.Fprintf(w, "\n%s\nmsrep COMMAND --help explains a command. If a flag is given twice, the last value counts.\n\nexample:\n  msrep spmv matrix.mtx --x random:1 --devices cpu:2 --out y.mtx\n", matrixHelp)
}

func commandList() string {
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	return "use one of " + strings.Join(names, ", ")
}

func usageError(format string, args ...any) error {
	return &sparse.InputError{Msg: fmt.Sprintf(format, args...)}
}

// inFlags replaces the name of a library argument in err by the flag or the file that it came from.
func (c *call) inFlags(err error) {
	var bad *sparse.InputError
	if !errors.As(err, &bad) {
		return
	}
	isFile := slices.Contains(c.args, bad.Subject) // a file may have the name of a flag
	c.flags.Visit(func(f *flag.Flag) { isFile = isFile || f.Value.String() == bad.Subject })
	switch name := bad.Subject; {
	case isFile:
	case name == "matrix" && len(c.args) > 0:
		bad.Subject = c.args[0]
	case name == "b" && c.flags.Lookup("rhs") != nil:
		bad.Subject = "--rhs"
	case c.flags.Lookup(name) != nil:
		bad.Subject = "--" + name
	}
}

// oneLine returns the message of err without line breaks.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
