// So many requests or bytes per client and minute: an even refill, one number per client, and a bound on the memory.
import { isIPv4, isIPv6 } from "node:net";
import type { Clock } from "../../lib/clock.ts";

export type RateLimiter = {
  /** Counts so many units, 1 unless given; returns how many milliseconds the client is early, 0 when it is welcome. */
  take(client: string, units?: number): number;
  /** Gives back the units of `taken` that were not used. */
  release(client: string, taken: number, used: number): void;
};

const MINUTE_MS = 60_000;
// About ten megabytes. Who is forgotten because so many others came since starts with a full minute again.
const CLIENTS_MAX = 100_000;

/** A client may use its whole minute at once; from then on it gets a unit every `60 / perMinute` seconds. */
export function createRateLimiter(options: {
  readonly perMinute: number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly clientsMax?: number;
}): RateLimiter {
  const { perMinute, clock, clientsMax = CLIENTS_MAX } = options;
  const interval = MINUTE_MS / perMinute;
  // When everything a client has used will be refilled; the least recently seen client comes first.
  const refilled = new Map<string, number>();

  // Never more than a minute ahead, even when the wall clock is set back.
  const usedUntil = (client: string, now: number) =>
    Math.min(Math.max(refilled.get(client) ?? now, now), now + MINUTE_MS);

  function remember(client: string, until: number): void {
    refilled.delete(client);
    if (refilled.size >= clientsMax) {
      for (const oldest of refilled.keys()) {
        refilled.delete(oldest);
        break;
      }
    }
    refilled.set(client, until);
  }

  return {
    take(client, units = 1) {
      const now = clock.nowMs();
      const until = usedUntil(client, now);
      // More than a minute's worth at once takes a whole minute: otherwise it could never be welcome.
      const cost = interval * Math.min(units, perMinute);
      const early = until + cost - (now + MINUTE_MS);
      // Floats add up to a hair more than a minute; that is not early.
      const welcome = early < 0.001;
      remember(client, welcome ? until + cost : until);
      return welcome ? 0 : early;
    },
    release(client, taken, used) {
      const unused = Math.min(taken, perMinute) - used;
      if (unused > 0) remember(client, usedUntil(client, clock.nowMs()) - interval * unused);
    },
  };
}

/**
 * Who counts as one client: an IPv4 address, or the 64-bit network that one IPv6 customer has to itself. Proxies write
 * addresses with brackets, ports and in the IPv4-mapped form; whatever is no address counts as one client.
 */
export function toClientId(text: string): string {
  if (isIPv4(text)) return text;
  const address = bareAddress(text.trim());
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return "unknown";
  const groups = ipv6Groups(address);
  const [, , , , , sixth, high = 0, low = 0] = groups;
  const isMapped = sixth === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

/** Without the port, the brackets and the zone. */
function bareAddress(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::[0-9]*)?$/.exec(text)?.[1];
  const withPort = /^([0-9.]+):[0-9]*$/.exec(text)?.[1];
  const [address = ""] = (bracketed ?? withPort ?? text).split("%", 1);
  return address;
}

function ipv6Groups(address: string): readonly number[] {
  const [head = "", tail] = address.split("::");
  const left = groupsOf(head);
  const right = groupsOf(tail ?? "");
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0);
  return [...left, ...zeros, ...right];
}

function groupsOf(part: string): number[] {
  if (part === "") return [];
  return part.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
