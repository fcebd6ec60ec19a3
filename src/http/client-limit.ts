// So many requests per client and minute: an even refill, one number per client, and a bound on how many are remembered.
import { isIPv6 } from "node:net";
import type { Clock } from "../kit/clock.ts";

export type ClientLimit = {
  /** Counts a request; answers how many milliseconds the client is early, 0 when it is welcome. */
  take(client: string): number;
};

const MINUTE_MS = 60_000;
// About ten megabytes. Who is forgotten because so many others came since starts with a full minute again.
const CLIENTS_MAX = 100_000;

/** A client may use its whole minute at once; from then on it is welcome every `60 / perMinute` seconds. */
export function createClientLimit(options: {
  readonly perMinute: number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly clientsMax?: number;
}): ClientLimit {
  const { perMinute, clock, clientsMax = CLIENTS_MAX } = options;
  const interval = MINUTE_MS / perMinute;
  // When everything a client has used will be refilled; the least recently seen client comes first.
  const refilled = new Map<string, number>();
  return {
    take(client) {
      const now = clock.nowMs();
      // Never more than a minute ahead, even when the wall clock is set back.
      const until = Math.min(Math.max(refilled.get(client) ?? now, now), now + MINUTE_MS);
      const early = until + interval - (now + MINUTE_MS);
      refilled.delete(client);
      if (refilled.size >= clientsMax) {
        for (const oldest of refilled.keys()) {
          refilled.delete(oldest);
          break;
        }
      }
      // Floats add up to a hair more than a minute; that is not early.
      const welcome = early < 0.001;
      refilled.set(client, welcome ? until + interval : until);
      return welcome ? 0 : early;
    },
  };
}

/** Who counts as one client: an IPv4 address, or the 64-bit network that one IPv6 customer has to itself. */
export function clientOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.split("%", 1).join("").split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  const network = [...left, ...zeros, ...right].slice(0, 4);
  return network.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}
