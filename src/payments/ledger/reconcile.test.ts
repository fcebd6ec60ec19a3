// Payments that were interrupted between response and money are found on the chain and finished once by the next process.

import { MULTICALL3_ADDRESS } from "@sextant/contracts/deploy/deploy";
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { type Hex, toHex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { insertLedgerRow } from "../../../tests/support/payments/ledger-rows.ts";
import { openPaidBackend, type PaidBackend } from "../../../tests/support/payments/paid-backend.ts";
import {
  fetchWithPayment,
  signPaymentFor,
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
  encodeOtherTransfer,
  encodeSignedTransfer,
} from "../../../tests/support/payments/transfer-calldata.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { systemClock } from "../../lib/clock.ts";
import { FacilitatorUnavailableError } from "../facilitator/facilitator.ts";

let backend: PaidBackend;
let stage: PaidStage;
let service: StagedPaidService;
const url = (q: string, at = service) => `${at.url}/paid?q=${q}`;
const spentBy = async (payer: Hex) => (await stage.transfersFrom(payer)).length;
const stateOf = async (payer: Hex) => {
  const text = "select state, final, failures from payments where payer = $1";
  return (await stage.database.query({ text, values: [payer.toLowerCase()] })).rows[0];
};
const lostOnTheWay = () => Promise.reject(new FacilitatorUnavailableError("timed out"));

const relayAll = (calls: readonly Hex[]) =>
  stage.send(stage.chain.accounts.guardian, {
    address: MULTICALL3_ADDRESS,
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [calls.map((callData) => ({ target: stage.asset, allowFailure: false, callData }))],
  });

beforeAll(async () => {
  backend = await openPaidBackend();
});
afterAll(() => backend.close());
beforeEach(async () => {
  stage = await openPaidStage("in process", backend);
  service = await stage.serve();
});
afterEach(() => stage.close());

describe("an authorization that another account uses", () => {
  it("finds an authorization that someone else relays first, and does not charge twice", async () => {
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(url("raced"), payer, stage.asset);
    service.injected.settle = (real) => async (sent, terms) => {
      await relayAll([encodeSignedTransfer(payload)]);
      return real(sent, terms);
    };
    expect((await fetchWithPayment(url("raced"), header)).status).toBe(200);
    expect(await spentBy(payer.address)).toBe(1);
    expect(await service.gate.totalPaid()).toBe(TEST_PRICE);
  });

  it("does not count a nonce used elsewhere, even next to a payment to us in the transaction", async () => {
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(url("decoy"), payer, stage.asset);
    const signed = authorizationIn(payload);
    service.injected.settle = (real) => async (sent, terms) => {
      const toSelf = { ...signed, to: payer.address };
      const toUs = { ...signed, nonce: `0x${"55".repeat(32)}` as Hex };
      await relayAll([
        await encodeOtherTransfer(payer, stage.asset, toSelf),
        await encodeOtherTransfer(payer, stage.asset, toUs),
      ]);
      return real(sent, terms);
    };
    expect((await fetchWithPayment(url("decoy"), header)).status).toBe(402);
    expect(await stateOf(payer.address)).toMatchObject({ state: "refused" });
    expect(await service.gate.totalPaid()).toBe(0n);
  });

  it.each(["before it is verified", "before it is settled"])(
    "rejects an authorization that was cancelled %s",
    async (when) => {
      const payer = await stage.payer();
      const { header, payload } = await signPaymentFor(url("cancelled"), payer, stage.asset);
      const { nonce } = authorizationIn(payload);
      const cancel = async () => {
        await relayAll([await encodeCancellation(payer, stage.asset, nonce)]);
      };
      if (when === "before it is verified") await cancel();
      service.injected.settle = (real) => async (sent, terms) => {
        await cancel();
        return real(sent, terms);
      };
      expect((await fetchWithPayment(url("cancelled"), header)).status).toBe(402);
      expect((await fetchWithPayment(url("cancelled"), header)).status).toBe(402);
      expect(await spentBy(payer.address)).toBe(0);
    },
  );
});

describe("several processes", () => {
  it("one process at a time reads all unpaid payments in one call, less and less often", async () => {
    const { findSettlement, readAuthorizationStates } = stage.settlements;
    const reads: number[] = [];
    const chain = {
      ...stage.settlements,
      findSettlement,
      readAuthorizationStates: (...[wanted, signal]: Parameters<typeof readAuthorizationStates>) => {
        reads.push(wanted.length);
        return readAuthorizationStates(wanted, signal);
      },
    };
    const limits = { recheckMsMin: 4_000 };
    const processes = [await stage.serve({ chain, limits }), await stage.serve({ chain, limits })];
    const rows = 30;
    const validBefore = Math.floor(Date.now() / 1_000) + 86_000;
    for (let each = 0; each < rows; each += 1) {
      await insertLedgerRow(stage.database, {
        ...{ network: TEST_NETWORK, asset: stage.asset, nonce: toHex(each, { size: 32 }) },
        ...{ state: "settling", valid_before: validBefore, owner: null, verified: true },
      });
    }
    const MINUTES = 5;
    for (let cycle = 0; cycle < 12 * MINUTES; cycle += 1) {
      await stage.database.query(
        "update payments set updated_at = updated_at - interval '5 seconds', created_at = created_at - interval '5 seconds'",
      );
      for (const { gate } of processes) await gate.reconcile();
    }
    // Every five seconds for more than a minute, then after a quarter of the age: it was 120 of each.
    const perRow = reads.reduce((sum, each) => sum + each, 0) / rows;
    expect(perRow).toBeGreaterThan(12);
    expect(perRow).toBeLessThanOrEqual(30);
    expect(reads.length).toBe(perRow);
  });

  it("several processes share ten copies of one signature: one run, one transaction", async () => {
    const other = await stage.serve();
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("shared"), payer, stage.asset);
    const places = Array.from({ length: 10 }, (_, i) => url("shared", i % 2 === 0 ? service : other));
    const responses = await Promise.all(places.map((place) => fetchWithPayment(place, header)));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(service.runs.length + other.runs.length).toBe(1);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("another process takes over from one that died at work, whose late result is worth nothing", async () => {
    const other = await stage.serve();
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("died"), payer, stage.asset);
    let finish = () => {};
    service.sold.work = () =>
      new Promise((resolve) => {
        finish = () => resolve({ status: 200, body: { from: "the dead" } });
      });
    const dead = fetchWithPayment(url("died"), header);
    await waitFor(() => service.runs.length === 1);
    await stage.database.query(
      "update payments set owner = 'a dead process', lease_until = now() - interval '1 second'",
    );
    other.sold.work = async () => ({ status: 200, body: { from: "the living" } });
    const living = await fetchWithPayment(url("died", other), header);
    expect([living.status, await living.json()]).toEqual([200, { from: "the living" }]);
    finish();
    expect((await dead).status).toBe(503);
    expect(await (await fetchWithPayment(url("died"), header)).json()).toEqual({ from: "the living" });
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("another process takes over from one that stalled at verifying, whose late rejection has no effect", async () => {
    const other = await stage.serve();
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("stalled"), payer, stage.asset);
    let finish = () => {};
    let isVerifying = false;
    service.injected.verify = (real) => async (sent, terms) => {
      isVerifying = true;
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return real(sent, terms);
    };
    const stalled = fetchWithPayment(url("stalled"), header);
    await waitFor(() => isVerifying);
    await stage.database.query(
      "update payments set owner = 'a dead process', lease_until = now() - interval '1 second'",
    );
    expect((await fetchWithPayment(url("stalled", other), header)).status).toBe(200);
    // The nonce is used by now: the stalled process finds the payment invalid.
    finish();
    const late = await stalled;
    expect([late.status, late.headers.get("x-error-code")]).toEqual([503, "PAYMENT_PENDING"]);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it("a process takes what expires too soon away from a stalled one, which then charges nothing", async () => {
    const limits = { leaseMs: 60_000 };
    const slow = await stage.serve({ limits });
    const nowMs = () => systemClock.nowMs() + 55_000;
    const other = await stage.serve({ limits, clock: { ...systemClock, nowMs } });
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("soon", slow), payer, stage.asset);
    let finish = () => {};
    slow.sold.work = () =>
      new Promise((resolve) => {
        finish = () => resolve({ status: 200, body: {} });
      });
    const stalled = fetchWithPayment(url("soon", slow), header);
    await waitFor(() => slow.runs.length === 1);
    await stage.database.query("update payments set lease_until = now() - interval '1 second'");
    expect((await fetchWithPayment(url("soon", other), header)).status).toBe(503);
    finish();
    expect((await stalled).status).toBe(503);
    expect(await spentBy(payer.address)).toBe(0);
  });

  it("another process takes over from one that died while settling, without doing the work again", async () => {
    const other = await stage.serve();
    const dying = await stage.serve({ limits: { settleMs: 500 } });
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("died"), payer, stage.asset);
    dying.injected.settle = () => () => new Promise(() => {});
    const dead = fetchWithPayment(url("died", dying), header);
    await waitFor(async () => (await stateOf(payer.address))?.state === "settling");
    await stage.database.query(
      "update payments set owner = 'a dead process', lease_until = now() - interval '1 second'",
    );
    expect((await fetchWithPayment(url("died", other), header)).status).toBe(200);
    expect(dying.runs.length + other.runs.length).toBe(1);
    expect(await spentBy(payer.address)).toBe(1);
    expect([200, 503]).toContain((await dead).status);
  });
});

describe("blocks that take their time", () => {
  it("slow blocks carry many payers at once, and copies of one signature once", async () => {
    const count = runsOf(15, { min: 5 });
    const copies = 5;
    const payers = [];
    for (let i = 0; i < count; i += 1) payers.push(await stage.payer());
    await stage.chain.request("evm_setAutomine", [false]);
    await stage.chain.request("evm_setIntervalMining", [150]);
    const [first] = payers;
    if (!first) throw new Error("there is no payer");
    const signed = await Promise.all(
      payers.map((payer, i) => signPaymentFor(url(`slow-${i}`), payer, stage.asset)),
    );
    const sent = signed.flatMap(({ header }, i) =>
      Array.from({ length: i === 0 ? copies : 1 }, () => fetchWithPayment(url(`slow-${i}`), header)),
    );
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(
      Array(count - 1 + copies).fill(200),
    );
    expect(service.runs).toHaveLength(count);
    for (const payer of payers) expect(await spentBy(payer.address)).toBe(1);
    expect(await stage.node.getTransactionCount({ address: stage.inProcess.address })).toBe(count);
  });
});

describe("a payment that was sent and is not known to be mined", () => {
  it("does not reject a sent payment in a later attempt: the client would pay twice", async () => {
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(url("waiting"), payer, stage.asset);
    service.injected.settle = () => lostOnTheWay;
    expect((await fetchWithPayment(url("waiting"), header)).status).toBe(503);
    service.injected.settle = () => async () => ({
      ...{ success: false, errorReason: "invalid_exact_evm_insufficient_balance" },
      ...{ transaction: "", network: "eip155:31337" },
    });
    expect((await fetchWithPayment(url("waiting"), header)).status).toBe(503);
    // It was under way all the time.
    await relayAll([encodeSignedTransfer(payload)]);
    expect((await fetchWithPayment(url("waiting"), header)).status).toBe(200);
    expect(await spentBy(payer.address)).toBe(1);
  });
});

describe("a forgery that was being checked by a process that died", () => {
  it("accepts the real payment after a process died that was checking a forgery", async () => {
    const dying = await stage.serve({ limits: { verifyMs: 1_000 } });
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(url("orphan"), payer, stage.asset);
    const forged = { ...payload, payload: { ...payload.payload, signature: `0x${"11".repeat(64)}1b` } };
    dying.injected.verify = () => () => new Promise(() => {});
    const dead = fetchWithPayment(
      url("orphan", dying),
      Buffer.from(JSON.stringify(forged)).toString("base64"),
    );
    await waitFor(async () => (await stateOf(payer.address))?.state === "reserved");
    await stage.database.query(
      "update payments set owner = 'a dead process', lease_until = now() - interval '1 second'",
    );
    expect((await fetchWithPayment(url("orphan"), header)).status).toBe(200);
    expect(await spentBy(payer.address)).toBe(1);
    expect((await dead).status).not.toBe(200);
  });
});

describe("one payer with many signatures", () => {
  it("limits how many payments of one payer are worked on at once", async () => {
    const narrow = await stage.serve({ limits: { activePerPayerMax: 3 } });
    const payer = await stage.payer();
    // A payer has one more at a time than it has settled.
    for (const each of ["first", "second"]) {
      const { header } = await signPaymentFor(url(each, narrow), payer, stage.asset);
      expect((await fetchWithPayment(url(each, narrow), header)).status).toBe(200);
    }
    narrow.runs.length = 0;
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    narrow.sold.work = async () => {
      await opened;
      return { status: 200, body: {} };
    };
    // All are verified at the same moment: they must not keep one another from going on.
    let verified = 0;
    let verifyAll = () => {};
    const allVerified = new Promise<void>((resolve) => {
      verifyAll = resolve;
    });
    narrow.injected.verify = (real) => async (sent, terms) => {
      const verdict = await real(sent, terms);
      verified += 1;
      if (verified === 8) verifyAll();
      await allVerified;
      return verdict;
    };
    const targets = Array.from({ length: 8 }, (_, i) => url(`many-${i}`, narrow));
    const headers = await Promise.all(targets.map((target) => signPaymentFor(target, payer, stage.asset)));
    const sent = targets.map((target, i) => fetchWithPayment(target, headers[i]?.header ?? ""));
    let limited = 0;
    for (const response of sent) void response.then(({ status }) => (limited += status === 429 ? 1 : 0));
    await waitFor(() => narrow.runs.length === 3 && limited === 5);
    open();
    expect(narrow.runs).toHaveLength(3);
    expect((await Promise.all(sent)).filter(({ status }) => status === 200)).toHaveLength(3);
    expect(await spentBy(payer.address)).toBe(5);
  });

  it("does not count what others send in a payer's name against the limit", async () => {
    const narrow = await stage.serve({ limits: { activePerPayerMax: 1 } });
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(url("his", narrow), payer, stage.asset);
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    narrow.injected.verify = (real) => async (sent, terms) => {
      if (authorizationIn(sent).nonce !== authorizationIn(payload).nonce) await opened;
      return real(sent, terms);
    };
    const forged = Array.from({ length: 5 }, (_, i) => {
      const authorization = { ...authorizationIn(payload), nonce: `0x${`${i}`.repeat(64)}` };
      const sent = { ...payload, payload: { authorization, signature: `0x${"11".repeat(64)}1b` } };
      return fetchWithPayment(url("his", narrow), Buffer.from(JSON.stringify(sent)).toString("base64"));
    });
    await waitFor(async () => {
      const { rows } = await stage.database.query("select 1 from payments where state = 'reserved'");
      return rows.length === 5;
    });
    expect((await fetchWithPayment(url("his", narrow), header)).status).toBe(200);
    open();
    expect((await Promise.all(forged)).map(({ status }) => status)).toEqual(Array(5).fill(402));
  });
});

describe("a nonce that was used long ago, for which no log is found", () => {
  it("ends an untraced nonce once a final block is past the expiry, and never with 402", async () => {
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(url("ancient"), payer, stage.asset);
    const elsewhere = { ...authorizationIn(payload), to: payer.address };
    await relayAll([await encodeOtherTransfer(payer, stage.asset, elsewhere)]);
    await stage.chain.mine(2_500);
    service.injected.verify = () => async () => ({ isValid: true });
    service.injected.settle = () => lostOnTheWay;
    expect((await fetchWithPayment(url("ancient"), header)).status).toBe(503);
    // As if the use were older than the row by more than clocks differ: the search for its log ends after one range.
    const set = (text: string) => stage.database.query(`update payments set ${text}`);
    await set("created_at = now() + interval '1 day', valid_before = valid_before + 86400");
    await service.gate.reconcile();
    expect(await stateOf(payer.address)).toMatchObject({ state: "settling", failures: 0 });
    await set("valid_before = valid_before - 86400");
    await stage.chain.increaseTime(120n);
    await stage.chain.mine(40);
    await service.gate.reconcile();
    expect(await stateOf(payer.address)).toMatchObject({ state: "refused", failures: 1 });
    const before = service.statements();
    await service.gate.reconcile();
    const withRow = service.statements() - before;
    expect((await fetchWithPayment(url("ancient"), header)).status).toBe(503);
    expect(await stateOf(payer.address)).toMatchObject({ state: "refused", failures: 1 });
    // An idle run acquires no row.
    await stage.database.query("delete from payments");
    const idle = service.statements();
    await service.gate.reconcile();
    expect(withRow).toBe(service.statements() - idle);
  });
});

describe("while the chain cannot be read", () => {
  it("an unknown outcome stays unknown: 503, never 402, and the response is still there afterwards", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("dark"), payer, stage.asset);
    service.injected.settle = (real) => async (sent, terms) => {
      await real(sent, terms);
      return lostOnTheWay();
    };
    const dark = () => Promise.reject(new Error("no node responds"));
    const blind = await stage.serve({
      chain: {
        ...{ findSettlement: dark, findInTransaction: dark, readAuthorizationStates: dark },
        ...{ readFinalizedBlock: dark, compareBlocks: dark, findTransfersInBlocks: dark },
        ...{ readBalance: dark, isContractSignature: dark },
      },
    });
    expect((await fetchWithPayment(url("dark"), header)).status).toBe(503);
    expect((await fetchWithPayment(url("dark", blind), header)).status).toBe(503);
    expect((await fetchWithPayment(url("dark"), header)).status).toBe(200);
    expect(await spentBy(payer.address)).toBe(1);
  });
});

describe("reconciliation", () => {
  it("finds transfers without waiting for the client, and charges no client without a response", async () => {
    const [charged, untouched] = [await stage.payer(), await stage.payer()];
    const first = await signPaymentFor(url("a"), charged, stage.asset);
    const second = await signPaymentFor(url("b"), untouched, stage.asset);
    service.injected.settle = (real) => async (sent, terms) => {
      await real(sent, terms);
      return lostOnTheWay();
    };
    await fetchWithPayment(url("a"), first.header);
    service.injected.settle = () => lostOnTheWay;
    await fetchWithPayment(url("b"), second.header);
    expect(await service.gate.reconcile()).toMatchObject({ found: 1 });
    expect(await service.gate.totalPaid()).toBe(TEST_PRICE);
    expect((await fetchWithPayment(url("a"), first.header)).status).toBe(200);
    expect(await spentBy(untouched.address)).toBe(0);
    expect(await stateOf(untouched.address)).toMatchObject({ state: "settling" });

    await stage.chain.mine(40);
    expect(await service.gate.reconcile()).toEqual({ found: 0, final: 1, resent: 0 });
    expect(await stateOf(charged.address)).toMatchObject({ state: "settled", final: true });

    // Long after its signature has expired, what was never carried out is over.
    await stage.chain.increaseTime(120n);
    await stage.chain.mine(40);
    await service.gate.reconcile();
    expect(await stateOf(untouched.address)).toMatchObject({ state: "expired" });
    expect((await fetchWithPayment(url("b"), second.header)).status).toBe(402);
    expect(await service.gate.totalPaid()).toBe(await stage.balance(stage.payTo));
  });

  it("sends again what a reorg took away, once", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("undone"), payer, stage.asset);
    expect((await fetchWithPayment(url("undone"), header)).status).toBe(200);
    await stage.chain.reorg(1);
    expect(await spentBy(payer.address)).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await service.gate.reconcile()).toMatchObject({ resent: 1 });
    expect(await spentBy(payer.address)).toBe(1);
    expect(await service.gate.reconcile()).toEqual({ found: 0, final: 0, resent: 0 });
    expect(await service.gate.totalPaid()).toBe(await stage.balance(stage.payTo));
    expect((await fetchWithPayment(url("undone"), header)).status).toBe(200);
  });

  it("leaves no owner on a replaced payment that it must not send again", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("replaced"), payer, stage.asset);
    expect((await fetchWithPayment(url("replaced"), header)).status).toBe(200);
    await stage.chain.reorg(1);
    await stage.database.query("update payments set state = 'settling', replaced = true");
    await service.gate.reconcile();
    const { rows } = await stage.database.query("select state, owner, lease_until from payments");
    expect(rows).toEqual([{ state: "settling", owner: null, lease_until: null }]);
    expect(await spentBy(payer.address)).toBe(0);
  });

  it("records as lost what a reorg took away for good", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("lost"), payer, stage.asset);
    expect((await fetchWithPayment(url("lost"), header)).status).toBe(200);
    await stage.chain.reorg(1);
    await stage.chain.increaseTime(120n);
    await stage.chain.mine(40);
    await service.gate.reconcile();
    expect(await stateOf(payer.address)).toMatchObject({ state: "lost" });
    expect(await service.gate.totalPaid()).toBe(await stage.balance(stage.payTo));
    expect((await fetchWithPayment(url("lost"), header)).status).toBe(402);
  });

  it("prunes responses after a while, and never the proof that a signature was used", async () => {
    const payer = await stage.payer();
    const { header } = await signPaymentFor(url("old"), payer, stage.asset);
    await fetchWithPayment(url("old"), header);
    await stage.database.query("update payments set settled_at = now() - interval '25 hours'");
    await service.gate.reconcile();
    const gone = await fetchWithPayment(url("old"), header);
    expect([gone.status, gone.headers.get("x-error-code")]).toEqual([409, "PAYMENT_CONFLICT"]);
    expect(await spentBy(payer.address)).toBe(1);
  });
});
