package webhook_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

const (
	notAllowed = "This address is not allowed."
	notFound   = "The name of the host was not found."
)

// innerHosts are ways to write addresses of this machine and of networks that are not public.
var innerHosts = []string{
	"127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "0x7f.1", "0x7f000001", "0x7f.0x0.0x0.0x1", "2130706433",
	"017700000001", "0177.0.0.1", "0177.0.0.01", "127.0.0.1.", "0", "0.0.0.0", "00.0.0.0", "127.000.000.001",
	"4294967295", "localhost", "localhost.", "LOCALHOST", "LocalHost.", "localhost.localdomain", "[::1]",
	"[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:7F00:0001]",
	"[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
	"[2002:a00:1::1]", "[2001:0:7f00:1::]", "[2001::1]", "[fe80::1]", "[fe80::1%25lo]", "[::1%25lo]",
	"[2606:4700::1%25lo]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[3fff::1]",
	"[5f00::1]", "[100::1]", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1",
	"100.127.255.255", "169.254.169.254", "169.254.170.2", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]",
	"192.0.0.192", "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "metadata.google.internal",
	"１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1", "127．0．0．1", "ｌｏｃａｌｈｏｓｔ", "loc\u00adalhost", "%31%32%37.0.0.1",
	"127.0.0.%31", "127%2e0.0.1", "%6cocalhost", "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1", "example.com@127.0.0.1",
	"example.com:443@127.0.0.1", "example.com%40127.0.0.1", `example.com\@127.0.0.1`, `127.0.0.1\.example.com`,
	"example.com#@127.0.0.1", "127.0.0.1#.example.com", "127.0.0.1%00.example.com", "127.0.0.1%20", "127.0.0.1%09",
	" 127.0.0.1", "127.0.0.1\t", "127.0.0.1%0d%0a", "", "[127.0.0.1]", "[localhost]", "[::1", "::1", "[[::1]]",
	"[::1]]", "127.0.0.1:80",
}

// TestInnerAddresses calls every way to write an inner address. Nothing inside is reached.
func TestInnerAddresses(t *testing.T) {
	serveNames(t, func(string) []netip.Addr { return nil })
	rig, closed := newSender(t, storetest.SQLite(t))
	office := webhook.NewSender(rig.Webhooks, webhook.Options{Allow: []netip.Prefix{netip.MustParsePrefix("10.99.0.0/16")}})
	trapped := new(atomic.Int64)
	trap := func(c net.Conn) { trapped.Add(1) }
	_, port, _ := net.SplitHostPort(listen(t, "127.0.0.1:0", trap))
	if _, err := net.InterfaceByName("lo"); err == nil {
		listen(t, "[::1]:"+port, trap)
	}
	type attack struct {
		sender *webhook.Sender
		url    string
	}
	var attacks []attack
	for _, host := range innerHosts {
		for _, sender := range []*webhook.Sender{closed, office} {
			attacks = append(attacks, attack{sender, "https://" + host + ":" + port + "/"}, attack{sender, "http://" + host + ":" + port + "/"},
				attack{sender, "HTTPS://" + host + ":" + port})
		}
	}
	refused, called := new(atomic.Int64), new(atomic.Int64)
	storetest.Crowd(len(attacks), func(i int) {
		a := attacks[i]
		if a.sender.CheckURL(a.url) != nil {
			refused.Add(1)
			return
		}
		called.Add(1)
		if got := try(t, rig, a.sender, rig.NewAccount(fmt.Sprint("account", i)), a.url); got != notAllowed && got != notFound {
			t.Errorf("%q: %q", a.url, got)
		}
	})
	if trapped.Load() > 0 || refused.Load() == 0 || called.Load() == 0 {
		t.Errorf("%d connections to the trap; %d addresses were refused, and %d called", trapped.Load(), refused.Load(), called.Load())
	}
	machine := webhook.NewSender(rig.Webhooks, webhook.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	try(t, rig, machine, rig.NewAccount("Machine"), "http://127.0.0.1:"+port)
	if trapped.Load() == 0 {
		t.Error("the trap does not work")
	}
}

// try sends an event to an address and returns what went wrong.
func try(t *testing.T, rig *storetest.Rig, sender *webhook.Sender, account feedback.Account, url string) string {
	got, err := sender.Test(context.Background(), account.ID, addWebhook(t, rig, account, url).ID)
	if err != nil {
		t.Errorf("%q: %v", url, err)
	}
	if got.Error == nil {
		return ""
	}
	return *got.Error
}

// TestNamesOfInnerAddresses calls names that lead to inner addresses, also to others than at the lookup
// before. Only the address 127.0.0.2 is allowed.
func TestNamesOfInnerAddresses(t *testing.T) {
	lookups := new(atomic.Int64)
	serveNames(t, func(name string) (found []netip.Addr) {
		add := func(addresses ...string) {
			for _, a := range addresses {
				found = append(found, netip.MustParseAddr(a))
			}
		}
		switch name {
		case "rebind.example": // at every second lookup
			add("127.0.0." + fmt.Sprint(2-lookups.Add(1)%2))
		case "both.example":
			add("127.0.0.1", "127.0.0.2", "127.0.0.3")
		case "inner.example":
			add("127.0.0.1", "::1", "169.254.169.254", "10.0.0.1")
		case "mapped.example":
			add("::ffff:127.0.0.1")
		case "translated.example":
			add("64:ff9b::7f00:1", "2002:7f00:1::")
		}
		return found
	})
	rig, sender := newSender(t, storetest.SQLite(t), "127.0.0.2/32")
	trapped, reached := new(atomic.Int64), new(atomic.Int64)
	_, port, _ := net.SplitHostPort(listen(t, "127.0.0.2:0", func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			reached.Add(1)
			_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n") // the next call needs a lookup
		}
	}))
	for _, inner := range []string{"127.0.0.1:", "127.0.0.3:", "[::1]:"} {
		listen(t, inner+port, func(net.Conn) { trapped.Add(1) })
	}
	account := rig.NewAccount("Acme")
	for name, want := range map[string]string{
		"both.example": "", "inner.example": notAllowed, "mapped.example": notAllowed, "translated.example": notAllowed,
		"nobody.example": notFound,
	} {
		if got := try(t, rig, sender, account, "http://"+name+":"+port); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := try(t, rig, sender, account, "https://inner.example:"+port); got != notAllowed {
		t.Errorf("https: %q, want %q", got, notAllowed)
	}
	for _, scheme := range []string{"http", "https"} {
		count := map[string]int{}
		for range 6 {
			count[try(t, rig, sender, rig.NewAccount(fmt.Sprint(scheme, len(count), lookups.Load())), scheme+"://rebind.example:"+port)]++
		}
		if count[notAllowed] != 3 || len(count) != 2 {
			t.Errorf("a name that changes: %v", count)
		}
	}
	if trapped.Load() > 0 || reached.Load() != 4 {
		t.Errorf("%d connections to inner addresses, and %d calls of the allowed one, want 0 and 4", trapped.Load(), reached.Load())
	}
}

// serveNames makes the resolver of this process ask a server that answers with the addresses of names.
func serveNames(t *testing.T, find func(name string) []netip.Addr) {
	t.Helper()
	server, err := new(net.ListenConfig).ListenPacket(context.Background(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(answerTo(buffer[:n], find), from)
		}
	}()
	t.Cleanup(func() {
		net.DefaultResolver = before
		_ = server.Close()
		<-ended
	})
}

// answerTo returns the answer to a DNS query with one question (RFC 1035, section 4.1).
func answerTo(query []byte, find func(name string) []netip.Addr) []byte {
	const header, a, aaaa = 12, 1, 28
	end := header + bytes.IndexByte(query[header:], 0) + 1
	var labels []string
	for at := header; query[at] > 0; at += int(query[at]) + 1 {
		labels = append(labels, string(query[at+1:at+1+int(query[at])]))
	}
	kind := binary.BigEndian.Uint16(query[end:])
	var records []byte
	n := 0
	if name := strings.ToLower(strings.Join(labels, ".")); kind == a || kind == aaaa && name != "rebind.example" {
		for _, address := range find(name) {
			if address.Is4() != (kind == a) {
				continue
			}
			n++
			records = binary.BigEndian.AppendUint16(append(records, 0xc0, header), kind)
			records = append(records, 0, 1, 0, 0, 0, 0) // class IN, no time to live
			records = binary.BigEndian.AppendUint16(records, uint16(address.BitLen()/8))
			records = append(records, address.AsSlice()...)
		}
	}
	flags := []byte{0x81, 0x80}
	return slices.Concat(query[:2], flags, []byte{0, 1, 0, byte(n), 0, 0, 0, 0}, query[header:end+4], records)
}
