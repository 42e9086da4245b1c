package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// DemoWebhookPath is the path of an endpoint of the example, to which its webhook delivers.
	DemoWebhookPath = "/demo/webhook"

	maxDeliveries = 20
	maxDelivery   = 1 << 20 // bytes
)

// deliveries are the last events that the example's endpoint has received, as an endpoint of a customer
// would. The page /demo shows them.
type deliveries struct {
	secret string

	mu   sync.Mutex
	last []delivery // the newest first
}

type delivery struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Summary string    `json:"summary"`
	Title   string    `json:"title"`
	At      time.Time `json:"at"`
}

// receive verifies and keeps a delivery, once.
func (d *deliveries) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDelivery))
	if err != nil {
		http.Error(w, "The body cannot be read.", http.StatusRequestEntityTooLarge)
		return
	}
	if !verified(d.secret, r.Header, body) {
		http.Error(w, "This is not from Gatherkit.", http.StatusUnauthorized)
		return
	}
	var event struct {
		Type string
		Data struct {
			Summary string
			Request *struct{ Title string }
		}
	}
	if err := json.Unmarshal(body, &event); err != nil {
		http.Error(w, "This is not an event.", http.StatusBadRequest)
		return
	}
	one := delivery{ID: r.Header.Get("webhook-id"), Kind: event.Type, Summary: event.Data.Summary, At: time.Now()}
	if event.Data.Request != nil {
		one.Title = event.Data.Request.Title
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.ContainsFunc(d.last, func(known delivery) bool { return known.ID == one.ID }) {
		d.last = append([]delivery{one}, d.last...)
		d.last = d.last[:min(len(d.last), maxDeliveries)]
	}
}

// list answers with the deliveries.
func (d *deliveries) list(w http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	last := append([]delivery{}, d.last...)
	d.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string][]delivery{"deliveries": last})
}

// verified reports whether a delivery comes from Gatherkit and is at most five minutes old. docs/webhooks.md has the
// same code.
func verified(secret string, header http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	seconds, notANumber := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || len(key) == 0 || notANumber != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%d.%s", header.Get("webhook-id"), seconds, body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return slices.ContainsFunc(strings.Fields(header.Get("webhook-signature")), func(signature string) bool {
		return hmac.Equal([]byte(signature), []byte(want))
	})
}
