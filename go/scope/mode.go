package scope

import "fmt"

// Mode says where the messages of a method live.
type Mode uint8

const (
	// Codec puts messages into the scope's arena and encodes them by Harena's tables. The default.
	Codec Mode = iota
	// Heap leaves messages to the RPC framework, as without Harena. The call still has a scope, so
	// that handlers which use it work in every mode; its memory is left to the garbage collector.
	Heap
)

// String returns "codec" or "heap".
func (m Mode) String() string {
	switch m {
	case Codec:
		return "codec"
	case Heap:
		return "heap"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode is the inverse of String.
func ParseMode(text string) (Mode, error) {
	for _, m := range []Mode{Codec, Heap} {
		if m.String() == text {
			return m, nil
		}
	}
	return 0, fmt.Errorf("harena/scope: unknown mode %q; known are codec, heap", text)
}

// MarshalText makes modes readable in JSON and flags.
func (m Mode) MarshalText() ([]byte, error) {
	if m > Heap {
		return nil, fmt.Errorf("harena/scope: %v is not a mode", m)
	}
	return []byte(m.String()), nil
}

// UnmarshalText is the inverse of MarshalText.
func (m *Mode) UnmarshalText(text []byte) error {
	parsed, err := ParseMode(string(text))
	if err == nil {
		*m = parsed
	}
	return err
}
