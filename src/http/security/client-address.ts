// Finds the client of a request: the unit of limits and of fair sharing behind the routes.
import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import type { FastifyInstance } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** As the limits per client count it: an IPv4 address or an IPv6 network. */
    readonly client: string;
  }
}

/** Must be added before the first route. Computed on access: most requests need it only for their limit. */
export function addRequestClient(
  app: FastifyInstance,
  identifyClient: (request: IncomingMessage) => string,
): void {
  app.decorateRequest("client", {
    getter() {
      return identifyClient(this.raw);
    },
  });
}

// Longer than any address: what a client writes into the header must not fill our memory.
const ADDRESS_LENGTH_MAX = 64;

/**
 * The address a request comes from. Each proxy appends the address of its own client, so the one to trust is as many
 * steps from the end as there are trusted proxies.
 */
export function readClientAddress({ socket, headers }: IncomingMessage, trustedProxies: number): string {
  const peer = socket.remoteAddress ?? "";
  const forwarded = trustedProxies > 0 ? headers["x-forwarded-for"] : undefined;
  if (forwarded === undefined) return peer;
  const hops = [forwarded].flat().join(",").split(",");
  const address = hops.at(-Math.min(trustedProxies, hops.length)) ?? peer;
  return address.trim().slice(0, ADDRESS_LENGTH_MAX);
}

/**
 * One client is an IPv4 address, or the 64-bit network that an IPv6 customer has to itself. Proxies write addresses with
 * brackets, ports and in the IPv4-mapped form; everything that is not an address counts as one client.
 */
export function toClientId(text: string): string {
  if (isIPv4(text)) return text;
  const address = stripAddress(text.trim());
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return "unknown";
  const groups = parseIpv6Groups(address);
  const [, , , , , sixth, high = 0, low = 0] = groups;
  const isMapped = sixth === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

/** Without the port, the brackets and the zone. */
function stripAddress(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::[0-9]*)?$/.exec(text)?.[1];
  const withPort = /^([0-9.]+):[0-9]*$/.exec(text)?.[1];
  const [address = ""] = (bracketed ?? withPort ?? text).split("%", 1);
  return address;
}

function parseIpv6Groups(address: string): readonly number[] {
  const [head = "", tail] = address.split("::");
  const left = parseGroups(head);
  const right = parseGroups(tail ?? "");
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0);
  return [...left, ...zeros, ...right];
}

function parseGroups(part: string): number[] {
  if (part === "") return [];
  return part.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
