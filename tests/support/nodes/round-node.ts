// A node that responds to all requests of a round trip at once, so that round trips can be counted on a busy machine too.
import { setTimeout as sleep } from "node:timers/promises";
import type { RpcRequestFunction } from "@sextant/contracts/deploy/rpc-request";
import { toJsonRpcErrorBody } from "@sextant/local-chain/rpc/json-rpc-error";
import { readBody, startLoopbackServer } from "../http/loopback-server.ts";
import type { NodeRpcCall } from "./node-faults.ts";

/** A request that waits for the others of its round trip. */
type HeldRequest = { readonly calls: readonly NodeRpcCall[]; respond(): void };

/** The requests that got their responses together. */
export type RoundTrip = readonly (readonly NodeRpcCall[])[];

type RoundNodeOptions = {
  readonly upstream: RpcRequestFunction;
  /** A late request gets its response only when those of the others have led to nothing more. */
  readonly isLate?: (calls: readonly NodeRpcCall[]) => boolean;
};

// The client runs in this process: whatever it asks next, it has asked before so many turns of the event loop.
const QUIET_TURNS = 5;
const TURN_MS = 2;

export class RoundNode {
  readonly #options: RoundNodeOptions;
  #held: readonly HeldRequest[] = [];
  #roundTrips: readonly RoundTrip[] = [];

  constructor(options: RoundNodeOptions) {
    this.#options = options;
  }

  /** The round trips since the last call. */
  takeRoundTrips(): readonly RoundTrip[] {
    const taken = this.#roundTrips;
    this.#roundTrips = [];
    return taken;
  }

  listen(): ReturnType<typeof startLoopbackServer> {
    return startLoopbackServer(async (request, response) => {
      const body = JSON.parse((await readBody(request)).toString("utf8")) as NodeRpcCall | NodeRpcCall[];
      const text = JSON.stringify(
        Array.isArray(body) ? await Promise.all(body.map(this.#call)) : await this.#call(body),
      );
      const respond = () => response.setHeader("content-type", "application/json").end(text);
      this.#held = [...this.#held, { calls: [body].flat(), respond }];
      if (this.#held.length === 1) await this.#respondToAll();
    });
  }

  readonly #call = async ({ id, method, params }: NodeRpcCall) => {
    const head = { jsonrpc: "2.0", id };
    try {
      return { ...head, result: await this.#options.upstream(method, params) };
    } catch (error) {
      return { ...head, error: toJsonRpcErrorBody(error) };
    }
  };

  async #respondToAll(): Promise<void> {
    const { isLate = () => false } = this.#options;
    while (this.#held.length > 0) {
      for (let seen = 0; seen !== this.#held.length; ) {
        seen = this.#held.length;
        for (let turn = 0; turn < QUIET_TURNS; turn += 1) await sleep(TURN_MS);
      }
      const early = this.#held.filter(({ calls }) => !isLate(calls));
      const due = early.length > 0 ? early : this.#held;
      this.#roundTrips = [...this.#roundTrips, due.map(({ calls }) => calls)];
      for (const { respond } of due) respond();
      // Requests that they lead to arrive before a late request gets its response.
      for (let turn = 0; turn < QUIET_TURNS; turn += 1) await sleep(TURN_MS);
      this.#held = this.#held.filter((request) => !due.includes(request));
    }
  }
}
