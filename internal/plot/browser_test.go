package plot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
	Page        string    `json:"page"`
	Width       int       `json:"width"`   // width of the window
	Scroll      int       `json:"scroll"`  // width of the content
	Figures     []float64 `json:"figures"` // displayed heights of letters in the charts
	Silent      int       `json:"silent"`  // charts without a text for readers who cannot see them
	Font        float64   `json:"font"`    // smallest font size outside of charts
	Background  string    `json:"background"`
	Ink         string    `json:"ink"`
	Outside     []string  `json:"outside"`     // texts beyond the edge of their chart
	Overlapping []string  `json:"overlapping"` // pairs of texts of a chart that cover each other
}

// frame shows pages in windows of several widths and prints their layout. The pages themselves have no script and forbid
// scripts.
const frame = `<!DOCTYPE html><pre id="out"></pre>
%s
<script>
addEventListener("load", () => {
  out.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(f => {
    const d = f.contentDocument, w = f.contentWindow;
    const texts = [...d.querySelectorAll("p, li, td, th, h1, h2")].filter(e => e.checkVisibility());
    const charts = [...d.querySelectorAll(".figures svg")], outside = [], overlapping = [];
    for (const c of charts) {
      const all = c.getBoundingClientRect(), seen = [];
      for (const e of c.querySelectorAll("text")) {
        const r = e.getBoundingClientRect();
        if (r.left < all.left - 1 || r.right > all.right + 1 || r.top < all.top - 1 || r.bottom > all.bottom + 1) outside.push(e.textContent);
        for (const [s, other] of seen) {
          const x = Math.min(r.right, s.right) - Math.max(r.left, s.left), y = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
          if (x > 1 && y > 4) overlapping.push(other + " / " + e.textContent);
        }
        seen.push([r, e.textContent]);
      }
    }
    const body = w.getComputedStyle(d.body);
    return {
      page: f.getAttribute("src"), width: w.innerWidth, scroll: d.documentElement.scrollWidth,
      figures: charts.map(e => e.getBoundingClientRect().width * parseFloat(e.getAttribute("font-size")) / e.viewBox.baseVal.width),
      silent: charts.filter(e => !e.getAttribute("aria-label")).length,
      font: Math.min(...texts.map(e => parseFloat(w.getComputedStyle(e).fontSize))),
      background: body.backgroundColor, ink: body.color, outside: outside, overlapping: overlapping,
    };
  }));
});
</script>`

// browse opens the pages of a folder in windows of several widths, with light or dark as what the user prefers. All
// network requests of the browser go to a proxy that refuses them and notes the hosts.
func browse(t *testing.T, dir string, pages []string, dark bool, widths ...int) (found []layout) {
	program := browser(t)
	var frames strings.Builder
	for _, p := range pages {
		for _, w := range widths {
			fmt.Fprintf(&frames, `<iframe src="%s" width="%d" height="900"></iframe>`, p, w)
		}
	}
	work := t.TempDir()
	shown := filepath.Join(dir, "frame.html")
	require.NoError(t, os.WriteFile(shown, []byte(fmt.Sprintf(frame, frames.String())), 0o600))
	defer os.Remove(shown)

	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Host)
		mu.Unlock()
		http.Error(w, "no network", http.StatusBadGateway)
	}))
	defer proxy.Close()
	flags := browserFlags(work, dark)
	flags = append(flags, "--proxy-server="+proxy.Listener.Addr().(*net.TCPAddr).String(), "--allow-file-access-from-files",
		"--window-size=1800,1000", "--virtual-time-budget=3000", "--dump-dom", "file://"+shown)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, program, flags...)
	var dom, log bytes.Buffer
	run.Stdout, run.Stderr = &dom, &log
	require.NoError(t, run.Run(), log.String())
	text := regexp.MustCompile(`(?s)<pre id="out">(.*?)</pre>`).FindStringSubmatch(dom.String())
	require.NotNil(t, text, dom.String())
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(text[1])), &found))
	require.Len(t, found, len(pages)*len(widths))
	mu.Lock()
	defer mu.Unlock()
	for _, host := range asked { // Chromium checks for updates of itself
		require.True(t, strings.Contains(host, "google"), "%s: a page asked the network", host)
	}
	return found
}

func browserFlags(work string, dark bool) []string {
	scheme := map[bool]int{true: 0, false: 1}[dark] // the numbers of Blink
	return []string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--no-first-run", "--disable-default-apps", "--user-data-dir=" + filepath.Join(work, "profile"),
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme),
	}
}

// requireLegible checks the layout of a page.
func requireLegible(t *testing.T, p layout, dark bool) {
	t.Helper()
	name := fmt.Sprintf("%s, %d wide, dark %t", p.Page, p.Width, dark)
	require.LessOrEqual(t, p.Scroll, p.Width, "%s: nothing is cut off at the side", name)
	for _, size := range p.Figures {
		require.GreaterOrEqual(t, size, 9.0, "%s: the texts of a chart can be read", name)
	}
	require.Zero(t, p.Silent, name)
	require.GreaterOrEqual(t, p.Font, 12.0, name)
	require.Equal(t, dark, luminance(p.Background) < 0.1, "%s: background %s", name, p.Background)
	light, low := luminance(p.Ink), luminance(p.Background)
	require.Greater(t, (max(light, low)+0.05)/(min(light, low)+0.05), 7.0, "%s: contrast of %s on %s", name, p.Ink, p.Background)
	require.Empty(t, p.Outside, "%s: texts within their charts", name)
	require.Empty(t, p.Overlapping, "%s: texts beside each other", name)
}

// luminance returns the relative luminance of a colour as rgb(r, g, b), between 0 and 1 (roughly: gamma 2.2).
func luminance(rgb string) float64 {
	var r, g, b float64
	fmt.Sscanf(rgb, "rgb(%f, %f, %f)", &r, &g, &b)
	linear := func(v float64) float64 { v /= 255; return v * v }
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func TestABrowserShowsThePageWithoutANetworkOnAScreenAndOnAPhone(t *testing.T) {
	browser(t)
	dir := t.TempDir()
	require.NoError(t, Write(dir, page()))
	for _, dark := range []bool{false, true} {
		for _, p := range browse(t, dir, []string{"report.html"}, dark, 390, 1200) {
			requireLegible(t, p, dark)
			require.Len(t, p.Figures, len(page().Sections[0].Figures))
		}
	}
}

// pagesEnv names a folder with pages of the command, for .ci/browser.sh.
const pagesEnv = "MSREP_PAGES"

func TestABrowserShowsThePagesOfTheCommand(t *testing.T) {
	dir := os.Getenv(pagesEnv)
	if dir == "" {
		t.Skip(pagesEnv + " names no folder of pages")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var pages []string
	for _, f := range files {
		content, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NotRegexp(t, regexp.MustCompile(`(?i)https?://`), strings.ReplaceAll(string(content), `"http://www.w3.org/2000/svg"`, ""), f)
		pages = append(pages, filepath.Base(f))
	}
	for _, dark := range []bool{false, true} {
		for _, p := range browse(t, dir, pages, dark, 400, 1600) {
			requireLegible(t, p, dark)
			require.NotEmpty(t, p.Figures, p.Page)
		}
	}
}
