// The chain decides which payments were used for us, which were used for something else, and which were not used.
import { toHex } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  decodeBase64Header,
  fetchWithPayment,
  signPaymentFor,
} from "../../../tests/support/payments/paid-client.ts";
import { openPaidStage, type PaidStage, TEST_PRICE } from "../../../tests/support/payments/paid-stage.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { MULTICALL3 } from "../../chain/aggregate3.ts";
import { createRpc } from "../../chain/rpc/client.ts";
import type { Hex } from "../../lib/hex.ts";
import { Secret } from "../../lib/secret.ts";
import { createSettlementLookup } from "./onchain.ts";

let stage: PaidStage;
beforeAll(async () => {
  stage = await openPaidStage("in process");
});
afterAll(() => stage.close());

it("distinguishes a transfer to us from every other use of an authorization", async () => {
  const { url } = await stage.serve();
  const payer = await stage.payer();
  const { header, payload } = await signPaymentFor(`${url}/paid?q=a`, payer, stage.asset);
  const from = payer.address.toLowerCase() as Hex;
  const { nonce } = payload.payload.authorization as { nonce: Hex };
  const { asset, payTo: to, settlements } = stage;
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const times = { sinceSeconds: nowSeconds - 900, validBefore: nowSeconds + 60 };
  const wanted = { asset, from, to, value: TEST_PRICE, nonce, ...times };
  const head = async () => {
    const { number, hash, timestamp } = await stage.node.getBlock();
    return { number: Number(number), hash, timestamp: Number(timestamp) };
  };
  expect(await settlements.findSettlement(wanted)).toEqual({ kind: "unused", at: await head(), final: null });

  const response = await fetchWithPayment(`${url}/paid?q=a`, header);
  const { transaction } = decodeBase64Header<{ transaction: Hex }>(response, "payment-response");
  const { blockNumber, blockHash } = await stage.node.getTransactionReceipt({ hash: transaction });
  const block = { number: Number(blockNumber), hash: blockHash };
  const found = { kind: "transferred", transaction, block };
  expect(await settlements.findSettlement(wanted)).toEqual(found);
  expect(await settlements.findInTransaction(transaction, wanted)).toEqual(found);
  const others = [
    { ...wanted, value: TEST_PRICE + 1n },
    { ...wanted, to: from },
  ];
  for (const other of others) {
    expect(await settlements.findSettlement(other)).toEqual({
      kind: "consumed-elsewhere",
      at: await head(),
      final: false,
    });
    expect(await settlements.findInTransaction(transaction, other)).toEqual({ kind: "other" });
  }
  const unknown = { ...wanted, nonce: `0x${"66".repeat(32)}` as const };
  expect(await settlements.findInTransaction(transaction, unknown)).toEqual({ kind: "other" });
  expect(await settlements.findInTransaction(`0x${"77".repeat(32)}`, wanted)).toBeNull();
  const query = { block, transfers: [wanted, ...others, unknown] };
  expect(await settlements.findTransfersInBlocks([query, { block, transfers: [] }])).toEqual([
    [transaction, null, null, null],
    [],
  ]);
  expect((await settlements.readAuthorizationStates([wanted, unknown])).used).toEqual([true, false]);
  expect((await settlements.readFinalizedBlock()).number).toBeLessThan((await head()).number);

  // Further back than one range of logs.
  await stage.chain.mine(2_500);
  expect(await settlements.findSettlement(wanted)).toEqual(found);
  const final = await settlements.readFinalizedBlock();
  expect(final.number).toBeGreaterThanOrEqual(Number(blockNumber));
  expect(await settlements.findSettlement({ ...wanted, to: from })).toMatchObject({
    kind: "consumed-elsewhere",
    final: true,
  });
  const expired = { ...unknown, validBefore: final.timestamp };
  expect(await settlements.findSettlement(expired)).toEqual({ kind: "unused", at: await head(), final });
});

it("distinguishes canonical blocks from those that a reorg has replaced", async () => {
  const { settlements, chain, node } = stage;
  const blockAt = async (behind: bigint) => {
    const { number, hash } = await node.getBlock({ blockNumber: (await node.getBlockNumber()) - behind });
    return { number: Number(number), hash };
  };
  await chain.mine(3);
  const [below, undone] = [await blockAt(3n), await blockAt(1n)];
  const before = await settlements.compareBlocks([below, undone]);
  expect([...before.canonical]).toEqual([below.hash, undone.hash]);
  await chain.reorg(2);
  const above = { number: undone.number + 100, hash: `0x${"99".repeat(32)}` as const };
  const after = await settlements.compareBlocks([below, undone, above]);
  expect([[...after.canonical], [...after.orphaned]]).toEqual([[below.hash], [undone.hash]]);
  expect(after.head.hash).toBe((await blockAt(0n)).hash);
});

it("reads many authorizations by one call, and by a call each on a chain without Multicall3", async () => {
  const calls: string[] = [];
  const rpc = createRpc({
    urls: [new Secret(stage.chain.rpcUrl)],
    log: silentLog,
    onCall: ({ method }) => void calls.push(method),
  });
  const lookup = createSettlementLookup(rpc, { finalityDepth: 32, finalityDepthMin: 0 });
  const wanted = Array.from({ length: 30 }, (_, each) => ({
    ...{
      asset: stage.asset,
      from: stage.payTo,
      to: stage.payTo,
      value: 1n,
      nonce: toHex(each, { size: 32 }),
    },
    ...{ sinceSeconds: 0, validBefore: 2 ** 40 },
  }));
  const read = async () => {
    calls.length = 0;
    expect((await lookup.readAuthorizationStates(wanted)).used).toEqual(wanted.map(() => false));
    return calls.filter((method) => method === "eth_call").length;
  };
  expect(await read()).toBe(1);
  const code = (await stage.node.getCode({ address: MULTICALL3 })) ?? "0x";
  await stage.chain.setCode(MULTICALL3, "0x");
  expect(await read()).toBe(31);
  await stage.chain.setCode(MULTICALL3, code);
  rpc.close();
});

it("does not treat a missing response as a result", async () => {
  const limits = { attemptsMax: 2, pauseMsBase: 1, pauseMsMax: 2, waitMsMax: 10 };
  const rpc = createRpc({ urls: [new Secret("http://127.0.0.1:1")], log: silentLog, onCall: null, limits });
  const dark = createSettlementLookup(rpc, { finalityDepth: 32, finalityDepthMin: 0 });
  const address = stage.payTo;
  const wanted = {
    asset: stage.asset,
    from: address,
    to: address,
    value: 1n,
    nonce: `0x${"00".repeat(32)}` as const,
  };
  const whole = { ...wanted, sinceSeconds: 0, validBefore: 0 };
  await expect(dark.findSettlement(whole)).rejects.toThrow();
  await expect(dark.findInTransaction(`0x${"77".repeat(32)}`, whole)).rejects.toThrow();
  await expect(dark.compareBlocks([])).rejects.toThrow();
  await expect(dark.readFinalizedBlock()).rejects.toThrow();
  rpc.close();
});
