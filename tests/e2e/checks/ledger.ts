// The ledger agrees with the chain, and every charged payer has, or can get, the paid response.

import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { Client } from "pg";
import { createPublicClient, custom, type Hex, parseEventLogs } from "viem";
import { NONCE_USED } from "../../../src/payments/rejection-reasons.ts";
import { E2E_FINALITY_DEPTH } from "../chains/protocol-chain.ts";
import type { ServiceResponse } from "../clients/connection.ts";
import { type E2ePurchase, isTransientFailure, isUsed, presentPayment } from "../clients/purchase.ts";
import type { E2eSystem } from "../system.ts";
import { waitUntil } from "../wait.ts";
import type { E2eCheck } from "./check.ts";

type Row = {
  readonly payer: string;
  readonly nonce: string;
  readonly state: string;
  readonly amount: string;
};

// Two reconciliations, a lease that must expire before them, and a busy machine.
const SWEPT_MS_MAX = 90_000;
const OPEN = `select count(*)::int as open from payments where state = 'settling'
  or (state = 'settled' and not final) or (state = 'refused' and reason is distinct from '${NONCE_USED}')`;
const UNSETTLED = `select count(*)::int as open from payments
  where settled_at is not null and state <> 'lost' and not (state = 'settled' and final)`;
// As long as a settlement is waited for; what is open then expires, and that is looked at too.
const SETTLE_MS_MAX = 15_000;
const BETWEEN_MS = 500;
// Longer than a signature is good for.
const EXPIRY_SECONDS = 600n;

export const ledgerCheck = (purchases: readonly E2ePurchase[]): E2eCheck => ({
  name: "ledger equals chain",
  async run(system) {
    const { protocol, observations } = system;
    await fetchPaidResponses(system, purchases);
    const rows = await withDatabase(system, async (query) => {
      let open: Row[] = [];
      await waitUntil(
        async () => {
          const [{ open: left } = { open: 0 }] = await query<{ open: number }>(OPEN);
          if (left > 0) open = await query<Row>("select payer, nonce, state, reason from payments");
          return left === 0;
        },
        { msMax: SWEPT_MS_MAX, late: () => `payments stay undecided: ${JSON.stringify(open)}` },
      );
      return query<Row>("select payer, nonce, state, amount::text as amount from payments");
    });
    const settled = rows.filter(({ state }) => state === "settled");
    const { transfers, used } = await readToken(system, protocol.payTo);
    const sum = settled.reduce((total, { amount }) => total + BigInt(amount), 0n);
    const moved = transfers.reduce((total, value) => total + value, 0n);
    if (sum !== moved || settled.length !== transfers.length) {
      observations.recordViolation(
        `the ledger has ${settled.length} payments of ${sum}, the chain ${transfers.length} of ${moved}`,
      );
    }
    const states = new Map(rows.map((row) => [`${row.payer} ${row.nonce}`, row.state]));
    for (const purchase of purchases) {
      const key = `${purchase.payer} ${purchase.nonce}`;
      const state = states.get(key) ?? "unknown";
      if (purchase.finalResponse?.status === 402 && used.has(key)) {
        observations.recordViolation(
          `a payer was charged after a request to sign again: ${purchase.finalResponse.text}`,
        );
      }
      if (state === "lost") observations.count("payments lost to reorgs");
      if (purchase.finalResponse?.status === 200 && !["settled", "lost"].includes(state)) {
        observations.recordViolation(`a response was delivered for a payment that is ${state}`);
      }
    }
    return `${settled.length} payments, ${sum} units`;
  },
});

/** A payer whose money has arrived gets the response, no matter which party carried the payment out. */
async function fetchPaidResponses(system: E2eSystem, purchases: readonly E2ePurchase[]): Promise<void> {
  const { services, observations } = system;
  const [shop] = services.portfolios;
  if (!shop) throw new Error("there is no portfolio service");
  for (const purchase of purchases) {
    if (purchase.finalResponse?.status === 200 || !(await isUsed(system, purchase))) continue;
    let last: ServiceResponse | null = null;
    const describeLast = () => `a charged payer cannot get the response: ${last?.status} ${last?.text}`;
    const isDecided = async () => {
      last = await presentPayment(shop, purchase);
      return last !== null && !isTransientFailure(last);
    };
    await waitUntil(isDecided, { msMax: SWEPT_MS_MAX, late: describeLast });
    if (purchase.finalResponse?.status === 200) observations.count("responses fetched later");
    else observations.recordViolation(describeLast());
  }
}

/**
 * Mines until what was paid is final, then lets time pass until every signature has expired: that decides all others,
 * most of which can never be paid.
 */
export async function waitForOpenPayments(system: E2eSystem): Promise<void> {
  const { chain } = system.protocol;
  await withDatabase(system, async (query) => {
    // Transfers that the last reorg removed are carried out again in the meantime.
    for (const end = Date.now() + SETTLE_MS_MAX; Date.now() < end; ) {
      await chain.mine(E2E_FINALITY_DEPTH);
      const [{ open } = { open: 0 }] = await query<{ open: number }>(UNSETTLED);
      if (open === 0) break;
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
    }
  });
  await chain.increaseTime(EXPIRY_SECONDS);
  await chain.mine(2 * E2E_FINALITY_DEPTH);
}

/** The amounts that were transferred, and the authorizations that were used, by payer and nonce. */
async function readToken(
  { protocol }: E2eSystem,
  payTo: Hex,
): Promise<{ readonly transfers: readonly bigint[]; readonly used: ReadonlySet<string> }> {
  const { request } = protocol.chain;
  const client = createPublicClient({
    transport: custom({ request: ({ method, params }) => request(method, params) }, { retryCount: 0 }),
  });
  const logs = await client.getLogs({ address: protocol.asset, fromBlock: 0n });
  const used = parseEventLogs({ abi: usdCoinAbi, eventName: "AuthorizationUsed", logs });
  return {
    transfers: parseEventLogs({ abi: usdCoinAbi, eventName: "Transfer", logs })
      .filter(({ args }) => args.to.toLowerCase() === payTo)
      .map(({ args }) => args.value),
    used: new Set(used.map(({ args }) => `${args.authorizer.toLowerCase()} ${args.nonce}`)),
  };
}

export async function withDatabase<T>(
  { databaseUrl }: E2eSystem,
  work: (query: <R>(text: string) => Promise<R[]>) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("set search_path to sextant");
    return await work(async <R>(text: string) => (await client.query(text)).rows as R[]);
  } finally {
    await client.end();
  }
}
