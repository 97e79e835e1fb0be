package cluster

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/sparse"
)

// Comm joins the ranks of a run. Its methods are collective, but for Rank, Size and
// Abort: all ranks call them in the same order, from one goroutine at a time. Errors
// mean that the run is over.
type Comm interface {
	// Rank is the number of this process, from 0 on. Size is how many there are.
	Rank() int
	Size() int
	// Swap sends send[r] to rank r, for all r, and gives what each rank sent here.
	Swap(send [][]byte) (received [][]byte, err error)
	// Share sends b to all ranks and gives what each of them sent, 2 GiB together at
	// most.
	Share(b []byte) (all [][]byte, err error)
	// Sum makes each element of v its sum over all ranks, and Max its maximum. All
	// ranks get the same bits. No element of Max may be NaN.
	Sum(v []float64) error
	Max(v []float64) error
	// Link sets up messages that are sent again and again.
	Link(out, in []Message) (Link, error)
	// Abort ends all ranks at once, with this exit code where they are processes. It
	// may be called at any time.
	Abort(code int)
}

// Message is memory that is sent to a rank, or received from it. No two messages of a
// Link have the same direction and rank. Empty ones are allowed.
type Message struct {
	Rank int
	Data []byte
	// Enter, where it is not nil, says that Data is memory of a device, which the host
	// must not look into: only a DeviceComm takes it. It makes the device that of the
	// calling thread.
	Enter func() error
}

// DeviceComm is a Comm whose links may take memory of devices.
type DeviceComm interface {
	Comm
	// TakesMemoryOf reports whether they take that of devices of a kind, as in
	// kernels.Info.
	TakesMemoryOf(kind string) bool
}

// Link is a set of messages. All ranks that take part start and await it equally often.
type Link interface {
	// Start begins to send and receive. The memory of messages belongs to the Link
	// until Wait returns.
	Start() error
	// Wait ends when all messages of this rank were sent and received. It may be called
	// from another goroutine than Start.
	Wait() error
	// Sent is how many bytes and messages this rank has sent since the beginning.
	Sent() (bytes, messages int64)
	Close() error
}

// ErrAborted says that another rank ended the run.
var ErrAborted = errors.New("the run was ended by another rank")

// RankError is an error of one rank, as all ranks know it.
type RankError struct {
	Rank int
	Host string
	Err  error // a *sparse.InputError where it was one there
}

func (e *RankError) Error() string {
	return fmt.Sprintf("rank %d on %s: %v", e.Rank, e.Host, e.Err)
}

// Unwrap gives the cause.
func (e *RankError) Unwrap() error { return e.Err }

// Arguments that are missing.
var (
	errNoComm   = sparse.Inputf("comm", "is nil")
	errNoSystem = sparse.Inputf("system", "is nil, or was not made by Open")
	errNoPlan   = sparse.Inputf("plan", "is nil, or was not made by NewPlan")
	errNoPart   = sparse.Inputf("matrix", "is nil, or a plan has taken it over")
)

// agreed is an error that all ranks have.
type agreed struct{ error }

func (e *agreed) Unwrap() error { return e.error }

// Agreed reports whether all ranks have err, or one that says the same: none of them
// waits for this one.
func Agreed(err error) bool {
	var a *agreed
	return errors.As(err, &a)
}

// outcome is what a rank tells the others of its error.
type outcome struct {
	Failed bool
	Host   string
	Text   string
	Input  *sparse.InputError // the same, without its cause; nil for other errors
}

// newOutcome describes an error, or that there is none.
func newOutcome(host string, err error) outcome {
	if err == nil {
		return outcome{Host: host}
	}
	o := outcome{Failed: true, Host: host, Text: err.Error()}
	var bad *sparse.InputError
	switch {
	case !errors.As(err, &bad):
	case bad.Error() == o.Text:
		why := sparse.InputError{Msg: bad.Msg, Err: bad.Err}
		o.Input = &sparse.InputError{Subject: bad.Subject, Line: bad.Line, Msg: why.Error()}
	default: // part of a longer message
		o.Input = &sparse.InputError{Msg: o.Text}
	}
	return o
}

// cause is the error that was described.
func (o outcome) cause() error {
	if o.Input != nil {
		return o.Input
	}
	return errors.New(o.Text)
}

// Agree is where ranks that may have failed meet: when err is nil on all of them, so is
// the result. Otherwise it is a *RankError of the first that failed, or just its error
// where all say the same, as they do when a file is wrong; see Agreed.
func Agree(c Comm, host string, err error) error {
	if c == nil {
		return errors.Join(err, errNoComm)
	}
	b, e := json.Marshal(newOutcome(host, err))
	if e != nil {
		return e
	}
	all, e := c.Share(b)
	if e != nil {
		return errors.Join(err, e)
	}
	first, same := -1, true
	told := make([]outcome, len(all))
	for r, b := range all {
		if e := json.Unmarshal(b, &told[r]); e != nil {
			return e
		}
		if told[r].Failed && first < 0 {
			first = r
		}
		same = same && told[r].Failed && told[r].Text == told[0].Text
	}
	switch {
	case first < 0:
		return nil
	case same:
		return &agreed{err}
	case first == c.Rank():
		return &agreed{&RankError{first, host, err}}
	}
	return &agreed{&RankError{first, told[first].Host, told[first].cause()}}
}
