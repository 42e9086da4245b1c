package fair

import (
	"net/netip"
	"slices"
)

// Caller returns what counts as one caller: an IPv4 address, or the /64 that a
// provider gives to one IPv6 customer. Without an address, as on a Unix socket, it
// returns the zero prefix, so such callers count together.
func Caller(address netip.Addr) netip.Prefix {
	if address.IsLoopback() { // ::1 is one address, and shares its /64 with others that are not loopback
		return prefix(address.Unmap(), 32, 128)
	}
	return prefix(address.Unmap(), 32, 64)
}

// Within reports whether an address, whatever its zone, lies in one of the networks.
func Within(address netip.Addr, networks []netip.Prefix) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(address) })
}

// Network returns the network of a caller: an IPv4 /24, or the /48 that a provider
// gives to one IPv6 site. One person can have all of its addresses.
func Network(caller netip.Prefix) netip.Prefix {
	return prefix(caller.Addr(), 24, 48)
}

func prefix(address netip.Addr, bits4, bits6 int) netip.Prefix {
	bits := bits6
	if address.Is4() {
		bits = bits4
	}
	p, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
