// Owners of an account that lists them by index: what cannot be listed is counted, and a list that is cut says so.
import { describe, expect, it } from "vitest";
import { openRecordedChain, type RecordedCall } from "../../../tests/support/chain/recorded-chain.ts";
import { makeChainConfig, TEST_WALLET } from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Hex } from "../../lib/hex.ts";
import type { AccountFacts } from "../account/kind.ts";
import { readAccountControl } from "./account-control.ts";
import { createSpenderList, SPENDERS } from "./spenders.ts";

const KEY: Hex = `0x${"5e".repeat(20)}`;
const ownerAt = (index: number, result: Hex): RecordedCall => ({
  to: TEST_WALLET,
  function: "ownerAtIndex(uint256) view returns (bytes)",
  args: [`${index}`],
  result,
});

const KNOWN = SPENDERS.filter(({ protocol }) => protocol === "Coinbase");
const [COINBASE] = KNOWN.filter(({ kind }) => kind === "delegate");
const MANAGER: Hex = "0xf85210b21cc50302f477ba56686d2019dc9b67ad";

function readOwners(
  count: number,
  owners: readonly Hex[],
  more: Partial<AccountFacts> = {},
  implementation: Hex = COINBASE?.implementations?.[0] ?? "0x0",
) {
  const next = { to: TEST_WALLET, function: "nextOwnerIndex() view returns (uint256)", args: [] };
  const calls = [{ ...next, result: `${count}` }, ...owners.map((owner, i) => ownerAt(i, owner))];
  const recorded = openRecordedChain({ chain: makeChainConfig("base", 8453), calls });
  const at = { ...recorded, storage: async () => BigInt(implementation) };
  const unknown = { delegate: null, implementation: null, version: null, owners: null, threshold: null };
  const account: AccountFacts = {
    ...unknown,
    kind: "smart-account",
    proven: true,
    entryPoint: null,
    ...more,
  };
  const spenders = createSpenderList(KNOWN, "1").onChain(8453);
  return readAccountControl({ at, wallet: TEST_WALLET }, account, spenders, AbortSignal.timeout(5_000));
}

const toOwner = (address: Hex): Hex => `0x${address.slice(2).padStart(64, "0")}`;

describe("owners by index", () => {
  const address = toOwner(KEY);

  it("lists owners with an address, which another owner can remove, and counts passkeys", async () => {
    const { permissions, warnings, isComplete } = await readOwners(2, [address, `0x${"7a".repeat(64)}`]);
    expect(permissions).toMatchObject([{ kind: "owner", spender: KEY, revoke: { type: "call" } }]);
    expect(warnings).toEqual([
      "Base: 1 owners of the account are passkeys, which have no address and are not listed.",
    ]);
    expect(isComplete).toBe(true);
  });

  it("warns when an account has more owners than are read, and is not complete", async () => {
    const { permissions, warnings, isComplete } = await readOwners(10_000, [address]);
    expect(permissions).toMatchObject([{ spender: KEY, revoke: null }]);
    expect(warnings).toEqual(["Base: not all owners of the account were read."]);
    expect(isComplete).toBe(false);
  });

  it("is not complete when an owner could not be read", async () => {
    expect(await readOwners(2, [address])).toMatchObject({
      ...{ isComplete: false, warnings: ["Base: not all owners of the account were read."] },
    });
  });

  it("leaves unknown what Coinbase's manager of spend permissions can take, which acts for others", async () => {
    const { permissions, warnings } = await readOwners(2, [address, toOwner(MANAGER)]);
    expect(permissions.map(({ spender, controlsAll }) => [spender, controlsAll])).toEqual([
      [KEY, true],
      [MANAGER, null],
    ]);
    expect(warnings).toEqual([
      "Base: the owner Coinbase Spend Permission Manager lets others spend within limits; what they can take is not known.",
    ]);
  });

  it("leaves unknown what a known delegate can take that runs code with owners, whatever owners it lists", async () => {
    const [delegate] = COINBASE?.deployments.flatMap(([, one]) => one.toLowerCase() as Hex) ?? [];
    const controls = async (implementation?: Hex) =>
      (
        await readOwners(0, [], { kind: "delegated", delegate: delegate as Hex }, implementation)
      ).permissions.find(({ kind }) => kind === "delegate")?.controlsAll;
    expect(await controls("0x0")).toBe(false);
    // isOwner of its storage is apart from what it lists.
    expect(await controls()).toBe(null);
  });
});
