// Package given refuses nil arguments, including nil pointers in interfaces.
package given

import (
	"context"
	"reflect"

	"github.com/msrep-go/msrep/sparse"
)

// Nothing reports whether v is nil or a nil pointer in an interface.
func Nothing(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

// Check returns a *sparse.InputError for the first value that is Nothing. The arguments
// are name, value, name, value, ....
func Check(args ...any) error {
	for i := 0; i+1 < len(args); i += 2 {
		if Nothing(args[i+1]) {
			name, _ := args[i].(string)
			return sparse.Inputf(name, "is nil")
		}
	}
	return nil
}

// Context refuses a nil context.
func Context(ctx context.Context) error {
	if ctx == nil {
		return sparse.Inputf("ctx", "is nil: use context.Background()")
	}
	return nil
}

// Input refuses a nil context or reader.
func Input(ctx context.Context, r any) error {
	if err := Context(ctx); err != nil {
		return err
	}
	return Check("reader", r)
}
