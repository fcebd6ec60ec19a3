// The schema accepts real snapshots, requires every specified key, and rejects undocumented ones.

import type { PortfolioSnapshot as ClientSnapshot } from "@sextant/client/sextant";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import {
  ETHER_ASSET,
  makeChainConfig,
  makeChainData,
  makeHolding,
  makeListedToken,
  makePosition,
  makePrices,
  numberedContract,
  TEST_WALLET,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import { compareHoldings, reportUnavailable } from "../../portfolio/cross-check/cross-check.ts";
import { valueSnapshot } from "../../portfolio/valuation/value-snapshot.ts";
import { FOREIGN_TEXT } from "../json-schema.ts";
import { exampleSnapshot } from "./examples.ts";
import { type PortfolioSnapshot, portfolioSnapshotSchema } from "./snapshot.ts";

const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  allErrors: true,
  formats: { "date-time": isTime },
});
ajv.addKeyword(FOREIGN_TEXT);
const valid = ajv.compile(portfolioSnapshotSchema);

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);
}

const usdc = makeListedToken(1, "USDC", 6);
const odd = {
  ...makeListedToken(2, "ODD"),
  symbol: null,
  name: null,
  decimals: null,
  logo: "https://logo.example/odd.png",
};
const hash = `0x${"cd".repeat(32)}` as const;
const full = valueSnapshot({
  ...{ wallet: TEST_WALLET, takenAtMs: 1, provider: "rpc" },
  chains: [
    makeChainData(makeChainConfig("base", 8453, [usdc], { stablecoins: new Set([usdc.contract]) }), {
      holdings: [
        makeHolding(ETHER_ASSET, 15n * 10n ** 17n),
        makeHolding(usdc, 1_234_567n),
        makeHolding(odd, 2n ** 200n),
      ],
      prices: makePrices({ native: "2000.12", [usdc.contract]: "1" }),
      positions: [
        makePosition({ kind: "borrowed", contract: numberedContract(7), assets: [makeHolding(usdc, 1n)] }),
        makePosition({ name: "none", assets: [makeHolding(odd, 1n)] }),
      ],
      activity: [
        {
          ...{ hash, from: TEST_WALLET, to: null, blockNumber: 3, timestamp: 4 },
          ...{ sender: TEST_WALLET, lookalike: false },
          transfer: { contract: usdc.contract, rawAmount: 1_234_567n },
        },
        {
          ...{ hash, from: null, to: TEST_WALLET, blockNumber: null, timestamp: null },
          ...{ sender: null, lookalike: true, transfer: null },
        },
      ],
    }),
    makeChainData(makeChainConfig("ethereum", 1)),
  ],
});

// As the specification lists them.
const PRICE_KEYS = ["priceSource", "priceContract", "priceTimestamp"];

const SPECIFIED = {
  snapshot: [
    "address",
    "timestamp",
    "chains",
    "summary",
    "tokens",
    "positions",
    "recentActivity",
    "accounts",
    "health",
    "gas",
    "name",
    "blocks",
    "provider",
  ],
  summary: [
    ...["totalValueUsd", "pricedTokenCount", "unpricedTokenCount", "tokenCount", "stablecoinValueUsd"],
    ...["chains", "topHoldings", "warnings", "unlistedValueUsd"],
  ],
  chain: ["chain", "tokenCount", "pricedTokenCount", "unpricedTokenCount", "totalValueUsd"],
  top: ["chain", "contract", "symbol", "name", "valueUsd"],
  token: [
    ...["chain", "chainId", "contract", "symbol", "name", "decimals", "logo", "rawBalance", "balance"],
    ...["priceUsd", "valueUsd", "spam", ...PRICE_KEYS],
  ],
  position: [
    ...["chain", "chainId", "protocol", "kind", "name", "contract", "assets", "valueUsd", "partial"],
    "selfReported",
  ],
  asset: [
    ...["contract", "symbol", "name", "decimals", "rawBalance", "balance", "priceUsd", "valueUsd"],
    ...PRICE_KEYS,
  ],
  activity: ["chain", "hash", "from", "to", "blockNumber", "timestamp", "sender", "lookalike", "transfer"],
};

/** The part of a snapshot that an entry of SPECIFIED describes. */
function partOf(snapshot: typeof full, name: string): object | undefined {
  const parts: Record<string, object | undefined> = {
    snapshot,
    summary: snapshot.summary,
    chain: snapshot.summary.chains[0],
    top: snapshot.summary.topHoldings[0],
    token: snapshot.tokens[0],
    position: snapshot.positions[0],
    asset: snapshot.positions[0]?.assets[0],
    activity: snapshot.recentActivity[0],
  };
  return parts[name];
}

/** The same shape as a client parses it: plain objects and arrays. */
type Parsed<T> = T extends object ? { -readonly [K in keyof T]: Parsed<T[K]> } : T;

describe("the types for clients", () => {
  it("the types for clients fit what the service returns, and nothing less", () => {
    const snapshot: ClientSnapshot = structuredClone(full) as Parsed<PortfolioSnapshot>;
    const example: ClientSnapshot = exampleSnapshot as Parsed<PortfolioSnapshot>;
    expect([snapshot.tokens.length, example.tokens.length]).toEqual([3, 3]);
    // @ts-expect-error An unknown total is null, and a client has to expect it.
    const total: string = snapshot.summary.totalValueUsd;
    // @ts-expect-error Amounts are text.
    const price: number | null | undefined = snapshot.tokens[0]?.priceUsd;
    // @ts-expect-error There is no such kind.
    const isLoan = snapshot.positions[0]?.kind === "loan";
    expect([typeof total, typeof price, isLoan]).toEqual(["string", "string", false]);
    const { summary, ...incomplete } = snapshot;
    // @ts-expect-error Every part is there.
    const rejected: ClientSnapshot = incomplete;
    expect(Object.keys(rejected)).not.toContain("summary");
    expect(summary.chains.length).toBe(2);
  });
});

describe("the schema of a snapshot", () => {
  it("accepts a full snapshot and an empty one", () => {
    expect(valid(full), JSON.stringify(valid.errors)).toBe(true);
    const empty = valueSnapshot({
      ...{
        wallet: TEST_WALLET,
        takenAtMs: 0,
        provider: "rpc",
        chains: [makeChainData(makeChainConfig("base", 8453))],
      },
    });
    expect(valid(empty), JSON.stringify(valid.errors)).toBe(true);
  });

  it("accepts the report of a second source, and nothing undocumented in it", () => {
    const chain = makeChainConfig("base", 8453, [usdc]);
    const own = { chain, holdings: [makeHolding(usdc, 5n)], prices: makePrices({}) };
    const opinion = {
      holdings: [{ contract: usdc.contract, rawBalance: 4n, priceUsd: null, isSpam: false }],
      updatedAt: "2026-11-16T20:00:01.234Z",
    };
    const compared = compareHoldings("goldrush", own, opinion);
    const crossCheck = [compared, reportUnavailable("goldrush", chain)];
    expect(valid({ ...full, crossCheck }), JSON.stringify(valid.errors)).toBe(true);
    expect(valid({ ...full, crossCheck: [{ ...compared, surprise: 1 }] })).toBe(false);
  });

  it.each(Object.entries(SPECIFIED))("%s has exactly the specified keys, all required", (name, keys) => {
    expect(Object.keys(partOf(full, name) ?? {}).sort()).toEqual([...keys].sort());
    for (const key of keys) {
      const incomplete = structuredClone(full);
      Reflect.deleteProperty(partOf(incomplete, name) ?? {}, key);
      expect(valid(incomplete), key).toBe(false);
    }
    const more = structuredClone(full);
    Object.assign(partOf(more, name) ?? {}, { surprise: 1 });
    expect(valid(more)).toBe(false);
  });

  it.each([
    ["token", { valueUsd: 1 }],
    ["token", { valueUsd: "1e3" }],
    ["token", { valueUsd: "1.0" }],
    ["token", { valueUsd: "1.1234567" }],
    ["token", { balance: "-1" }],
    ["token", { rawBalance: "0x1" }],
    ["token", { chainId: "8453" }],
    ["token", { contract: TEST_WALLET.toUpperCase() }],
    ["top", { valueUsd: null }],
    ["position", { kind: "loaned" }],
    ["activity", { timestamp: 4 }],
    ["snapshot", { chains: [] }],
  ])("rejects a %s with %j", (name, wrong) => {
    const snapshot = structuredClone(full);
    Object.assign(partOf(snapshot, name) ?? {}, wrong);
    expect(valid(snapshot)).toBe(false);
  });
});

describe("words of other people", () => {
  it("marks every name and symbol, those of the wallet and of accounts too", () => {
    const unmarked: string[] = [];
    const visit = (schema: unknown, path: string): void => {
      if (typeof schema !== "object" || schema === null) return;
      for (const [key, each] of Object.entries(schema)) {
        const isNamed = path.endsWith(".properties") && (key === "name" || key === "symbol");
        if (isNamed && each[FOREIGN_TEXT] !== true) unmarked.push(`${path}.${key}`);
        visit(each, `${path}.${key}`);
      }
    };
    visit(portfolioSnapshotSchema, "");
    // The coin of a chain has its symbol from our own data.
    expect(unmarked).toEqual([".properties.gas.items.properties.symbol"]);
  });
});
