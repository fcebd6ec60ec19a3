// The chain's word about payments: what was used for us, what was used for something else, and what was not used.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, decodeHeader, signedFor } from "../../tests/support/paid-client.ts";
import { openPaidStage, type PaidStage, PRICE } from "../../tests/support/paid-stage.ts";
import { quiet } from "../../tests/support/quiet-log.ts";
import { createRpc } from "../chain/rpc/rpc.ts";
import type { Hex } from "../kit/hex.ts";
import { Secret } from "../kit/secret.ts";
import { settlementChain } from "./settlement-chain.ts";

let stage: PaidStage;
beforeAll(async () => {
  stage = await openPaidStage("in process");
});
afterAll(() => stage.close());

it("tells a transfer to us from every other use of an authorization", async () => {
  const { url } = await stage.serve();
  const payer = await stage.payer();
  const { header, payload } = await signedFor(`${url}/paid?q=a`, payer, stage.asset);
  const from = payer.address.toLowerCase() as Hex;
  const { nonce } = payload.payload.authorization as { nonce: Hex };
  const { asset, payTo: to, settlements } = stage;
  const wanted = { asset, from, to, value: PRICE, nonce, sinceSeconds: Math.floor(Date.now() / 1_000) - 900 };
  expect(await settlements.findSettlement(wanted)).toEqual({ kind: "unused" });

  const response = await ask(`${url}/paid?q=a`, header);
  const { transaction } = decodeHeader<{ transaction: Hex }>(response, "payment-response");
  const { blockNumber } = await stage.node.getTransactionReceipt({ hash: transaction });
  const found = { kind: "transferred", transaction, blockNumber: Number(blockNumber) };
  expect(await settlements.findSettlement(wanted)).toEqual(found);
  expect(await settlements.findSettlement({ ...wanted, value: PRICE + 1n })).toEqual({ kind: "spent" });
  expect(await settlements.findSettlement({ ...wanted, to: from })).toEqual({ kind: "spent" });
  expect((await settlements.finalized()).number).toBeLessThan((await settlements.head()).number);

  // Further back than one range of logs.
  await stage.chain.mine(2_500);
  expect(await settlements.findSettlement(wanted)).toEqual(found);
  expect((await settlements.finalized()).number).toBeGreaterThanOrEqual(Number(blockNumber));
});

it("does not take silence for an answer", async () => {
  const limits = { attemptsMax: 2, pauseMsBase: 1, pauseMsMax: 2, waitMsMax: 10 };
  const rpc = createRpc({ urls: [new Secret("http://127.0.0.1:1")], log: quiet, limits });
  const dark = settlementChain(rpc, { finalityDepth: 32, finalityDepthMin: 0 });
  const address = stage.payTo;
  const wanted = {
    asset: stage.asset,
    from: address,
    to: address,
    value: 1n,
    nonce: `0x${"00".repeat(32)}` as const,
  };
  await expect(dark.findSettlement({ ...wanted, sinceSeconds: 0 })).rejects.toThrow();
  await expect(dark.head()).rejects.toThrow();
  await expect(dark.finalized()).rejects.toThrow();
  rpc.close();
});
