// Balances on a real chain with hostile tokens, by the scanner in a state override and by Multicall3.

import {
  HOSTILE_CODE,
  HOSTILE_TOKENS,
  numberedAddress,
  paddedReturningCode,
  returningCode,
} from "@sextant/contracts/test/hostile-token-code";
import fc from "fast-check";
import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import type { FaultyNode } from "../../../../tests/support/nodes/faulty-node.ts";
import {
  rejectStateOverrides,
  startPortfolioStage,
} from "../../../../tests/support/portfolio/portfolio-stage.ts";
import { isFullDepth, runsOf } from "../../../../tests/support/test-depth.ts";
import { VAULT_REGISTRIES } from "../../positions/erc4626/registries.ts";
import { rpcHoldingsProvider } from "./provider.ts";

// Sixteen of each hostile kind, and tokens of many balances, zero and the largest among them.
const POOL_FIRST = 0xbeef00;
const balances = [0n, 1n, 7n, 10n ** 18n, 2n ** 128n, 2n ** 256n - 1n];
const pool = Array.from({ length: 96 }, (_, i) => {
  const kind = HOSTILE_TOKENS[i % 32];
  const balance = kind === undefined ? (balances[i % balances.length] ?? 0n) : null;
  return { address: numberedAddress(POOL_FIRST + i), kind: kind ?? null, balance };
});
const MANY_FIRST = 0x1000000;
// More than one call scans; at full depth, two calls with as many as one of them takes.
const many = Array.from({ length: isFullDepth() ? 5_000 : 2_600 }, (_, i) => ({
  address: numberedAddress(MANY_FIRST + i),
  balance: i % 500 === 499 ? BigInt(i) : 0n,
}));
const genesis: Record<Hex, Hex> = {};
for (const { address, kind, balance } of pool) {
  const code = kind === null ? returningCode(balance ?? 0n) : HOSTILE_CODE[kind];
  if (code !== null) genesis[address] = code;
}
for (const { address, balance } of many) genesis[address] = returningCode(balance);

const PADDED = numberedAddress(0xadded);
genesis[PADDED] = paddedReturningCode(7n);

// A vault of Morpho's listing on Base, which is on no list of tokens.
const [KNOWN_VAULT] = VAULT_REGISTRIES.get(8453)?.vaults ?? [];
if (KNOWN_VAULT) genesis[KNOWN_VAULT] = returningCode(9n);

const stage = await startPortfolioStage(genesis);
const { wallet } = stage;
const nodes = { scan: await stage.node(), multicall: await stage.node(rejectStateOverrides) };
const { signal } = new AbortController();

async function read(node: FaultyNode, tokens: readonly Hex[]) {
  const at = await stage.port(node, tokens).pin(signal);
  return rpcHoldingsProvider.read({ at, wallet }, signal);
}

function tokensOf({ holdings }: Awaited<ReturnType<typeof read>>) {
  return holdings
    .filter(({ contract }) => contract !== null)
    .map(({ contract, rawBalance }) => ({ contract, rawBalance }));
}

describe.each(["scan", "multicall"] as const)("balances (%s)", (method) => {
  it("reads the first word of a token that returns more as its balance", async () => {
    const result = await read(nodes[method], [PADDED]);
    expect(tokensOf(result)).toEqual([{ contract: PADDED, rawBalance: 7n }]);
    expect(result.warnings.filter((warning) => warning.includes("returned no balance"))).toEqual([]);
  });

  it("reads balances of vaults known by address, however old they are", async () => {
    const at = await stage.port(nodes[method], []).pin(signal);
    const onBase = { ...at, chain: { ...at.chain, chainId: 8453 } };
    const result = await rpcHoldingsProvider.read({ at: onBase, wallet }, signal);
    expect(tokensOf(result)).toEqual([{ contract: KNOWN_VAULT, rawBalance: 9n }]);
    expect(tokensOf(await read(nodes[method], []))).toEqual([]);
  });

  it("balances match a plain model for any list, and a warning names failed tokens", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.constantFrom(...pool), { maxLength: 60 }), async (listed) => {
        const result = await read(
          nodes[method],
          listed.map(({ address }) => address),
        );
        const held = listed.flatMap(({ address, balance }) =>
          balance === null || balance === 0n ? [] : [{ contract: address, rawBalance: balance }],
        );
        expect(sorted(tokensOf(result))).toEqual(sorted(held));
        const failed = listed.filter(({ balance }) => balance === null);
        const warnings = result.warnings.filter((warning) => warning.includes("returned no balance"));
        expect(warnings).toHaveLength(failed.length > 0 ? 1 : 0);
        if (failed.length === 0) return;
        expect(warnings[0]).toContain(`${failed.length} listed token`);
        const named = failed.filter(({ address }) => warnings[0]?.includes(address));
        expect(named).toHaveLength(Math.min(3, failed.length));
      }),
      { numRuns: runsOf(method === "scan" ? 25 : 12) },
    );
  });

  it(`reads balances of ${many.length} listed tokens in as many rounds as those of 5`, async () => {
    const held = many
      .filter(({ balance }) => balance > 0n)
      .map(({ address, balance }) => ({ contract: address, rawBalance: balance }));
    const countRequests = async (tokens: readonly Hex[]) => {
      // A new node for each list, so that neither benefits from what was learned with the other.
      const node = await stage.node(method === "scan" ? undefined : rejectStateOverrides);
      const result = await read(node, tokens);
      // A slow machine may get the searches of transfers twice.
      const isSearch = (calls: (typeof node.requests)[number]) =>
        calls.some(({ method: called }) => called === "eth_getLogs");
      return { result, requests: node.requests.filter((calls) => !isSearch(calls)).length };
    };
    const few = await countRequests(many.slice(495, 500).map(({ address }) => address));
    const all = await countRequests(many.map(({ address }) => address));
    expect(tokensOf(few.result)).toEqual(held.slice(0, 1));
    expect(tokensOf(all.result)).toEqual(held);
    // The block, the native balance and the scan; or two rejections and one Multicall3 batch.
    expect(few.requests).toBe(method === "scan" ? 3 : 5);
    // The long list is scanned in two concurrent halves; without override support each half is rejected once.
    expect(all.requests).toBe(method === "scan" ? 4 : 7);
  }, 120_000);
});

describe("the provider", () => {
  it("reads what tokens say of themselves along with the last balances, in no round trip more", async () => {
    const [held] = pool.filter(({ balance }) => balance === 7n);
    const listed = [held?.address as Hex];
    const node = await stage.node();
    const at = await stage.port(node, listed).pin(signal);
    const readWith = async (withMetadata: boolean) => {
      let rounds = 0;
      const counting: typeof at = {
        ...at,
        read: (calls, stop) => {
          rounds += 1;
          return at.read(calls, stop);
        },
      };
      const result = await rpcHoldingsProvider.read({ at: counting, wallet, withMetadata }, signal);
      return { metadata: result.metadata, rounds };
    };
    expect(await readWith(false)).toEqual({ metadata: undefined, rounds: 0 });
    // The code returns the same word whatever it is asked for.
    const said = { decimals: 7, symbol: null, name: null };
    expect(await readWith(true)).toEqual({
      metadata: { listed: new Map([[held?.address, said]]), unlisted: new Map() },
      rounds: 1,
    });
  });

  it("lists the native coin first, with the chain's metadata", async () => {
    const { holdings } = await read(nodes.scan, [pool.find(({ balance }) => balance === 7n)?.address as Hex]);
    expect(holdings[0]).toMatchObject({
      contract: null,
      symbol: "ETH",
      name: "Ether",
      decimals: 18,
      logo: null,
    });
    expect(holdings[0]?.rawBalance).toBe(
      BigInt((await stage.chain.request("eth_getBalance", [wallet, "latest"])) as Hex),
    );
    const empty = await rpcHoldingsProvider.read(
      { at: await stage.port(nodes.scan).pin(signal), wallet: numberedAddress(0xabc) },
      signal,
    );
    expect(empty.holdings).toEqual([]);
  });

  it("remembers that a node rejects state overrides", async () => {
    const node = await stage.node(rejectStateOverrides);
    const port = stage.port(node, [many[499]?.address as Hex]);
    const overrideCalls = () => node.requests.flat().filter(({ params }) => params.length > 2).length;
    await rpcHoldingsProvider.read({ at: await port.pin(signal), wallet }, signal);
    expect(overrideCalls()).toBe(2);
    await rpcHoldingsProvider.read({ at: await port.pin(signal), wallet }, signal);
    expect(overrideCalls()).toBe(2);
  });

  it("rejects when a node has neither state overrides nor Multicall3", async () => {
    const node = await stage.node(rejectStateOverrides);
    const at = await stage.port(node, [many[499]?.address as Hex]).pin(signal);
    // As on a chain where Multicall3 was never deployed: the account is empty.
    const read = async (calls: readonly { readonly to: Hex }[]) => calls.map(() => "0x" as const);
    await expect(rpcHoldingsProvider.read({ at: { ...at, read }, wallet }, signal)).rejects.toMatchObject({
      code: "NODE_REFUSED",
    });
  });

  it("rejects when a balance cannot be read, and when the caller aborts", async () => {
    const node = await stage.node((calls) =>
      calls.some(({ method }) => method === "eth_getBalance") ? { kind: "status", status: 500 } : null,
    );
    const at = await stage.port(node, []).pin(signal);
    await expect(rpcHoldingsProvider.read({ at, wallet }, signal)).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
    });
    const reason = new Error("aborted");
    const fine = await stage.port(nodes.scan, []).pin(signal);
    await expect(rpcHoldingsProvider.read({ at: fine, wallet }, AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
  });

  it("rejects an invalid scan result", async () => {
    const at = await stage.port(nodes.scan, [many[0]?.address as Hex]).pin(signal);
    const encodeWords = (words: readonly bigint[]) =>
      `0x${words.map((word) => word.toString(16).padStart(64, "0")).join("")}` as Hex;
    // A balance of token 5 of one; more scanned tokens than requested; not ABI-encoded.
    const invalidResults = [
      encodeWords([96n, 192n, 1n, 1n, 5n, 9n, 0n]),
      encodeWords([96n, 128n, 2n, 0n, 0n]),
      "0x1234" as const,
    ];
    for (const result of invalidResults) {
      const callWithOverride = async () => result;
      await expect(
        rpcHoldingsProvider.read({ at: { ...at, callWithOverride }, wallet }, signal),
      ).rejects.toMatchObject({
        code: "NODE_UNAVAILABLE",
      });
    }
  });
});

function sorted(list: { contract: Hex | null; rawBalance: bigint }[]) {
  return [...list].sort((a, b) => String(a.contract).localeCompare(String(b.contract)));
}
