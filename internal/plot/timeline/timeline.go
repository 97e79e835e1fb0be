// Package timeline records what devices and phases of a command did when, draws it, and writes it in the Trace Event
// Format, which Perfetto and Chromium open.
package timeline

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/plot"
)

// Event is an operation on a device, or a phase or call (Device ""). A msrep.Event can be converted to it.
type Event struct {
	Name     string
	Device   string
	Bytes    int64
	Start    time.Time
	Duration time.Duration
	Err      error
}

// mostEvents is the number of events that a Recorder keeps; a long run has more.
const mostEvents = 1 << 20

// Recorder collects events from several goroutines. A nil Recorder ignores them.
type Recorder struct {
	mu      sync.Mutex
	begin   time.Time
	devices []string
	events  []Event
	dropped int64
}

// New returns a Recorder of a run that begins now.
func New() *Recorder { return &Recorder{begin: time.Now()} }

// Devices names the devices, which get lanes in this order.
func (r *Recorder) Devices(ids []string) {
	if r != nil {
		r.devices = ids
	}
}

// Add adds an event.
func (r *Recorder) Add(e Event) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.events) == mostEvents {
		r.dropped++
		return
	}
	r.events = append(r.events, e)
}

// Phase starts a phase of the command and returns the function that ends it.
func (r *Recorder) Phase(name string) func() {
	if r == nil {
		return func() {}
	}
	start := time.Now()
	return func() { r.Add(Event{Name: name, Start: start, Duration: time.Since(start)}) }
}

// sorted returns the events in the order in which they started.
func (r *Recorder) sorted() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.events, func(a, b Event) int { return a.Start.Compare(b.Start) })
	return r.events
}

// phases is the name of the first lane.
const phases = "phases"

// lanes returns the names of the lanes and the lane of each device.
func (r *Recorder) lanes(events []Event) (names []string, of map[string]int) {
	names, of = []string{phases}, map[string]int{"": 0}
	add := func(device string) {
		if _, known := of[device]; !known {
			of[device] = len(names)
			names = append(names, device)
		}
	}
	for _, d := range r.devices {
		add(d)
	}
	for _, e := range events {
		add(e.Device)
	}
	return names, of
}

// traceEvent is an event of the Trace Event Format. Times are in microseconds. Phase is X for an event with a start and
// a duration, and M for the name of a process or thread.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// WriteTrace writes all events in the JSON object form of the Trace Event Format: one process called title, and one
// thread for the phases and for each device.
func (r *Recorder) WriteTrace(w io.Writer, title string) error {
	events := r.sorted()
	names, lane := r.lanes(events)
	out := bufio.NewWriter(w)
	fmt.Fprint(out, `{"displayTimeUnit":"ns","traceEvents":[`)
	first := true
	put := func(e traceEvent) error {
		e.Process = 1
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		out.WriteByte('\n')
		_, err = out.Write(b)
		return err
	}
	head := []traceEvent{{Name: "process_name", Phase: "M", Args: map[string]any{"name": title}}}
	for i, n := range names {
		head = append(head,
			traceEvent{Name: "thread_name", Phase: "M", Thread: i + 1, Args: map[string]any{"name": n}},
			traceEvent{Name: "thread_sort_index", Phase: "M", Thread: i + 1, Args: map[string]any{"sort_index": i}})
	}
	for _, e := range head {
		if err := put(e); err != nil {
			return err
		}
	}
	for _, e := range events {
		took := e.Duration.Seconds() * 1e6
		t := traceEvent{Name: e.Name, Category: "device", Phase: "X", Time: e.Start.Sub(r.begin).Seconds() * 1e6, Duration: &took, Thread: lane[e.Device] + 1}
		if e.Device == "" {
			t.Category = "phase"
		}
		if e.Bytes > 0 {
			t.Args = map[string]any{"bytes": e.Bytes}
		}
		if err := put(t); err != nil {
			return err
		}
	}
	fmt.Fprint(out, "\n]}\n")
	return out.Flush()
}

// Dropped returns the number of events that were not kept.
func (r *Recorder) Dropped() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped
}

// Section draws the whole run, and the call of median duration among those named call.
func (r *Recorder) Section(call string) plot.Section {
	events := r.sorted()
	names, lane := r.lanes(events)
	var looks []string
	known := map[string]bool{}
	for _, e := range events {
		if !known[e.Name] {
			known[e.Name] = true
			looks = append(looks, e.Name)
		}
	}
	s := plot.Section{Name: "timeline", Title: "Time line", Pictures: true}
	if r.dropped > 0 {
		s.Intro = append(s.Intro, fmt.Sprintf("These are the first %d events; %d later ones are left out.", len(events), r.dropped))
	}
	s.Figures = append(s.Figures, plot.Figure{
		Name: "run", Title: "The whole run", Kind: plot.Timeline, Lanes: names, Spans: spans(events, lane, r.begin), Looks: looks,
		Desc: "What the command and each device did, from the start. The table has the sums.",
	})
	if of, k, n := medianCall(events, call); n > 0 {
		title := "The product"
		if n > 1 {
			title = fmt.Sprintf("Product %d of %d, of median time", k+1, n)
		}
		var within []Event
		for _, e := range events {
			if !e.Start.Before(of.Start) && !e.Start.After(of.Start.Add(of.Duration)) {
				within = append(within, e)
			}
		}
		s.Figures = append(s.Figures, plot.Figure{
			Name: "product", Title: title, Kind: plot.Timeline, Lanes: names, Spans: spans(within, lane, of.Start), Looks: looks,
			Desc: fmt.Sprintf("It takes %s.", plot.Seconds(of.Duration.Seconds())),
		})
	}
	s.Tables = []plot.Table{table(events, lane)}
	return s
}

// medianCall returns the call of a name with the median duration, its number, and how many there are.
func medianCall(events []Event, name string) (of Event, k, n int) {
	var calls []int
	for i, e := range events {
		if e.Name == name && e.Device == "" {
			calls = append(calls, i)
		}
	}
	if len(calls) == 0 {
		return of, 0, 0
	}
	byTime := slices.Clone(calls)
	slices.SortStableFunc(byTime, func(a, b int) int { return cmp.Compare(events[a].Duration, events[b].Duration) })
	median := byTime[(len(byTime)-1)/2]
	return events[median], slices.Index(calls, median), len(calls)
}

// drawnPieces is the number of pieces into which a time line is cut: a gap shorter than a piece is not seen.
const drawnPieces = 1500

// spans returns the spans of events in the order of their start, with times from origin. It joins spans of one name in a
// lane whose gap could not be seen.
func spans(events []Event, lane map[string]int, origin time.Time) (out []plot.Span) {
	var end time.Duration
	for _, e := range events {
		end = max(end, e.Start.Sub(origin)+e.Duration)
	}
	gap := end.Seconds() / drawnPieces
	last := map[int]int{}  // the last span of each lane
	count := map[int]int{} // events in it
	for _, e := range events {
		at := e.Start.Sub(origin).Seconds()
		s := plot.Span{Lane: lane[e.Device], Name: e.Name, Start: at, End: at + e.Duration.Seconds()}
		if e.Bytes > 0 {
			s.Note = fmt.Sprintf("%d bytes", e.Bytes)
		}
		if k, ok := last[s.Lane]; ok && out[k].Name == s.Name && s.Start-out[k].End < gap {
			count[k]++
			out[k].End, out[k].Note = max(out[k].End, s.End), fmt.Sprintf("%d in a row", count[k])
			continue
		}
		last[s.Lane], count[len(out)] = len(out), 1
		out = append(out, s)
	}
	return out
}

// table returns the sums for each lane and name, in the order of lanes and first occurrence.
func table(events []Event, lane map[string]int) plot.Table {
	type sum struct {
		lane, times int
		device      string
		name        string
		took        time.Duration
		bytes       int64
	}
	var sums []*sum
	known := map[[2]string]*sum{}
	for _, e := range events {
		key := [2]string{e.Device, e.Name}
		s := known[key]
		if s == nil {
			s = &sum{lane: lane[e.Device], device: cmp.Or(e.Device, phases), name: e.Name}
			known[key], sums = s, append(sums, s)
		}
		s.times++
		s.took += e.Duration
		s.bytes += e.Bytes
	}
	slices.SortStableFunc(sums, func(a, b *sum) int { return a.lane - b.lane })
	t := plot.Table{Name: "operations", Title: "Time by device and operation", Origin: plot.Measured, Header: []string{"device", "operation", "times", "total", "mean", "bytes"}}
	for _, s := range sums {
		bytes := ""
		if s.bytes > 0 {
			bytes = fmt.Sprint(s.bytes)
		}
		t.Rows = append(t.Rows, []string{s.device, s.name, fmt.Sprint(s.times), plot.Seconds(s.took.Seconds()), plot.Seconds(s.took.Seconds() / float64(s.times)), bytes})
	}
	return t
}
