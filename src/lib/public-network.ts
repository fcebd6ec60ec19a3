// Requests to addresses that others choose: only to the public internet, and to exactly the address that was checked.
import { Resolver } from "node:dns/promises";
import { Agent } from "node:https";
import { BlockList, isIP, isIPv4, type LookupFunction } from "node:net";

/** Resolves a name to all of its addresses; throws if it has none. */
type ResolveAddresses = (name: string) => Promise<readonly string[]>;

export type PublicNetwork = {
  /** Connects only to addresses that its own lookup has checked, so that a name cannot change in between. */
  readonly agent: Agent;
  /** Throws for a host that is an address itself, which no lookup sees, and not a public one. */
  assertHost(host: string): void;
};

// The special-purpose registries of IANA: this host, private, shared (carrier-grade NAT), loopback, link-local, protocol
// assignments, documentation, relays, benchmarks, multicast, reserved and broadcast.
const SPECIAL_IPV4 = new BlockList();
for (const range of [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"],
  ...["192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4"],
]) {
  addRange(SPECIAL_IPV4, range, "ipv4");
}
// IPv6 is public only inside global unicast: what carries an IPv4 address (mapped, NAT64) is outside of it.
const GLOBAL_IPV6 = new BlockList();
addRange(GLOBAL_IPV6, "2000::/3", "ipv6");
// Protocol assignments with Teredo, documentation, 6to4: the last carries an IPv4 address, too.
const SPECIAL_IPV6 = new BlockList();
for (const range of ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"]) {
  addRange(SPECIAL_IPV6, range, "ipv6");
}

function addRange(list: BlockList, range: string, family: "ipv4" | "ipv6"): void {
  const [network = "", prefix] = range.split("/");
  list.addSubnet(network, Number(prefix), family);
}

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !SPECIAL_IPV4.check(address, "ipv4");
  // A zone is for link-local addresses only.
  if (isIP(address) !== 6 || address.includes("%")) return false;
  return GLOBAL_IPV6.check(address, "ipv6") && !SPECIAL_IPV6.check(address, "ipv6");
}

// A name server that others run must not keep a request waiting, nor a thread of the pool as the system's lookup does.
const RESOLVE_MS_MAX = 3_000;
const RESOLVE_TRIES = 2;
// Servers close idle connections, the first of them after five seconds.
const IDLE_MS_MAX = 4_000;

type PublicNetworkOptions = {
  readonly resolve?: ResolveAddresses;
  /** For tests, which connect to no other machine. */
  readonly isAllowed?: (address: string) => boolean;
  /** Certificates of the authorities to trust, as PEM, instead of those that Node trusts; for tests. */
  readonly ca?: string;
};

export function createPublicNetwork(options: PublicNetworkOptions = {}): PublicNetwork {
  const { resolve = resolveByDns, isAllowed = isPublicAddress, ca } = options;
  const lookup = createGuardedLookup(resolve, isAllowed);
  return {
    agent: new Agent({ keepAlive: true, timeout: IDLE_MS_MAX, lookup, ...(ca === undefined ? {} : { ca }) }),
    assertHost(host) {
      const address = host.replace(/^\[|\]$/g, "");
      if (isIP(address) !== 0 && !isAllowed(address)) throw createAddressError();
    },
  };
}

/** One address that is not public makes the name unusable: no honest name has both. */
function createGuardedLookup(
  resolve: ResolveAddresses,
  isAllowed: (address: string) => boolean,
): LookupFunction {
  return (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
        const [first] = found;
        if (!first || !addresses.every(isAllowed)) return callback(createAddressError(), "");
        if (options.all === true) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

async function resolveByDns(name: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: RESOLVE_MS_MAX, tries: RESOLVE_TRIES });
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [four, six].flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  if (found.length === 0 && four.status === "rejected") throw four.reason;
  return found;
}

function createAddressError(): NodeJS.ErrnoException {
  return Object.assign(new Error("the address is not a public one"), { code: "ADDRESS_NOT_PUBLIC" });
}
