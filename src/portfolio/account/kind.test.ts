// Kinds of accounts on a real chain: plain, delegated, Safe, ERC-4337, other contracts, and contracts that lie or burn gas.
import { concatHex, encodeAbiParameters, type Hex, numberToHex, pad } from "viem";
import { describe, expect, it } from "vitest";
import { fixedReturnCode } from "../../../tests/support/chain/fixed-return-contract.ts";
import { startPortfolioStage } from "../../../tests/support/portfolio/portfolio-stage.ts";
import {
  type AccountFacts,
  COINBASE_IMPLEMENTATIONS,
  COINBASE_PROXY_CODE,
  findDelegate,
  readAccount,
  SAFE_PROXY_CODES,
} from "./kind.ts";

const word = (value: bigint | Hex): Hex =>
  typeof value === "bigint" ? numberToHex(value, { size: 32 }) : pad(value, { size: 32 });
const text = (value: string): Hex => encodeAbiParameters([{ type: "string" }], [value]);
const list = (value: readonly Hex[]): Hex => encodeAbiParameters([{ type: "address[]" }], [value]);
const address = (number: number): Hex => numberToHex(number, { size: 20 });

const SINGLETON: Hex = "0x41675c099f32341bf84bfc5382af534df5c7461a";
const ENTRY_POINT: Hex = "0x0000000071727de22e5e9d8baf0edac6f37da032";
const OWNERS = [address(0xa1), address(0xa2)];
const safeViews = {
  "VERSION()": text("1.4.1"),
  "getThreshold()": word(2n),
  "getOwners()": list(OWNERS),
};
const ENDLESS: Hex = "0x5b600056"; // jumps to its own start until the gas is gone
const [contract, smartAccount, claimsSafe, odd, burning, foreign] = [1, 2, 3, 4, 5, 6].map((n) =>
  address(0xc0de00 + n),
) as [Hex, Hex, Hex, Hex, Hex, Hex];

const stage = await startPortfolioStage({
  [SINGLETON]: fixedReturnCode(safeViews),
  [contract]: fixedReturnCode({ "decimals()": word(18n) }),
  [smartAccount]: fixedReturnCode({ "entryPoint()": word(ENTRY_POINT) }),
  [claimsSafe]: fixedReturnCode({ ...safeViews, "masterCopy()": word(SINGLETON) }),
  [odd]: fixedReturnCode({ ...safeViews, "VERSION()": text("1.4.1<script>") }),
  [burning]: ENDLESS,
  [foreign]: fixedReturnCode({ "entryPoint()": word(address(0xbad)) }),
});
const { signal } = new AbortController();

/** A proxy of Safe, which has its singleton in the first storage slot, and the compiler's metadata behind its code. */
async function placeProxy(proxy: Hex, singleton: Hex): Promise<Hex> {
  const [proxyCode = "0x"] = SAFE_PROXY_CODES;
  await stage.chain.setCode(proxy, concatHex([proxyCode, "0xa264697066735822"]));
  await stage.chain.request("hardhat_setStorageAt", [proxy, "0x0", word(singleton)]);
  await stage.chain.mine();
  return proxy;
}

async function read(wallet: Hex): Promise<AccountFacts> {
  const at = await stage.port(await stage.node()).pin(signal);
  const { account, warnings } = await readAccount({ at, wallet }, signal);
  expect(warnings).toEqual([]);
  return account;
}

const nothing = {
  ...{ delegate: null, implementation: null, version: null, owners: null },
  ...{ threshold: null, entryPoint: null },
};

describe("an account", () => {
  it("shows an account without code as an EOA", async () => {
    expect(await read(address(0x7001))).toEqual({ kind: "eoa", proven: true, ...nothing });
  });

  it("shows a delegated account with its delegate, even if that claims to be a Safe", async () => {
    const wallet = address(0x7002);
    await stage.chain.setCode(wallet, concatHex(["0xef0100", claimsSafe]));
    await stage.chain.mine();
    expect(await read(wallet)).toEqual({ ...nothing, kind: "delegated", proven: true, delegate: claimsSafe });
    await stage.chain.setCode(wallet, concatHex(["0xef0100", smartAccount]));
    await stage.chain.mine();
    const shown = { kind: "delegated", delegate: smartAccount, entryPoint: ENTRY_POINT };
    expect(await read(wallet)).toMatchObject(shown);
  });

  it("an account is a proven Safe when it is the published proxy of a published singleton", async () => {
    expect(await read(await placeProxy(address(0x7003), SINGLETON))).toEqual({
      ...{ ...nothing, kind: "safe", proven: true, implementation: SINGLETON },
      ...{ version: "1.4.1", owners: OWNERS, threshold: 2 },
    });
  });

  it("a Safe is still a proven Safe when it has more owners than a view can list", async () => {
    const { "getOwners()": _owners, ...unlisted } = safeViews;
    const placed = await stage.chain.request("eth_getCode", [SINGLETON, "latest"]);
    await stage.chain.setCode(SINGLETON, fixedReturnCode(unlisted));
    const shown = await read(await placeProxy(address(0x7005), SINGLETON));
    await stage.chain.setCode(SINGLETON, placed as Hex);
    expect(shown).toMatchObject({ kind: "safe", proven: true, owners: null, threshold: 2 });
  });

  it("an account is a Safe only by its own claim when the proxy runs other code, or is not a proxy", async () => {
    const proxy = await placeProxy(address(0x7004), claimsSafe);
    const claimed = { kind: "safe", proven: false, version: "1.4.1", owners: OWNERS, threshold: 2 };
    expect(await read(proxy)).toMatchObject({ ...claimed, implementation: claimsSafe });
    // It returns a published singleton for masterCopy(), but its code is not the proxy's.
    expect(await read(claimsSafe)).toMatchObject({ ...claimed, implementation: null });
  });

  it("an account is not a Safe if it returns an invalid version", async () => {
    expect(await read(odd)).toEqual({ ...nothing, kind: "contract", proven: true });
  });

  it("an account is a smart account by its own word when it names an entry point that bundlers use", async () => {
    const claimed = { ...nothing, kind: "smart-account", proven: false, entryPoint: ENTRY_POINT };
    expect(await read(smartAccount)).toEqual(claimed);
    expect(await read(foreign)).toEqual({ ...nothing, kind: "contract", proven: true });
  });

  it("an account is a proven smart account when it is Coinbase's proxy of a published implementation", async () => {
    const proxy = address(0x7006);
    const [implementation] = COINBASE_IMPLEMENTATIONS as [Hex];
    const readProxy = async (stored: Hex) => {
      await stage.chain.setCode(proxy, COINBASE_PROXY_CODE);
      await stage.chain.setCode(stored, fixedReturnCode({ "entryPoint()": word(ENTRY_POINT) }));
      const slot = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
      await stage.chain.request("hardhat_setStorageAt", [proxy, slot, word(stored)]);
      await stage.chain.mine();
      return read(proxy);
    };
    const shown = { ...nothing, kind: "smart-account", entryPoint: ENTRY_POINT };
    expect(await readProxy(implementation)).toEqual({ ...shown, proven: true, implementation });
    // Any other address in the slot is code that anyone may have written.
    expect(await readProxy(smartAccount)).toEqual({ ...shown, proven: false, implementation: smartAccount });
  });

  it("any other account is a contract, also when every call to it burns its gas", async () => {
    for (const wallet of [contract, burning]) {
      expect(await read(wallet)).toEqual({ ...nothing, kind: "contract", proven: true });
    }
  });

  it("takes one request without code and two with it", async () => {
    const node = await stage.node();
    const at = await stage.port(node).pin(signal);
    const before = node.requests.length;
    await readAccount({ at, wallet: address(0x7001) }, signal);
    expect(node.requests.length - before).toBe(1);
    await readAccount({ at, wallet: claimsSafe }, signal);
    expect(node.requests.length - before).toBe(3);
  });

  it("an account has no known kind, with a warning, when its code cannot be read", async () => {
    const node = await stage.node((calls) =>
      calls.some(({ method }) => method === "eth_getCode") ? { kind: "status", status: 500 } : null,
    );
    const at = await stage.port(node).pin(signal);
    expect(await readAccount({ at, wallet: contract }, signal, 200)).toEqual({
      account: { ...nothing, kind: null, proven: false },
      warnings: [`The kind of the account is unknown on ${at.chain.name}: its code could not be read.`],
    });
  });
});

it.each([
  ["0xef0100", null],
  ["0xef01000000000000000000000000000000000000000001", "0x0000000000000000000000000000000000000001"],
  ["0xef0100000000000000000000000000000000000000000100", null],
  ["0xef0101000000000000000000000000000000000000000001", null],
] as const)("the code %s delegates to %s", (code, delegate) => {
  expect(findDelegate(code)).toBe(delegate);
});
