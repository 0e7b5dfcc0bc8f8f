package live

import (
	"fmt"
	"os"
	"strings"
)

// TokenVariable is the environment variable that holds the token where [Options] have none.
const TokenVariable = "HARENA_LIVE_TOKEN"

// tokenBytesMin keeps tokens from being guessed.
const tokenBytesMin = 16

// Options say who may do what. The zero value is a page for this machine that changes nothing, unless
// the environment has a token.
type Options struct {
	// Token is what a change has to carry ("Authorization: Bearer ..."), and every request from another
	// machine: 16 printable characters or more, without spaces. Empty takes [TokenVariable]; where that
	// is empty too, nothing can be changed.
	Token string

	// Hosts are names by which the page may be asked for, without a port, beside localhost and
	// addresses. Other names are refused, so that no web site can pose as this server in a browser.
	Hosts []string
}

// withEnvironment fills in the token, and says what is wrong with the options.
func (o Options) withEnvironment() (Options, error) {
	if o.Token == "" {
		o.Token = os.Getenv(TokenVariable)
	}
	if o.Token == "" {
		return o, nil
	}
	if len(o.Token) < tokenBytesMin {
		return o, fmt.Errorf("harena/live: the token has %d characters; want %d or more: `openssl rand -hex 16` makes one",
			len(o.Token), tokenBytesMin)
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return o, fmt.Errorf("harena/live: the token has characters that a header cannot carry; want letters, digits and " +
			"punctuation: `openssl rand -hex 16` makes one")
	}
	return o, nil
}
