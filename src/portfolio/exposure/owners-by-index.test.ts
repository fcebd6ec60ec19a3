// Owners of an account that lists them by index: what cannot be listed is counted, and a list that is cut says so.
import { describe, expect, it } from "vitest";
import { openRecordedChain, type RecordedCall } from "../../../tests/support/chain/recorded-chain.ts";
import { makeChainConfig, TEST_WALLET } from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Account } from "../account/kind.ts";
import { readAccountControl } from "./account-control.ts";
import { DELEGATES } from "./spenders/delegates.ts";

const KEY: Hex = `0x${"5e".repeat(20)}`;
const ownerAt = (index: number, result: Hex): RecordedCall => ({
  to: TEST_WALLET,
  function: "ownerAtIndex(uint256) view returns (bytes)",
  args: [`${index}`],
  result,
});

const COINBASE = DELEGATES.filter(({ protocol }) => protocol === "Coinbase");

function readOwners(count: number, owners: readonly Hex[], more: Partial<Account> = {}) {
  const next = { to: TEST_WALLET, function: "nextOwnerIndex() view returns (uint256)", args: [] };
  const calls = [{ ...next, result: `${count}` }, ...owners.map((owner, i) => ownerAt(i, owner))];
  const recorded = openRecordedChain({ chain: makeChainConfig("base", 8453), calls });
  const [implementation = "0x0"] = COINBASE[0]?.implementations ?? [];
  const at = { ...recorded, storage: async () => BigInt(implementation) };
  const unknown = { delegate: null, implementation: null, version: null, owners: null, threshold: null };
  const account: Account = { ...unknown, kind: "smart-account", proven: true, entryPoint: null, ...more };
  const spenders = { byAddress: new Map(COINBASE.map((one) => [KEY, one])) };
  return readAccountControl({ at, wallet: TEST_WALLET }, account, spenders, AbortSignal.timeout(5_000));
}

describe("owners by index", () => {
  const address: Hex = `0x${KEY.slice(2).padStart(64, "0")}`;

  it("lists owners with an address, which another owner can remove, and counts passkeys", async () => {
    const { permissions, warnings } = await readOwners(2, [address, `0x${"7a".repeat(64)}`]);
    expect(permissions).toMatchObject([{ kind: "owner", spender: KEY, revoke: { type: "call" } }]);
    expect(warnings).toEqual([
      "Base: 1 owners of the account are passkeys, which have no address and are not listed.",
    ]);
  });

  it("warns when an account has more owners than are read", async () => {
    const { permissions, warnings } = await readOwners(10_000, [address]);
    expect(permissions).toMatchObject([{ spender: KEY, revoke: null }]);
    expect(warnings).toEqual(["Base: only the first 50 owners of the account were read."]);
  });

  it("leaves unknown what a known delegate can take if owners are passkeys or were not read", async () => {
    const delegated = { kind: "delegated", delegate: KEY } as const;
    const controls = async (count: number, owners: readonly Hex[]) =>
      (await readOwners(count, owners, delegated)).permissions.find(({ kind }) => kind === "delegate")
        ?.controlsAll;
    expect(await controls(0, [])).toBe(false);
    expect(await controls(1, [`0x${TEST_WALLET.slice(2).padStart(64, "0")}`])).toBe(false);
    expect(await controls(1, [`0x${"7a".repeat(64)}`])).toBe(null);
    expect(await controls(10_000, [address])).toBe(null);
  });
});
