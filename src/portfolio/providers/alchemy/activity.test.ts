// Activity from Alchemy: both directions merged, limited, and only a warning on failure.
import { describe, expect, it } from "vitest";
import {
  alchemyChain,
  NO_TRANSFERS,
  openAlchemyVendor,
  ALCHEMY_WALLET as WALLET,
} from "../../../../tests/support/portfolio/alchemy-vendor.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { PinnedChain } from "../../types.ts";

const address = (four: string): Hex => `0x${four.repeat(10)}`;

const USDC: Hex = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";

/** A chain that lists USDC, and whose node says who sent any transaction. */
function withUsdc(): PinnedChain {
  const at = alchemyChain();
  const token = { contract: USDC, symbol: "USDC", name: "USD Coin", decimals: 6, logo: null };
  return {
    ...at,
    chain: { ...at.chain, tokens: new Map([[USDC, token]]) },
    senders: async (hashes) => new Map(hashes.map((hash) => [hash, address("5e5e")])),
  };
}

describe("alchemy's activity", () => {
  it("merges both directions, newest first, one entry per transaction", async () => {
    const { read, server } = await openAlchemyVendor();
    const { activity, warnings } = await read(withUsdc());
    // Without 6, a collectible.
    expect(activity.map(({ hash, blockNumber }) => [Number(hash), blockNumber])).toEqual([
      [9, 38_143_700],
      [8, 38_143_690],
      [7, 38_143_650],
      [5, 38_143_600],
    ]);
    // Only of 8 no transfer says who sent the transaction.
    expect(activity.map(({ sender }) => sender)).toEqual([WALLET, address("5e5e"), WALLET, WALLET]);
    expect(warnings).toHaveLength(2);
    // The transaction's own sender and receiver take precedence over those of a transfer inside it.
    expect(activity[0]).toEqual({
      hash: `0x${"9".padStart(64, "0")}`,
      from: WALLET,
      to: address("7777"),
      blockNumber: 38_143_700,
      timestamp: Date.UTC(2025, 10, 14, 23, 0, 9) / 1_000,
      ...{ sender: WALLET, lookalike: false },
      transfer: { contract: null, rawAmount: 3n * 10n ** 17n },
    });
    expect(activity.map(({ from, to }) => from === null || to === null)).toEqual([false, false, false, true]);
    const filters = server.requests.filter(({ path }) => path.startsWith("/base-mainnet/v2/"));
    expect(filters.map(({ body }) => JSON.parse(body))).toEqual(
      expect.arrayContaining(
        ["fromAddress", "toAddress"].map((side) =>
          expect.objectContaining({
            method: "alchemy_getAssetTransfers",
            params: [
              expect.objectContaining({
                [side]: WALLET,
                order: "desc",
                withMetadata: true,
                toBlock: "0x24606ef",
              }),
            ],
          }),
        ),
      ),
    );
  });

  it("stops at twenty-five transactions, after a few pages at most", async () => {
    let page = 0;
    const transfer = (n: number) => ({
      hash: `0x${n.toString(16).padStart(64, "0")}`,
      blockNum: `0x${n.toString(16)}`,
      category: "external",
      from: WALLET,
    });
    const { read, server } = await openAlchemyVendor({
      transfers: (filter) => {
        if ("toAddress" in filter) return { text: NO_TRANSFERS };
        page += 1;
        const transfers = Array.from({ length: 10 }, (_, i) => transfer(1_000 - page * 10 - i));
        return { text: JSON.stringify({ result: { transfers, pageKey: `after ${page}` } }) };
      },
    });
    const { activity } = await read();
    expect(activity).toHaveLength(25);
    expect(activity[0]).toMatchObject({ blockNumber: 990, from: WALLET, to: null, timestamp: null });
    expect(server.requests.filter(({ body }) => body.includes("fromAddress"))).toHaveLength(3);
  });

  it("leaves out what anyone can forge, and marks lookalikes", async () => {
    const friend: Hex = `0x14dc${"7".repeat(32)}9955`;
    const poisoner: Hex = `0x14dc${"1".repeat(32)}9955`;
    const transfer = (n: number, more: object) => ({
      ...{
        hash: `0x${n.toString(16).padStart(64, "0")}`,
        blockNum: `0x${n.toString(16)}`,
        category: "erc20",
      },
      ...{ from: WALLET, to: poisoner, rawContract: { address: USDC, value: "0x1" }, ...more },
    });
    const sent = [
      transfer(6, { rawContract: { address: USDC, value: "0x0" } }),
      transfer(5, { rawContract: { address: poisoner, value: "0xff" } }),
      transfer(1, { to: friend }),
    ];
    const received = [
      transfer(4, { from: poisoner, to: WALLET }),
      transfer(3, { category: "external", from: poisoner, to: WALLET, rawContract: { value: "0x0" } }),
      transfer(2, { from: friend, to: WALLET }),
    ];
    const { read } = await openAlchemyVendor({
      transfers: (filter) => ({
        text: JSON.stringify({ result: { transfers: "toAddress" in filter ? received : sent } }),
      }),
    });
    const { activity } = await read(withUsdc());
    expect(activity.map(({ blockNumber, lookalike }) => [blockNumber, lookalike])).toEqual([
      [4, true],
      [2, false],
      [1, false],
    ]);
  });

  it("degrades to a warning when the vendor hangs, long before the time of the chain is up", async () => {
    const { read } = await openAlchemyVendor(
      { transfers: () => ({ text: "", silent: true }) },
      { activityMsMax: 20 },
    );
    const { holdings, activity, warnings } = await read();
    expect(holdings).toHaveLength(7);
    expect(activity).toEqual([]);
    expect(warnings).toContain("Recent activity on Base could not be read.");
  });

  it.each([
    ["an RPC error with status 200", '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid"}}'],
    ["no transfers", '{"jsonrpc":"2.0","id":1,"result":null}'],
    ["a transfer without a hash", '{"jsonrpc":"2.0","id":1,"result":{"transfers":[{"blockNum":"0x1"}]}}'],
  ])("degrades to a warning on %s", async (_, text) => {
    const { read } = await openAlchemyVendor({ transfers: () => ({ text }) });
    const { holdings, activity, warnings } = await read();
    expect(holdings).toHaveLength(7);
    expect(activity).toEqual([]);
    expect(warnings).toContain("Recent activity on Base could not be read.");
  });
});
