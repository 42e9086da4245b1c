package fair_test

import (
	"net/netip"
	"testing"

	"gatherkit/internal/fair"
)

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
