// What every request must pass before anything is done for it: one version, one Host, and a limit per client.
import type { IncomingMessage } from "node:http";
import type { Clock } from "../kit/clock.ts";
import { Fault } from "../kit/fault.ts";
import { clientOf, createClientLimit } from "./client-limit.ts";

export type Refusal = { readonly fault: Fault; readonly headers: Readonly<Record<string, string>> };

export type Guard = {
  /** Counts the request; null when it is welcome. */
  refusal(request: IncomingMessage): Refusal | null;
};

export type GuardOptions = {
  /** Per client; 0 is no limit. */
  readonly requestsPerMinuteMax: number;
  /** How many proxies in front of us may say whom they speak for; 0 trusts none. */
  readonly proxies: number;
  readonly clock: Clock;
};

// Probes have a minute of their own, so that visitors behind the same address can not make them fail.
const PROBES: ReadonlySet<string | undefined> = new Set(["/health", "/ready", "/metrics"]);

export function createGuard({ requestsPerMinuteMax: perMinute, proxies, clock }: GuardOptions): Guard {
  const limit = perMinute > 0 ? createClientLimit({ perMinute, clock }) : null;
  return {
    refusal(request) {
      const { httpVersion, rawHeaders, url } = request;
      if (httpVersion !== "1.0" && httpVersion !== "1.1") {
        return malformed("A request must be of HTTP/1.1 or HTTP/1.0.");
      }
      const hosts = hostsIn(rawHeaders);
      if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
        return malformed("A request needs one Host header.");
      }
      if (limit === null) return null;
      const client = clientOf(addressOf(request, proxies));
      const earlyMs = limit.take(PROBES.has(url) ? `probe ${client}` : client);
      if (earlyMs === 0) return null;
      return {
        fault: new Fault("RATE_LIMITED", `There is a limit of ${perMinute} requests per client and minute.`),
        headers: { "retry-after": String(Math.ceil(earlyMs / 1_000)) },
      };
    },
  };
}

const malformed = (sentence: string): Refusal => ({
  fault: new Fault("INPUT_INVALID", sentence),
  headers: {},
});

// Node keeps the first of several and tells nobody; whatever stands in front of us may have gone by the last.
function hostsIn(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

// Longer than any address; what a client wrote there itself must not fill our memory.
const ADDRESS_LENGTH_MAX = 64;

/** Every proxy adds at the end whom it was asked by: so many steps back from us as there are proxies we trust. */
function addressOf({ socket, headers }: IncomingMessage, proxies: number): string {
  const near = socket.remoteAddress ?? "";
  const told = proxies > 0 ? headers["x-forwarded-for"] : undefined;
  if (told === undefined) return near;
  const hops = [told].flat().join(",").split(",");
  const address = hops.at(-Math.min(proxies, hops.length)) ?? near;
  return address.trim().slice(0, ADDRESS_LENGTH_MAX);
}
