package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// bodyBytesMax is more than any change needs.
const bodyBytesMax = 64 << 10

// Handler answers everything below /harena, for servers that have a listener of their own:
//
//	mux.Handle("/harena", handler)
//	mux.Handle("/harena/", handler)
//
// It takes a sample of all counts each second until Close.
//
// Thread rule: any goroutine.
type Handler struct {
	options Options
	routes  *http.ServeMux
	log     *changeLog
	sampler sampler
	end     chan struct{}
	ended   sync.WaitGroup
	close   func()
}

// NewHandler returns a handler, or what is wrong with the options.
func NewHandler(options Options) (*Handler, error) {
	options, err := options.withEnvironment()
	if err != nil {
		return nil, err
	}
	h := &Handler{options: options, routes: http.NewServeMux(), log: newChangeLog(), end: make(chan struct{})}
	h.close = sync.OnceFunc(func() { close(h.end) })
	h.routes.Handle("GET /{$}", http.RedirectHandler("/harena", http.StatusFound))
	h.routes.Handle("GET /harena", pageFile("index.html"))
	h.routes.HandleFunc("GET /harena/{file...}", servePageFile)
	h.routes.HandleFunc("GET /harena/api/status", h.status)
	h.routes.HandleFunc("GET /harena/api/timeline", h.timeline)
	h.routes.HandleFunc("POST /harena/api/settings", h.settings)
	h.routes.HandleFunc("POST /harena/api/undo", h.undo)
	h.sampler.tick(time.Now())
	h.ended.Go(h.watch)
	return h, nil
}

// Close ends what the handler does by itself. It may be called again.
func (h *Handler) Close() {
	h.close()
	h.ended.Wait()
}

func (h *Handler) watch() {
	ticker := time.NewTicker(sampleInterval)
	defer ticker.Stop()
	for {
		select {
		case <-h.end:
			return
		case <-ticker.C:
			h.sampler.tick(time.Now())
			h.log.notice()
		}
	}
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if refused := h.options.checkHost(r.Host); refused.status != 0 {
		refuse(w, refused)
		return
	}
	h.routes.ServeHTTP(w, r)
}

func (h *Handler) status(w http.ResponseWriter, r *http.Request) {
	if refused := h.options.checkRead(r); refused.status != 0 {
		refuse(w, refused)
		return
	}
	answer(w, statusNow(h.options, h.log))
}

func (h *Handler) timeline(w http.ResponseWriter, r *http.Request) {
	if refused := h.options.checkRead(r); refused.status != 0 {
		refuse(w, refused)
		return
	}
	after := int64(0)
	if text := r.URL.Query().Get("after_ms"); text != "" {
		var err error
		if after, err = strconv.ParseInt(text, 10, 64); err != nil {
			refuse(w, refusal{http.StatusBadRequest, "after_ms is not a number of milliseconds since 1970"})
			return
		}
	}
	answer(w, h.sampler.since(after))
}

func (h *Handler) settings(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Method   string                     `json:"method"`
		Settings map[string]json.RawMessage `json:"settings"`
	}
	h.change(w, r, &asked, func() ([]change, error) {
		values, err := parseValues(asked.Method, asked.Settings)
		if err != nil {
			return nil, err
		}
		return h.log.set(asked.Method, values)
	})
}

func (h *Handler) undo(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ID int `json:"id"`
	}
	h.change(w, r, &asked, func() ([]change, error) { return h.log.undo(asked.ID) })
}

// change does what both kinds of change have in common. The asked are what the body is read into.
func (h *Handler) change(w http.ResponseWriter, r *http.Request, asked any, do func() ([]change, error)) {
	if refused := h.options.checkWrite(r); refused.status != 0 {
		refuse(w, refused)
		return
	}
	if refused := readBody(w, r, asked); refused.status != 0 {
		refuse(w, refused)
		return
	}
	made, err := do()
	if err != nil {
		refuse(w, refusal{http.StatusBadRequest, err.Error()})
		return
	}
	if made == nil {
		made = []change{}
	}
	answer(w, map[string][]change{"changes": made})
}

func readBody(w http.ResponseWriter, r *http.Request, into any) refusal {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyBytesMax))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", tooLarge.Limit)}
	} else if err != nil {
		return refusal{http.StatusBadRequest, "the body did not come whole"}
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return refusal{http.StatusBadRequest, "the body is not what is wanted: " + err.Error()}
	}
	if decoder.More() {
		return refusal{http.StatusBadRequest, "the body has something behind its JSON"}
	}
	return refusal{}
}

func answer(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what) // an error means that nobody listens any more
}

func refuse(w http.ResponseWriter, refused refusal) {
	w.Header().Set("Content-Type", "application/json")
	if refused.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="harena"`)
	}
	w.WriteHeader(refused.status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": refused.reason})
}
