// The provider `alchemy` against a local server: every page or none, every digit, and never a word of the key.
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

async function faultOf(reading: Promise<unknown>): Promise<Fault> {
  const error = await reading.catch((thrown: unknown) => thrown);
  if (!(error instanceof Fault)) throw new Error("Expected a fault", { cause: error });
  return error;
}

describe("alchemy's balances", () => {
  it("are read from every page, to the last unit, each asset once", async () => {
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

  it("are described as far as the description makes sense", async () => {
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

  it("come with dollar prices in their exact digits, and with none that is old or unreadable", async () => {
    const { prices = new Map() } = await (await openAlchemyVendor()).read();
    expect(Object.fromEntries([...prices].map(([key, price]) => [key, formatDecimal(price)]))).toEqual({
      native: "3182.4571304219997",
      "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913": "0.99985213",
      [address("1004")]: "0.000000001",
      [address("1006")]: "0",
    });
  });

  it("say which token could not be read, and that they are not of the pinned block", async () => {
    const { warnings } = await (await openAlchemyVendor()).read();
    expect(warnings).toEqual([
      "Balances on Base are the newest Alchemy has, not those of block 38143727.",
      `Alchemy could not read everything about these tokens on Base: ${address("1005")}.`,
    ]);
  });

  it("count the native coin once where a contract repeats it", async () => {
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

  it("are not lost behind a native entry that is empty", async () => {
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

  it("may miss another chain, but not ours", async () => {
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
const tokensAnswer = (...tokens: unknown[]) => JSON.stringify({ data: { tokens } });

describe("alchemy's balances are refused", () => {
  it.each<[string, VendorResponse, number]>([
    ["is a server error", { status: 503, text: "<html>" }, 3],
    ["is not JSON", { text: "<html>" }, 3],
    ["has no tokens", { text: '{"data":{}}' }, 3],
    ["is an error with status 200", { text: '{"error":{"message":"Something broke"}}' }, 3],
    ["refuses the key", { status: 403, text: '{"error":{"message":"bad key"}}' }, 1],
    ["redirects", { status: 307, headers: { location: "http://127.0.0.1:1/" }, text: "" }, 1],
    ["is far too long", { text: `"${"x".repeat(4_200_000)}"` }, 1],
    ["has a balance that is no number", { text: tokensAnswer({ ...NOTHING, tokenBalance: "0xzz" }) }, 3],
    [
      "has a balance beyond 256 bits",
      { text: tokensAnswer({ ...NOTHING, tokenBalance: `0x1${"0".repeat(64)}` }) },
      3,
    ],
    ["has a token without an address", { text: tokensAnswer({ ...NOTHING, tokenAddress: "So111" }) }, 3],
    ["has a token of another wallet", { text: tokensAnswer({ ...NOTHING, address: address("9999") }) }, 3],
    ["can not read the native coin", { text: tokensAnswer({ ...NOTHING, error: "timeout" }) }, 1],
  ])("when the answer %s", async (_, answer, tries) => {
    const { read, server } = await openAlchemyVendor({
      tokens: () => answer,
      transfers: () => ({ text: NO_TRANSFERS }),
    });
    const fault = await faultOf(read());
    expect(fault.code).toBe("PROVIDER_FAILED");
    expect(fault.message).toBe("The balances on Base could not be read completely; nothing was charged.");
    expect(server.requests.filter(({ path }) => path.startsWith("/data/"))).toHaveLength(tries);
  });

  it("when a page comes round again, and when the pages do not end", async () => {
    const page = (pageKey: string): VendorResponse => ({
      text: JSON.stringify({ data: { tokens: [], pageKey } }),
    });
    const circle = await openAlchemyVendor({ tokens: () => page("same") });
    expect(inspect(await faultOf(circle.read()))).toContain("A page names one that was read before.");
    const endless = await openAlchemyVendor({ tokens: (_, count) => page(`page ${count}`) });
    expect(inspect(await faultOf(endless.read()))).toContain("There are more than 100 pages.");
  });

  it("when no answer comes in time", async () => {
    const { read } = await openAlchemyVendor(
      { tokens: () => ({ text: "", silent: true }) },
      { timeoutMs: 50 },
    );
    expect(inspect(await faultOf(read()))).toContain("No response within 50 ms");
  });

  it("on a chain that Alchemy does not serve", async () => {
    expect((await faultOf((await openAlchemyVendor()).read(alchemyChain(31_337)))).code).toBe(
      "PROVIDER_FAILED",
    );
  });
});

describe("alchemy's patience", () => {
  it("waits as long as it is asked to, and then succeeds", async () => {
    const { read, slept } = await openAlchemyVendor({
      tokens: (body, count) =>
        count === 1 ? { status: 429, headers: { "retry-after": "3" }, text: "{}" } : recordedTokens(body),
    });
    expect((await read()).holdings).toHaveLength(7);
    expect(slept).toEqual([3_000]);
  });

  it("does not come back early to a vendor that wants a minute", async () => {
    const { read, slept } = await openAlchemyVendor({
      tokens: () => ({ status: 429, headers: { "retry-after": "60" }, text: "{}" }),
    });
    expect((await faultOf(read())).code).toBe("PROVIDER_FAILED");
    expect(slept).toEqual([]);
  });

  it("ends with the caller's own reason when the caller gives up", async () => {
    const { provider } = await openAlchemyVendor();
    const reason = new Error("enough");
    const question = { at: alchemyChain(), wallet: WALLET } as const;
    await expect(provider.read(question, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe("alchemy's key", () => {
  const spoken = `You sent ${KEY}, that is ${encodeURIComponent(KEY)}.`;

  it.each<[string, AlchemyResponses, Partial<AlchemyOptions>]>([
    [
      "an error that repeats it",
      { tokens: () => ({ text: JSON.stringify({ error: { message: spoken } }) }) },
      {},
    ],
    ["a page that repeats it", { tokens: () => ({ text: `<html>${spoken}` }) }, {}],
    ["a status", { tokens: () => ({ status: 401, text: spoken }) }, {}],
    ["a port nobody listens on", {}, { dataUrl: "http://127.0.0.1:1" }],
    ["a connection that is reset", { tokens: () => ({ reset: true, text: "" }) }, {}],
  ])("is nowhere in what is thrown after %s", async (_, vendor, options) => {
    const { read } = await openAlchemyVendor(vendor, options);
    const fault = await faultOf(read());
    const shown = inspect(fault, { depth: 20, showHidden: true, getters: true });
    expect(fault.cause).toBeInstanceOf(Error);
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain(encodeURIComponent(KEY));
    expect(JSON.stringify(fault.cause)).not.toContain(KEY);
  });

  it("is nowhere in what is thrown after an address that is none", async () => {
    const fault = await faultOf(openAlchemyVendor({}, { dataUrl: "not an address" }));
    expect(inspect(fault, { depth: 20, showHidden: true, getters: true })).not.toContain(KEY);
  });
});
