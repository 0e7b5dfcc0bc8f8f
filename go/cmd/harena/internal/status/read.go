package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// TokenVariable names the environment's token for listeners that ask for one.
const TokenVariable = "HARENA_LIVE_TOKEN"

const (
	answerBytesMax = 64 << 20
	answerWithin   = 10 * time.Second
)

// Profile is a server's status and timeline at one moment. It is what `harena status` writes.
type Profile struct {
	Status   Status   `json:"status"`
	Timeline Timeline `json:"timeline"`
}

// Server is a live listener.
type Server struct {
	base  string
	token string
}

// NewServer returns the listener at an address: "127.0.0.1:9090", or a URL of which the host and the
// port count.
func NewServer(address string) (*Server, error) {
	text := address
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of a listener; write it as 127.0.0.1:9090", address)
	}
	return &Server{u.Scheme + "://" + u.Host + "/harena/api/", os.Getenv(TokenVariable)}, nil
}

// Status asks for the status.
func (s *Server) Status(ctx context.Context) (Status, error) {
	_, answer, err := s.status(ctx)
	return answer, err
}

// status returns the answer as it came, and read.
func (s *Server) status(ctx context.Context) ([]byte, Status, error) {
	data, err := s.get(ctx, "status")
	if err != nil {
		return nil, Status{}, err
	}
	var answer Status
	if err := json.Unmarshal(data, &answer); err != nil || answer.Harena == "" || answer.Language == "" {
		return nil, Status{}, s.isOther("status", "the answer is no status")
	}
	answer.clean()
	return data, answer, nil
}

// Record returns status and timeline as JSON, with all that the server says, known here or not.
func (s *Server) Record(ctx context.Context) ([]byte, error) {
	now, _, err := s.status(ctx)
	if err != nil {
		return nil, err
	}
	line, err := s.get(ctx, "timeline")
	if err != nil {
		return nil, err
	}
	if !json.Valid(line) {
		return nil, s.isOther("timeline", "the answer is no JSON")
	}
	data, err := json.MarshalIndent(map[string]json.RawMessage{"status": now, "timeline": line}, "", " ")
	return append(data, '\n'), err
}

// isOther says that another program answers.
func (s *Server) isOther(part, why string) error {
	return fmt.Errorf("%s%s: this is not a Harena server: %s; give the address of its live listener", s.base, part, why)
}

func (s *Server) get(ctx context.Context, part string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+part, nil)
	if err != nil {
		return nil, err
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := http.DefaultClient.Do(request)
	var failed *net.OpError
	switch {
	case err == nil:
	case errors.As(err, &failed) && failed.Op == "dial", errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("nothing answers; is the server's live listener on? (%w)", err)
	case errors.Is(err, context.Canceled):
		return nil, err
	default:
		return nil, s.isOther(part, errors.Unwrap(err).Error())
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax))
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", s.base, part, err)
	}
	if response.StatusCode == http.StatusOK {
		return data, nil
	}
	var refusal struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(data, &refusal)
	reason := fmt.Sprintf("%s%s: %s: %s", s.base, part, response.Status, printable(refusal.Error))
	switch {
	case refusal.Error == "":
	case response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%s; set %s to the listener's token", reason, TokenVariable)
	case response.StatusCode == http.StatusMisdirectedRequest:
		return nil, errors.New(reason)
	}
	return nil, s.isOther(part, "it answers "+response.Status)
}

// Parse reads a recorded profile, or the bare answer to a request for the status.
func Parse(data []byte) (Profile, error) {
	var profile Profile
	if err := json.Unmarshal(data, &profile); err != nil {
		return Profile{}, fmt.Errorf("no recorded profile: %w", err)
	}
	if profile.Status.Language == "" {
		if err := json.Unmarshal(data, &profile.Status); err != nil {
			return Profile{}, fmt.Errorf("no recorded profile: %w", err)
		}
	}
	if profile.Status.Language == "" {
		return Profile{}, errors.New("no recorded profile: it has no status; `harena status ADDR` makes one")
	}
	profile.Status.clean()
	return profile, nil
}

// Read returns the profile of a file, or of the listener at an address. What exists as a file is one.
func Read(ctx context.Context, source string) (Profile, error) {
	data, err := os.ReadFile(source)
	if errors.Is(err, os.ErrNotExist) && !looksLikeFile(source) {
		server, err := NewServer(source)
		if err != nil {
			return Profile{}, err
		}
		if data, err = server.Record(ctx); err != nil {
			return Profile{}, err
		}
		return parse(source, data)
	}
	if err != nil {
		return Profile{}, err
	}
	return parse(source, data)
}

func parse(source string, data []byte) (Profile, error) {
	profile, err := Parse(bytes.TrimSpace(data))
	if err != nil {
		return Profile{}, fmt.Errorf("%s: %w", source, err)
	}
	return profile, nil
}

func looksLikeFile(source string) bool {
	return !strings.Contains(source, ":") || strings.HasSuffix(source, ".json")
}
