// A 402 invites the client to sign again: it must not be sent because a node is behind or a facilitator is wrong.
// Fast tests of the same rules, with recorded blocks: onchain.test.ts.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startFaultyNode } from "../../../tests/support/nodes/faulty-node.ts";
import { type LaggingNode, startLaggingNode } from "../../../tests/support/nodes/lagging-node.ts";
import type { NodeFaultInjection } from "../../../tests/support/nodes/node-faults.ts";
import { openPaidBackend, type PaidBackend } from "../../../tests/support/payments/paid-backend.ts";
import {
  decodeBase64Header,
  fetchWithPayment,
  signPaymentFor,
  waitFor,
} from "../../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../../../tests/support/payments/paid-stage.ts";
import {
  ACCEPTING_ACCOUNT_CODE,
  openContractPayer,
} from "../../../tests/support/payments/test-facilitator.ts";
import {
  authorizationIn,
  encodeCancellation,
  encodeOtherTransfer,
  encodeSignedTransfer,
} from "../../../tests/support/payments/transfer-calldata.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { createRpc } from "../../chain/rpc/client.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { Secret } from "../../lib/secret.ts";
import {
  createRemoteFacilitator,
  FacilitatorUnavailableError,
  type PaymentFacilitator,
} from "../facilitator/facilitator.ts";
import { createSettlementLookup } from "./onchain.ts";

let backend: PaidBackend;
let stage: PaidStage;
let behind: LaggingNode;
const closing: (() => void)[] = [];

beforeAll(async () => {
  backend = await openPaidBackend();
});
afterAll(() => backend.close());
beforeEach(async () => {
  stage = await openPaidStage("in process", backend);
  behind = await startLaggingNode(stage.chain.rpcUrl);
});
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await behind.stop();
  await stage.close();
});

/** A service whose own nodes are these; the facilitator keeps the node that is not behind. */
async function serveOver(
  urls: readonly string[],
  facilitator: PaymentFacilitator = stage.inProcess,
  own: { readsOwnNodes?: true } = {},
) {
  const limits = { pauseMsBase: 1, pauseMsMax: 20, attemptsMax: 4 };
  const rpc = createRpc({ urls: urls.map((url) => new Secret(url)), log: silentLog, onCall: null, limits });
  closing.push(() => rpc.close());
  const service = await stage.serve({
    chain: createSettlementLookup(rpc, { finalityDepth: 32, finalityDepthMin: 0 }),
    facilitator,
    ...own,
    limits: { receiptMs: 300 },
  });
  return { ...service, at: (q: string) => `${service.url}/paid?q=${q}` };
}

/** A third party's transaction that pays more to be early in the block than any of ours. */
const frontRun = (data: Hex) =>
  stage.chain.request("eth_sendTransaction", [
    {
      from: stage.chain.accounts.guardian.address,
      to: stage.asset,
      data,
      gas: "0x493e0",
      maxFeePerGas: "0x174876e800",
      maxPriorityFeePerGas: "0x174876e800",
    },
  ]);

const rowCount = async () => (await stage.database.query("select 1 from payments")).rows.length;

const spentBy = async (payer: Hex) => (await stage.transfersFrom(payer)).length;

describe("a third party carries the payment out first, and our node is one block behind", () => {
  it("does not send 402 when our own transaction was mined and reverted", async () => {
    const service = await serveOver([behind.url]);
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(service.at("reverted"), payer, stage.asset);
    await stage.chain.request("evm_setAutomine", [false]);
    const first = fetchWithPayment(service.at("reverted"), header);
    await waitFor(async () => {
      const block = (await stage.chain.request("eth_getBlockByNumber", ["pending", false])) as {
        transactions: readonly string[];
      };
      return block.transactions.length > 0;
    });
    await frontRun(encodeSignedTransfer(payload));
    await stage.chain.mine(1);
    await stage.chain.request("evm_setAutomine", [true]);
    const nonce = await stage.node.getTransactionCount({ address: stage.inProcess.address });
    expect([nonce, await spentBy(payer.address)]).toEqual([1, 1]);
    const pending = await first;
    expect([pending.status, pending.headers.get("x-error-code")]).toEqual([503, "PAYMENT_PENDING"]);
    // Still behind: still 503, however often the client retries.
    expect((await fetchWithPayment(service.at("reverted"), header)).status).toBe(503);
    behind.behind = 0;
    expect((await fetchWithPayment(service.at("reverted"), header)).status).toBe(200);
    expect(service.runs).toHaveLength(1);
    expect(await spentBy(payer.address)).toBe(1);
  });

  it.each(["the last of the payer's money", "some of the payer's money"])(
    "does not send 402 when the facilitator rejects, and it took %s",
    async (share) => {
      const service = await serveOver([behind.url]);
      const payer = await stage.payer(0n);
      await stage.mint(payer.address, share.startsWith("the last") ? TEST_PRICE : 10n * TEST_PRICE);
      const { header, payload } = await signPaymentFor(service.at("raced"), payer, stage.asset);
      service.injected.settle = (real) => async (sent, terms) => {
        await frontRun(encodeSignedTransfer(payload));
        return real(sent, terms);
      };
      expect((await fetchWithPayment(service.at("raced"), header)).status).toBe(503);
      delete service.injected.settle;
      expect((await fetchWithPayment(service.at("raced"), header)).status).toBe(503);
      behind.behind = 0;
      expect((await fetchWithPayment(service.at("raced"), header)).status).toBe(200);
      expect(await spentBy(payer.address)).toBe(1);
      expect(service.runs).toHaveLength(1);
    },
  );

  it("does not send 402 for any reason a facilitator gives", async () => {
    const service = await serveOver([behind.url]);
    for (const errorReason of [
      "invalid_exact_evm_insufficient_balance",
      "invalid_exact_evm_transaction_simulation_failed",
      "invalid_exact_evm_payload_authorization_valid_before",
      "payment_not_served",
    ]) {
      const payer = await stage.payer();
      const { header, payload } = await signPaymentFor(service.at(errorReason), payer, stage.asset);
      service.injected.settle =
        () =>
        async (_sent, { network }) => {
          await frontRun(encodeSignedTransfer(payload));
          return { success: false, errorReason, transaction: "", network };
        };
      behind.behind = 1;
      expect([errorReason, (await fetchWithPayment(service.at(errorReason), header)).status]).toEqual([
        errorReason,
        503,
      ]);
      behind.behind = 0;
      expect((await fetchWithPayment(service.at(errorReason), header)).status).toBe(200);
    }
  });
});

describe("a payment that a facilitator rejected", () => {
  it("responds 503 while a rejected payment can be carried out, and 402 once it has expired", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const payer = await stage.payer();
    const { header } = await signPaymentFor(service.at("poor"), payer, stage.asset);
    service.injected.settle =
      () =>
      async (_sent, { network }) => ({
        ...{ success: false, errorReason: "invalid_exact_evm_insufficient_balance" },
        ...{ transaction: "", network },
      });
    const rejected = await fetchWithPayment(service.at("poor"), header);
    expect([rejected.status, rejected.headers.get("payment-required")]).toEqual([503, null]);
    expect(((await rejected.json()) as { error: string }).error).toContain("balance");
    await stage.chain.increaseTime(120n);
    await stage.chain.mine(1);
    expect((await fetchWithPayment(service.at("poor"), header)).status).toBe(402);
    expect(await spentBy(payer.address)).toBe(0);
  });
});

describe("a payment that the token never takes, says a facilitator", () => {
  const rejectSettle =
    () =>
    async (_sent: unknown, { network }: { network: `${string}:${string}` }) => ({
      ...{ success: false, errorReason: "invalid_exact_evm_signature" },
      ...{ transaction: "", network },
    });

  it("responds 503 to a verified payment that is rejected for its signature, and finds it when it is carried out", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(service.at("invalid"), payer, stage.asset);
    service.injected.settle = rejectSettle;
    expect((await fetchWithPayment(service.at("invalid"), header)).status).toBe(503);
    expect((await fetchWithPayment(service.at("invalid"), header)).status).toBe(503);
    await frontRun(encodeSignedTransfer(payload));
    expect(await service.gate.reconcile()).toMatchObject({ found: 1 });
    expect((await fetchWithPayment(service.at("invalid"), header)).status).toBe(200);
  });

  it("responds 503 to an invalid payment after an unknown or reverted attempt", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const sent: (typeof service.injected.settle)[] = [
      () => () => Promise.reject(new FacilitatorUnavailableError("timed out")),
      () =>
        async (_sent, { network }) => ({
          ...{ success: false, errorReason: "invalid_exact_evm_transaction_failed" },
          ...{ transaction: `0x${"cd".repeat(32)}`, network },
        }),
    ];
    for (const [i, settle] of sent.entries()) {
      const payer = await stage.payer();
      const { header } = await signPaymentFor(service.at(`sent-${i}`), payer, stage.asset);
      const statuses: number[] = [];
      for (const next of [settle, rejectSettle, rejectSettle]) {
        service.injected.settle = next as typeof settle & {};
        statuses.push((await fetchWithPayment(service.at(`sent-${i}`), header)).status);
      }
      expect(statuses).toEqual([503, 503, 503]);
    }
  });
});

describe("a facilitator that rejects what the token never accepts, and names a transaction", () => {
  it("responds 503 to every copy and retry if a rejection names a transaction", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const payer = await stage.payer();
    const { header } = await signPaymentFor(service.at("named"), payer, stage.asset);
    const rejectWith =
      (transaction: string) =>
      () =>
      async (_sent: unknown, { network }: { network: `${string}:${string}` }) => ({
        ...{ success: false, errorReason: "invalid_exact_evm_signature" },
        ...{ transaction, network },
      });
    service.injected.settle = rejectWith(`0x${"cd".repeat(32)}`);
    const copies = await Promise.all([1, 2, 3].map(() => fetchWithPayment(service.at("named"), header)));
    expect(copies.map(({ status }) => status)).toEqual([503, 503, 503]);
    const { rows } = await stage.database.query("select state, transaction from payments");
    expect(rows).toEqual([{ state: "settling", transaction: `0x${"cd".repeat(32)}` }]);
    // Later rejections without a transaction do not make it unknown to others again.
    service.injected.settle = rejectWith("");
    expect((await fetchWithPayment(service.at("named"), header)).status).toBe(503);
  });

  it("responds 503 if a later rejection names a transaction", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const payer = await stage.payer();
    const { header } = await signPaymentFor(service.at("later"), payer, stage.asset);
    const statuses: number[] = [];
    for (const transaction of ["", `0x${"cd".repeat(32)}`, ""]) {
      service.injected.settle =
        () =>
        async (_sent, { network }) => ({
          ...{ success: false, errorReason: "invalid_exact_evm_signature" },
          ...{ transaction, network },
        });
      statuses.push((await fetchWithPayment(service.at("later"), header)).status);
    }
    expect(statuses).toEqual([503, 503, 503]);
  });
});

describe("a node that leaves the transfer out of a receipt", () => {
  it("does not call a nonce used elsewhere if a receipt omits the transfer", async () => {
    const omitting = await startFaultyNode({
      upstream: stage.chain.rpcUrl,
      plan: (_number, calls) =>
        hidden !== null && calls.some(({ method }) => method === "eth_getTransactionReceipt") ? hidden : null,
      liesPerCall: Number.POSITIVE_INFINITY,
    });
    closing.push(() => void omitting.stop());
    let hidden: NodeFaultInjection | null = null;
    const service = await serveOver([omitting.url]);
    const payer = await stage.payer();
    const { header } = await signPaymentFor(service.at("omitted"), payer, stage.asset);
    service.injected.settle = (real) => async (sent, terms) => {
      const outcome = await real(sent, terms);
      const [transfer] = await stage.transfersFrom(payer.address);
      if (!transfer) throw new Error("nothing was transferred");
      const { blockNumber, logIndex } = transfer;
      hidden = { kind: "omit-log", block: Number(blockNumber), logIndex, receipts: true };
      return outcome;
    };
    expect((await fetchWithPayment(service.at("omitted"), header)).status).toBe(503);
    await stage.chain.mine(40);
    await service.gate.reconcile();
    expect((await fetchWithPayment(service.at("omitted"), header)).status).toBe(503);
    hidden = null;
    expect((await fetchWithPayment(service.at("omitted"), header)).status).toBe(200);
    expect(await spentBy(payer.address)).toBe(1);
  });
});

describe("when the signature expires", () => {
  it("compares the expiry with the clock of the block that was read", async () => {
    const current = await startLaggingNode(stage.chain.rpcUrl, 0);
    closing.push(() => void current.stop());
    const service = await serveOver([behind.url, current.url]);
    const payer = await stage.payer();
    const { header } = await signPaymentFor(service.at("late"), payer, stage.asset);
    service.injected.settle = (real) => async (sent, terms) => {
      await real(sent, terms);
      throw new FacilitatorUnavailableError("timed out");
    };
    expect((await fetchWithPayment(service.at("late"), header)).status).toBe(503);
    expect(await spentBy(payer.address)).toBe(1);
    // The chain moves past the expiry, and past finality; our first node stays before the transfer.
    await stage.chain.increaseTime(120n);
    await stage.chain.mine(40);
    behind.behind = 41;
    behind.onCall = (method) => {
      // It serves the state and is gone: another node serves every later request.
      if (method === "eth_call") setTimeout(() => (behind.down = true), 5);
    };
    const late = await fetchWithPayment(service.at("late"), header);
    expect(late.status).not.toBe(402);
    behind.onCall = () => undefined;
    const { rows } = await stage.database.query("select state from payments");
    expect(rows[0]?.state).not.toBe("expired");
    expect((await fetchWithPayment(service.at("late"), header)).status).toBe(200);
  });

  it("does not expire a payment before a final block is past the expiry", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const payer = await stage.payer();
    const { header } = await signPaymentFor(service.at("undone"), payer, stage.asset);
    service.injected.settle = () => () => Promise.reject(new FacilitatorUnavailableError("timed out"));
    expect((await fetchWithPayment(service.at("undone"), header)).status).toBe(503);
    const state = async () => (await stage.database.query("select state from payments")).rows[0]?.state;
    await stage.chain.increaseTime(120n);
    await stage.chain.mine(20);
    expect((await fetchWithPayment(service.at("undone"), header)).status).toBe(402);
    await service.gate.reconcile();
    expect(await state()).toBe("settling");
    await stage.chain.mine(20);
    await service.gate.reconcile();
    expect(await state()).toBe("expired");
  });
});

describe("a facilitator that reports success", () => {
  const MADE_UP = `0x${"ab".repeat(32)}`;

  it("delivers nothing for a made-up transaction until the money has moved", async () => {
    const settled: string[] = [];
    const liar = createServer((request, response) => {
      request.resume();
      if (request.url === "/settle") settled.push(request.url);
      const said = request.url === "/verify" ? { isValid: true } : { success: true, transaction: MADE_UP };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(said));
    });
    liar.listen(0, "127.0.0.1");
    await once(liar, "listening");
    closing.push(() => liar.close());
    const address = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
    const facilitator = createRemoteFacilitator({ url: address, timeoutMs: 5_000 });
    const service = await serveOver([stage.chain.rpcUrl], facilitator);
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(service.at("lie"), payer, stage.asset);
    for (const lie of [1, 2]) {
      const lied = await fetchWithPayment(service.at("lie"), header);
      expect([lied.status, lied.headers.get("x-error-code")]).toEqual([503, "PAYMENT_PENDING"]);
      expect(settled).toHaveLength(lie);
    }
    expect([await service.gate.totalPaid(), await spentBy(payer.address)]).toEqual([0n, 0]);
    await frontRun(encodeSignedTransfer(payload));
    const sold = await fetchWithPayment(service.at("lie"), header);
    expect([sold.status, await sold.json()]).toEqual([200, { run: 1 }]);
    const [transfer] = await stage.transfersFrom(payer.address);
    const receipt = decodeBase64Header<{ transaction: Hex }>(sold, "payment-response");
    expect(receipt.transaction).toBe(transfer?.transactionHash);
    expect(service.runs).toHaveLength(1);
  });

  it("delivers nothing for the transaction of another payment", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const [payer, other] = [await stage.payer(), await stage.payer()];
    const paid = await signPaymentFor(service.at("paid"), other, stage.asset);
    const sold = await fetchWithPayment(service.at("paid"), paid.header);
    const { transaction } = decodeBase64Header<{ transaction: Hex }>(sold, "payment-response");
    const { header } = await signPaymentFor(service.at("borrowed"), payer, stage.asset);
    service.injected.settle =
      () =>
      async (_sent, { network }) => ({ success: true, transaction, network });
    expect((await fetchWithPayment(service.at("borrowed"), header)).status).toBe(503);
    expect(await service.gate.totalPaid()).toBe(TEST_PRICE);
  });

  it("waits for a reported transfer while our node is a block behind", async () => {
    const service = await serveOver([behind.url]);
    const payer = await stage.payer();
    const { header } = await signPaymentFor(service.at("slow"), payer, stage.asset);
    const first = await fetchWithPayment(service.at("slow"), header);
    expect(first.status).toBe(503);
    expect(await spentBy(payer.address)).toBe(1);
    const second = await signPaymentFor(service.at("next"), await stage.payer(), stage.asset);
    service.injected.settle = (real) => async (sent, terms) => {
      const outcome = await real(sent, terms);
      setTimeout(() => (behind.behind = 0), 100);
      return outcome;
    };
    expect((await fetchWithPayment(service.at("next"), second.header)).status).toBe(200);
    expect((await fetchWithPayment(service.at("slow"), header)).status).toBe(200);
    expect(service.runs).toHaveLength(2);
  });
});

describe("a payment that verification rejects", () => {
  const REASONS = {
    used: "invalid_exact_evm_nonce_already_used",
    poor: "invalid_exact_evm_insufficient_balance",
    forged: "invalid_exact_evm_signature",
    late: "invalid_exact_evm_payload_authorization_valid_before",
    early: "authorization_not_valid_yet_on_chain",
    vague: "invalid_transaction_state",
    ruled: "payer_refused_after_revert",
    none: undefined,
  } as const;
  type Verdict = keyof typeof REASONS;
  const VERDICTS = Object.keys(REASONS) as Verdict[];
  type Signed = Awaited<ReturnType<typeof signPaymentFor>>;

  const rejectWith =
    (verdict: Verdict): NonNullable<Awaited<ReturnType<typeof serveOver>>["injected"]["verify"]> =>
    () =>
    async () => {
      const invalidReason = REASONS[verdict];
      return invalidReason === undefined ? { isValid: false } : { isValid: false, invalidReason };
    };

  /** The status of a request for each verdict, after `act` used the authorization or did not. */
  async function statusesBy(
    service: Awaited<ReturnType<typeof serveOver>>,
    act: (signed: Signed, payer: Awaited<ReturnType<PaidStage["payer"]>>) => Promise<unknown>,
    dollars = 1n,
  ) {
    const found: Partial<Record<Verdict, number>> = {};
    const sent: Signed[] = [];
    for (const verdict of VERDICTS) {
      const payer = await stage.payer(dollars);
      const signed = await signPaymentFor(service.at(verdict), payer, stage.asset);
      await act(signed, payer);
      service.injected.verify = rejectWith(verdict);
      found[verdict] = (await fetchWithPayment(service.at(verdict), signed.header)).status;
      sent.push(signed);
    }
    return { found, sent };
  }
  const all = (status: number) => ({
    ...{ used: status, poor: status, forged: status, late: status, early: status },
    ...{ vague: status, ruled: status, none: status },
  });

  it("sells for a transfer to us, whatever the verdict", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const { found } = await statusesBy(service, ({ payload }) => frontRun(encodeSignedTransfer(payload)));
    expect(found).toEqual(all(200));
    expect(service.runs).toEqual(VERDICTS);
    expect(await service.gate.totalPaid()).toBe(BigInt(VERDICTS.length) * TEST_PRICE);
  });

  it("responds 402 if the nonce was cancelled or used for someone else", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const { asset } = stage;
    const cancelled = await statusesBy(service, async ({ payload }, payer) =>
      frontRun(await encodeCancellation(payer, asset, authorizationIn(payload).nonce)),
    );
    const elsewhere = await statusesBy(service, async ({ payload }, payer) =>
      frontRun(await encodeOtherTransfer(payer, asset, { ...authorizationIn(payload), to: payer.address })),
    );
    expect([cancelled.found, elsewhere.found]).toEqual([all(402), all(402)]);
    expect(service.runs).toEqual([]);
  });

  it("rejects a payment with an unused nonce only for what our node confirms", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const nothing = async () => undefined;
    const funded = await statusesBy(service, nothing);
    expect(funded.found).toEqual(all(503));
    const unfunded = await statusesBy(service, nothing, 0n);
    expect(unfunded.found).toEqual({ ...all(402), used: 503, late: 503, early: 503 });
    expect(service.runs).toEqual([]);
    // The same signatures are good as soon as they are verified.
    delete service.injected.verify;
    expect((await fetchWithPayment(service.at("used"), funded.sent[0]?.header ?? "")).status).toBe(200);
    await stage.chain.increaseTime(50n);
    const signed = await signPaymentFor(service.at("late"), await stage.payer(), stage.asset);
    await stage.chain.increaseTime(30n);
    await stage.chain.mine(1);
    // The client may sign again after the expiry, whatever the verdict.
    for (const verdict of VERDICTS) {
      service.injected.verify = rejectWith(verdict);
      expect((await fetchWithPayment(service.at("late"), signed.header)).status).toBe(402);
    }
    service.injected.verify = rejectWith("vague");
    const fresh = await signPaymentFor(service.at("vague"), await stage.payer(), stage.asset, (required) => ({
      ...required,
      accepts: required.accepts.map((each) => ({ ...each, maxTimeoutSeconds: 3_600 })),
    }));
    const vague = await fetchWithPayment(service.at("vague"), fresh.header);
    expect(((await vague.json()) as { error: string }).error).toContain("do not sign a new one before");
    expect(await service.gate.totalPaid()).toBe(TEST_PRICE);
  });

  it("responds 503 while our node cannot tell, and sells once it can", async () => {
    const omitting = await startFaultyNode({
      upstream: behind.url,
      plan: () => hidden,
      liesPerCall: Number.POSITIVE_INFINITY,
    });
    closing.push(() => void omitting.stop());
    let hidden: NodeFaultInjection | null = null;
    behind.behind = 0;
    const service = await serveOver([omitting.url]);
    const { found, sent } = await statusesBy(service, async ({ payload }) => {
      behind.down = false;
      await frontRun(encodeSignedTransfer(payload));
      behind.down = true;
    });
    expect(found).toEqual(all(503));
    behind.down = false;
    const retried: number[] = [];
    for (const [i, { header, payload }] of sent.entries()) {
      const [transfer] = await stage.transfersFrom(authorizationIn(payload).from);
      const { blockNumber, logIndex = 0 } = transfer ?? {};
      // The log before the transfer says that the nonce was used.
      hidden = { kind: "omit-log", block: Number(blockNumber), logIndex: logIndex - 1, receipts: true };
      const unlogged = await fetchWithPayment(service.at(VERDICTS[i] ?? ""), header);
      hidden = null;
      const sold = await fetchWithPayment(service.at(VERDICTS[i] ?? ""), header);
      retried.push(unlogged.status, sold.status);
    }
    expect(retried).toEqual(VERDICTS.flatMap(() => [503, 200]));
    expect(service.runs).toHaveLength(VERDICTS.length);
  });

  it("responds 503 if the facilitator has seen a block that our node does not have", async () => {
    const service = await serveOver([behind.url]);
    const payer = await stage.payer(0n);
    await stage.mint(payer.address, TEST_PRICE);
    const { header, payload } = await signPaymentFor(service.at("ahead"), payer, stage.asset);
    await frontRun(encodeSignedTransfer(payload));
    for (const verdict of VERDICTS) {
      service.injected.verify = rejectWith(verdict);
      expect((await fetchWithPayment(service.at("ahead"), header)).status).toBe(503);
    }
    behind.behind = 0;
    expect((await fetchWithPayment(service.at("ahead"), header)).status).toBe(200);
  });

  it("sells to a contract account, and not for a signature that it does not accept", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const { address, payload } = await openContractPayer(stage, service.at("code"), ACCEPTING_ACCOUNT_CODE);
    const payment = await payload();
    const header = Buffer.from(JSON.stringify(payment)).toString("base64");
    await frontRun(encodeSignedTransfer(payment));
    await stage.chain.setCode(address, "0x5f5ffd");
    for (const verdict of VERDICTS) {
      service.injected.verify = rejectWith(verdict);
      expect((await fetchWithPayment(service.at("code"), header)).status).toBe(402);
    }
    behind.down = true;
    const dark = await serveOver([behind.url]);
    dark.injected.verify = rejectWith("used");
    expect((await fetchWithPayment(dark.at("code"), header)).status).toBe(503);
    expect(await rowCount()).toBe(0);
    await stage.chain.setCode(address, ACCEPTING_ACCOUNT_CODE);
    expect((await fetchWithPayment(service.at("code"), header)).status).toBe(200);
  });

  it("believes a failed simulation of our own process only if our node confirms it", async () => {
    const service = await serveOver([behind.url], stage.inProcess, { readsOwnNodes: true });
    const failed = { isValid: false, invalidReason: "invalid_exact_evm_transaction_simulation_failed" };
    service.injected.verify = () => async () => failed;
    const poor = await signPaymentFor(service.at("poor"), await stage.payer(0n), stage.asset);
    expect((await fetchWithPayment(service.at("poor"), poor.header)).status).toBe(402);
    const { header, payload } = await signPaymentFor(service.at("ahead"), await stage.payer(), stage.asset);
    await stage.chain.mine(1);
    await frontRun(encodeSignedTransfer(payload));
    expect((await fetchWithPayment(service.at("ahead"), header)).status).toBe(503);
    // A rule of our own process counts.
    const unused = await signPaymentFor(service.at("ruled"), await stage.payer(), stage.asset);
    await stage.chain.mine(1);
    service.injected.verify = rejectWith("ruled");
    expect((await fetchWithPayment(service.at("ruled"), unused.header)).status).toBe(402);
    behind.behind = 0;
    service.injected.verify = () => async () => failed;
    expect((await fetchWithPayment(service.at("ahead"), header)).status).toBe(200);
  });

  it("reads no node for a payment that no key signed, and few blocks for one that is signed", async () => {
    behind.behind = 0;
    const omitting = await startFaultyNode({
      upstream: behind.url,
      plan: () => hidden,
      liesPerCall: Number.POSITIVE_INFINITY,
    });
    closing.push(() => void omitting.stop());
    let hidden: NodeFaultInjection | null = null;
    const service = await serveOver([omitting.url]);
    const payer = await stage.payer();
    const now = Math.floor(Date.now() / 1_000);
    const used = await signPaymentFor(service.at("calls"), payer, stage.asset);
    await frontRun(encodeSignedTransfer(used.payload));
    const [transfer] = await stage.transfersFrom(payer.address);
    const { blockNumber, logIndex = 0 } = transfer ?? {};
    hidden = { kind: "omit-log", block: Number(blockNumber), logIndex: logIndex - 1, receipts: true };

    let calls: string[] = [];
    behind.onCall = (method) => void calls.push(method);
    const send = async (header: string) => {
      calls = [];
      const { status } = await fetchWithPayment(service.at("calls"), header);
      return { status, calls: calls.length, rows: await rowCount() };
    };
    const forge = (changed: Record<string, string>) => {
      const authorization = { ...authorizationIn(used.payload), ...changed };
      const signature = `0x${"11".repeat(64)}1b`;
      const forged = { ...used.payload, payload: { authorization, signature } };
      return Buffer.from(JSON.stringify(forged)).toString("base64");
    };
    const forgeries = {
      dear: { value: String(TEST_PRICE + 1n) },
      soon: { validBefore: String(now + 5) },
      over: { validBefore: String(now - 300) },
      long: { validBefore: String(2n ** 50n) },
    };
    for (const [name, changed] of Object.entries(forgeries)) {
      // A contract account may have signed it, and it can be carried out for five seconds more.
      const status = name === "soon" ? 503 : 402;
      expect([name, await send(forge(changed))]).toEqual([name, { status, calls: 0, rows: 0 }]);
    }
    // A remote facilitator that does not check signatures: a node tells whether the payer is a contract that accepts it.
    service.injected.verify = rejectWith("used");
    expect(await send(forge({}))).toEqual({ status: 402, calls: 1, rows: 0 });

    const sign = (seconds: number) =>
      signPaymentFor(service.at("calls"), payer, stage.asset, (required) => ({
        ...required,
        accepts: required.accepts.map((each) => ({ ...each, maxTimeoutSeconds: seconds })),
      }));
    const soon = await sign(5);
    expect(await send(soon.header)).toEqual({ status: 503, calls: 2, rows: 1 });
    await stage.database.query("delete from payments");
    const long = await sign(2 ** 40);
    expect(await send(long.header)).toEqual({ status: 402, calls: 2, rows: 0 });
    // Used, and no log of the searched blocks shows how: the head, the state, and one range of logs.
    const lost = await send(used.header);
    expect(lost).toEqual({ status: 503, calls: 3, rows: 1 });
    await stage.chain.mine(2_500);
    expect(await send(used.header)).toMatchObject({ status: 503, rows: 1 });
    expect(calls.filter((method) => method === "eth_getLogs").length).toBeLessThanOrEqual(22);
    expect(calls.length).toBeLessThanOrEqual(26);
    hidden = null;
    expect(await send(used.header)).toMatchObject({ status: 200, rows: 1 });
  });

  it("sells for a transfer that was made hours before the first request", async () => {
    const signed = await (async () => {
      const { url } = await stage.serve();
      return signPaymentFor(`${url}/paid?q=hours`, await stage.payer(), stage.asset, (required) => ({
        ...required,
        accepts: required.accepts.map((each) => ({ ...each, maxTimeoutSeconds: 86_000 })),
      }));
    })();
    await frontRun(encodeSignedTransfer(signed.payload));
    await stage.chain.mine(2_100);
    await stage.chain.increaseTime(10_800n);
    await stage.chain.mine(100);
    const head = Number((await stage.node.getBlock()).timestamp);
    const clock = { ...systemClock, nowMs: () => head * 1_000 };
    const later = await stage.serve({ clock });
    expect((await fetchWithPayment(`${later.url}/paid?q=hours`, signed.header)).status).toBe(200);
  });

  it("keeps a payment that no node could tell of until the chain shows it over", async () => {
    behind.behind = 0;
    const service = await serveOver([behind.url]);
    service.injected.verify = rejectWith("used");
    const [paid, unpaid] = [await stage.payer(), await stage.payer()];
    const signed = [];
    for (const payer of [paid, unpaid]) {
      signed.push(await signPaymentFor(service.at(payer.address), payer, stage.asset));
    }
    behind.down = true;
    for (const { header, payload } of signed) {
      const at = service.at(authorizationIn(payload).from);
      expect((await fetchWithPayment(at, header)).status).toBe(503);
      // Nor does a retry that cannot be checked at all delete the row.
      service.injected.verify = () => () => Promise.reject(new FacilitatorUnavailableError("timed out"));
      expect((await fetchWithPayment(at, header)).status).toBe(503);
      service.injected.verify = rejectWith("used");
    }
    await stage.database.query(
      "update payments set valid_before = valid_before - 3600, updated_at = now() - interval '1 hour'",
    );
    await service.gate.reconcile().catch(() => undefined);
    expect(await rowCount()).toBe(2);
    await frontRun(encodeSignedTransfer((signed[0] as Signed).payload));
    behind.down = false;
    await service.gate.reconcile();
    // The final block is not past the expiry by the clock of the chain, or it is, and one of them was used.
    await stage.chain.mine(40);
    await service.gate.reconcile();
    expect(await rowCount()).toBe(1);
    const clock = { ...systemClock, nowMs: () => Date.now() + 1_500_000 };
    const { url } = await stage.serve({ clock });
    const statuses = [];
    for (const { header, payload } of signed) {
      const q = authorizationIn(payload).from;
      statuses.push((await fetchWithPayment(`${url}/paid?q=${q}`, header)).status);
    }
    expect(statuses).toEqual([200, 402]);
  });

  it("responds 503 to a signature in its last seconds, which others can carry out, and 402 once it is over", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const [paid, unpaid] = [await stage.payer(), await stage.payer()];
    const signed = [
      await signPaymentFor(service.at("soon"), paid, stage.asset),
      await signPaymentFor(service.at("soon"), unpaid, stage.asset),
    ];
    const later = async (seconds: number) => {
      const { url } = await stage.serve({
        clock: { ...systemClock, nowMs: () => Date.now() + seconds * 1_000 },
      });
      const responses = [];
      for (const { header } of signed) responses.push(await fetchWithPayment(`${url}/paid?q=soon`, header));
      return responses;
    };
    // The chain may stand still for minutes, and make up for its blocks with the times that they should have had.
    const waiting = [...(await later(51)), ...(await later(62)), ...(await later(100))];
    expect(waiting.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503, 503]);
    expect(waiting[0]?.headers.get("retry-after")).not.toBeNull();
    expect(await waiting[0]?.text()).toContain("do not sign a new one");
    await frontRun(encodeSignedTransfer((signed[0] as Signed).payload));
    await stage.chain.increaseTime(70n);
    await stage.chain.mine(1);
    expect((await later(62)).map(({ status }) => status)).toEqual([200, 402]);
    expect(await spentBy(paid.address)).toBe(1);
  });

  it("names the transaction if the handler rejects a request that is paid for", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    for (const failure of ["response", "thrown"]) {
      const payer = await stage.payer();
      const { header, payload } = await signPaymentFor(service.at(failure), payer, stage.asset);
      await frontRun(encodeSignedTransfer(payload));
      service.sold.work = async () => {
        if (failure === "thrown") throw new Fault("INPUT_INVALID", "The wallet is wrong.");
        return { status: 400, headers: { "x-error-code": "INPUT_INVALID" }, body: { error: "wrong" } };
      };
      const failed = await fetchWithPayment(service.at(failure), header);
      const [transfer] = await stage.transfersFrom(payer.address);
      expect([failed.status, failed.headers.get("x-error-code")]).toEqual([400, "INPUT_INVALID"]);
      const { transaction } = decodeBase64Header<{ transaction: Hex }>(failed, "payment-response");
      expect(transaction).toBe(transfer?.transactionHash);
    }
  });

  it("sells for a payment that expired after someone else carried it out, for ten minutes", async () => {
    const service = await serveOver([stage.chain.rpcUrl]);
    const payer = await stage.payer();
    const { header, payload } = await signPaymentFor(service.at("expired"), payer, stage.asset);
    const unpaid = await signPaymentFor(service.at("expired"), payer, stage.asset);
    await frontRun(encodeSignedTransfer(payload));
    await stage.chain.increaseTime(70n);
    await stage.chain.mine(1);
    const laterBy = (seconds: number) =>
      stage.serve({ clock: { ...systemClock, nowMs: () => Date.now() + seconds * 1_000 } });
    const [soon, late] = [await laterBy(600), await laterBy(700)];
    const at = ({ url }: { url: string }) => `${url}/paid?q=expired`;
    expect((await fetchWithPayment(at(soon), unpaid.header)).status).toBe(402);
    expect((await fetchWithPayment(at(late), header)).status).toBe(402);
    expect((await fetchWithPayment(at(soon), header)).status).toBe(200);
    expect((await fetchWithPayment(at(late), header)).status).toBe(200);
    expect([soon.runs.length, late.runs.length, await spentBy(payer.address)]).toEqual([1, 0, 1]);
  });
});
