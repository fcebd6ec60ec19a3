// A faulty proxy in front of the facilitator: it loses and delays requests and responses.
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { PaymentPayload } from "@x402/core/types";
import { readBody, startLoopbackServer } from "../../support/http/loopback-server.ts";

/** Faults that may happen to a request, and how often out of a hundred. */
const FAULTS = {
  /** Time-out after broadcast. */
  "lost response": 10,
  /** Time-out before broadcast. */
  "lost request": 8,
  "settled, 500": 5,
  "not settled, 500": 5,
  /** A third party carries the payment out before the facilitator does. */
  "front-run": 5,
  /** Success is reported for a transaction that does not exist; nothing was sent. */
  "made-up success": 5,
  "late response": 1,
  /** Settled long after the client stopped waiting. */
  "late request": 1,
} as const;

type FacilitatorFault = keyof typeof FAULTS;
const KINDS = Object.keys(FAULTS) as readonly FacilitatorFault[];

export type FaultyFacilitator = {
  readonly url: string;
  /** How often each fault happened to a settlement. */
  readonly settleFaults: ReadonlyMap<FacilitatorFault, number>;
  /** Resolves once nothing is on its way. */
  drained(): Promise<void>;
  stop(): Promise<void>;
};

type FaultyFacilitatorOptions = {
  readonly target: () => string | null;
  readonly random: () => number;
  /** After so many settlements everything arrives; a count and no time, so that a slow machine sees as much. */
  readonly faultySettles: number;
  /** Sends the transfer of a payment from another account. */
  readonly frontRun: (payload: PaymentPayload) => Promise<void>;
  /** Called for every settlement request, counted from 0. */
  readonly onSettle: (number: number) => void;
};

// Clients stop waiting after 18 seconds.
const LATE_MS = 19_000;
// Each costs its client 20 seconds; a short run is content with the first two, which are sure.
const SETTLES_PER_LATE = 50;

/** Chooses the fault of each request, and counts those of settlements. */
function createFaultPlan(options: FaultyFacilitatorOptions) {
  const settleFaults = new Map<FacilitatorFault, number>();
  const lateMax = Math.floor(options.faultySettles / SETTLES_PER_LATE);
  let settles = 0;
  let late = 0;

  function nextFault(path: string): FacilitatorFault | null {
    // Each kind happens once, whatever chance says; none if no faults are wanted.
    const sure = path === "/settle" && settles < options.faultySettles ? KINDS[settles] : undefined;
    if (path === "/settle") options.onSettle(settles++);
    const fault = sure ?? (settles < options.faultySettles ? byChance() : null);
    if (fault === null || path !== "/settle") return fault;
    settleFaults.set(fault, (settleFaults.get(fault) ?? 0) + 1);
    return fault;
  }

  function byChance(): FacilitatorFault | null {
    let rest = options.random() * 100;
    for (const fault of KINDS) {
      rest -= FAULTS[fault];
      if (rest < 0) return fault.startsWith("late") && late++ >= lateMax ? null : fault;
    }
    return null;
  }

  return { nextFault, settleFaults };
}

export async function startFaultyFacilitator(options: FaultyFacilitatorOptions): Promise<FaultyFacilitator> {
  const { nextFault, settleFaults } = createFaultPlan(options);
  const running = new Set<Promise<void>>();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await readBody(request);
    const fault = nextFault(request.url ?? "");
    if (fault === "lost request") return void request.socket.destroy();
    if (fault === "not settled, 500") return void response.writeHead(500).end("{}");
    if (fault === "made-up success" && request.url === "/settle") {
      const success = { success: true, transaction: `0x${"ab".repeat(32)}`, network: "eip155:31337" };
      return void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(success));
    }
    if (fault === "front-run" && request.url === "/settle") {
      const { paymentPayload } = JSON.parse(sent.toString("utf8")) as {
        paymentPayload: PaymentPayload;
      };
      await options.frontRun(paymentPayload);
    }
    if (fault === "late request") await sleep(LATE_MS);
    const target = options.target();
    if (target === null) return void request.socket.destroy();
    const upstream = await fetch(`${target}${request.url}`, {
      method: request.method ?? "GET",
      headers: { "content-type": "application/json" },
      ...(sent.length > 0 ? { body: sent } : {}),
    });
    const body = Buffer.from(await upstream.arrayBuffer());
    if (fault === "late response") await sleep(LATE_MS);
    if (fault === "lost response") return void request.socket.destroy();
    if (fault === "settled, 500") return void response.writeHead(500).end("{}");
    response.writeHead(upstream.status, { "content-type": "application/json" }).end(body);
  }

  const server = await startLoopbackServer((request, response) => {
    // The facilitator was killed meanwhile: the client sees a closed connection.
    const done = handle(request, response).catch(() => void request.socket.destroy());
    running.add(done);
    void done.finally(() => running.delete(done));
  });
  return {
    url: server.url,
    settleFaults,
    async drained() {
      while (running.size > 0) await Promise.all(running);
    },
    stop: server.stop,
  };
}
