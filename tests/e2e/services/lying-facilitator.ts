// The address of the facilitator: it stays while the process behind it comes and goes, and at times what it says is a lie.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What it may do with a settlement. */
export const FACILITATOR_LIES = [
  "made-up transaction",
  "transaction of another payment",
  "failure after settling",
] as const;
type FacilitatorLie = (typeof FACILITATOR_LIES)[number];

export type LyingFacilitator = {
  readonly url: string;
  /** Which share of the settlements it lies about from now on. */
  lie(share: number): void;
  stop(): Promise<void>;
};

type LyingFacilitatorOptions = {
  /** Where the honest facilitator listens; empty while it does not. */
  readonly target: () => string;
  readonly random: () => number;
  readonly onLie: (lie: FacilitatorLie) => void;
};

type Settled = { readonly success: boolean; readonly transaction: string; readonly network: string };

export async function startLyingFacilitator(options: LyingFacilitatorOptions): Promise<LyingFacilitator> {
  const { target, random, onLie } = options;
  let share = 0;
  let lies = 0;
  /** The last payment that was really settled, for the lie that names it. */
  let before: Settled | null = null;

  const chooseLie = (path: string): FacilitatorLie | null =>
    // In turns, each until it was used: some need a settlement that succeeds.
    path === "/settle" && random() < share
      ? (FACILITATOR_LIES[lies % FACILITATOR_LIES.length] ?? null)
      : null;

  const tellLie = (lie: FacilitatorLie) => {
    lies += 1;
    onLie(lie);
  };

  function inventSettlement(lie: FacilitatorLie | null, body: Buffer): Settled | null {
    const { paymentRequirements } = lie ? JSON.parse(body.toString("utf8")) : { paymentRequirements: null };
    if (lie === "made-up transaction") {
      const transaction = `0x${randomBytes(32).toString("hex")}`;
      return { success: true, transaction, network: paymentRequirements.network };
    }
    return lie === "transaction of another payment" ? before : null;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const path = request.url ?? "";
    const lie = chooseLie(path);
    const respond = (body: object) => response.writeHead(200, JSON_TYPE).end(JSON.stringify(body));
    const invented = inventSettlement(lie, body);
    if (lie !== null && invented !== null) {
      tellLie(lie);
      return void respond(invented);
    }
    const url = target();
    if (url === "") return void request.socket.destroy();
    const honest = await fetch(url + path, {
      method: request.method ?? "GET",
      headers: JSON_TYPE,
      ...(body.length > 0 ? { body } : {}),
    });
    const text = await honest.text();
    const settled = path === "/settle" && honest.ok ? (JSON.parse(text) as Settled) : null;
    if (settled?.success) before = settled;
    if (settled?.success && lie === "failure after settling") {
      tellLie(lie);
      return void respond({ ...settled, success: false, errorReason: REJECTION_REASON, transaction: "" });
    }
    response.writeHead(honest.status, JSON_TYPE).end(text);
  }

  const server = createServer((request, response) => {
    // The process behind it was ended meanwhile: the connection ends, too.
    handle(request, response).catch(() => void request.socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lie: (next) => {
      share = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const JSON_TYPE = { "content-type": "application/json" };
// A reason that facilitators give before anything is sent, and so the one that is believed most easily.
const REJECTION_REASON = "invalid_exact_evm_insufficient_balance";

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
