// Owners of an account that lists them by index: what cannot be listed is counted, and a list that is cut says so.
import { describe, expect, it } from "vitest";
import { openRecordedChain, type RecordedCall } from "../../../tests/support/chain/recorded-chain.ts";
import { makeChainConfig, TEST_WALLET } from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Account } from "../account/kind.ts";
import { readAccountControl } from "./account-control.ts";

const KEY: Hex = `0x${"5e".repeat(20)}`;
const ownerAt = (index: number, result: Hex): RecordedCall => ({
  to: TEST_WALLET,
  function: "ownerAtIndex(uint256) view returns (bytes)",
  args: [`${index}`],
  result,
});

function readOwners(count: number, owners: readonly Hex[]) {
  const next = { to: TEST_WALLET, function: "nextOwnerIndex() view returns (uint256)", args: [] };
  const calls = [{ ...next, result: `${count}` }, ...owners.map((owner, i) => ownerAt(i, owner))];
  const at = openRecordedChain({ chain: makeChainConfig("base", 8453), calls });
  const unknown = { delegate: null, implementation: null, version: null, owners: null, threshold: null };
  const account: Account = { ...unknown, kind: "smart-account", proven: false, entryPoint: null };
  const spenders = { byAddress: new Map() };
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
});
