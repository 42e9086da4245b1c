package fair_test

import (
	"net/netip"
	"testing"

	"gatherkit/internal/fair"
)

func TestAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32")}
	for _, c := range []struct {
		peer, forwarded, want string
	}{
		{"203.0.113.9", "198.51.100.1", "203.0.113.9"},              // the peer is not trusted
		{"10.0.0.1", "198.51.100.1", "198.51.100.1"},                // one proxy
		{"10.0.0.1", "1.2.3.4, 198.51.100.1", "198.51.100.1"},       // the first address was sent by the client
		{"127.0.0.1", "198.51.100.1, 10.1.1.1", "198.51.100.1"},     // two proxies
		{"10.0.0.1", "", "10.0.0.1"},                                //
		{"10.0.0.1", "unknown", "10.0.0.1"},                         //
		{"10.0.0.1", "198.51.100.1:4711", "198.51.100.1"},           // with a port
		{"10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"},           //
		{"::ffff:10.0.0.1", "2001:db8::1", "2001:db8::1"},           // IPv4 in IPv6
		{"10.0.0.1", "fe80::1%eth0", "fe80::1"},                     // zones are ignored
		{"10.0.0.1", "198.51.100.1, garbage, 10.2.2.2", "10.2.2.2"}, // stops at the invalid address
	} {
		got := fair.Address(netip.MustParseAddr(c.peer), []string{c.forwarded}, trusted)
		if got.String() != c.want {
			t.Errorf("%s, %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

func TestCallers(t *testing.T) {
	for _, c := range []struct{ address, caller, network string }{
		{"198.51.100.7", "198.51.100.7/32", "198.51.100.0/24"},
		{"::ffff:198.51.100.7", "198.51.100.7/32", "198.51.100.0/24"}, // IPv4 in IPv6
		{"2001:db8:1:2:3::4", "2001:db8:1:2::/64", "2001:db8:1::/48"},
		{"fe80::1%eth0", "fe80::/64", "fe80::/48"},
		{"::1", "::1/128", "::/48"}, // loopback is one address
	} {
		caller := fair.Caller(netip.MustParseAddr(c.address))
		if network := fair.Network(caller); caller.String() != c.caller || network.String() != c.network {
			t.Errorf("%s: %s in %s, want %s in %s", c.address, caller, network, c.caller, c.network)
		}
	}
	if caller := fair.Caller(netip.Addr{}); caller.IsValid() || fair.Network(caller).IsValid() {
		t.Errorf("no address: %s", caller)
	}
}

func TestWithin(t *testing.T) {
	networks := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fe80::/10")}
	for address, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "11.1.2.3": false, "fe80::1": true, "fe80::1%eth0": true, "2001:db8::1": false,
	} {
		if got := fair.Within(netip.MustParseAddr(address), networks); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
}
