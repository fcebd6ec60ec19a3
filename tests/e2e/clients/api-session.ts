// One connection to the API of a reader or writer, which holds every answer against what may happen.
import type { Head } from "../chains/branches.ts";
import type { Slot } from "../services/managed-process.ts";
import type { River } from "../system.ts";
import { openConnection, type Question, type Reply } from "./connection.ts";

export type ApiSession = {
  /** Null when the service was away, as planned, or answered that its database is. */
  ask(kind: string, path: string, question?: Question): Promise<Reply | null>;
  /** The head of the last answer that told one. */
  readonly head: Head | null;
  /** Whether the connection is lost. */
  readonly lost: boolean;
  close(): void;
};

export type Sessions = {
  open(slot: Slot): ApiSession;
  /** Every head that any answer told, by hash. */
  readonly heads: ReadonlyMap<string, number>;
};

export function createSessions(river: Pick<River, "observations" | "outages" | "branches">): Sessions {
  const { observations, outages, branches } = river;
  const heads = new Map<string, number>();

  function judge(where: string, reply: Reply, before: Head | null): Head | null {
    const hash = reply.headers["x-indexed-block-hash"];
    if (hash === undefined) return before;
    const head = { number: Number(reply.headers["x-indexed-block"]), hash };
    heads.set(hash, head.number);
    const objection = before && branches.objection(before, head);
    if (objection) observations.wrong(`${where}: ${objection}`);
    return head;
  }

  return {
    heads,
    open(slot) {
      const connection = openConnection(slot.url);
      let head: Head | null = null;
      let lost = false;
      return {
        get head() {
          return head;
        },
        get lost() {
          return lost;
        },
        close: connection.close,
        async ask(kind, path, question = {}) {
          const where = `${slot.name} ${question.method ?? "GET"} ${path}`;
          const fromMs = Date.now();
          let reply: Reply;
          try {
            reply = await connection.ask(path, question);
          } catch (error) {
            lost = true;
            if (outages.touched(slot.name, fromMs, Date.now())) observations.count("connections lost");
            else observations.wrong(`${where} failed: ${String(error)}`);
            return null;
          }
          observations.count(kind);
          if (reply.status >= 500) {
            const excused = reply.status === 503 && outages.touched("database", fromMs, Date.now());
            if (excused) observations.count("answers 503 in an outage");
            else observations.wrong(`${where} answered ${reply.status}: ${reply.text}`);
            return null;
          }
          head = judge(where, reply, head);
          return reply;
        },
      };
    },
  };
}
