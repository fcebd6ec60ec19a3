// Transfer logs as nodes send them: logs that were not requested are rejected, others than transfers are skipped.
import { describe, expect, it } from "vitest";
import type { Hex } from "../../lib/hex.ts";
import { InvalidResponseError } from "../rpc/errors.ts";
import { TRANSFER_TOPIC, transfersCall } from "./get-logs.ts";

const WALLET: Hex = "0xAbcdefabcdefabcdefabcdefabcdefabcdefabcd";
const OTHER: Hex = `0x${"11".repeat(20)}`;
const topic = (account: Hex): Hex => `0x${"0".repeat(24)}${account.slice(2).toLowerCase()}`;
const filter = { wallet: WALLET, side: "to", fromBlock: 10, toBlock: 20 } as const;

function log(changes: object = {}) {
  return {
    address: OTHER,
    topics: [TRANSFER_TOPIC, topic(OTHER), topic(WALLET)],
    data: "0x",
    blockNumber: "0xf",
    blockHash: `0x${"22".repeat(32)}`,
    transactionHash: `0x${"33".repeat(32)}`,
    transactionIndex: "0x0",
    logIndex: "0x1",
    ...changes,
  };
}

const parse = (result: unknown, side: "from" | "to" = "to") =>
  transfersCall({ ...filter, side }).parse(result);

describe("transfers", () => {
  it("requests transfers by the side of the account", () => {
    const range = { fromBlock: "0xa", toBlock: "0x14" };
    expect(transfersCall(filter).params).toEqual([
      { ...range, topics: [TRANSFER_TOPIC, null, topic(WALLET)] },
    ]);
    expect(transfersCall({ ...filter, side: "from" }).params).toEqual([
      { ...range, topics: [TRANSFER_TOPIC, topic(WALLET)] },
    ]);
  });

  it("requests transfers of one contract, and rejects those of others", () => {
    const [params] = transfersCall({ ...filter, contract: OTHER }).params;
    expect(params).toMatchObject({ address: OTHER });
    const ofContract = (address: Hex) =>
      transfersCall({ ...filter, contract: OTHER }).parse([log({ address })]);
    expect(ofContract(OTHER)).toHaveLength(1);
    expect(() => ofContract(`0x${"12".repeat(20)}`)).toThrow(InvalidResponseError);
  });

  it("sorts transfers, and marks those with a token id", () => {
    const unique = log({ logIndex: "0x0", topics: [...log().topics, topic(OTHER)] });
    const account = WALLET.toLowerCase();
    expect(parse([log(), unique])).toMatchObject([
      { from: OTHER, to: account, isErc721: true, tokenId: BigInt(OTHER), log: { logIndex: 0 } },
      { from: OTHER, to: account, isErc721: false, tokenId: null, log: { logIndex: 1 } },
    ]);
  });

  it("leaves out transfer logs that do not name two accounts", () => {
    const dirty = [TRANSFER_TOPIC, `0x${"11".repeat(32)}`, topic(WALLET)];
    expect(parse([log({ topics: dirty })])).toEqual([]);
    expect(parse([log({ topics: [TRANSFER_TOPIC, topic(WALLET)] })], "from")).toEqual([]);
  });

  it.each([
    ["another event", [log({ topics: [`0x${"44".repeat(32)}`, topic(OTHER), topic(WALLET)] })]],
    ["the other side", [log({ topics: [TRANSFER_TOPIC, topic(WALLET), topic(OTHER)] })]],
    ["a block before the range", [log({ blockNumber: "0x9" })]],
    ["a block behind the range", [log({ blockNumber: "0x15" })]],
    ["a log of a reorg", [log({ removed: true })]],
    ["no list", {}],
  ])("rejects a response of transfers with %s", (_, result) => {
    expect(() => parse(result)).toThrow(InvalidResponseError);
  });
});
