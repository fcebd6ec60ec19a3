// The queue never leaves a hole in the account's nonces, and never sends one transaction as two.
import { type Hex, parseTransaction } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../../tests/support/quiet-log.ts";
import { BroadcastQueue, type BroadcastRpc } from "./queue.ts";
import { NoResponseError } from "./viem-client.ts";

const account = privateKeyToAccount(`0x${"01".repeat(32)}`);
const FEE_MAX = 1_600n;
const TO = `0x${"02".repeat(20)}` as const;

function stageOf(node: Partial<BroadcastRpc> = {}) {
  let nowMs = 0;
  const sent: { nonce: number; fee: bigint }[] = [];
  const clock = { nowMs: () => nowMs, sleep: async () => undefined };
  const known = { nonce: 5 };
  const queue = new BroadcastQueue({
    account,
    chainId: 1,
    clock,
    log: silentLog,
    nonceGapMs: 1_000,
    rpc: {
      readPendingNonce: async () => known.nonce,
      hasTransaction: async () => false,
      readFees: async () => ({ baseFeesPerGas: [450n], priorityFeePerGas: 100n }),
      ...node,
      send: async (raw) => {
        const { nonce = 0, maxFeePerGas = 0n } = parseTransaction(raw);
        sent.push({ nonce, fee: maxFeePerGas });
        await node.send?.(raw);
      },
    },
  });
  const limits = { feePerGasMax: FEE_MAX, priorityFeePerGasMax: 200n };
  const forgotten: Hex[] = [];
  const hooks = {
    beforeSend: async () => undefined,
    onRejected: async (hash: Hex) => void forgotten.push(hash),
  };
  const transfer = { to: TO, data: "0x", gas: 21_000n, limits, ...hooks } as const;
  const send = () => queue.send(transfer);
  return { sent, known, forgotten, send, pass: (ms: number) => (nowMs += ms) };
}

describe("account nonces", () => {
  it("counts nonces up in a burst, also while the node has none of them", async () => {
    const { sent, send } = stageOf();
    await Promise.all(Array.from({ length: 20 }, send));
    expect(sent.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 20 }, (_, i) => 5 + i));
  });

  it("continues from the node's nonce when another process used the key", async () => {
    const { sent, known, send } = stageOf();
    await send();
    known.nonce = 9;
    await send();
    expect(sent.map(({ nonce }) => nonce)).toEqual([5, 9]);
  });

  it("uses a nonce again when its transaction was dropped", async () => {
    const { sent, send, pass } = stageOf();
    await send();
    pass(1_001);
    await send();
    expect(sent.map(({ nonce }) => nonce)).toEqual([5, 5]);
  });

  it("uses a nonce again that a reorg freed, also under constant load", async () => {
    const { sent, known, send, pass } = stageOf();
    await send();
    await send();
    known.nonce = 3;
    for (let sends = 0; sends < 4; sends += 1) {
      await send();
      pass(400);
    }
    expect(sent.map(({ nonce }) => nonce)).toEqual([5, 6, 7, 8, 9, 3]);
    known.nonce = 4;
    await send();
    expect(sent.at(-1)?.nonce).toBe(4);
  });
});

describe("a node that rejects", () => {
  const failing = (...errors: (Error | null)[]) => {
    const left = [...errors];
    return stageOf({
      send: async () => {
        const error = left.shift();
        if (error) throw error;
      },
    });
  };

  it.each([
    ["nonce too low: next nonce 6, tx nonce 5", 100n],
    ["replacement transaction underpriced", 125n],
    ["transaction underpriced", 125n],
  ])("sends another transaction with what the node wants: %s", async (words, raised) => {
    const { sent, send } = failing(new Error(words), null);
    await send();
    expect(sent).toHaveLength(2);
    expect(sent[1]?.fee).toBeGreaterThanOrEqual((1_000n * raised) / 100n);
  });

  it("never offers more than the cap to a node that rejects every fee", async () => {
    const words = new Error("replacement transaction underpriced");
    const { sent, send } = failing(...Array(10).fill(words));
    await expect(send()).rejects.toThrow("rejects every nonce and fee");
    expect(sent.map(({ fee }) => fee)).toEqual([1_000n, 1_250n, 1_560n, FEE_MAX]);
  });

  it("counts a transaction as sent that the node already knows", async () => {
    const { sent, send } = failing(new Error("already known"), null);
    await send();
    await send();
    expect(sent.map(({ nonce }) => nonce)).toEqual([5, 6]);
  });

  it("reports any other error to the sender, and frees the nonce", async () => {
    const { sent, send } = failing(new Error("insufficient funds for gas"), null);
    await expect(send()).rejects.toThrow("insufficient funds");
    await send();
    expect(sent.map(({ nonce }) => nonce)).toEqual([5, 5]);
  });

  it.each([
    ["has", async () => true],
    ["does not say whether it has", () => Promise.reject(new NoResponseError("it is gone"))],
  ])("does not send a transaction twice that the rejecting node %s", async (_, hasTransaction) => {
    const { sent, forgotten, send } = stageOf({
      hasTransaction,
      send: () => Promise.reject(new Error("nonce too low")),
    });
    expect(await send()).toMatch(/^0x[0-9a-f]{64}$/);
    expect(sent).toHaveLength(1);
    expect(forgotten).toEqual([]);
  });

  it("gives up after four transactions that the node rejects", async () => {
    const words = new Error("nonce too low");
    const { sent, send } = failing(...Array(10).fill(words));
    await expect(send()).rejects.toThrow("rejects every nonce");
    expect(sent).toHaveLength(4);
  });

  it("returns the hash of a transaction that may have been sent without a response", async () => {
    const { sent, send } = failing(new NoResponseError("it is gone"), null);
    expect(await send()).toMatch(/^0x[0-9a-f]{64}$/);
    await send();
    expect(sent.map(({ nonce }) => nonce)).toEqual([5, 5]);
  });
});
