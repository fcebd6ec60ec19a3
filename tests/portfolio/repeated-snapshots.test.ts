// Snapshots of wallets that were read before: whatever happens in between, they are those of a process that has just started.
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { plainTokenAbi } from "@sextant/contracts/generated/plain-token";
import { vault4626Abi } from "@sextant/contracts/generated/vault4626";
import type { LocalChain } from "@sextant/local-chain/local-chain";
import fc from "fast-check";
import { type Abi, decodeFunctionData, encodeFunctionData } from "viem";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { createPaidReads } from "../../bench/portfolio/paid-reads.ts";
import { openTokenMarket, type TokenMarket } from "../../bench/portfolio/token-market.ts";
import { MULTICALL3 } from "../../src/chain/aggregate3.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import type { Hex } from "../../src/lib/hex.ts";
import { Secret } from "../../src/lib/secret.ts";
import type { ContractRead, PinnedChain, PortfolioChain } from "../../src/portfolio/types.ts";
import { silentLog } from "../support/quiet-log.ts";
import { runsOf } from "../support/test-depth.ts";

const CHAIN_ID = 10;
// Dollars, wrapped ether, a vault and two tokens; whatever else the wallets hold is on no list.
const LISTED = 5;

let chain: LocalChain;
let market: TokenMarket;

beforeAll(async () => {
  ({ chain, market } = await openTokenMarket(CHAIN_ID, LISTED, 1));
});
afterAll(() => chain?.stop());
// A part of a snapshot is left out after seconds, which a busy machine needs.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  return () => vi.useRealTimers();
});

/** A process that has just started. */
function openReads(observe?: (access: PortfolioChain) => PortfolioChain) {
  const client = createRpc({ urls: [new Secret(chain.rpcUrl)], log: silentLog, onCall: null });
  onTestFinished(() => client.close());
  const node = { ...market, url: chain.rpcUrl, rpc: client };
  const { snapshot } = createPaidReads({ nodes: [node], tokens: LISTED, ...(observe && { observe }) });
  return async (wallet: Hex) => {
    const { timestamp, ...rest } = await snapshot(wallet);
    return rest;
  };
}

type Change =
  | { readonly kind: "mint" | "send"; readonly token: number; readonly share: number }
  | { readonly kind: "deposit" | "redeem"; readonly share: number }
  | { readonly kind: "pay" | "idle" };

const share = fc.integer({ min: 1, max: 100 });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constantFrom("mint", "send"), token: fc.nat({ max: 6 }), share }),
  fc.record({ kind: fc.constantFrom("deposit", "redeem"), share }),
  fc.record({ kind: fc.constantFrom("pay", "idle") }),
);

async function send(to: Hex, data: Hex, { from = market.wallet, value = "0x0" } = {}): Promise<void> {
  // Whatever fails changes nothing, which is a case of its own.
  await chain.request("eth_sendTransaction", [{ from, to, data, value }]).catch(() => undefined);
}

const encode = (abi: Abi, functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi, functionName, args });

async function apply(each: Change): Promise<void> {
  const [other = "0x"] = market.otherWallets;
  const contractOf = (index: number) => market.held[index]?.contract ?? "0x";
  const [dollars, vault] = [contractOf(0), contractOf(2)];
  const owned = async (token: Hex, percent: number) => {
    const data = encode(plainTokenAbi, "balanceOf", [market.wallet]);
    const balance = await chain.request("eth_call", [{ to: token, data }, "latest"]);
    return (BigInt(balance as string) * BigInt(percent)) / 100n;
  };
  if (each.kind === "mint" || each.kind === "send") {
    const token = contractOf(3 + each.token);
    const data =
      each.kind === "mint"
        ? encode(plainTokenAbi, "mint", [each.share > 50 ? other : market.wallet, BigInt(each.share)])
        : encode(plainTokenAbi, "transfer", [other, await owned(token, each.share)]);
    await send(token, data, each.kind === "mint" ? { from: chain.accounts.owner.address } : {});
  }
  if (each.kind === "deposit") {
    const amount = await owned(dollars, each.share);
    await send(dollars, encode(plainTokenAbi, "approve", [vault, amount]));
    await send(vault, encode(vault4626Abi, "deposit", [amount, market.wallet]));
  }
  if (each.kind === "redeem") {
    const shares = await owned(vault, each.share);
    await send(vault, encode(vault4626Abi, "redeem", [shares, market.wallet, market.wallet]));
  }
  if (each.kind === "pay") await send(other, "0x", { value: "0x2540be400" });
  await chain.mine();
}

it("returns what a new process returns, whatever the wallets did since their last snapshot", async () => {
  const wallets = [market.wallet, ...market.otherWallets];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(change, { maxLength: 3 }), { minLength: 2, maxLength: 3 }),
      async (steps) => {
        const read = openReads();
        for (const changes of [[], ...steps]) {
          for (const each of changes) await apply(each);
          for (const wallet of wallets) expect(await read(wallet)).toEqual(await openReads()(wallet));
        }
      },
    ),
    { numRuns: runsOf(64, { min: 4 }) },
  );
});

it("asks for a wallet what a new process asks, whichever wallet was read before", async () => {
  const observe = (asked: string[]) => (access: PortfolioChain) => ({
    ...access,
    pin: async (...query: Parameters<PortfolioChain["pin"]>) => {
      const at = await access.pin(...query);
      const read: PinnedChain["read"] = (calls, signal) => {
        asked.push(...calls.map(({ data }) => data));
        return at.read(calls, signal);
      };
      return { ...at, read };
    },
  });
  const [other = "0x"] = market.otherWallets;
  const [asked, askedByNew]: [string[], string[]] = [[], []];
  const read = openReads(observe(asked));
  await read(market.wallet);
  await read(market.wallet);
  await chain.mine();
  asked.length = 0;
  await read(other);
  await openReads(observe(askedByNew))(other);
  expect(asked.sort()).toEqual(askedByNew.sort());
});

it("reads feeds, names and rates once for all wallets of a block", async () => {
  const calls: ContractRead[] = [];
  const observe = (access: PortfolioChain): PortfolioChain => ({
    ...access,
    pin: async (...query) => {
      const at = await access.pin(...query);
      const read: PinnedChain["read"] = (asked, signal) => {
        calls.push(...asked.flatMap(unpackMulticall));
        return at.read(asked, signal);
      };
      return { ...at, read };
    },
  });
  // Calls to addresses without code are repeated: perhaps the node only does not know it.
  const deployed = new Set([
    ...market.held.map(({ contract }) => contract),
    ...Object.values(market.feeds.tokens).map(({ feed }) => feed.toLowerCase()),
  ]);
  const listShared = (wallet: Hex) =>
    calls.splice(0).filter(({ to, data }) => deployed.has(to) && !data.includes(wallet.slice(2)));
  const [other = "0x"] = market.otherWallets;
  const read = openReads(observe);
  await read(market.wallet);
  expect(listShared(market.wallet).length).toBeGreaterThan(market.held.length);
  const { tokens } = await read(other);
  expect(tokens.length).toBeGreaterThan(2);
  expect(listShared(other)).toEqual([]);
});

function unpackMulticall({ to, data }: ContractRead): readonly ContractRead[] {
  if (to !== MULTICALL3) return [{ to, data }];
  const { args } = decodeFunctionData({ abi: multicall3Abi, data });
  const [inner] = args as readonly [readonly { readonly target: Hex; readonly callData: Hex }[]];
  return inner.map(({ target, callData }) => ({ to: target.toLowerCase() as Hex, data: callData }));
}
