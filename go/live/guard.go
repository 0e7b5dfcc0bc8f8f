package live

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// refusal is an answer that is no success. The zero value is none.
type refusal struct {
	status int
	reason string
}

// setHeaders says what a browser may do with any answer: show this server's own files and nothing else.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// checkHost refuses names that are not the server's. A page of another site that has its own name
// resolve to this server's address arrives with that name.
func (o Options) checkHost(host string) refusal {
	name := withoutPort(host)
	if strings.EqualFold(name, "localhost") || isAddress(name) || slices.ContainsFunc(o.Hosts, func(own string) bool {
		return strings.EqualFold(own, name)
	}) {
		return refusal{}
	}
	return refusal{http.StatusMisdirectedRequest, "this server is not known by the name of the Host header; " +
		"ask by address or as localhost, or add the name to the listener's hosts"}
}

// withoutPort returns a Host header without its port. What stands there and is no number is left.
func withoutPort(host string) string {
	bracket := max(strings.IndexByte(host, ']'), 0)
	name, port, _ := strings.Cut(host[bracket:], ":")
	if strings.Trim(port, "0123456789") != "" {
		return host
	}
	return host[:bracket] + name
}

// isAddress says whether a host is an address. One of IPv6 may have brackets, both of them.
func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	_, bracketed := netip.ParseAddrPort(name + ":0")
	return err == nil || bracketed == nil
}

// checkRead refuses what other machines may not see.
func (o Options) checkRead(r *http.Request) refusal {
	switch {
	case isLoopback(r.RemoteAddr) || o.carriesToken(r):
		return refusal{}
	case o.Token == "":
		return refusal{http.StatusForbidden, "other machines are told nothing without a token: set one, in the " +
			"listener's options or in " + TokenVariable}
	}
	return tokenMissing
}

// checkWrite refuses changes by those who may not make them.
func (o Options) checkWrite(r *http.Request) refusal {
	switch {
	case o.Token == "":
		return refusal{http.StatusForbidden, "this page is read-only: to change settings, set a token, in the listener's " +
			"options or in " + TokenVariable}
	case new(http.CrossOriginProtection).Check(r) != nil:
		return refusal{http.StatusForbidden, "a page of another site asks for this change; only this server's own page may"}
	case !o.carriesToken(r):
		return tokenMissing
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		return refusal{http.StatusUnsupportedMediaType, "the body must be application/json"}
	}
	return refusal{}
}

var tokenMissing = refusal{http.StatusUnauthorized, "the token is missing or wrong; it goes into the header " +
	"Authorization: Bearer TOKEN"}

// carriesToken compares in a time that tells nothing of the token.
func (o Options) carriesToken(r *http.Request) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(o.Token)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && strings.EqualFold(scheme, "Bearer") && o.Token != ""
}

func isLoopback(address string) bool {
	from, err := netip.ParseAddrPort(address)
	return err == nil && from.Addr().Unmap().IsLoopback()
}
