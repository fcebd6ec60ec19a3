// Unlisted tokens and recent activity, found in the transfer logs of a real chain.

import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { startPortfolioStage } from "../../../../tests/support/portfolio/portfolio-stage.ts";
import { NATIVE_TRANSFERS, TRANSFER_TOPIC } from "../../../chain/logs/get-logs.ts";
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

/** Emits a Transfer from the first account of the calldata to the second, of the amount in the third word. */
const ANY_TRANSFER: Hex = `0x602060405f376020355f357f${TRANSFER_TOPIC.slice(2)}60205fa300`;

const stage = await startPortfolioStage({
  [COLLECTIBLE]: COLLECTIBLE_CODE,
  [LOOP]: LOOP_CODE,
  [NATIVE_TRANSFERS]: ANY_TRANSFER,
});
const { chain, wallet } = stage;
const owner = chain.accounts.owner.address;
const { signal } = new AbortController();
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

/** Reads like the friend in every wallet: 0xf21e…beef. */
const FRIEND: Hex = `0xf21e${"7".repeat(32)}beef`;
const LOOKALIKE: Hex = `0xf21e${"1".repeat(32)}beef`;

type PlainTokenCall = "mint" | "transfer" | "transferFrom" | "approve";

const call = (
  token: Hex,
  functionName: PlainTokenCall,
  args: readonly [Hex, bigint] | readonly [Hex, Hex, bigint],
  from: Hex = owner,
) => send(token, encodeFunctionData({ abi: plainTokenAbi, functionName, args } as never), from);

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
  it("finds unlisted tokens that arrived recently, newest first, without list metadata", async () => {
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

  it("finds unlisted tokens by sent transfers too, and on a node that allows ten blocks at once", async () => {
    const mine = async (blocks: number) => {
      for (let i = 0; i < blocks; i += 1) await chain.request("evm_mine", []);
    };
    await mine(200);
    const token = await deployToken();
    await mint(token, 5n);
    await mine(30);
    const strict = await stage.node((calls) => {
      const logs = calls.find(({ method }) => method === "eth_getLogs");
      const [{ fromBlock = 0, toBlock = 0 } = {}] = (logs?.params ?? []) as [
        { fromBlock?: Hex; toBlock?: Hex },
      ];
      return Number(toBlock) - Number(fromBlock) < 10
        ? null
        : { kind: "error", code: -32005, message: "query exceeds max block range 10" };
    });
    const readStrictly = async () =>
      rpcHoldingsProvider.read({ at: await stage.port(strict).pin(signal), wallet }, signal);
    const found = await readStrictly();
    expect(contractsOf(found)).toContain(token);
    expect(found.warnings.join("\n")).toMatch(/since block [1-9]\d* \(about \d+ minutes?\)/);
    await transfer(token, numberedAddress(0x123), 2n);
    // Now the arrival is out of reach, and what was sent is not.
    await mine(50);
    expect(contractsOf(await readStrictly())).toContain(token);
  });

  it("leaves out unlisted tokens that the wallet has sent away", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    expect(contractsOf(await read())).toContain(token);
    await transfer(token, numberedAddress(0x123), 5n);
    expect(contractsOf(await read())).not.toContain(token);
  });

  it("leaves out ERC-721 collectibles, whose balance counts items", async () => {
    await send(COLLECTIBLE, numberToHex(BigInt(wallet), { size: 32 }));
    const result = await read();
    expect(contractsOf(result)).not.toContain(COLLECTIBLE);
    // Although the contract returns a balance of one.
    const data = encodeFunctionData({ abi: plainTokenAbi, functionName: "balanceOf", args: [wallet] });
    expect(await chain.request("eth_call", [{ to: COLLECTIBLE, data }, "latest"])).toBe(
      numberToHex(1, { size: 32 }),
    );
  });
});

describe("a hostile token that arrives", () => {
  it("a hostile token loses only its own balance, and a warning names it", async () => {
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
  it("lists one entry per transaction, newest first, at most 25, with block times", async () => {
    const token = await deployToken();
    const hashes: Hex[] = [];
    for (let i = 0; i < 30; i += 1) {
      hashes.unshift(i % 2 === 1 ? await transfer(token, numberedAddress(0x123), 1n) : await mint(token, 5n));
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

  it("says who sent each transaction", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    await transfer(token, FRIEND, 2n);
    const { activity } = await read([token]);
    expect(activity.map(({ sender, from, to }) => [sender, from, to])).toEqual([
      [wallet, wallet, FRIEND],
      [owner.toLowerCase(), numberedAddress(0), wallet],
    ]);
    const without = await stage.node((calls) =>
      calls.some(({ method }) => method === "eth_getTransactionByHash")
        ? { kind: "error", code: -32601, message: "the method does not exist" }
        : null,
    );
    const at = await stage.port(without, [token]).pin(signal);
    const unknown = await rpcHoldingsProvider.read({ at, wallet }, signal);
    expect(unknown.activity.map(({ sender }) => sender)).toEqual([null, null]);
    expect(unknown.warnings).toContain(
      "Local chain: who sent some transactions of recent activity could not be read.",
    );
  });

  it("keeps what others moved with the wallet's permission, and names them as sender", async () => {
    const token = await deployToken();
    await mint(token, 5n);
    await call(token, "approve", [owner, 5n], wallet);
    await call(token, "transferFrom", [wallet, FRIEND, 3n]);
    const { activity } = await read([token]);
    expect(activity[0]).toMatchObject({
      ...{ sender: owner.toLowerCase(), from: wallet, to: FRIEND, lookalike: false },
      transfer: { contract: token, rawAmount: 3n },
    });
  });

  it("activity cannot be poisoned by transfers of nothing, of unlisted tokens or of dust", async () => {
    const [token, fake] = [await deployToken(), await deployToken()];
    await mint(token, 100n);
    const paid = await transfer(token, FRIEND, 5n);
    for (let i = 0; i < 26; i += 1) {
      // The real token, an allowance of nothing: the log says that the wallet paid the lookalike.
      await call(token, "transferFrom", [wallet, LOOKALIKE, 0n]);
    }
    await call(fake, "mint", [LOOKALIKE, 5n]);
    await call(fake, "mint", [wallet, 5n]);
    const poisoned = await read([token]);
    expect(poisoned.activity.map(({ hash }) => hash)[0]).toBe(paid);
    expect(poisoned.activity.flatMap(({ from, to }) => [from, to])).not.toContain(LOOKALIKE);

    await call(token, "mint", [LOOKALIKE, 26n]);
    for (let i = 0; i < 26; i += 1) await call(token, "transferFrom", [LOOKALIKE, wallet, 0n]);
    await chain.request("hardhat_impersonateAccount", [LOOKALIKE]);
    await chain.request("hardhat_setBalance", [LOOKALIKE, numberToHex(10n ** 18n)]);
    for (let i = 0; i < 26; i += 1) await call(token, "transfer", [wallet, 1n], LOOKALIKE);
    const dusted = await read([token]);
    expect(dusted.activity).toHaveLength(25);
    expect(dusted.activity.find(({ hash }) => hash === paid)).toMatchObject({ to: FRIEND, lookalike: false });
    const fromLookalike = dusted.activity.filter(({ from }) => from === LOOKALIKE);
    expect(fromLookalike).toHaveLength(23);
    expect(fromLookalike.every(({ lookalike, sender }) => lookalike && sender === LOOKALIKE)).toBe(true);
  });

  it("keeps what the wallet did under a flood of gifts from third parties that are not lookalikes", async () => {
    const token = await deployToken();
    await mint(token, 100n);
    const paid: Hex[] = [];
    for (let i = 0; i < 3; i += 1) paid.unshift(await transfer(token, FRIEND, 1n));
    // Arrives in a transaction that the wallet signs, as the proceeds of a swap do.
    await call(token, "mint", [owner, 7n]);
    await call(token, "approve", [wallet, 7n]);
    const proceeds = await call(token, "transferFrom", [owner, wallet, 7n], wallet);
    for (let i = 0; i < 40; i += 1) await mint(token, 1n);
    const { activity } = await read([token]);
    expect(activity).toHaveLength(25);
    const own = activity.filter(({ sender }) => sender === wallet).map(({ hash }) => hash);
    expect(own).toEqual([proceeds, ...paid]);
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

  it("warns when activity cannot be read, and keeps balances", async () => {
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

// Last: what was logged stays in the activity of the wallet.
describe("a chain that logs transfers of its coin", () => {
  it("takes logs of the native coin (EIP-7708) for its transfers, and never for a token", async () => {
    const logNative = (from: Hex, to: Hex, amount: bigint, sender: Hex) => {
      const words = [BigInt(from), BigInt(to), amount].map((value) =>
        numberToHex(value, { size: 32 }).slice(2),
      );
      return send(NATIVE_TRANSFERS, `0x${words.join("")}`, sender);
    };
    await logNative(FRIEND, wallet, 7n, owner);
    await logNative(wallet, FRIEND, 5n, wallet);
    const { holdings, activity, transfers, warnings } = await read();
    expect(activity.slice(0, 2).map(({ from, to, transfer }) => [from, to, transfer])).toEqual([
      [wallet, FRIEND, { contract: null, rawAmount: 5n }],
      [FRIEND, wallet, { contract: null, rawAmount: 7n }],
    ]);
    expect(holdings.map(({ contract }) => contract)).not.toContain(NATIVE_TRANSFERS);
    expect(transfers?.map(({ contract }) => contract)).not.toContain(NATIVE_TRANSFERS);
    expect(warnings.join("\n")).not.toMatch(/fffe|leave no log/);
  });
});
