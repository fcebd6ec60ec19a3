// The address of the facilitator: it stays while the process behind it comes and goes, and at times what it says is a lie.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody, startLoopbackServer } from "../../support/http/loopback-server.ts";

/** Its possible lies about a settlement. */
const SETTLEMENT_LIES = [
  "made-up transaction",
  "transaction of another payment",
  "failure after settling",
] as const;
/** Its lie about a verification: it carries the payment out and rejects it. */
const VERIFICATION_LIE = "rejection after settling";
export const FACILITATOR_LIES = [...SETTLEMENT_LIES, VERIFICATION_LIE] as const;
type FacilitatorLie = (typeof FACILITATOR_LIES)[number];

export type LyingFacilitator = {
  readonly url: string;
  /** Sets the share of the settlements that it lies about from now on. */
  lie(share: number): void;
  stop(): Promise<void>;
};

type LyingFacilitatorOptions = {
  /** The address of the honest facilitator; empty while it does not listen. */
  readonly target: () => string;
  readonly random: () => number;
  readonly onLie: (lie: FacilitatorLie) => void;
};

type Settled = { readonly success: boolean; readonly transaction: string; readonly network: string };

export async function startLyingFacilitator(options: LyingFacilitatorOptions): Promise<LyingFacilitator> {
  const { target, random, onLie } = options;
  let share = 0;
  let lies = 0;
  let rejections = 0;
  /** The last payment that was really settled, for the lie that names it. */
  let before: Settled | null = null;

  // Every kind once at the first occasion: a run goes on until it has met each of them.
  const isDue = (lies: number, kinds: number, chance: number) =>
    share > 0 && (lies < kinds || random() < chance);

  const chooseLie = (path: string): FacilitatorLie | null =>
    // In turns, each until it was used: some need a settlement that succeeds.
    path === "/settle" && isDue(lies, SETTLEMENT_LIES.length, share)
      ? (SETTLEMENT_LIES[lies % SETTLEMENT_LIES.length] ?? null)
      : null;

  const tellLie = (lie: FacilitatorLie) => {
    lies += 1;
    onLie(lie);
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const path = request.url ?? "";
    const lie = chooseLie(path);
    const respond = (body: object) => response.writeHead(200, JSON_TYPE).end(JSON.stringify(body));
    const invented = inventSettlement(lie, body, before);
    if (lie !== null && invented !== null) {
      tellLie(lie);
      return void respond(invented);
    }
    const url = target();
    if (url === "") return void request.socket.destroy();
    const isRejected = path === "/verify" && isDue(rejections, 1, share * VERIFICATION_SHARE);
    if (isRejected && (await settleAt(url, body))) {
      rejections += 1;
      onLie(VERIFICATION_LIE);
      const invalidReason = REJECTION_REASONS[rejections % REJECTION_REASONS.length];
      return void respond({ isValid: false, ...(invalidReason === null ? {} : { invalidReason }) });
    }
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

  const server = await startLoopbackServer((request, response) => {
    // The process behind it was ended meanwhile: the connection ends, too.
    handle(request, response).catch(() => void request.socket.destroy());
  });
  return {
    url: server.url,
    lie: (next) => {
      share = next;
    },
    stop: server.stop,
  };
}

function inventSettlement(lie: FacilitatorLie | null, body: Buffer, before: Settled | null): Settled | null {
  if (lie === "transaction of another payment") return before;
  if (lie !== "made-up transaction") return null;
  const { paymentRequirements } = JSON.parse(body.toString("utf8"));
  const transaction = `0x${randomBytes(32).toString("hex")}`;
  return { success: true, transaction, network: paymentRequirements.network };
}

/** Whether the honest facilitator carried the payment out. */
async function settleAt(url: string, body: Buffer): Promise<boolean> {
  const response = await fetch(`${url}/settle`, { method: "POST", headers: JSON_TYPE, body });
  const { success } = (await response.json()) as Partial<Settled>;
  return success === true;
}

const JSON_TYPE = { "content-type": "application/json" };
// Each of them costs a settlement.
const VERIFICATION_SHARE = 0.4;
// Reasons that a transfer can cause, reasons that are false, and none at all.
const REJECTION_REASONS = [
  "invalid_exact_evm_nonce_already_used",
  "invalid_exact_evm_insufficient_balance",
  "invalid_exact_evm_signature",
  "invalid_exact_evm_transaction_simulation_failed",
  "unexpected_verify_error",
  null,
] as const;
// A reason that facilitators give before anything is sent, and so the one that is believed most easily.
const REJECTION_REASON = "invalid_exact_evm_insufficient_balance";
