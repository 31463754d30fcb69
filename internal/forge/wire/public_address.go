package wire

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// errPrivate is why a connection is not made.
var errPrivate = errors.New("the forge's name resolves to a private address")

// private are the addresses that no forge on the Internet has: of this machine, of
// private, shared and documentation networks, of multicast, and of ways to write
// an IPv4 address in IPv6 (IANA's special-purpose address registries).
var private = parsePrefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/128", "::1/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10", "ff00::/8",
)

func parsePrefixes(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// publicOnly looks at the address of a connection right before it is made, after
// the name was resolved: a name that leads elsewhere the second time is seen, too.
func publicOnly(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return err
	}
	ip = ip.Unmap().WithZone("")
	if slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return errPrivate
	}
	return nil
}
