package trpcgo

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"trpc.group/trpc-go/trpc-go/errs"
)

func TestSelfContained(t *testing.T) {
	plain := errors.New("plain")
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{(*errs.Error)(nil), false},
		{plain, true},
		{context.DeadlineExceeded, true},
		{errs.New(1, "trpc-go's"), true},
		{errs.ErrServerNoResponse, true},
		{errs.Wrap(plain, 1, "trpc-go's"), true},
		{errs.Wrap(errs.Wrap(context.Canceled, 1, "inner"), 1, "outer"), true},
		{fmt.Errorf("wrapped: %w", plain), false},
		{errs.Wrap(fmt.Errorf("wrapped: %w", plain), 1, "trpc-go's"), false},
	} {
		if got := selfContained(c.err); got != c.want {
			t.Errorf("selfContained(%v) = %v", c.err, got)
		}
	}
}
