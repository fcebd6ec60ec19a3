// Unlisted tokens and recent activity, found in the transfer logs of a real chain.

import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { startPortfolioStage } from "../../../../tests/support/portfolio/portfolio-stage.ts";
import { TRANSFER_TOPIC } from "../../../chain/logs/transfers.ts";
import { rpcHoldingsProvider } from "./provider.ts";

/**
 * balanceOf jumps to the end of their code; any other call emits a Transfer from the zero address to the account in
 * the first word of the calldata. A collectible has an id as fourth topic and a balance of one item.
 */
const LOG = `5f355f7f${TRANSFER_TOPIC.slice(2)}5f5f`;
const COLLECTIBLE = numberedAddress(0x721);
const COLLECTIBLE_CODE: Hex = `0x366024146031576001${LOG}a4005b60015f5260205ff3`;
/** balanceOf loops until the gas is used up. */
const LOOP = numberedAddress(0x100b);
const LOOP_CODE: Hex = `0x36602414602f57${LOG}a3005b602f56`;

const stage = await startPortfolioStage({ [COLLECTIBLE]: COLLECTIBLE_CODE, [LOOP]: LOOP_CODE });
const { chain, wallet } = stage;
const owner = chain.accounts.owner.address;
const signal = AbortSignal.timeout(300_000);
const node = await stage.node();

async function send(to: Hex | null, data: Hex, from: Hex = owner): Promise<Hex> {
  const transaction = { from, ...(to === null ? {} : { to }), data, gas: numberToHex(3_000_000) };
  return (await chain.request("eth_sendTransaction", [transaction])) as Hex;
}

async function deployToken(): Promise<Hex> {
  const nonce = BigInt((await chain.request("eth_getTransactionCount", [owner, "latest"])) as Hex);
  await send(
    null,
    encodeDeployData({ abi: plainTokenAbi, bytecode: plainTokenBytecode, args: ["Plain", "PLN", 6] }),
  );
  return getContractAddress({ from: owner, nonce }).toLowerCase() as Hex;
}

const mint = (token: Hex, amount: bigint) =>
  send(token, encodeFunctionData({ abi: plainTokenAbi, functionName: "mint", args: [wallet, amount] }));
const transfer = (token: Hex, to: Hex, amount: bigint) =>
  send(
    token,
    encodeFunctionData({ abi: plainTokenAbi, functionName: "transfer", args: [to, amount] }),
    wallet,
  );

async function read(tokens: readonly Hex[] = []) {
  return rpcHoldingsProvider.read({ at: await stage.port(node, tokens).pin(signal), wallet }, signal);
}

const contractsOf = ({ holdings }: Awaited<ReturnType<typeof read>>) =>
  holdings.flatMap(({ contract }) => contract ?? []);

describe("unlisted tokens", () => {
  it("are found when they arrived recently, newest first, without list metadata", async () => {
    const [first, second, listed] = [await deployToken(), await deployToken(), await deployToken()];
    await mint(first, 5n);
    await mint(second, 6n);
    await mint(listed, 7n);
    const result = await read([listed]);
    expect(contractsOf(result)).toEqual([listed, second, first]);
    expect(result.holdings.at(-1)).toEqual({
      contract: first,
      symbol: null,
      name: null,
      decimals: null,
      logo: null,
      rawBalance: 5n,
    });
  });

  it("are left out when the wallet has sent them away", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    expect(contractsOf(await read())).toContain(token);
    await transfer(token, numberedAddress(0x123), 5n);
    expect(contractsOf(await read())).not.toContain(token);
  });

  it("exclude ERC-721 collectibles, whose balance counts items", async () => {
    await send(COLLECTIBLE, numberToHex(BigInt(wallet), { size: 32 }));
    const result = await read();
    expect(result.activity[0]).toMatchObject({ from: numberedAddress(0), to: wallet });
    expect(contractsOf(result)).not.toContain(COLLECTIBLE);
    // Although the contract returns a balance of one.
    const data = encodeFunctionData({ abi: plainTokenAbi, functionName: "balanceOf", args: [wallet] });
    expect(await chain.request("eth_call", [{ to: COLLECTIBLE, data }, "latest"])).toBe(
      numberToHex(1, { size: 32 }),
    );
  });
});

describe("a hostile token that arrives", () => {
  it("loses only its own balance, and a warning names it", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    await send(LOOP, numberToHex(BigInt(wallet), { size: 32 }));
    const result = await read();
    expect(contractsOf(result)).toContain(token);
    expect(result.warnings.join("\n")).toContain(
      `1 unlisted token returned no balance and is left out: ${LOOP}`,
    );
  });
});

describe("recent activity", () => {
  it("has one entry per transaction, newest first, at most 25, with the times of the blocks", async () => {
    const token = await deployToken();
    const hashes: Hex[] = [];
    for (let i = 0; i < 30; i += 1) {
      hashes.unshift(i % 3 === 2 ? await transfer(token, numberedAddress(0x123), 1n) : await mint(token, 5n));
    }
    const { activity, warnings } = await read([token]);
    expect(activity.map(({ hash }) => hash)).toEqual(hashes.slice(0, 25));
    const times = new Set<number>();
    for (const { blockNumber, timestamp } of activity) {
      const block = (await chain.request("eth_getBlockByNumber", [numberToHex(blockNumber ?? 0), false])) as {
        timestamp: Hex;
      };
      expect(timestamp).toBe(Number(block.timestamp));
      times.add(timestamp ?? 0);
    }
    expect(activity[0]).toMatchObject({ from: wallet, to: numberedAddress(0x123) });
    expect(warnings.join("\n")).toMatch(/since block 0; transfers of ETH itself leave no log/);
  });

  it("lists a transfer to oneself once", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    const hash = await transfer(token, wallet, 2n);
    const { activity } = await read([token]);
    expect(activity.filter((entry) => entry.hash === hash)).toEqual([
      expect.objectContaining({ from: wallet, to: wallet }),
    ]);
  });

  it("becomes a warning when it cannot be read, and balances stay", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    const withoutLogs = await stage.node((calls) =>
      calls.some(({ method }) => method === "eth_getLogs") ? { kind: "status", status: 500 } : null,
    );
    const at = await stage.port(withoutLogs, [token]).pin(signal);
    const { holdings, activity, warnings } = await rpcHoldingsProvider.read({ at, wallet }, signal);
    expect(holdings.at(-1)).toMatchObject({ contract: token, rawBalance: 5n });
    expect(activity).toEqual([]);
    expect(warnings).toHaveLength(2);
    expect(warnings.join("\n")).toMatch(/outgoing.+could not be read/s);
    expect(warnings.join("\n")).toMatch(/incoming.+unlisted tokens may be missing/s);
  });
});
