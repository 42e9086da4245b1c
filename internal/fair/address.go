package fair

import (
	"net/netip"
	"slices"
	"strings"
)

// Address returns the address of the client: the peer of the connection, or the address
// that a trusted proxy forwards. Proxies append to X-Forwarded-For, so it is read from the
// right, up to the first address that is not a trusted proxy.
func Address(peer netip.Addr, forwardedFor []string, trusted []netip.Prefix) netip.Addr {
	address := peer.Unmap()
	hops := strings.Split(strings.Join(forwardedFor, ","), ",")
	for i := len(hops) - 1; i >= 0 && Within(address, trusted); i-- {
		hop := strings.TrimSpace(hops[i])
		next, err := netip.ParseAddr(hop)
		if err != nil {
			withPort, err := netip.ParseAddrPort(hop)
			if err != nil {
				break
			}
			next = withPort.Addr()
		}
		address = next.Unmap().WithZone("")
	}
	return address
}

// Caller returns the prefix that counts as one caller: an IPv4 address, or the /64 that a
// provider assigns to one IPv6 customer. For an invalid address, as on a Unix socket, it
// returns the zero prefix, so that all such callers count as one.
func Caller(address netip.Addr) netip.Prefix {
	if address.IsLoopback() { // other addresses in the /64 of ::1 are not loopback addresses
		return prefix(address.Unmap(), 32, 128)
	}
	return prefix(address.Unmap(), 32, 64)
}

// Within reports whether an address is in one of the networks. It ignores the zone.
func Within(address netip.Addr, networks []netip.Prefix) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(address) })
}

// Network returns the network of a caller: an IPv4 /24, or the /48 that a provider assigns
// to one IPv6 site. One person may control all addresses of a network.
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
