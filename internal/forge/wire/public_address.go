package wire

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// errPrivate is the reason why a connection is not made.
var errPrivate = errors.New("the forge's name resolves to a private address")

// private are the addresses that a forge on the Internet cannot have: of this
// machine, of private, shared, documentation and multicast networks, and IPv6 forms
// that embed IPv4 (IANA's special-purpose address registries).
var private = parsePrefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/128", "::1/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
	"fc00::/7", "fe80::/10", "ff00::/8",
)

func parsePrefixes(all ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range all {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// publicOnly checks the address of a connection after the name was resolved and right before it is made, so
// that a name that resolves differently the second time is caught.
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
