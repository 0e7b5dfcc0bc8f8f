package live

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"time"
)

// pageFiles are the page. The C++ listener has the same files in it.
//
//go:embed page
var pageFiles embed.FS

// contentTypes are those of the page's files, whatever the system's own table says.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

func servePageFile(w http.ResponseWriter, r *http.Request) { pageFile(r.PathValue("file"))(w, r) }

func pageFile(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		contentType, known := contentTypes[path.Ext(name)]
		content, err := fs.ReadFile(pageFiles, path.Join("page", name))
		if !known || err != nil {
			refuse(w, refusal{http.StatusNotFound, "there is no such page; the page is /harena"})
			return
		}
		w.Header().Set("Content-Type", contentType)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}
