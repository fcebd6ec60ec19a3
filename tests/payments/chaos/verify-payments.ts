// The count: what the chain, the ledger and the clients know of every payment must be the same.

import type { ChaosStage } from "./chaos-stage.ts";
import { nonceOfHeader } from "./forgeries.ts";
import { type PayerResponse, type PurchaseRecord, sendPayment } from "./payer.ts";

/** One rule, and where it is broken. */
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

export async function verifyPayments(
  stage: ChaosStage,
  bought: readonly PurchaseRecord[],
): Promise<PaymentVerification> {
  const { paid, database } = stage;
  const transfers = await paid.transfers();
  const { rows } = await database.query<Row>(
    "select nonce, payer, state, transaction, amount::text as amount from payments",
  );
  const settled = rows.filter(({ state }) => state === "settled");
  const signed = bought.flatMap((each) => (each.header === null ? [] : [{ ...each, header: each.header }]));
  const ofNonce = new Map(signed.map((each) => [nonceOfHeader(each.header), each]));
  const paidBy = new Map(transfers.map((transfer) => [transfer.nonce as string, transfer]));
  const replays = await replayAll(stage, signed);
  const after = await paid.transfers();
  const sum = (amounts: readonly (string | bigint)[]) =>
    amounts.reduce<bigint>((all, each) => all + BigInt(each), 0n);
  const [onChain, inLedger, balance] = [
    sum(transfers.map(({ value }) => value)),
    sum(settled.map(({ amount }) => amount)),
    await paid.balance(),
  ];

  const findings: InvariantResult[] = [];
  const rule = <T>(name: string, all: readonly T[], objection: (each: T) => string | null) =>
    findings.push({
      rule: name,
      checked: all.length,
      violations: all.flatMap((each) => objection(each) ?? []),
    });
  const is = (name: string, found: unknown, wanted: unknown) =>
    rule(name, [found], () => (found === wanted ? null : `${found} instead of ${wanted}`));

  rule("a transfer is of a payer's own signature, and the only one of its nonce", transfers, (transfer) => {
    const same = transfers.filter(({ nonce }) => nonce === transfer.nonce).length;
    const owner = ofNonce.get(transfer.nonce);
    return same === 1 && owner?.payer === transfer.payer
      ? null
      : `${transfer.nonce}: ${same} of ${owner?.payer}`;
  });
  rule("a transfer is settled in the ledger, in its own transaction", transfers, (transfer) => {
    const row = rows.find(({ nonce }) => nonce === transfer.nonce);
    const same =
      row?.state === "settled" && row.transaction === transfer.transaction && row.payer === transfer.payer;
    return same
      ? null
      : `${transfer.nonce} is ${row?.state} in ${row?.transaction}, not ${transfer.transaction}`;
  });
  rule("what the ledger calls settled is on chain", settled, ({ nonce }) =>
    paidBy.has(nonce) ? null : nonce,
  );
  rule("nothing is left open", rows, ({ state, nonce }) => (state === "settling" ? nonce : null));
  const sold = signed.flatMap((each) =>
    each.responses.filter(isSold).map((response) => ({ each, response })),
  );
  rule("a 200 names the one transfer of its payment", sold, ({ each, response }) => {
    const transfer = paidBy.get(nonceOfHeader(each.header));
    return transfer?.transaction === response.transaction
      ? null
      : `${response.transaction} instead of ${transfer?.transaction}`;
  });
  rule("every transfer's response can be replayed by its signature", transfers, ({ nonce }) => {
    const replay = replays.get(nonce);
    const first = ofNonce.get(nonce)?.responses.find(isSold);
    if (replay?.status !== 200) return `${nonce}: ${replay?.status} ${replay?.error}`;
    return first === undefined || first.body === replay.body ? null : `${nonce}: other bytes`;
  });
  rule("all responses to one signature are the same bytes", signed, (each) =>
    new Set(each.responses.filter(isSold).map(({ body }) => body)).size <= 1
      ? null
      : nonceOfHeader(each.header),
  );
  rule("nothing is delivered unpaid", signed, ({ header }) => {
    const nonce = nonceOfHeader(header);
    return paidBy.has(nonce) || replays.get(nonce)?.status !== 200 ? null : nonce;
  });
  const forged = bought.flatMap(({ forgedResponses }) => forgedResponses);
  rule("a forged or misused signature gets nothing", forged, ({ status, error }) =>
    [400, 402, 409, 429, 503].includes(status) ? null : `${status} ${error}`,
  );
  const honest = signed.flatMap((each) => each.responses.map((response) => ({ each, response })));
  rule("a valid payment is not rejected while it is valid", honest, ({ each, response }) =>
    [400, 404, 409].includes(response.status) ||
    (response.status === 402 && response.leftSeconds > SURELY_GOOD_SECONDS)
      ? `${each.behaviour} ${response.status} ${response.error} ${Math.round(response.leftSeconds)} s before its end`
      : null,
  );
  const rejected = signed.filter(({ responses }) => responses.at(-1)?.status === 402);
  rule("a rejected payer has not paid", rejected, ({ header, responses }) =>
    paidBy.has(nonceOfHeader(header)) ? `${nonceOfHeader(header)}: ${responses.at(-1)?.error}` : null,
  );
  is("replays move no money", after.length, transfers.length);
  is("the ledger's sum is the chain's", inLedger, onChain);
  is("and the balance", balance, onChain);
  rule(
    "no process ended by itself",
    [...stage.portfolios, stage.facilitator],
    ({ crashes }) => crashes.join("\n") || null,
  );
  const patient = signed.filter(({ behaviour }) => behaviour !== "leaving");
  const had = patient.filter(({ responses }) => responses.some(isSold));
  is("at least a quarter of those who stayed were served", had.length * 4 >= patient.length, true);

  const states = [...new Set(rows.map(({ state }) => state))].sort();
  return {
    findings,
    counts: {
      purchases: bought.length,
      "transfers on chain": transfers.length,
      "signatures with a 200": signed.filter(({ responses }) => responses.some(isSold)).length,
      "200s seen": sold.length,
      "paid without a 200, retrieved": transfers.filter(
        ({ nonce }) => !ofNonce.get(nonce)?.responses.some(isSold),
      ).length,
      "responses to forgeries": forged.length,
      "sum in units": onChain.toString(),
      ledger: states
        .map((state) => `${state} ${rows.filter((row) => row.state === state).length}`)
        .join(", "),
      statuses: statusesOf(honest.map(({ response }) => response)),
      "statuses of forgeries": statusesOf(forged),
      ...reasonsOf(honest.map(({ response }) => response)),
    },
  };
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

/** Why there was no response, by error message. */
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
  signed: readonly (PurchaseRecord & { header: string })[],
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
