// The provider `alchemy` against a local server: complete pages, exact amounts, and no leak of the key.
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { VendorResponse } from "../../../../tests/support/http/vendor-server.ts";
import {
  type AlchemyResponses,
  alchemyChain,
  ALCHEMY_KEY as KEY,
  NO_TRANSFERS,
  openAlchemyVendor,
  recordedTokens,
  ALCHEMY_WALLET as WALLET,
} from "../../../../tests/support/portfolio/alchemy-vendor.ts";
import { formatDecimal } from "../../../lib/decimal.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { AlchemyOptions } from "./client.ts";

const address = (four: string): Hex => `0x${four.repeat(10)}`;

async function faultOf(read: Promise<unknown>): Promise<Fault> {
  const error = await read.catch((thrown: unknown) => thrown);
  if (!(error instanceof Fault)) throw new Error("Expected a fault", { cause: error });
  return error;
}

describe("alchemy's balances", () => {
  it("reads balances from every page, exact to the unit, each asset once", async () => {
    const { read, server } = await openAlchemyVendor();
    const { holdings } = await read();
    expect(holdings.map(({ contract, rawBalance }) => [contract, rawBalance])).toEqual([
      [null, 1_234_567_890_123_456_789n],
      ["0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", 25_000_001n],
      [address("1001"), 2n ** 256n - 1n],
      [address("1004"), 1n],
      [address("1006"), 10n],
      [address("1007"), 11n],
      [address("1008"), 12n],
    ]);
    const bodies = server.requests
      .filter(({ path }) => path.startsWith("/data/"))
      .map(({ body }) => JSON.parse(body));
    expect(bodies).toHaveLength(2);
    expect(bodies[0]).toEqual({
      addresses: [{ address: WALLET, networks: ["base-mainnet"] }],
      withMetadata: true,
      withPrices: true,
      includeNativeTokens: true,
      includeErc20Tokens: true,
    });
    expect(bodies[1]).toMatchObject({ pageKey: "MHhfMQ==" });
    expect(server.requests[0]?.path).toContain(encodeURIComponent(KEY));
  });

  it("keeps only metadata that is valid", async () => {
    const { holdings } = await (await openAlchemyVendor()).read();
    const of = (contract: Hex | null) => holdings.find((holding) => holding.contract === contract);
    expect(of(null)).toMatchObject({ symbol: "ETH", name: "Ether", decimals: 18 });
    expect(of("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913")).toMatchObject({
      symbol: "USDC",
      decimals: 6,
      logo: "https://static.alchemyapi.io/images/assets/3408.png",
    });
    expect(of(address("1004"))).toMatchObject({ symbol: "RAW", name: null, decimals: null, logo: null });
    expect(of(address("1006"))).toMatchObject({ decimals: 0 });
    expect(of(address("1008"))).toMatchObject({ name: null, decimals: null });
  });

  it("removes invisible characters from names, and cuts long ones", async () => {
    const token = (tokenAddress: Hex, symbol: string, name: string) => ({
      address: WALLET,
      network: "base-mainnet",
      tokenAddress,
      tokenBalance: "0x1",
      tokenMetadata: { symbol, name },
    });
    const tokens = [
      token(address("2001"), "US\u202eDC\u200b", "  USD\n\tCoin\u0000 "),
      token(address("2002"), "S".repeat(100), "N".repeat(100)),
      token(address("2003"), "\u200b\u202e", " "),
    ];
    const { read } = await openAlchemyVendor({
      tokens: () => ({ text: JSON.stringify({ data: { tokens } }) }),
    });
    const { holdings } = await read();
    expect(holdings.map(({ symbol, name }) => [symbol, name])).toEqual([
      ["USDC", "USD Coin"],
      ["S".repeat(32), "N".repeat(80)],
      [null, null],
    ]);
  });

  it("reads exact dollar prices, without stale or invalid ones", async () => {
    const { prices = new Map() } = await (await openAlchemyVendor()).read();
    expect(Object.fromEntries([...prices].map(([key, price]) => [key, formatDecimal(price.usd)]))).toEqual({
      native: "3182.4571304219997",
      "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913": "0.99985213",
      [address("1004")]: "0.000000001",
      [address("1006")]: "0",
    });
  });

  it("warns about unreadable tokens, and that balances are not of the pinned block", async () => {
    const { warnings } = await (await openAlchemyVendor()).read();
    expect(warnings).toEqual([
      "Balances on Base are the newest Alchemy has, not those of block 38143727.",
      `Alchemy could not read everything about these tokens on Base: ${address("1005")}.`,
    ]);
  });

  it("counts the native coin once when a contract repeats it", async () => {
    const entry = { address: WALLET, network: "polygon-mainnet", tokenBalance: "0x7" };
    const tokens = [
      { ...entry, tokenAddress: "0x0000000000000000000000000000000000001010" },
      { ...entry, tokenAddress: null },
    ];
    const { read } = await openAlchemyVendor({
      tokens: () => ({ text: JSON.stringify({ data: { tokens } }) }),
    });
    const { holdings } = await read(alchemyChain(137));
    expect(holdings.map(({ contract, rawBalance }) => [contract, rawBalance])).toEqual([[null, 7n]]);
  });

  it("ignores an empty native entry before the real one", async () => {
    const entry = { address: WALLET, network: "base-mainnet" };
    const tokens = [
      { ...entry, tokenAddress: null, tokenBalance: "0x" },
      { ...entry, tokenAddress: "native", tokenBalance: "0x9" },
    ];
    const { read } = await openAlchemyVendor({
      tokens: () => ({ text: JSON.stringify({ data: { tokens } }) }),
    });
    expect((await read()).holdings).toMatchObject([{ contract: null, rawBalance: 9n }]);
  });

  it("accepts a partial error of another chain, and rejects one of the requested chain", async () => {
    const partial = (network: string) => (): VendorResponse => ({
      text: JSON.stringify({
        data: { tokens: [] },
        error: { partialErrors: [{ network, message: "down" }] },
      }),
    });
    expect((await (await openAlchemyVendor({ tokens: partial("eth-mainnet") })).read()).holdings).toEqual([]);
    const { read, server } = await openAlchemyVendor({
      tokens: partial("base-mainnet"),
      transfers: () => ({ text: NO_TRANSFERS }),
    });
    expect((await faultOf(read())).code).toBe("PROVIDER_FAILED");
    expect(server.requests.filter(({ path }) => path.startsWith("/data/"))).toHaveLength(3);
  });
});

const NOTHING = { address: WALLET, network: "base-mainnet", tokenAddress: null };
const tokensResponse = (...tokens: unknown[]) => JSON.stringify({ data: { tokens } });

describe("alchemy's balances are rejected", () => {
  it.each<[string, VendorResponse, number]>([
    ["is a server error", { status: 503, text: "<html>" }, 3],
    ["is not JSON", { text: "<html>" }, 3],
    ["has no tokens", { text: '{"data":{}}' }, 3],
    ["is an error with status 200", { text: '{"error":{"message":"Something broke"}}' }, 3],
    ["rejects the key", { status: 403, text: '{"error":{"message":"bad key"}}' }, 1],
    ["redirects", { status: 307, headers: { location: "http://127.0.0.1:1/" }, text: "" }, 1],
    ["is too long", { text: `"${"x".repeat(4_200_000)}"` }, 1],
    ["has a balance that is not a number", { text: tokensResponse({ ...NOTHING, tokenBalance: "0xzz" }) }, 3],
    [
      "has a balance beyond 256 bits",
      { text: tokensResponse({ ...NOTHING, tokenBalance: `0x1${"0".repeat(64)}` }) },
      3,
    ],
    ["has a token without an address", { text: tokensResponse({ ...NOTHING, tokenAddress: "So111" }) }, 3],
    ["has a token of another wallet", { text: tokensResponse({ ...NOTHING, address: address("9999") }) }, 3],
    ["lacks the native coin", { text: tokensResponse({ ...NOTHING, error: "timeout" }) }, 1],
  ])("rejects balances when the response %s", async (_, response, attempts) => {
    const { read, server } = await openAlchemyVendor({
      tokens: () => response,
      transfers: () => ({ text: NO_TRANSFERS }),
    });
    const fault = await faultOf(read());
    expect(fault.code).toBe("PROVIDER_FAILED");
    expect(fault.message).toBe("The balances on Base could not be read completely; nothing was charged.");
    expect(server.requests.filter(({ path }) => path.startsWith("/data/"))).toHaveLength(attempts);
  });

  it("rejects balances when a page key repeats, and when the pages do not end", async () => {
    const page = (pageKey: string): VendorResponse => ({
      text: JSON.stringify({ data: { tokens: [], pageKey } }),
    });
    const repeating = await openAlchemyVendor({ tokens: () => page("same") });
    expect(inspect(await faultOf(repeating.read()))).toContain("A page key repeats.");
    const endless = await openAlchemyVendor({ tokens: (_, count) => page(`page ${count}`) });
    expect(inspect(await faultOf(endless.read()))).toContain("There are more than 100 pages.");
  });

  it("rejects balances when the vendor does not respond in time", async () => {
    const { read } = await openAlchemyVendor(
      { tokens: () => ({ text: "", silent: true }) },
      { timeoutMs: 50 },
    );
    expect(inspect(await faultOf(read()))).toContain("No response within 50 ms");
  });

  it("rejects a chain that Alchemy does not serve", async () => {
    expect((await faultOf((await openAlchemyVendor()).read(alchemyChain(31_337)))).code).toBe(
      "PROVIDER_FAILED",
    );
  });
});

describe("alchemy's retries", () => {
  it("waits for Retry-After and then succeeds", async () => {
    const { read, slept } = await openAlchemyVendor({
      tokens: (body, count) =>
        count === 1 ? { status: 429, headers: { "retry-after": "3" }, text: "{}" } : recordedTokens(body),
    });
    expect((await read()).holdings).toHaveLength(7);
    expect(slept).toEqual([3_000]);
  });

  it("does not retry when Retry-After is a minute", async () => {
    const { read, slept } = await openAlchemyVendor({
      tokens: () => ({ status: 429, headers: { "retry-after": "60" }, text: "{}" }),
    });
    expect((await faultOf(read())).code).toBe("PROVIDER_FAILED");
    expect(slept).toEqual([]);
  });

  it("rejects with the reason of the caller's aborted signal", async () => {
    const { provider } = await openAlchemyVendor();
    const reason = new Error("enough");
    const query = { at: alchemyChain(), wallet: WALLET } as const;
    await expect(provider.read(query, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe("alchemy's key", () => {
  const echo = `You sent ${KEY}, that is ${encodeURIComponent(KEY)}.`;

  it.each<[string, AlchemyResponses, Partial<AlchemyOptions>]>([
    [
      "an error that echoes it",
      { tokens: () => ({ text: JSON.stringify({ error: { message: echo } }) }) },
      {},
    ],
    ["a page that echoes it", { tokens: () => ({ text: `<html>${echo}` }) }, {}],
    ["a status", { tokens: () => ({ status: 401, text: echo }) }, {}],
    ["a closed port", {}, { dataUrl: "http://127.0.0.1:1" }],
    ["a connection that is reset", { tokens: () => ({ reset: true, text: "" }) }, {}],
  ])("keeps the key out of the error after %s", async (_, vendor, options) => {
    const { read } = await openAlchemyVendor(vendor, options);
    const fault = await faultOf(read());
    const shown = inspect(fault, { depth: 20, showHidden: true, getters: true });
    expect(fault.cause).toBeInstanceOf(Error);
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain(encodeURIComponent(KEY));
    expect(JSON.stringify(fault.cause)).not.toContain(KEY);
  });

  it("keeps the key out of the error after an invalid URL", async () => {
    const fault = await faultOf(openAlchemyVendor({}, { dataUrl: "not an address" }));
    expect(inspect(fault, { depth: 20, showHidden: true, getters: true })).not.toContain(KEY);
  });
});
