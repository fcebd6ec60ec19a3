// The count: what the chain, the ledger and the clients know of every payment must be the same.

import type { ChaosStage } from "./chaos-stage.ts";
import { nonceOfHeader } from "./forgeries.ts";
import { type PayerResponse, type PurchaseRecord, sendPayment } from "./payer.ts";

/** One rule, and the payments that break it. */
export type InvariantResult = {
  readonly rule: string;
  readonly checked: number;
  readonly violations: readonly string[];
};

type PaymentVerification = {
  readonly findings: readonly InvariantResult[];
  readonly counts: Readonly<Record<string, number | string>>;
};

type Row = { nonce: string; payer: string; state: string; transaction: string | null; amount: string };

// The gate rejects what expires within twelve seconds; before that it has no reason to reject a valid payment.
const SURELY_GOOD_SECONDS = 15;
const REPLAYS_AT_ONCE = 20;

type SignedPurchase = PurchaseRecord & { readonly header: string };

/** The knowledge of the chain, the ledger and the clients about the payments. */
type Evidence = {
  readonly bought: readonly PurchaseRecord[];
  readonly signed: readonly SignedPurchase[];
  readonly ofNonce: ReadonlyMap<string, SignedPurchase>;
  readonly rows: readonly Row[];
  readonly settled: readonly Row[];
  readonly transfers: Transfers;
  readonly paidBy: ReadonlyMap<string, Transfers[number]>;
  /** The responses when every signature is sent once more, and the transfers after that. */
  readonly replays: ReadonlyMap<string, PayerResponse>;
  readonly transfersAfter: Transfers;
  readonly balance: bigint;
  /** Transactions of the facilitators, and why some of them reverted. */
  readonly sent: number;
  readonly reverted: number;
  readonly excusedReverts: number;
};

type Transfers = Awaited<ReturnType<ChaosStage["paid"]["transfers"]>>;

export async function verifyPayments(
  stage: ChaosStage,
  bought: readonly PurchaseRecord[],
): Promise<PaymentVerification> {
  const evidence = await collectEvidence(stage, bought);
  const findings = [
    ...checkLedger(evidence),
    ...checkDeliveries(evidence),
    ...checkRejections(evidence),
    ...checkSums(evidence),
    checkReverts(evidence),
    checkEach(
      "no process ended by itself",
      [...stage.portfolios, ...stage.facilitators],
      ({ crashes }) => crashes.join("\n") || null,
    ),
    checkService(evidence),
  ];
  return { findings, counts: countPayments(evidence) };
}

async function collectEvidence(stage: ChaosStage, bought: readonly PurchaseRecord[]): Promise<Evidence> {
  const { paid, database } = stage;
  const transfers = await paid.transfers();
  const { rows } = await database.query<Row>(
    "select nonce, payer, state, transaction, amount::text as amount from payments",
  );
  const signed = bought.flatMap((each) => (each.header === null ? [] : [{ ...each, header: each.header }]));
  return {
    bought,
    signed,
    ofNonce: new Map(signed.map((each) => [nonceOfHeader(each.header), each])),
    rows,
    settled: rows.filter(({ state }) => state === "settled"),
    transfers,
    paidBy: new Map(transfers.map((transfer) => [transfer.nonce as string, transfer])),
    replays: await replayAll(stage, signed),
    transfersAfter: await paid.transfers(),
    balance: await paid.balance(),
    ...(await paid.countSent()),
    excusedReverts: countExcuses(stage),
  };
}

function checkEach<T>(
  rule: string,
  all: readonly T[],
  objection: (each: T) => string | null,
): InvariantResult {
  return { rule, checked: all.length, violations: all.flatMap((each) => objection(each) ?? []) };
}

function checkSame(rule: string, found: unknown, wanted: unknown): InvariantResult {
  return checkEach(rule, [found], () => (found === wanted ? null : `${found} instead of ${wanted}`));
}

function checkLedger({ transfers, ofNonce, rows, settled, paidBy }: Evidence): InvariantResult[] {
  return [
    checkEach(
      "a transfer is of a payer's own signature, and the only one of its nonce",
      transfers,
      (transfer) => {
        const same = transfers.filter(({ nonce }) => nonce === transfer.nonce).length;
        const owner = ofNonce.get(transfer.nonce);
        return same === 1 && owner?.payer === transfer.payer
          ? null
          : `${transfer.nonce}: ${same} of ${owner?.payer}`;
      },
    ),
    checkEach("a transfer is settled in the ledger, in its own transaction", transfers, (transfer) => {
      const row = rows.find(({ nonce }) => nonce === transfer.nonce);
      const same =
        row?.state === "settled" && row.transaction === transfer.transaction && row.payer === transfer.payer;
      return same
        ? null
        : `${transfer.nonce} is ${row?.state} in ${row?.transaction}, not ${transfer.transaction}`;
    }),
    checkEach("what the ledger calls settled is on chain", settled, ({ nonce }) =>
      paidBy.has(nonce) ? null : nonce,
    ),
    checkEach("nothing is left open", rows, ({ state, nonce }) => (state === "settling" ? nonce : null)),
  ];
}

function checkDeliveries({ signed, transfers, paidBy, ofNonce, replays }: Evidence): InvariantResult[] {
  return [
    checkEach("a 200 names the one transfer of its payment", soldResponses(signed), ({ each, response }) => {
      const transfer = paidBy.get(nonceOfHeader(each.header));
      return transfer?.transaction === response.transaction
        ? null
        : `${response.transaction} instead of ${transfer?.transaction}`;
    }),
    checkEach("every transfer's response can be replayed by its signature", transfers, ({ nonce }) => {
      const replay = replays.get(nonce);
      const first = ofNonce.get(nonce)?.responses.find(isSold);
      if (replay?.status !== 200) return `${nonce}: ${replay?.status} ${replay?.error}`;
      return first === undefined || first.body === replay.body ? null : `${nonce}: other bytes`;
    }),
    checkEach("all responses to one signature are the same bytes", signed, (each) =>
      new Set(each.responses.filter(isSold).map(({ body }) => body)).size <= 1
        ? null
        : nonceOfHeader(each.header),
    ),
    checkEach("nothing is delivered unpaid", signed, ({ header }) => {
      const nonce = nonceOfHeader(header);
      return paidBy.has(nonce) || replays.get(nonce)?.status !== 200 ? null : nonce;
    }),
  ];
}

function checkRejections({ bought, signed, paidBy }: Evidence): InvariantResult[] {
  const rejected = signed.filter(({ responses }) => responses.at(-1)?.status === 402);
  return [
    checkEach("a forged or misused signature gets nothing", forgedResponses(bought), ({ status, error }) =>
      [400, 402, 409, 429, 503].includes(status) ? null : `${status} ${error}`,
    ),
    checkEach(
      "a valid payment is not rejected while it is valid",
      allResponses(signed),
      ({ each, response }) =>
        [400, 404, 409].includes(response.status) ||
        (response.status === 402 && response.leftSeconds > SURELY_GOOD_SECONDS)
          ? `${each.behaviour} ${response.status} ${response.error} ${Math.round(response.leftSeconds)} s before its end`
          : null,
    ),
    checkEach("a rejected payer has not paid", rejected, ({ header, responses }) =>
      paidBy.has(nonceOfHeader(header)) ? `${nonceOfHeader(header)}: ${responses.at(-1)?.error}` : null,
    ),
  ];
}

function checkSums({ transfers, transfersAfter, settled, balance }: Evidence): InvariantResult[] {
  const onChain = sumOf(transfers.map(({ value }) => value));
  return [
    checkSame("replays move no money", transfersAfter.length, transfers.length),
    checkSame("the ledger's sum is the chain's", sumOf(settled.map(({ amount }) => amount)), onChain),
    checkSame("and the balance", balance, onChain),
  ];
}

/**
 * A third party that is quicker costs us a revert, and so does a process that dies between its record and its
 * broadcast.
 */
function countExcuses({ facilitatorProxy, facilitators, portfolios }: ChaosStage): number {
  const kills = [...facilitators, ...portfolios].reduce((sum, each) => sum + each.kills, 0);
  return (facilitatorProxy.settleFaults.get("front-run") ?? 0) + kills;
}

function checkReverts({ reverted, excusedReverts }: Evidence): InvariantResult {
  return checkEach(
    "a payment is sent once: transactions revert for a third party or a kill only",
    [reverted],
    () => (reverted <= excusedReverts ? null : `${reverted} reverts for ${excusedReverts} causes`),
  );
}

function checkService({ signed }: Evidence): InvariantResult {
  const patient = signed.filter(({ behaviour }) => behaviour !== "leaving");
  const had = patient.filter(({ responses }) => responses.some(isSold));
  return checkSame(
    "at least a quarter of those who stayed were served",
    had.length * 4 >= patient.length,
    true,
  );
}

function countPayments({ bought, signed, transfers, rows, ofNonce, sent, reverted }: Evidence) {
  const states = [...new Set(rows.map(({ state }) => state))].sort();
  const forged = forgedResponses(bought);
  const honest = allResponses(signed).map(({ response }) => response);
  return {
    purchases: bought.length,
    "transfers on chain": transfers.length,
    "transactions of facilitators": `${sent}, ${reverted} reverted`,
    "signatures with a 200": signed.filter(({ responses }) => responses.some(isSold)).length,
    "200s seen": soldResponses(signed).length,
    "paid without a 200, retrieved": transfers.filter(
      ({ nonce }) => !ofNonce.get(nonce)?.responses.some(isSold),
    ).length,
    "responses to forgeries": forged.length,
    "sum in units": sumOf(transfers.map(({ value }) => value)).toString(),
    ledger: states.map((state) => `${state} ${rows.filter((row) => row.state === state).length}`).join(", "),
    statuses: statusesOf(honest),
    "statuses of forgeries": statusesOf(forged),
    ...reasonsOf(honest),
  };
}

type PurchaseResponse = { readonly each: SignedPurchase; readonly response: PayerResponse };

function allResponses(signed: readonly SignedPurchase[]): PurchaseResponse[] {
  return signed.flatMap((each) => each.responses.map((response) => ({ each, response })));
}

function soldResponses(signed: readonly SignedPurchase[]): PurchaseResponse[] {
  return allResponses(signed).filter(({ response }) => isSold(response));
}

function forgedResponses(bought: readonly PurchaseRecord[]): PayerResponse[] {
  return bought.flatMap(({ forgedResponses: responses }) => responses);
}

function sumOf(amounts: readonly (string | bigint)[]): bigint {
  return amounts.reduce<bigint>((all, each) => all + BigInt(each), 0n);
}

function isSold({ status }: PayerResponse): boolean {
  return status === 200;
}

function statusesOf(responses: readonly PayerResponse[]): string {
  const statuses = [...new Set(responses.map(({ status }) => status))].sort();
  return statuses
    .map((status) => `${status} × ${responses.filter((each) => each.status === status).length}`)
    .join(", ");
}

/** Reasons for missing responses, by error message. */
function reasonsOf(responses: readonly PayerResponse[]): Readonly<Record<string, number>> {
  const reasons: Record<string, number> = {};
  for (const { status, error } of responses) {
    if (error === null) continue;
    const sentence = /"error":"([^"]*)"/.exec(error)?.[1] ?? "nothing was said";
    const name = `${status} ${sentence}`;
    reasons[name] = (reasons[name] ?? 0) + 1;
  }
  return reasons;
}

/** Every signature once more, at any service. */
async function replayAll(
  { portfolios }: ChaosStage,
  signed: readonly SignedPurchase[],
): Promise<Map<string, PayerResponse>> {
  const replays = new Map<string, PayerResponse>();
  const waiting = [...signed];
  const work = async (url: string) => {
    for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
      const responses: PayerResponse[] = [];
      await sendPayment(url + each.path, each.header, responses);
      const [response] = responses;
      if (response) replays.set(nonceOfHeader(each.header), response);
    }
  };
  const urls = portfolios.flatMap(({ url }) => url ?? []);
  await Promise.all(Array.from({ length: REPLAYS_AT_ONCE }, (_, i) => work(urls[i % urls.length] ?? "")));
  return replays;
}
