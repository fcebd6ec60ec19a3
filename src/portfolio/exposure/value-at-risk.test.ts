// What can be taken through Permit2: never more than Permit2 itself may take, and unknown where that is unknown.
import { describe, expect, it } from "vitest";
import {
  makeChainConfig,
  makeHolding,
  makeListedToken,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Hex } from "../../lib/hex.ts";
import { quotePrice } from "../types.ts";
import { collectCandidates } from "./candidates.ts";
import { PERMIT2 } from "./revocations.ts";
import type { LivePermission } from "./types.ts";
import { indexDirectAllowances, valuePermission } from "./value-at-risk.ts";

const token = makeListedToken(1, "TOK", 0);
const spender: Hex = `0x${"51".repeat(20)}`;
const direct = (rawAllowance: bigint): LivePermission => ({
  ...{ kind: "erc20-allowance", contract: token.contract, spender: PERMIT2, via: null, rawAllowance },
  ...{ tokenId: null, expiresAt: null, controlsAll: false, revoke: null },
});
const nested: LivePermission = { ...direct(50n), kind: "permit2-allowance", spender, via: PERMIT2 };
const unread = {
  kind: "erc20-allowance",
  contract: token.contract,
  spender: PERMIT2,
  trusted: true,
} as const;

function valueNested(...[permissions, failed]: Parameters<typeof indexDirectAllowances>) {
  const price = { ...quotePrice({ units: 1n, scale: 0 }), source: "test" };
  const exposed = { holding: makeHolding(token, 100n), isBalanceKnown: true, price, isSpam: false };
  const index = indexDirectAllowances(permissions, failed);
  return valuePermission(nested, new Map([[token.contract, exposed]]), index, null);
}

describe("control over a wallet", () => {
  it("control over a wallet is worth everything, nothing, or unknown if only code decides", () => {
    const everything = { units: 7n, scale: 0 };
    const valued = (controlsAll: boolean | null) =>
      valuePermission({ ...direct(0n), kind: "owner", controlsAll }, new Map(), new Map(), everything);
    expect([valued(true), valued(false), valued(null)]).toEqual([everything, { units: 0n, scale: 0 }, null]);
  });
});

describe("an allowance in Permit2", () => {
  it("an allowance in Permit2 is worth at most what Permit2 itself may take", () => {
    expect(valueNested([nested, direct(30n)], [])).toMatchObject({ units: 30_000_000n });
    expect(valueNested([nested, direct(70n)], [])).toMatchObject({ units: 50_000_000n });
    expect(valueNested([nested], [])).toMatchObject({ units: 0n });
  });

  it("an allowance in Permit2 has an unknown value if that of Permit2 could not be read", () => {
    expect(valueNested([nested], [unread])).toBeNull();
  });

  it("reads an allowance in Permit2 that a log names together with that of Permit2", () => {
    const approvals = [
      { kind: "permit2-allowance", contract: token.contract, spender, tokenId: null },
    ] as const;
    const spenders = { byAddress: new Map(), ofTokens: [], ofPermit2: [], ofCollections: [] };
    const chain = makeChainConfig("base", 8453);
    const { reads } = collectCandidates({ chain, holdings: [], transfers: [], approvals, spenders });
    expect(reads.map(({ kind, spender: of }) => [kind, of])).toEqual([
      ["erc20-allowance", PERMIT2],
      ["permit2-allowance", spender],
    ]);
  });
});
