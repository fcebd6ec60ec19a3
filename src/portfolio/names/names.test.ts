// Names on a real chain: shown when they lead back to the wallet, and never for spoofed, offchain or hostile records.
import fc from "fast-check";
import { encodeAbiParameters, type Hex, numberToHex, pad } from "viem";
import { normalize } from "viem/ens";
import { describe, expect, it } from "vitest";
import { fixedReturnCode } from "../../../tests/support/chain/fixed-return-contract.ts";
import { startPortfolioStage } from "../../../tests/support/portfolio/portfolio-stage.ts";
import { runsOf } from "../../../tests/support/test-depth.ts";
import { normalizeName, readName } from "./names.ts";

const WALLET: Hex = "0x00000000000000000000000000000000000000aa";
const OTHER: Hex = "0x00000000000000000000000000000000000000bb";
const REGISTRIES = {
  1: "0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e",
  8453: "0xb94704422c2a1e396835a571837aa5ae53285a95",
} as const;
/** ENS' L2ReverseRegistrar. */
const REGISTRAR: Hex = "0x0000000000d8e504002cc26e3ec46d81971c1664";
const RESOLVER: Hex = numberToHex(0x4e5, { size: 20 });
const word = (value: Hex) => pad(value, { size: 32 });
const text = (value: string) => encodeAbiParameters([{ type: "string" }], [value]);
const bytes = (value: Hex) => encodeAbiParameters([{ type: "bytes" }], [value]);
/** Jumps to its own start until the gas is gone. */
const ENDLESS: Hex = "0x5b600056";

const stage = await startPortfolioStage({
  [REGISTRIES[1]]: fixedReturnCode({ "resolver(bytes32)": word(RESOLVER) }),
  [REGISTRIES[8453]]: fixedReturnCode({ "resolver(bytes32)": word(RESOLVER) }),
});
const { signal } = new AbortController();
// A service grants less, which is too little on a busy machine.
const BUDGET_MS = 60_000;
const node = await stage.node();
const port = stage.port(node);

async function read(resolverCode: Hex, chainId = 1) {
  await stage.chain.setCode(RESOLVER, resolverCode);
  await stage.chain.mine();
  const pinned = await port.pin(signal);
  const at = { ...pinned, chain: { ...pinned.chain, chainId } };
  return readName({ at, wallet: WALLET }, signal, BUDGET_MS);
}

const records = (name: Hex, owner: Hex) =>
  fixedReturnCode({ "name(bytes32)": name, "addr(bytes32)": word(owner) });

describe("the name of a wallet", () => {
  it.each([
    [1, "alice.eth"],
    [8453, "alice.base.eth"],
    [1, "🦊.eth"],
  ])("the name of the wallet on chain %s is %s, which leads back to it", async (chainId, name) => {
    expect(await read(records(text(name), WALLET), chainId)).toEqual({ name, warnings: [] });
  });

  it.each([
    ["leads to another wallet", records(text("alice.eth"), OTHER)],
    ["leads nowhere", fixedReturnCode({ "name(bytes32)": text("alice.eth") })],
    ["is not normalized", records(text("Alice.eth"), WALLET)],
    ["mixes scripts", records(text("аlice.eth"), WALLET)],
    ["has hidden characters", records(text("ali\u200bce.eth"), WALLET)],
    ["is longer than names are", records(text(`${"a".repeat(300)}.eth`), WALLET)],
    ["is not text", records(bytes("0xfffefd"), WALLET)],
    ["is empty", records(text(""), WALLET)],
    ["has a resolver that burns its gas", ENDLESS],
    ["has a resolver that reverts, as for a lookup outside of the chain", "0x60006000fd" as Hex],
  ])("returns no name if the name %s", async (_, code) => {
    expect(await read(code)).toEqual({ name: null, warnings: [] });
  });

  it.each([
    ["newer one", records(text("old.base.eth"), WALLET), text("new.base.eth"), "new.base.eth", 3],
    [
      "older one if the newer one is empty",
      records(text("old.base.eth"), WALLET),
      text(""),
      "old.base.eth",
      4,
    ],
    [
      "older one if the newer one is not a name",
      records(text("old.base.eth"), WALLET),
      text("a..eth"),
      "old.base.eth",
      4,
    ],
    ["older one without the registrar", records(text("old.base.eth"), WALLET), null, "old.base.eth", 4],
    ["none if neither leads back", records(text("old.base.eth"), OTHER), text("new.base.eth"), null, 6],
  ] as const)("chooses between two records on Base: the %s", async (_, resolver, newer, name, requests) => {
    await stage.chain.setCode(
      REGISTRAR,
      newer === null ? "0x" : fixedReturnCode({ "nameForAddr(address)": newer }),
    );
    const before = node.requests.length;
    expect(await read(resolver, 8453)).toEqual({ name, warnings: [] });
    // The first pins the block.
    expect(node.requests.length - before - 1).toBe(requests);
  });

  it("returns no name on a chain without names, and sends no request", async () => {
    const before = node.requests.length;
    expect(await readName({ at: await port.pin(signal), wallet: WALLET }, signal)).toEqual({
      ...{ name: null, warnings: [] },
    });
    expect(node.requests.length - before).toBe(1);
  });

  it("asks only contracts, four times at most", async () => {
    const before = node.requests.length;
    await read(records(text("alice.eth"), WALLET));
    // The first pins the block.
    expect(node.requests.slice(before + 1).map((calls) => calls.map(({ method }) => method))).toEqual(
      Array.from({ length: 4 }, () => ["eth_call"]),
    );
  });

  it("returns no name, with a warning, when the node fails", async () => {
    const pinned = await port.pin(signal);
    const fail = () => Promise.reject(new Error("down"));
    const at = { ...pinned, chain: { ...pinned.chain, chainId: 1, name: "Ethereum" }, read: fail };
    expect(await readName({ at, wallet: WALLET }, signal)).toEqual({
      name: null,
      warnings: ["The name of the wallet is unknown on Ethereum: it could not be read."],
    });
  });
});

it("a name is normalized as the reference does", async () => {
  const label = fc.string({ unit: fc.constantFrom(..."ab0-_xnA😀é"), minLength: 1, maxLength: 6 });
  const names = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join("."));
  await fc.assert(
    fc.asyncProperty(names, async (name) => {
      let expected: string | null = null;
      try {
        expected = normalize(name);
      } catch {
        // Invalid by ENSIP-15: no name.
      }
      expect([name, await normalizeName(name)]).toEqual([name, expected]);
    }),
    { numRuns: runsOf(500, { min: 100 }) },
  );
});
