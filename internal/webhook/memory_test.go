package webhook_test

import (
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"gatherkit/internal/quota"
	"gatherkit/internal/store/storetest"
)

// TestLargeEvents measures the memory of 16 endpoints that do not answer while 40 of the largest events wait
// for each. In JSON, < takes six bytes.
func TestLargeEvents(t *testing.T) {
	rig, sender := newSender(t, storetest.SQLite(t), "127.0.0.0/8")
	account := rig.NewAccount("Acme")
	app := rig.NewApp(account)
	calls := new(atomic.Int64)
	silent := endpoint(t, func(c net.Conn) { calls.Add(1); hang(c) })
	for range quota.MaxWebhooks {
		addWebhook(t, rig, account, silent)
	}
	rig.Fill(app, 40)
	rig.Exec(`UPDATE changes SET after = $1 WHERE kind = 'request.created'`, `{"description":"`+strings.Repeat("<", 40_000)+`"}`)
	before := liveHeap()
	quiet{Rig: rig, sender: sender}.run(t)
	await(calls, 16)
	grown := int64(0)
	for range 20 { // other endpoints still read their events
		grown = max(grown, (liveHeap()-before)>>20)
	}
	t.Logf("the heap grew by %d MiB", grown)
	if grown > 64 {
		t.Error("the heap grew by more than 64 MiB")
	}
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
