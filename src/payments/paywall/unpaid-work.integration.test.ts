// Limits the work that clients get without paying: one cent buys one response, and worthless payments end at a limit.
// In main, gate.test.ts counts the work of single requests without payment.
import { setTimeout } from "node:timers/promises";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { authorizationTypes } from "@x402/evm";
import { type Hex, type PrivateKeyAccount, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertLedgerRow } from "../../../tests/support/payments/ledger-rows.ts";
import {
  decodeBase64Header,
  fetchWithPayment,
  signRequirements,
  TEST_NETWORK,
  waitFor,
} from "../../../tests/support/payments/paid-client.ts";
import {
  openPaidStage,
  type PaidStage,
  type StagedPaidService,
  TEST_PRICE,
} from "../../../tests/support/payments/paid-stage.ts";
import {
  authorizationIn,
  encodeCancellation,
  encodeSignedTransfer,
} from "../../../tests/support/payments/transfer-calldata.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { RUN_UNITS, SpentPayments, UnpaidShare, UnpaidWork } from "./unpaid-work.ts";

let stage: PaidStage;
let service: StagedPaidService;
let required: PaymentRequired;
beforeAll(async () => {
  stage = await openPaidStage("in process");
  service = await stage.serve();
  required = decodeBase64Header(await fetch(`${service.url}/paid?q=x`), "payment-required");
});
afterAll(() => stage.close());

const AT_ONCE = runsOf(30, { min: 4 });

const from = (client: string): RequestInit => ({ headers: { "x-forwarded-for": client } });

async function payerWith(amount: bigint): Promise<PrivateKeyAccount> {
  const payer = newPayer();
  await stage.mint(payer.address, amount);
  return payer;
}

const newPayer = () => privateKeyToAccount(generatePrivateKey());

/** Payments that the payer has settled before. */
async function settleMany(payer: PrivateKeyAccount, count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) {
    await insertLedgerRow(stage.database, {
      ...{ network: TEST_NETWORK, asset: stage.asset, payer: payer.address.toLowerCase() as Hex },
      ...{ nonce: toHex(each, { size: 32 }), transaction: toHex(each, { size: 32 }) },
      ...{ state: "settled", settled: true, verified: true, final: true },
    });
  }
}

const signMany = (payer: PrivateKeyAccount, count: number): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, async () =>
      encodePaymentSignatureHeader(await signRequirements(required, payer, stage.asset)),
    ),
  );

const send = (headers: readonly string[], client: string, services = [service], onResponse = () => {}) =>
  Promise.all(
    headers.map(async (header, each) => {
      const { url } = services[each % services.length] ?? service;
      const response = await fetchWithPayment(`${url}/paid?q=x`, header, from(client));
      onResponse();
      return response;
    }),
  );

const countStatuses = (responses: readonly Response[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** Responses that are stored for a payer, and so the runs that it may pay for. */
async function countStored(payer: PrivateKeyAccount, which = "true"): Promise<number> {
  const { rows } = await stage.database.query<{ count: number }>({
    text: `select count(*)::int as count from payments where payer = $1 and answer_status is not null and ${which}`,
    values: [payer.address.toLowerCase()],
  });
  return rows[0]?.count ?? 0;
}

/** Someone who has the signature of a payment carries it out. */
async function carryOut(header: string): Promise<void> {
  const data = encodeSignedTransfer(JSON.parse(Buffer.from(header, "base64").toString()));
  const { address: from } = stage.chain.accounts.solver;
  await stage.chain.request("eth_sendTransaction", [{ from, to: stage.asset, data, gas: toHex(1_000_000) }]);
}

/** Someone else pays the gas for it, as any relayer does. */
async function moveMoney(payer: PrivateKeyAccount, to: Hex, value: bigint): Promise<void> {
  const nonce: Hex = `0x${crypto.randomUUID().replaceAll("-", "").padEnd(64, "0")}`;
  const message = { from: payer.address, to, value, validAfter: 0n, validBefore: 2n ** 40n, nonce };
  const signature = await payer.signTypedData({
    domain: { name: "USD Coin", version: "2", chainId: 31_337, verifyingContract: stage.asset },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message,
  });
  await stage.send(stage.chain.accounts.solver, {
    address: stage.asset,
    abi: usdCoinAbi,
    functionName: "transferWithAuthorization",
    args: [...Object.values(message), signature],
  });
}

/** Sends all at once; while they are worked for, the money moves on. */
async function attack(
  payer: PrivateKeyAccount,
  next: PrivateKeyAccount,
  { client, services = [service] }: { client: string; services?: StagedPaidService[] },
): Promise<Response[]> {
  const headers = await signMany(payer, AT_ONCE);
  let running = 0;
  let ended = 0;
  let moved: Promise<void> | null = null;
  const move = async () => {
    await waitFor(() => running + ended === headers.length);
    await moveMoney(payer, next.address, await stage.balance(payer.address));
  };
  const work = async () => {
    running += 1;
    moved ??= move();
    await moved;
    return { status: 200, body: { sold: true } };
  };
  for (const each of services) each.sold.work = work;
  try {
    return await send(headers, client, services, () => {
      ended += 1;
    });
  } finally {
    for (const each of services) each.sold.work = async () => ({ status: 200, body: { sold: true } });
  }
}

const chargedDuring = async (run: () => Promise<unknown>) => {
  const before = await stage.balance(stage.payTo);
  await run();
  return ((await stage.balance(stage.payTo)) - before) / TEST_PRICE;
};

describe("money that moves on while it is worked for", () => {
  it("buys one run a round for a cent of new payers, and none of the others costs a signature", async () => {
    const before = service.runs.length;
    const ROUNDS = runsOf(4, { min: 2 });
    let payer = await payerWith(TEST_PRICE);
    for (let round = 0; round < ROUNDS; round += 1) {
      const next = newPayer();
      const responses = await attack(payer, next, { client: "198.51.100.1" });
      expect(countStatuses(responses)).toEqual({ 429: AT_ONCE - 1, 503: 1 });
      const limited = responses.find(({ status }) => status === 429);
      expect(limited?.headers.get("x-error-code")).toBe("RATE_LIMITED");
      expect(Number(limited?.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await limited?.text()).toContain("send the same signature again");
      payer = next;
    }
    expect(service.runs.length - before).toBe(ROUNDS);
  });

  it("buys one run for a cent of a new payer at two processes at once", async () => {
    const other = await stage.serve();
    const before = service.runs.length;
    const services = [service, other];
    const payer = await payerWith(TEST_PRICE);
    const responses = await attack(payer, newPayer(), {
      client: "198.51.100.2",
      services,
    });
    expect(countStatuses(responses)[429]).toBeGreaterThanOrEqual(AT_ONCE - 1);
    const countRuns = () => service.runs.length - before + other.runs.length;
    // Processes that see each other's payments reject both; those that come back are not at the same moment.
    if (countRuns() === 0) await send(await signMany(payer, 1), "198.51.100.2", services);
    expect(countRuns()).toBe(1);
  });

  it("buys one run more than a payer has settled since its last unpaid one", async () => {
    const payer = await payerWith(BigInt(AT_ONCE) * TEST_PRICE);
    await settleMany(payer, 2);
    const before = service.runs.length;
    const next = newPayer();
    const responses = await attack(payer, next, { client: "198.51.100.3" });
    expect(countStatuses(responses)).toEqual({ 429: AT_ONCE - 3, 503: 3 });
    expect(service.runs.length - before).toBe(3);
    await moveMoney(next, payer.address, BigInt(AT_ONCE) * TEST_PRICE);
    await stage.database.query("update payments set valid_before = 1 where state in ('settling', 'refused')");
    const again = await attack(payer, next, { client: "198.51.100.3" });
    expect(countStatuses(again)).toEqual({ 429: AT_ONCE - 1, 503: 1 });
  });

  it("buys no more work than the balance covers of a payer who has paid much", async () => {
    const payer = await payerWith(2n * TEST_PRICE);
    await settleMany(payer, AT_ONCE);
    const before = service.runs.length;
    const responses = await attack(payer, newPayer(), { client: "198.51.100.9" });
    expect(countStatuses(responses)).toEqual({ 429: AT_ONCE - 2, 503: 2 });
    expect(service.runs.length - before).toBe(2);
  });

  // A database that was away, or a process that was frozen, for longer than a lease.
  it.each([
    ["counts a payment as worked on while its process can still store a response", 1, { 200: 1, 429: 1 }],
    [
      "stores no response of a process that stalled for so long that its payer's next one began",
      60,
      { 503: 2 },
    ],
  ])("%s", async (_, lapsedSeconds, expected) => {
    const renewing = await stage.serve({ limits: { leaseMs: 30 } });
    const payer = await payerWith(TEST_PRICE);
    const [first = "", second = ""] = await signMany(payer, 2);
    const responses: Response[] = [];
    renewing.sold.work = async () => {
      if (renewing.runs.length > 1) await moveMoney(payer, newPayer().address, TEST_PRICE);
      else {
        await stage.database.query({
          text: "update payments set lease_until = now() - $1 * interval '1 second' where payer = $2",
          values: [lapsedSeconds, payer.address.toLowerCase()],
        });
        // The timer that renews the lease may fire before anything else of a process that wakes up.
        await setTimeout(50);
        responses.push(...(await send([second], "198.51.100.11", [renewing])));
      }
      return { status: 200, body: { sold: true } };
    };
    responses.push(...(await send([first], "198.51.100.11", [renewing])));
    expect(countStatuses(responses)).toEqual(expected);
    expect(await countStored(payer)).toBe(1);
  });

  it("works for a payment that someone else carried out in addition to another one, also if a reorg then removes it", async () => {
    const merchant = await stage.serve({ limits: { receiptMs: 50 } });
    const payer = await payerWith(TEST_PRICE);
    const [first = "", second = ""] = await signMany(payer, 2);
    const present = (header: string) => send([header], "198.51.100.12", [merchant]);
    const responses: Response[] = [];
    merchant.sold.work = async () => {
      if (merchant.runs.length === 1) {
        await carryOut(second);
        responses.push(...(await present(second)));
      } else {
        await stage.chain.reorg(1, { replay: "none" });
        await moveMoney(payer, newPayer().address, TEST_PRICE);
      }
      return { status: 200, body: { sold: true } };
    };
    responses.push(...(await present(first)));
    // It was paid when the work began, and no client can make a reorg. Its block tells it from work that never was.
    expect(countStatuses(responses)).toEqual({ 503: 2 });
    expect([await countStored(payer), await countStored(payer, "block_hash is not null")]).toEqual([2, 1]);
    // Both can still be charged, so that the next one waits.
    await stage.mint(payer.address, TEST_PRICE);
    const [third = ""] = await signMany(payer, 1);
    expect(countStatuses(await present(third))).toEqual({ 429: 1 });
  });

  it("stops new payers of a client whose payers leave much unpaid, and no one else", async () => {
    const few = await stage.serve({ limits: { unpaidPerClientPerMinute: 10 } });
    const client = "198.51.100.4";
    const statuses: number[] = [];
    let payer = await payerWith(TEST_PRICE);
    for (let round = 0; round < 4; round += 1) {
      const next = newPayer();
      const [header = ""] = await signMany(payer, 1);
      few.sold.work = async () => {
        await moveMoney(payer, next.address, TEST_PRICE);
        return { status: 200, body: {} };
      };
      const responses = await send([header], client, [few]);
      statuses.push(...responses.map(({ status }) => status));
      if (responses[0]?.status !== 503) break;
      payer = next;
    }
    expect(statuses).toEqual([503, 503, 429]);
    few.sold.work = async () => ({ status: 200, body: {} });
    const [honest = ""] = await signMany(await payerWith(TEST_PRICE), 1);
    expect(countStatuses(await send([honest], client, [few]))).toEqual({ 429: 1 });
    expect(countStatuses(await send([honest], "198.51.100.5", [few]))).toEqual({ 200: 1 });
  });
});

describe("honest payers", () => {
  it("serves thirty requests at once of a payer who has settled as many", async () => {
    const payer = await payerWith(BigInt(AT_ONCE + 5) * TEST_PRICE);
    await settleMany(payer, AT_ONCE - 1);
    const charged = await chargedDuring(async () => {
      const headers = await signMany(payer, AT_ONCE);
      expect(countStatuses(await send(headers, "203.0.113.1"))).toEqual({ 200: AT_ONCE });
    });
    expect(charged).toBe(BigInt(AT_ONCE));
  });

  it("serves new payers at once, behind addresses of their own and behind one", async () => {
    const count = runsOf(20, { min: 3 });
    const sendNew = async (client: string) => {
      const [header = ""] = await signMany(await payerWith(TEST_PRICE), 1);
      return async () => {
        let [response] = await send([header], client);
        // On a busy machine the chain of the test responds late; a client then sends the same signature again.
        while (response?.status === 503) [response] = await send([header], client);
        return response ? [response] : [];
      };
    };
    const ready: Awaited<ReturnType<typeof sendNew>>[] = [];
    for (let each = 0; each < count; each += 1) {
      ready.push(await sendNew("203.0.113.2"), await sendNew(`203.0.113.${10 + each}`));
    }
    const responses = (await Promise.all(ready.map((request) => request()))).flat();
    expect(countStatuses(responses)).toEqual({ 200: 2 * count });
  });

  it("serves the next payment of a new payer after the first", async () => {
    const payer = await payerWith(2n * TEST_PRICE);
    const headers = await signMany(payer, 2);
    let ended = 0;
    service.sold.work = async () => {
      await waitFor(() => ended >= 1);
      return { status: 200, body: {} };
    };
    const responses = await send(headers, "203.0.113.90", [service], () => {
      ended += 1;
    });
    expect(countStatuses(responses)).toEqual({ 200: 1, 429: 1 });
    const late = responses.findIndex(({ status }) => status === 429);
    const [again] = await send([headers[late] ?? ""], "203.0.113.90");
    expect(again?.status).toBe(200);
  });
});

describe("worthless payments", () => {
  const forgedOf = (headers: readonly string[]) =>
    headers.map((header) => {
      const payload = JSON.parse(Buffer.from(header, "base64").toString());
      payload.payload.signature = `0x${"22".repeat(64)}1b`;
      return Buffer.from(JSON.stringify(payload)).toString("base64");
    });

  it("ends at a limit per client that calls no node, and that no payer who has paid meets", async () => {
    let calls = 0;
    const few = await stage.serve({ limits: { unpaidPerClientPerMinute: 4 } });
    few.injected.verify = (real) => (payload, terms) => {
      calls += 1;
      return real(payload, terms);
    };
    const client = "198.51.100.6";
    const regular = await payerWith(2n * TEST_PRICE);
    await settleMany(regular, 1);
    const [own = "", ...others] = await signMany(regular, 7);
    const forged = forgedOf(others);
    const responses = await send(forged, client, [few]);
    expect(countStatuses(responses)).toEqual({ 402: 4, 429: 2 });
    expect(calls).toBe(4);
    const limited = responses.find(({ status }) => status === 429);
    expect(Number(limited?.headers.get("retry-after"))).toBeGreaterThan(0);
    // Its own signature proves the payer.
    expect(countStatuses(await send([own], client, [few]))).toEqual({ 200: 1 });
    const [first = ""] = await signMany(await payerWith(TEST_PRICE), 1);
    // First purchases have a share of their own, which payments that are signed and not covered use up.
    expect(countStatuses(await send([first], client, [few]))).toEqual({ 200: 1 });
    const worthless = await signMany(newPayer(), 2);
    expect(countStatuses(await send(worthless, client, [few]))).toEqual({ 402: 1, 429: 1 });
    expect(calls).toBe(7);
    expect(countStatuses(await send(worthless.slice(1), "198.51.100.7", [few]))).toEqual({ 402: 1 });
  });

  it("ends at a limit of its own for a payer who has paid and has no money left", async () => {
    const few = await stage.serve({ limits: { unpaidPerClientPerMinute: 3 } });
    const payer = newPayer();
    await settleMany(payer, 1);
    const responses = await send(await signMany(payer, 8), "198.51.100.8", [few]);
    // As many as of any client, and as many again of the payer.
    expect(countStatuses(responses)).toEqual({ 402: 6, 429: 2 });
  });

  it("ends at a limit for a cancelled payment, and reads no node for it again", async () => {
    let verified = 0;
    const few = await stage.serve({ limits: { unpaidPerClientPerMinute: 10 } });
    few.injected.verify = (real) => (payload, terms) => {
      verified += 1;
      return real(payload, terms);
    };
    const payer = newPayer();
    const headers = await signMany(payer, 3);
    for (const header of headers) {
      const payment = JSON.parse(Buffer.from(header, "base64").toString());
      const data = await encodeCancellation(payer, stage.asset, authorizationIn(payment).nonce);
      const { address: from } = stage.chain.accounts.solver;
      await stage.chain.request("eth_sendTransaction", [
        { from, to: stage.asset, data, gas: toHex(1_000_000) },
      ]);
    }
    const [first = "", second = "", third = ""] = headers;
    const statuses: number[] = [];
    for (const header of [first, first, first, second, third, third, third, third, third, third]) {
      const [response] = await send([header], "198.51.100.13", [few]);
      statuses.push(response?.status ?? 0);
    }
    // Spends ten rejections and two runs: a run each for the first two, five rejections for the third, one for each
    // again.
    expect(statuses).toEqual([402, 402, 402, 402, 402, 402, 402, 402, 429, 429]);
    expect(verified).toBe(3);
  });

  it("costs nothing of a new payer's client while the service itself is out of order", async () => {
    const few = await stage.serve({ limits: { unpaidPerClientPerMinute: 5 } });
    const headers = await signMany(await payerWith(TEST_PRICE), 2);
    few.sold.work = () => Promise.reject(new Fault("DATABASE_UNREACHABLE", "Not now."));
    for (const header of headers) {
      expect(countStatuses(await send([header], "198.51.100.10", [few]))).toEqual({ 503: 1 });
    }
    few.sold.work = async () => ({ status: 200, body: {} });
    expect(countStatuses(await send(headers.slice(0, 1), "198.51.100.10", [few]))).toEqual({ 200: 1 });
  });
});

it("takes what a search of logs costs from the payer if its client has nothing left", () => {
  const work = new UnpaidWork(2 * RUN_UNITS, systemClock);
  const [client, { address: payer }] = ["192.0.2.1", newPayer()];
  while (typeof work.takeRejection(client) !== "number");
  while (typeof work.takeRun(client) !== "number");
  const waits = [1, 2, 3].map(() => {
    const share = new UnpaidShare(work, client);
    const waitMs = share.takeForPayer(payer);
    share.spend(RUN_UNITS);
    share.end();
    return waitMs;
  });
  expect(waits).toEqual([0, 0, expect.any(Number)]);
  expect(waits[2]).toBeGreaterThan(0);
});

it("looks a spent payment up again after an hour, or a minute if a reorg can undo its use", () => {
  let nowMs = 0;
  const spent = new SpentPayments({ nowMs: () => nowMs });
  spent.remember("final", true);
  spent.remember("not final", false);
  const known = [0, 59, 61, 3_599, 3_601].map((seconds) => {
    nowMs = seconds * 1_000;
    return ["final", "not final"].filter((digest) => spent.has(digest));
  });
  expect(known).toEqual([["final", "not final"], ["final", "not final"], ["final"], ["final"], []]);
});

describe("what all clients have together", () => {
  const open = () => {
    let nowMs = Date.now();
    const work = new UnpaidWork(100, { ...systemClock, nowMs: () => nowMs });
    const isTaken = (taken: unknown) => typeof taken !== "number";
    return {
      reject: (client: string) => isTaken(work.takeRejection(client)),
      run: (client: string) => isTaken(work.takeRun(client)),
      pass: (ms: number) => {
        nowMs += ms;
      },
    };
  };
  const clientsOf = (count: number) => Array.from({ length: count }, (_, each) => `192.0.2.${each}`);

  it("leaves its first purchase to a new client, however many payments of others are rejected", () => {
    const { reject, run } = open();
    for (const client of clientsOf(100)) while (reject(client));
    expect([reject("203.0.113.1"), run("203.0.113.1")]).toEqual([true, true]);
  });

  it("leaves a first run to new clients while a hundred leave unpaid all they can", () => {
    const { run, pass } = open();
    let unpaid = 0;
    for (let second = 0; second < 60; second += 5) {
      for (const client of clientsOf(100)) while (run(client)) unpaid += 1;
      expect([second, run(`203.0.113.${second}`)]).toEqual([second, true]);
      pass(5_000);
    }
    // The budget of 20 clients, and what comes back in a minute.
    expect(unpaid).toBeLessThanOrEqual(2 * 20 * 20);
  });

  it("gives one client alone all that a client may have", () => {
    const { run, reject } = open();
    let runs = 0;
    let rejections = 0;
    while (run("192.0.2.1")) runs += 1;
    while (reject("192.0.2.1")) rejections += 1;
    expect([runs, rejections]).toEqual([20, 100]);
  });
});
