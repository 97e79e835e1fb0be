package lanes

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
)

// described is what Describe has said.
var described = map[string]bool{}

// Describe documents the function that is being built, of this name, unless the same was said of
// another one: those that follow that one differ from it by what their names say.
func Describe(name string, lines ...string) {
	text := strings.Join(lines, "\n")
	if !described[text] {
		described[text] = true
		Doc(strings.Split(name+" "+text, "\n")...)
	}
}
