// DefiLlama over real HTTP: exact prices, and none when in doubt.
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { openFailingChain } from "../../../tests/support/chain/recorded-chain.ts";
import {
  startVendorServer,
  type VendorRequest,
  type VendorResponse,
  type VendorServer,
} from "../../../tests/support/http/vendor-server.ts";
import { makeChainConfig } from "../../../tests/support/portfolio/portfolio-parts.ts";
import {
  describePriceSource,
  nativeAsset,
  priceTexts,
  tokenAsset,
} from "../../../tests/support/portfolio/price-source-suite.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ListedToken, PinnedChain } from "../types.ts";
import { createDefiLlamaSource, type DefiLlamaOptions } from "./defillama.ts";

const fixture = readFileSync(
  new URL("../../../tests/fixtures/prices/handwritten/defillama.json", import.meta.url),
  "utf8",
);
const { signal } = new AbortController();
const NOW = 1_763_164_801;
const address = (four: string): Hex => `0x${four.repeat(10)}`;
const KNOWN = address("1001");
const LISTED = [KNOWN, ...["1002", "1003", "100a"].map(address)];

const started: VendorServer[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function open(
  response: VendorResponse | ((request: VendorRequest) => VendorResponse),
  options: Partial<DefiLlamaOptions> = {},
) {
  const server = await startVendorServer(typeof response === "function" ? response : () => response);
  started.push(server);
  return { server, source: createDefiLlamaSource({ baseUrl: server.url, ...options }) };
}

// DefiLlama needs no node, so the node may be down.
function baseAt(timestamp = NOW, listed: readonly Hex[] = LISTED): PinnedChain {
  const block = { number: 38_143_727, hash: `0x${"ab".repeat(32)}` as Hex, timestamp };
  const tokens = listed.map((contract): ListedToken => ({ ...tokenAsset(contract), contract, decimals: 18 }));
  return openFailingChain({ chain: makeChainConfig("base", 8453, tokens), block, calls: [] });
}

describePriceSource("DefiLlama", {
  open: async (scenario) => {
    const { server, source } = await open(
      scenario === "failing" ? { status: 502, text: "<html>bad gateway</html>" } : { text: fixture },
    );
    const at = baseAt(scenario === "stale" ? NOW + 7_200 : NOW);
    return { source, at, roundTrips: () => server.requests.length };
  },
  known: { asset: tokenAsset(KNOWN), price: "0.0425" },
  exact: { asset: tokenAsset(address("1002")), price: "0.000000000001234567890123456789" },
  zero: { asset: tokenAsset(address("1003")), price: "0" },
  roundTripsMax: 5,
});

describe("DefiLlama", () => {
  it("requests the coins of the chain, the native one by the zero address", async () => {
    const { server, source } = await open({ text: fixture });
    const assets = [nativeAsset, tokenAsset(KNOWN), tokenAsset(address("100a"))];
    const result = await source.read({ at: baseAt(), assets }, signal);
    expect(priceTexts(result)).toEqual({
      native: "3182.4571304219997",
      [KNOWN]: "0.0425",
      [address("100a")]: "1500000000000000000000",
    });
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /prices/current/base:0x${"0".repeat(40)},base:${KNOWN},base:${address("100a")}`,
    ]);
  });

  it("rejects low-confidence, stale, negative and invalid prices, and accepts one without confidence", async () => {
    const { source } = await open({ text: fixture });
    const contracts = ["1004", "1005", "1006", "1007", "1008", "1009"].map(address);
    const assets = contracts.map((contract) => tokenAsset(contract));
    const result = await source.read({ at: baseAt(NOW, contracts), assets }, signal);
    expect(priceTexts(result)).toEqual({ [address("1006")]: "1.5" });
    expect(result.warnings).toEqual([]);
  });

  it("prices no token that is on no list, however sure the vendor is, and says so", async () => {
    const { source } = await open({ text: fixture });
    const [known, quiet, unsure] = [KNOWN, address("1006"), address("1004")];
    const assets = [nativeAsset, tokenAsset(known), tokenAsset(quiet), tokenAsset(unsure)];
    const unlisted = await source.read({ at: baseAt(NOW, []), assets }, signal);
    expect(priceTexts(unlisted)).toEqual({ native: "3182.4571304219997" });
    expect(unlisted.prices.get("native")?.payableUsdMax).toBeNull();
    // They have a price, if not one to believe: that is not a sign of spam.
    expect(unlisted.unasked).toEqual(new Set([known, quiet]));

    const listed = await source.read({ at: baseAt(NOW, [known, quiet]), assets }, signal);
    expect(listed.prices.get(known)?.payableUsdMax).toBeNull();
    expect(listed.prices.get(quiet)?.payableUsdMax).toBeNull();
  });

  it("splits large requests, and keeps the prices of those that succeed", async () => {
    const { server, source } = await open(({ path }) =>
      path.includes(KNOWN) ? { text: fixture } : { status: 500, text: "" },
    );
    const many = Array.from({ length: 80 }, (_, i) => tokenAsset(address(`20${i + 10}`)));
    const assets = [...many.slice(0, 10), tokenAsset(KNOWN), ...many.slice(10)];
    const result = await source.read({ at: baseAt(), assets }, signal);
    expect(server.requests).toHaveLength(2);
    expect(priceTexts(result)).toEqual({ [KNOWN]: "0.0425" });
    expect(result.warnings).toEqual(["Prices from DefiLlama for Base may be missing: it did not respond."]);
    // The six tokens of the second request: their missing prices say nothing about them.
    expect(result.unasked).toEqual(new Set(many.slice(-6).map(({ contract }) => contract)));
  });

  it.each([
    ["is not JSON", { text: '{"coins": {' }],
    ["has no coins", { text: "[]" }],
    ["is too long", { text: `{"coins":{"x":"${"x".repeat(300_000)}"}}` }],
    ["redirects", { status: 302, headers: { location: "http://127.0.0.1:1/" }, text: "" }],
    ["never arrives", { text: "", silent: true }],
  ])("returns one warning when the response %s", async (_, response: VendorResponse) => {
    const { source } = await open(response, { timeoutMs: 200 });
    const read = await source.read({ at: baseAt(), assets: [tokenAsset(KNOWN)] }, signal);
    expect(read.prices.size).toBe(0);
    expect(read.warnings).toHaveLength(1);
  });

  it("names the tokens that are too many for one snapshot as not asked", async () => {
    const { source } = await open(() => ({ text: fixture }));
    const many = Array.from({ length: 376 }, (_, i) =>
      tokenAsset(`0x${(i + 1).toString(16).padStart(40, "0")}`),
    );
    const { unasked, warnings } = await source.read({ at: baseAt(), assets: many }, signal);
    expect([...(unasked ?? [])]).toEqual([many.at(-1)?.contract]);
    expect(warnings).toEqual([
      "Prices from DefiLlama for Base may be missing: too many tokens for one request.",
    ]);
  });

  it("pauses for Retry-After after a 429", async () => {
    let nowMs = 0;
    const clock: Clock = { nowMs: () => nowMs, sleep: () => Promise.reject(new Error("unexpected sleep")) };
    let limited = true;
    const { server, source } = await open(
      () => (limited ? { status: 429, headers: { "retry-after": "120" }, text: "{}" } : { text: fixture }),
      { clock },
    );
    const read = () => source.read({ at: baseAt(), assets: [tokenAsset(KNOWN)] }, signal);
    const warning = "Prices from DefiLlama for Base may be missing: its request limit is reached.";
    expect(await read()).toMatchObject({ prices: new Map(), warnings: [warning] });
    limited = false;
    nowMs = 119_999;
    expect(await read()).toMatchObject({ prices: new Map(), warnings: [warning] });
    expect(server.requests).toHaveLength(1);
    nowMs = 120_000;
    expect((await read()).prices.size).toBe(1);
  });

  it("respects its own limit per minute", async () => {
    let nowMs = 0;
    const clock: Clock = { nowMs: () => nowMs, sleep: () => Promise.reject(new Error("unexpected sleep")) };
    const { server, source } = await open({ text: fixture }, { clock, requestsPerMinuteMax: 2 });
    const read = () => source.read({ at: baseAt(), assets: [tokenAsset(KNOWN)] }, signal);
    expect([(await read()).prices.size, (await read()).prices.size, (await read()).prices.size]).toEqual([
      1, 1, 0,
    ]);
    expect(server.requests).toHaveLength(2);
    nowMs = 60_000;
    expect((await read()).prices.size).toBe(1);
  });
});
