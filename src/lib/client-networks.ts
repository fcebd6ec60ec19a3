// Lists the networks for which a client's use counts: itself and, for IPv6, the /56 and /48 around it. Every limit per client asks here.

type ClientNetwork = {
  readonly id: string;
  /** How many times the limit of one client all clients of this network have together. */
  readonly share: number;
};

// A client is an IPv4 address or an IPv6 /64, as toClientId writes it.
const IPV6_CLIENT = /^([0-9a-f]{1,4}:[0-9a-f]{1,4}:[0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

// Providers give one customer a /56 or a /48, which has 256 or 65,536 clients. Phones of a carrier have a /64 each in a
// common /48, so that a network has more than one client has; three times leaves a quarter of the connections to others.
const SHARE_56 = 2;
const SHARE_48 = 3;

/** The narrowest first. A text that is not an IPv6 client is a network of its own. */
export function listClientNetworks(client: string): readonly ClientNetwork[] {
  const [, site = null, subnet = "0"] = parseIpv6Client(client) ?? [];
  if (site === null) return [{ id: client, share: 1 }];
  const customer = (Number.parseInt(subnet, 16) & 0xff00).toString(16);
  return [
    { id: client, share: 1 },
    { id: `${site}:${customer}/56`, share: SHARE_56 },
    { id: `${site}/48`, share: SHARE_48 },
  ];
}

/** The unit of turns in a queue: however many clients a /48 has, they take the turns of one. */
export function widestNetworkOf(client: string): string {
  const [, site] = parseIpv6Client(client) ?? [];
  return site === undefined ? client : `${site}/48`;
}

// Most clients are IPv4 addresses: they cost no regular expression.
function parseIpv6Client(client: string): RegExpExecArray | null {
  return client.includes(":") ? IPV6_CLIENT.exec(client) : null;
}

/** Counts what clients have open at once. */
export class ClientCounts {
  readonly #counts = new Map<string, number>();

  /** The network of the client that has its share already; null if there is room for one more. */
  findFull(client: string, perClientMax: number): ClientNetwork | null {
    const isFull = ({ id, share }: ClientNetwork) => (this.#counts.get(id) ?? 0) >= perClientMax * share;
    return listClientNetworks(client).find(isFull) ?? null;
  }

  add(client: string): void {
    for (const { id } of listClientNetworks(client)) this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  remove(client: string): void {
    for (const { id } of listClientNetworks(client)) {
      const left = (this.#counts.get(id) ?? 0) - 1;
      if (left > 0) this.#counts.set(id, left);
      else this.#counts.delete(id);
    }
  }
}
