// One API connection of a reader or writer; checks every response against what may happen.
import type { ObservedHead } from "../chains/branches.ts";
import type { ManagedProcess } from "../services/managed-process.ts";
import type { E2eSystem } from "../system.ts";
import { openServiceConnection, type ServiceRequest, type ServiceResponse } from "./connection.ts";

export type ApiSession = {
  /** Null when the service, or by its response the database, was down as planned. */
  request(kind: string, path: string, options?: ServiceRequest): Promise<ServiceResponse | null>;
  /** The head that the last response named. */
  readonly head: ObservedHead | null;
  /** Whether the connection is lost. */
  readonly lost: boolean;
  close(): void;
};

export type ApiSessions = {
  open(slot: ManagedProcess): ApiSession;
  /** Every head that a response named, by hash. */
  readonly heads: ReadonlyMap<string, number>;
};

export function createApiSessions(
  system: Pick<E2eSystem, "observations" | "outages" | "branches">,
): ApiSessions {
  const { observations, outages, branches } = system;
  const heads = new Map<string, number>();

  function checkHead(
    where: string,
    reply: ServiceResponse,
    before: ObservedHead | null,
  ): ObservedHead | null {
    const hash = reply.headers["x-indexed-block-hash"];
    if (hash === undefined) return before;
    const head = { number: Number(reply.headers["x-indexed-block"]), hash };
    heads.set(hash, head.number);
    const objection = before && branches.findStepError(before, head);
    if (objection) observations.recordViolation(`${where}: ${objection}`);
    return head;
  }

  return {
    heads,
    open(slot) {
      const connection = openServiceConnection(slot.url);
      let head: ObservedHead | null = null;
      let lost = false;
      return {
        get head() {
          return head;
        },
        get lost() {
          return lost;
        },
        close: connection.close,
        async request(kind, path, options = {}) {
          const where = `${slot.name} ${options.method ?? "GET"} ${path}`;
          const fromMs = Date.now();
          let reply: ServiceResponse;
          try {
            reply = await connection.request(path, options);
          } catch (error) {
            lost = true;
            if (outages.overlaps(slot.name, fromMs, Date.now())) observations.count("connections lost");
            else observations.recordViolation(`${where} failed: ${String(error)}`);
            return null;
          }
          observations.count(kind);
          if (reply.status >= 500) {
            const excused = reply.status === 503 && outages.overlaps("database", fromMs, Date.now());
            if (excused) observations.count("responses 503 in an outage");
            else observations.recordViolation(`${where} returned ${reply.status}: ${reply.text}`);
            return null;
          }
          head = checkHead(where, reply, head);
          return reply;
        },
      };
    },
  };
}
