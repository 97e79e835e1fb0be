package report

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browser finds a Chromium-based browser, or skips the test.
func browser(t *testing.T) string {
	if testing.Short() {
		t.Skip("a browser takes seconds to start")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no browser here")
	return ""
}

// layout is the data that the script in the frame reports about a page of some width.
type layout struct {
	Width   int       `json:"width"`   // width of the window
	Scroll  int       `json:"scroll"`  // width of the content
	Figures []float64 `json:"figures"` // displayed widths of the charts
	Font    float64   `json:"font"`    // smallest font size outside of charts
}

// frame shows the report in windows with the width of a tablet or computer and of a phone, and prints its layout. The
// page itself has no script and forbids scripts.
const frame = `<!DOCTYPE html><pre id="out"></pre>
<iframe src="report.html" width="1200" height="900"></iframe><iframe src="report.html" width="390" height="800"></iframe>
<script>
addEventListener("load", () => {
  out.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(f => {
    const d = f.contentDocument;
    const texts = [...d.querySelectorAll("p, li, td, th, h1, h2")].filter(e => e.checkVisibility());
    return {
      width: f.contentWindow.innerWidth, scroll: d.documentElement.scrollWidth,
      figures: [...d.querySelectorAll(".figures svg")].map(e => e.getBoundingClientRect().width),
      font: Math.min(...texts.map(e => parseFloat(f.contentWindow.getComputedStyle(e).fontSize))),
    };
  }));
});
</script>`

func TestABrowserShowsThePageWithoutANetworkOnAScreenAndOnAPhone(t *testing.T) {
	program := browser(t)
	dir := t.TempDir()
	require.NoError(t, Write(dir, page()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "frame.html"), []byte(frame), 0o600))

	// All network requests of the browser go through this proxy.
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Host)
		mu.Unlock()
		http.Error(w, "no network", http.StatusBadGateway)
	}))
	defer proxy.Close()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--no-first-run", "--disable-default-apps", "--user-data-dir="+filepath.Join(dir, "profile"),
		"--proxy-server="+proxy.Listener.Addr().(*net.TCPAddr).String(), "--allow-file-access-from-files", "--window-size=1800,1000",
		"--virtual-time-budget=3000", "--dump-dom", "file://"+filepath.Join(dir, "frame.html"))
	var dom, log bytes.Buffer
	run.Stdout, run.Stderr = &dom, &log
	require.NoError(t, run.Run(), log.String())

	found := regexp.MustCompile(`(?s)<pre id="out">(.*?)</pre>`).FindStringSubmatch(dom.String())
	require.NotNil(t, found, dom.String())
	var pages []layout
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(found[1])), &pages))
	require.Len(t, pages, 2)
	for _, p := range pages {
		require.LessOrEqual(t, p.Scroll, p.Width, "nothing is cut off at the side")
		require.Len(t, p.Figures, len(page().Sections[0].Figures))
		for _, width := range p.Figures {
			require.GreaterOrEqual(t, width*fontSize/chartWidth, 9.0, "the texts of a chart can be read")
		}
		require.GreaterOrEqual(t, p.Font, 12.0)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, host := range asked { // Chromium checks for updates of itself
		require.True(t, strings.Contains(host, "google"), "%s: the page asked the network", host)
	}
}
