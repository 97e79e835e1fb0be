package timeline

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/msrep"
)

// recorded returns a run of a plan and three products on two devices, with events in no order.
func recorded() *Recorder {
	r := New()
	r.Devices([]string{"cpu:0", "cpu:1"})
	at := func(us int) time.Time { return r.begin.Add(time.Duration(us) * time.Microsecond) }
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	for k, took := range []int{30, 10, 20} {
		r.Add(Event{Name: "major-product", Device: "cpu:1", Start: at(1001 + 100*k), Duration: us(took - 2)})
		r.Add(Event{Name: "write", Device: "cpu:0", Start: at(1001 + 100*k), Duration: us(2), Bytes: 80})
		r.Add(Event{Name: "major-product", Device: "cpu:0", Start: at(1003 + 100*k), Duration: us(took - 5)})
		r.Add(Event{Name: "spmv", Start: at(1000 + 100*k), Duration: us(took)})
	}
	r.Add(Event{Name: "plan: pack", Start: at(0), Duration: us(900)})
	return r
}

// The format's documentation: an object with traceEvents; each event has name, ph, ts, pid and tid; a complete event (X)
// has dur; times are microseconds; a metadata event (M) names a process or a thread by args.name.
func TestTheTraceHasTheFieldsOfTheTraceEventFormat(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, recorded().WriteTrace(&b, "spmv a.mtx"))
	var trace struct {
		Unit   string           `json:"displayTimeUnit"`
		Events []map[string]any `json:"traceEvents"`
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &trace))
	require.Contains(t, []string{"ms", "ns"}, trace.Unit)
	names, complete, last := map[any]any{}, 0, -1.0
	for _, e := range trace.Events {
		for _, field := range []string{"name", "ph", "ts", "pid", "tid"} {
			require.Contains(t, e, field)
		}
		switch e["ph"] {
		case "M":
			args := e["args"].(map[string]any)
			if e["name"] == "thread_name" {
				names[e["tid"]] = args["name"]
			}
			if e["name"] == "process_name" {
				require.Equal(t, "spmv a.mtx", args["name"])
			}
		case "X":
			complete++
			require.Contains(t, names, e["tid"], "the name comes first")
			require.GreaterOrEqual(t, e["dur"].(float64), 0.0)
			require.GreaterOrEqual(t, e["ts"].(float64), last)
			last = e["ts"].(float64)
			if e["name"] == "write" {
				require.Equal(t, 80.0, e["args"].(map[string]any)["bytes"])
				require.Equal(t, "cpu:0", names[e["tid"]])
			}
		default:
			require.Fail(t, "unknown phase", e)
		}
	}
	require.Equal(t, 13, complete)
	require.Len(t, names, 3)
	require.InDelta(t, 1203, last, 1e-6, "microseconds from the start")
}

func TestTheMedianProductIsDrawn(t *testing.T) {
	s := recorded().Section("spmv")
	require.Len(t, s.Figures, 2)
	f := s.Figures[1]
	require.Equal(t, "Product 3 of 3, of median time", f.Title)
	require.Equal(t, []string{"phases", "cpu:0", "cpu:1"}, f.Lanes)
	require.Len(t, f.Spans, 4)
	require.InDelta(t, 20e-6, f.Spans[0].End, 1e-12)
	require.Equal(t, 0.0, f.Spans[0].Start)
	require.Equal(t, []string{"phases", "spmv", "3", "60 us", "20 us", ""}, s.Tables[0].Rows[1])
	require.Equal(t, []string{"cpu:0", "write", "3", "6 us", "2 us", "240"}, s.Tables[0].Rows[2])
	require.Len(t, recorded().Section("spmm").Figures, 1)
	require.NotContains(t, plot.SVG(New().Section("spmv").Figures[0]), "NaN")
}

func TestEventsWithoutAVisibleGapAreJoined(t *testing.T) {
	r := New()
	for k := range 100_000 {
		r.Add(Event{Name: "spmv", Start: r.begin.Add(time.Duration(2*k) * time.Microsecond), Duration: time.Microsecond})
	}
	r.Add(Event{Name: "other", Start: r.begin.Add(time.Second), Duration: time.Microsecond})
	s := r.Section("").Figures[0].Spans
	require.Len(t, s, 2)
	require.Equal(t, "100000 in a row", s[0].Note)
	require.InDelta(t, 0.199999, s[0].End, 1e-9)
}

func TestARecorderTakesEventsOfAnyGoroutineUpToALimit(t *testing.T) {
	r := New()
	r.events = make([]Event, mostEvents-50)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for range 10 {
				r.Add(Event(msrep.Event{Name: "e", Start: time.Now()}))
			}
		})
	}
	wg.Wait()
	require.Len(t, r.events, mostEvents)
	require.Equal(t, int64(50), r.Dropped())
	var none *Recorder
	none.Add(Event{})
	none.Devices(nil)
	none.Phase("x")()
}
