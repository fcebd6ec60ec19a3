// Three facilitators with a key each behind one address, killed again and again while many payments are settled.
// Proves docs/runbook.md#key-rotation. Fast tests of the same rules, with two facilitators in one process, are in src/payments/facilitator/key-claim.integration.test.ts.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { x402Client } from "@x402/core/client";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import type { PrivateKeyAccount } from "viem";
import { expect, it } from "vitest";
import {
  createRemoteFacilitator,
  requestSettle,
  type SettleOutcome,
} from "../../../src/payments/facilitator/facilitator.ts";
import { createDatabaseEnvironment } from "../../support/process/sextant-process.ts";
import { runsOf } from "../../support/test-depth.ts";
import { type PaymentChain, startPaymentChain } from "./payment-chain.ts";
import { type RestartedProcess, startRestartedProcess } from "./restarted-process.ts";

const FACILITATORS = 3;
const PAYERS = runsOf(60, { min: 20 });
const PAYMENTS_EACH = 4;
const NETWORK = "eip155:31337";
const LISTENS = /"event":"facilitator_listening","url":"(http:\/\/127\.0\.0\.1:\d+)"/;
// A facilitator waits for a block or for the turn of another one; less than a paying service waits.
const TIMEOUT_MS = 18_000;
// Longer than a machine that is busy takes to start a killed process again.
const VALID_SECONDS = 300;

type Settled = { readonly payload: PaymentPayload; readonly outcome: SettleOutcome };

it("every payment is settled once, whichever facilitators it reached and which of them died", async () => {
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const [{ environment, drop }, paid] = await Promise.all([
      createDatabaseEnvironment(),
      startPaymentChain(PAYERS),
    ]);
    closing.push(drop, () => paid.chain.stop());
    const facilitators = await startFacilitators(paid, environment, closing);
    const settle = balanceSettlements(facilitators, paid);
    const killing = new AbortController();
    const killed = killInTurn(facilitators, killing.signal);
    const settled = (await Promise.all(paid.payers.map((payer) => payOften(paid, payer, settle)))).flat();
    killing.abort();
    await killed;
    const kills = facilitators.reduce((sum, each) => sum + each.kills, 0);
    expect(kills).toBeGreaterThanOrEqual(2);
    expect(facilitators.flatMap(({ crashes }) => crashes)).toEqual([]);

    const transfers = await paid.transfers();
    expect(settled).toHaveLength(PAYERS * PAYMENTS_EACH);
    expect(settled.map(({ outcome }) => outcome.kind)).toEqual(settled.map(() => "settled"));
    expect(transfers.map(({ transaction }) => transaction).sort()).toEqual(
      settled.map(({ outcome }) => outcome.transaction as string).sort(),
    );
    expect(new Set(transfers.map(({ nonce }) => nonce)).size).toBe(transfers.length);
    expect(await paid.balance()).toBe(BigInt(transfers.length) * AMOUNT);
    // A process that dies between its broadcast and our next attempt may cost a revert; copies at once must not.
    const { sent, reverted } = await paid.countSent();
    expect(sent - reverted).toBe(transfers.length);
    expect(reverted).toBeLessThanOrEqual(kills);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}, 240_000);

const AMOUNT = 10_000n;

type Settle = (payload: PaymentPayload) => Promise<SettleOutcome>;

async function startFacilitators(
  paid: PaymentChain,
  environment: Readonly<Record<string, string>>,
  closing: (() => Promise<unknown>)[],
): Promise<readonly RestartedProcess[]> {
  const cwd = await mkdtemp(join(tmpdir(), "sextant-facilitators-"));
  closing.push(() => rm(cwd, { recursive: true, force: true }));
  const shared = {
    ...environment,
    FACILITATOR_PORT: "0",
    FACILITATOR_PAYEES: paid.payTo,
    PAYMENT_NETWORK: NETWORK,
    PAYMENT_RPC_URL: paid.chain.rpcUrl,
    PAYMENT_ASSET: paid.asset,
    PAYMENT_ASSET_NAME: "USD Coin",
    PAYMENT_ASSET_VERSION: "2",
    SEXTANT_REQUESTS_PER_MINUTE: "0",
    SEXTANT_BODY_BYTES_PER_MINUTE: "0",
  };
  const keys = await paid.fundKeys(FACILITATORS);
  return Promise.all(
    keys.map(async (key) => {
      const process = await startRestartedProcess({
        ...{ command: "facilitator", cwd, listens: LISTENS },
        environment: { ...shared, FACILITATOR_PRIVATE_KEY: key },
      });
      closing.push(() => process.stop());
      return process;
    }),
  );
}

const termsOf = ({ asset, payTo }: PaymentChain): PaymentRequirements => ({
  ...{ scheme: "exact", network: NETWORK, amount: AMOUNT.toString(), asset, payTo },
  ...{ maxTimeoutSeconds: VALID_SECONDS, extra: { name: "USD Coin", version: "2" } },
});

/** Each request goes to the next process that is up, as a balancer would send it. */
function balanceSettlements(facilitators: readonly RestartedProcess[], paid: PaymentChain): Settle {
  let turns = 0;
  return async (payload) => {
    const up = facilitators.flatMap(({ url }) => url ?? []);
    const url = up[turns++ % up.length];
    if (url === undefined) return { kind: "unknown", transaction: null, cause: new Error("all are down") };
    return requestSettle(createRemoteFacilitator({ url, timeoutMs: TIMEOUT_MS }), payload, termsOf(paid));
  };
}

async function payOften(paid: PaymentChain, payer: PrivateKeyAccount, settle: Settle): Promise<Settled[]> {
  const client = x402Client.fromConfig({
    schemes: [{ network: NETWORK, client: new ExactEvmScheme(payer) }],
    spendControls: {
      allowedAssets: [{ network: NETWORK, asset: paid.asset, maxAmountPerPayment: AMOUNT.toString() }],
    },
  });
  const settled: Settled[] = [];
  for (let i = 0; i < PAYMENTS_EACH; i += 1) {
    const payload = await client.createPaymentPayload({
      x402Version: 2,
      resource: { url: "https://sold.example/", description: "", mimeType: "application/json" },
      accepts: [termsOf(paid)],
    });
    // Two processes at once, as a client does that does not wait.
    await Promise.all([settle(payload), settle(payload)]);
    let outcome = await settle(payload);
    while (outcome.kind === "unknown") {
      await sleep(300);
      outcome = await settle(payload);
    }
    settled.push({ payload, outcome });
  }
  return settled;
}

// Between two kills all processes share the work for a moment.
const KILL_EVERY_MS = 500;

async function killInTurn(processes: readonly RestartedProcess[], signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await sleep(KILL_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await processes[turn % processes.length]?.kill();
  }
}
