// A second source over real HTTP: every difference is reported, and neither its failure nor its delay costs a snapshot.
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { createFastClock } from "../../../tests/support/fast-clock.ts";
import {
  startVendorServer,
  type VendorRequest,
  type VendorResponse,
  type VendorServer,
} from "../../../tests/support/http/vendor-server.ts";
import {
  ETHER_ASSET,
  makeChainAccesses,
  makeChainConfig,
  makeHolding,
  makeListedToken,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Hex } from "../../lib/hex.ts";
import { Secret } from "../../lib/secret.ts";
import { createSnapshotReader } from "../snapshot.ts";
import { type Holding, quotePrice } from "../types.ts";
import { createGoldRush } from "./goldrush.ts";

const text = readFileSync(
  new URL("../../../tests/fixtures/cross-check/handwritten/goldrush-base.json", import.meta.url),
  "utf8",
);
const WALLET: Hex = "0x14dc79964da2c08b23698b3d3cc7ca32193d9955";
const KEY = "cqt_secret_key_0123456789";
const usdc = {
  ...makeListedToken(1, "USDC", 6),
  contract: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913" as Hex,
};
const other = makeListedToken(2, "OTHER");
const base = makeChainConfig("base", 8453, [usdc, other]);
const { signal } = new AbortController();

const started: VendorServer[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

const ETHER = makeHolding(ETHER_ASSET, 15n * 10n ** 17n);
const USDC = makeHolding(usdc, 1_234_567n);

type Setup = {
  readonly holdings?: readonly Holding[];
  readonly etherUsd?: bigint;
  readonly response?: VendorResponse | ((request: VendorRequest) => VendorResponse);
  readonly timeoutMs?: number;
};

async function readSnapshot({
  holdings = [ETHER, USDC],
  etherUsd = 3_000n,
  response = { text },
  timeoutMs,
}: Setup) {
  const respond = typeof response === "function" ? response : () => response;
  const vendor = await startVendorServer(respond);
  started.push(vendor);
  const reader = createSnapshotReader({
    chains: makeChainAccesses(base),
    provider: { name: "double", read: async () => ({ holdings, activity: [], warnings: [] }) },
    priceSources: [
      [
        {
          name: "feed",
          read: async () => ({
            prices: new Map([["native" as const, quotePrice({ units: etherUsd, scale: 0 })]]),
            warnings: [],
          }),
        },
      ],
    ],
    positionReaders: [],
    clock: createFastClock(1_700_000_000_000),
    crossCheck: createGoldRush({
      key: new Secret(KEY),
      baseUrl: vendor.url,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }),
  });
  const snapshot = await reader.read({ wallet: WALLET, slugs: ["base"] }, signal);
  return { vendor, snapshot, check: snapshot.crossCheck?.[0] };
}

const UNLISTED = "0x1003100310031003100310031003100310031003";

describe("a second opinion", () => {
  it("sends the second source one request per chain, with the key in a header only", async () => {
    const { vendor } = await readSnapshot({});
    expect(vendor.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /v1/base-mainnet/address/${WALLET}/balances_v2/?quote-currency=USD&nft=false`,
    ]);
    expect(vendor.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it("agrees on equal balances, and says what only the source has", async () => {
    const { check, snapshot } = await readSnapshot({});
    expect(check).toEqual({
      chain: "base",
      source: "goldrush",
      status: "compared",
      updatedAt: "2026-11-16T20:00:01.234Z",
      comparedCount: 2,
      differenceCount: 1,
      // Not on a list, so that its balance was not read: unknown, not zero. NFTs are not compared.
      differences: [{ kind: "only-there", contract: UNLISTED, symbol: null, ours: null, theirs: "7" }],
      ignoredSpamCount: 1,
    });
    expect(snapshot.summary.warnings).toContain(
      `${base.name}: goldrush reports 1 difference from what was read here; see crossCheck.`,
    );
  });

  it("reports balances to the last unit, prices beyond 2 %, and what the source lacks", async () => {
    const holdings = [makeHolding(ETHER_ASSET, ETHER.rawBalance + 1n), makeHolding(other, 3n)];
    const { check } = await readSnapshot({ holdings, etherUsd: 3_062n });
    expect(check?.differences).toEqual([
      {
        kind: "balance",
        contract: null,
        symbol: "ETH",
        ours: "1500000000000000001",
        theirs: "1500000000000000000",
      },
      { kind: "only-there", contract: UNLISTED, symbol: null, ours: null, theirs: "7" },
      { kind: "only-there", contract: usdc.contract, symbol: "USDC", ours: "0", theirs: "1234567" },
      { kind: "only-here", contract: other.contract, symbol: "OTHER", ours: "3", theirs: null },
      { kind: "price", contract: null, symbol: "ETH", ours: "3062", theirs: "3000.0638" },
    ]);
  });

  it("never shows a name that a third party chose", async () => {
    const { snapshot } = await readSnapshot({});
    expect(JSON.stringify(snapshot)).not.toContain("lure.example");
    expect(JSON.stringify(snapshot)).not.toContain("UNL");
  });

  it("lists the first fifty of a thousand differences, and counts them all", async () => {
    const payload = JSON.parse(text);
    const [, template] = payload.data.items;
    payload.data.items = Array.from({ length: 1_000 }, (_, i) => ({
      ...template,
      contract_address: `0x${(i + 1).toString(16).padStart(40, "0")}`,
    }));
    const { check } = await readSnapshot({ holdings: [], response: { text: JSON.stringify(payload) } });
    expect(check?.differenceCount).toBe(1_000);
    expect(check?.differences).toHaveLength(50);
  });

  const about = (change: (data: Record<string, unknown>) => void): VendorResponse => {
    const payload = JSON.parse(text);
    change(payload.data);
    return { text: JSON.stringify(payload) };
  };
  const withItem = (item: unknown) => about((data) => Object.assign(data, { items: [item] }));
  it.each<[string, Setup]>([
    ["an error", { response: { status: 402, text: "{}" } }],
    [
      "an error with status 200",
      { response: { text: '{"data":null,"error":true,"error_message":"no credits"}' } },
    ],
    ["a page", { response: { text: "<html>" } }],
    [
      "another wallet",
      { response: about((data) => Object.assign(data, { address: `0x${"11".repeat(20)}` })) },
    ],
    ["another chain", { response: about((data) => Object.assign(data, { chain_id: 1 })) }],
    ["an entry that is not an object", { response: withItem(7) }],
    ["an entry without an address", { response: withItem({ contract_address: "0x12", balance: "1" }) }],
    ["a negative balance", { response: withItem({ contract_address: usdc.contract, balance: "-1" }) }],
    ["a huge balance", { response: withItem({ contract_address: usdc.contract, balance: "9".repeat(79) }) }],
    ["no response", { response: { text: "", reset: true } }],
    ["silence", { response: { text: "", silent: true }, timeoutMs: 50 }],
  ])("marks a second source with %s as unavailable, and keeps the snapshot", async (_, setup) => {
    const { snapshot, check } = await readSnapshot(setup);
    expect(check).toMatchObject({ status: "unavailable", comparedCount: 0, differences: [] });
    expect(snapshot.summary.totalValueUsd).toBe("4500");
    expect(snapshot.summary.warnings).toContain(`${base.name}: goldrush could not be read to compare.`);
    expect(JSON.stringify(snapshot)).not.toContain(KEY);
  });
});
