package cluster

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/sparse"
)

// Comm connects the ranks of a run. All methods except Rank, Size and Abort are collective: all ranks call them in
// the same order, from one goroutine at a time. An error ends the run.
type Comm interface {
	// Rank returns the number of this process, from 0. Size returns the number of processes.
	Rank() int
	Size() int
	// Swap sends send[r] to rank r, for all r, and returns the bytes that each rank sent to this one.
	Swap(send [][]byte) (received [][]byte, err error)
	// Share sends b to all ranks and returns the bytes of each rank, in total at most 2 GiB.
	Share(b []byte) (all [][]byte, err error)
	// Sum replaces each element of v by its sum over all ranks, Max by its maximum. All ranks get the same bits. No
	// element of Max may be NaN.
	Sum(v []float64) error
	Max(v []float64) error
	// Link sets up messages that are sent repeatedly.
	Link(out, in []Message) (Link, error)
	// Abort ends all ranks at once; code is the exit code of processes. It may be called at any time.
	Abort(code int)
}

// Message is memory that is sent to a rank or received from it. A Link has at most one message for each direction and
// rank. Empty messages are allowed.
type Message struct {
	Rank int
	Data []byte
	// Enter, if not nil, states that Data is memory of a device, which the host must not access; only a DeviceComm
	// accepts such a message. Enter makes the device current on the calling thread.
	Enter func() error
}

// DeviceComm is a Comm whose links accept memory of devices.
type DeviceComm interface {
	Comm
	// TakesMemoryOf reports whether links accept memory of devices of a kind, as in kernels.Info.
	TakesMemoryOf(kind string) bool
}

// Link is a set of messages. All ranks of the link start it and wait for it equally often.
type Link interface {
	// Start starts sending and receiving. The memory of messages belongs to the Link until Wait returns.
	Start() error
	// Wait returns when all messages of this rank are sent and received. It may be called on another goroutine than
	// Start.
	Wait() error
	// Sent returns the bytes and messages that this rank has sent over the link so far.
	Sent() (bytes, messages int64)
	// Close frees the link. After Start, call Wait first.
	Close() error
}

// ErrAborted is the error of a rank whose run another rank ended.
var ErrAborted = errors.New("the run was ended by another rank")

// RankError is the error of one rank, which all ranks return.
type RankError struct {
	Rank int
	Host string
	Err  error // a *sparse.InputError if it was one on that rank
}

// Error returns the text of Err, with the rank and its host.
func (e *RankError) Error() string {
	return fmt.Sprintf("rank %d on %s: %v", e.Rank, e.Host, e.Err)
}

// Unwrap returns the cause.
func (e *RankError) Unwrap() error { return e.Err }

// Errors for missing arguments.
var (
	errNoComm   = sparse.Inputf("comm", "is nil")
	errNoSystem = sparse.Inputf("system", "is nil, or was not made by Open")
	errNoPlan   = sparse.Inputf("plan", "is nil, or was not made by NewPlan")
	errNoPart   = sparse.Inputf("matrix", "is nil, or a plan has taken it over")
)

// agreed is an error that all ranks return.
type agreed struct{ error }

func (e *agreed) Unwrap() error { return e.error }

// Agreed reports whether err is known to all ranks: they all return it, or an error with the same text, and none of
// them waits for this rank.
func Agreed(err error) bool {
	var a *agreed
	return errors.As(err, &a)
}

// outcome describes the error of a rank to the others.
type outcome struct {
	Failed bool
	Host   string
	Text   string
	Input  *sparse.InputError // the error without its cause; nil for other errors
}

// newOutcome describes an error, or success.
func newOutcome(host string, err error) outcome {
	if err == nil {
		return outcome{Host: host}
	}
	o := outcome{Failed: true, Host: host, Text: err.Error()}
	var bad *sparse.InputError
	switch {
	case !errors.As(err, &bad):
	case err == error(bad):
		why := sparse.InputError{Msg: bad.Msg, Err: bad.Err}
		o.Input = &sparse.InputError{Subject: bad.Subject, Line: bad.Line, Msg: why.Error()}
	default: // part of a longer message
		o.Input = &sparse.InputError{Msg: o.Text}
	}
	return o
}

// cause returns the described error.
func (o outcome) cause() error {
	if o.Input != nil {
		return o.Input
	}
	return errors.New(o.Text)
}

// Agree combines the errors of all ranks. It returns nil if err is nil on all ranks. Otherwise it returns the same
// error on all ranks: a *RankError with the error of the lowest rank that failed, or the plain error if all ranks have
// the same one, for example for a malformed file. Agreed reports true for the result.
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
