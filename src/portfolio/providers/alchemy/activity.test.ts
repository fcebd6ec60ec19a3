// Activity from Alchemy: both directions merged, limited, and only a warning on failure.
import { describe, expect, it } from "vitest";
import {
  NO_TRANSFERS,
  openAlchemyVendor,
  ALCHEMY_WALLET as WALLET,
} from "../../../../tests/support/portfolio/alchemy-vendor.ts";
import type { Hex } from "../../../lib/hex.ts";

const address = (four: string): Hex => `0x${four.repeat(10)}`;

describe("alchemy's activity", () => {
  it("merges both directions, newest first, one entry per transaction", async () => {
    const { read, server } = await openAlchemyVendor();
    const { activity } = await read();
    expect(activity.map(({ hash, blockNumber }) => [Number(hash), blockNumber])).toEqual([
      [9, 38_143_700],
      [8, 38_143_690],
      [7, 38_143_650],
      [6, 38_143_610],
      [5, 38_143_600],
    ]);
    // The transaction's own sender and receiver take precedence over those of a transfer inside it.
    expect(activity[0]).toEqual({
      hash: `0x${"9".padStart(64, "0")}`,
      from: WALLET,
      to: address("7777"),
      blockNumber: 38_143_700,
      timestamp: Date.UTC(2025, 10, 14, 23, 0, 9) / 1_000,
    });
    expect(activity.map(({ from, to }) => from === null || to === null)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
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
    expect(activity[0]).toMatchObject({ blockNumber: 990, from: null, to: null, timestamp: null });
    expect(server.requests.filter(({ body }) => body.includes("fromAddress"))).toHaveLength(3);
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
