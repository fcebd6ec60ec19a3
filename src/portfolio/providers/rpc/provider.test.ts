// Balances on a real chain, hostile tokens among the good ones, by the lent scanner and through Multicall3.

import {
  HOSTILE_CODE,
  HOSTILE_TOKENS,
  numberedAddress,
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
const many = Array.from({ length: 5_000 }, (_, i) => ({
  address: numberedAddress(MANY_FIRST + i),
  balance: i % 500 === 499 ? BigInt(i) : 0n,
}));
const genesis: Record<Hex, Hex> = {};
for (const { address, kind, balance } of pool) {
  const code = kind === null ? returningCode(balance ?? 0n) : HOSTILE_CODE[kind];
  if (code !== null) genesis[address] = code;
}
for (const { address, balance } of many) genesis[address] = returningCode(balance);

const stage = await startPortfolioStage(genesis);
const { wallet } = stage;
const ways = { lent: await stage.node(), multicall: await stage.node(rejectStateOverrides) };
const signal = AbortSignal.timeout(300_000);

async function read(node: FaultyNode, tokens: readonly Hex[]) {
  const at = await stage.port(node, tokens).pin(signal);
  return rpcHoldingsProvider.read({ at, wallet }, signal);
}

function tokensOf({ holdings }: Awaited<ReturnType<typeof read>>) {
  return holdings
    .filter(({ contract }) => contract !== null)
    .map(({ contract, rawBalance }) => ({ contract, rawBalance }));
}

describe.each(["lent", "multicall"] as const)("balances (%s)", (way) => {
  it("are those of a plain model for any list, and name every token that failed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.constantFrom(...pool), { maxLength: 60 }), async (listed) => {
        const answer = await read(
          ways[way],
          listed.map(({ address }) => address),
        );
        const held = listed.flatMap(({ address, balance }) =>
          balance === null || balance === 0n ? [] : [{ contract: address, rawBalance: balance }],
        );
        expect(sorted(tokensOf(answer))).toEqual(sorted(held));
        const failed = listed.filter(({ balance }) => balance === null);
        const said = answer.warnings.filter((warning) => warning.includes("gave no balance"));
        expect(said).toHaveLength(failed.length > 0 ? 1 : 0);
        if (failed.length === 0) return;
        expect(said[0]).toContain(`${failed.length} listed token`);
        const named = failed.filter(({ address }) => said[0]?.includes(address));
        expect(named).toHaveLength(Math.min(3, failed.length));
      }),
      { numRuns: way === "lent" ? 25 : 12 },
    );
  });

  it("of 5,000 listed tokens take as many rounds as those of 5", async () => {
    const held = many
      .filter(({ balance }) => balance > 0n)
      .map(({ address, balance }) => ({ contract: address, rawBalance: balance }));
    const askedFor = async (tokens: readonly Hex[]) => {
      // Fresh, so that neither list profits from what was learnt with the other.
      const node = await stage.node(way === "lent" ? undefined : rejectStateOverrides);
      const answer = await read(node, tokens);
      return { answer, requests: node.requests.length };
    };
    const few = await askedFor(many.slice(495, 500).map(({ address }) => address));
    const all = await askedFor(many.map(({ address }) => address));
    expect(tokensOf(few.answer)).toEqual(held.slice(0, 1));
    expect(tokensOf(all.answer)).toEqual(held);
    // The block, the coin, two sides of transfers, and the scan; or two refusals and one batch for Multicall3.
    expect(few.requests).toBe(way === "lent" ? 5 : 7);
    // The long list is scanned by halves at the same time; where scans are refused, each half hears it.
    expect(all.requests).toBe(way === "lent" ? 6 : 9);
  }, 120_000);
});

describe("the provider", () => {
  it("shows the native coin first, with what the chain's facts say about it", async () => {
    const { holdings } = await read(ways.lent, [pool.find(({ balance }) => balance === 7n)?.address as Hex]);
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
      { at: await stage.port(ways.lent).pin(signal), wallet: numberedAddress(0xabc) },
      signal,
    );
    expect(empty.holdings).toEqual([]);
  });

  it("learns that a node does not lend, and asks it only once", async () => {
    const node = await stage.node(rejectStateOverrides);
    const port = stage.port(node, [many[499]?.address as Hex]);
    const lends = () => node.requests.flat().filter(({ params }) => params.length > 2).length;
    await rpcHoldingsProvider.read({ at: await port.pin(signal), wallet }, signal);
    expect(lends()).toBe(2);
    await rpcHoldingsProvider.read({ at: await port.pin(signal), wallet }, signal);
    expect(lends()).toBe(2);
  });

  it("rejects when a node neither lends nor has Multicall3", async () => {
    const node = await stage.node(rejectStateOverrides);
    const at = await stage.port(node, [many[499]?.address as Hex]).pin(signal);
    // As on a chain where Multicall3 was never deployed: the account is empty.
    const read = async (calls: readonly { readonly to: Hex }[]) => calls.map(() => "0x" as const);
    await expect(rpcHoldingsProvider.read({ at: { ...at, read }, wallet }, signal)).rejects.toMatchObject({
      code: "NODE_REFUSED",
    });
  });

  it("rejects when a balance can not be read, and when nobody waits any more", async () => {
    const node = await stage.node((calls) =>
      calls.some(({ method }) => method === "eth_getBalance") ? { kind: "status", status: 500 } : null,
    );
    const at = await stage.port(node, []).pin(signal);
    await expect(rpcHoldingsProvider.read({ at, wallet }, signal)).rejects.toMatchObject({
      code: "NODE_UNAVAILABLE",
    });
    const reason = new Error("nobody waits");
    const fine = await stage.port(ways.lent, []).pin(signal);
    await expect(rpcHoldingsProvider.read({ at: fine, wallet }, AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
  });

  it("refuses a scan that can not be true", async () => {
    const at = await stage.port(ways.lent, [many[0]?.address as Hex]).pin(signal);
    const lie = (words: readonly bigint[]) =>
      `0x${words.map((word) => word.toString(16).padStart(64, "0")).join("")}` as Hex;
    // A holding of token 5 among one asked; more tokens asked than there are; not an answer at all.
    const lies = [lie([96n, 192n, 1n, 1n, 5n, 9n, 0n]), lie([96n, 128n, 2n, 0n, 0n]), "0x1234" as const];
    for (const answer of lies) {
      const readLent = async () => answer;
      await expect(
        rpcHoldingsProvider.read({ at: { ...at, callWithOverride: readLent }, wallet }, signal),
      ).rejects.toMatchObject({
        code: "NODE_UNAVAILABLE",
      });
    }
  });
});

function sorted(list: { contract: Hex | null; rawBalance: bigint }[]) {
  return [...list].sort((a, b) => String(a.contract).localeCompare(String(b.contract)));
}
