// The value that can be taken through Permit2 is never more than Permit2 itself may take, and unknown if that is unknown.
import { describe, expect, it } from "vitest";
import {
  makeChainConfig,
  makeHolding,
  makeListedToken,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Hex } from "../../lib/hex.ts";
import { type Delegation, type ProtocolPosition, quotePrice } from "../types.ts";
import { collectCandidates, fitsAllPairs, rankHoldings } from "./candidates.ts";
import {
  type ExposedPositions,
  groupAccounts,
  NO_RISK,
  sumRisks,
  UNKNOWN_RISK,
} from "./positions-at-risk.ts";
import { PERMIT2 } from "./revocations.ts";
import type { PermissionRead } from "./scan-permissions.ts";
import type { LivePermission } from "./types.ts";
import { RiskValuation } from "./value-at-risk.ts";

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

const wallet: Hex = `0x${"31".repeat(20)}`;
const noPositions: ExposedPositions = {
  ...{ accounts: [], unread: new Set(), isComplete: true, prices: new Map(), assets: new Map() },
  ...{ borrowable: new Map(), connectorShares: new Set(), incomplete: new Set() },
};

function valuate(
  permissions: readonly LivePermission[],
  failed: readonly PermissionRead[] = [],
  isComplete = true,
) {
  const price = { ...quotePrice({ units: 1n, scale: 0 }), source: "test" };
  const tokens = [
    { holding: makeHolding(token, 100n), isBalanceKnown: true, isVouched: true, price, isSpam: false },
  ];
  return new RiskValuation({ wallet, permissions, failed, isComplete, tokens, positions: noPositions });
}

const valueNested = (permissions: readonly LivePermission[], failed: readonly PermissionRead[]) =>
  valuate(permissions, failed).valuePermission(nested).value;

describe("control over a wallet", () => {
  it("control over a wallet is worth everything, nothing, or unknown if only code decides", () => {
    const valued = (controlsAll: boolean | null) =>
      valuate([]).valuePermission({ ...direct(0n), kind: "owner", controlsAll });
    const everything = { value: { units: 100_000_000n, scale: 6 }, isPartial: false };
    expect([valued(true), valued(false), valued(null)]).toEqual([everything, NO_RISK, UNKNOWN_RISK]);
  });
});

describe("the total of what could not be read in full", () => {
  it("is a minimum, and unknown while the minimum is nothing", () => {
    const total = (...permissions: LivePermission[]) => valuate(permissions, [], false).valueTotal();
    expect(total(direct(30n))).toMatchObject({ value: { units: 30_000_000n }, isPartial: true });
    expect(total()).toEqual(UNKNOWN_RISK);
    expect(total(direct(0n))).toEqual(UNKNOWN_RISK);
    expect(valuate([]).valueTotal()).toMatchObject({ value: { units: 0n }, isPartial: false });
    // The same holds for several chains.
    expect(sumRisks([NO_RISK, UNKNOWN_RISK])).toEqual(UNKNOWN_RISK);
  });
});

describe("owners of a delegated account", () => {
  it("counts everything in the total as at risk, unless the owner is the wallet itself", () => {
    const delegate: LivePermission = { ...direct(0n), kind: "delegate" };
    const owner = (of: Hex): LivePermission => ({
      ...{ ...direct(0n), kind: "owner", spender: of, controlsAll: true },
    });
    const total = (...permissions: LivePermission[]) => valuate(permissions).valueTotal().value;
    expect(total(delegate, owner(spender))).toMatchObject({ units: 100_000_000n });
    expect(total(delegate, owner(wallet))).toMatchObject({ units: 0n });
    // The owners of a Safe or another account are the wallet.
    expect(total(owner(spender))).toMatchObject({ units: 0n });
    // Unless one acts for others, within limits that are not known.
    expect(total({ ...owner(spender), controlsAll: null })).toBeNull();
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
    const spenders = {
      ...{ byAddress: new Map(), ofTokens: [], ofPermit2: [], ofCollections: [], ofPositions: [] },
    };
    const chain = makeChainConfig("base", 8453);
    const none = { holdings: [], transfers: [], delegations: [], wallet };
    const { reads } = collectCandidates({ ...none, chain, approvals, spenders });
    expect(reads.map(({ kind, spender: of }) => [kind, of])).toEqual([
      ["erc20-allowance", PERMIT2],
      ["permit2-allowance", spender],
    ]);
  });
});

const POOL: Hex = `0x${"90".repeat(20)}`;
const RECEIPT: Hex = `0x${"a0".repeat(20)}`;
const ONE = { ...quotePrice({ units: 1n, scale: 0 }), source: "test" };
const priced = makeListedToken(2, "USD", 0);
const unpriced = makeListedToken(3, "ODD", 0);

function position(given: Partial<ProtocolPosition>, amount = 300n, asset = priced): ProtocolPosition {
  return {
    ...{ protocol: "aave-v3", kind: "supplied", name: "Test", contract: RECEIPT, market: POOL },
    ...{ assets: [makeHolding(asset, amount)], receiptTokens: [], ...given },
  };
}

const aave: Delegation = {
  ...{ form: "aave", protocol: "aave-v3", contract: POOL, words: 15, debtWords: [10] },
  underlyingOf: new Map(),
};

/** Prices in whole dollars; the receipt token has a balance of 100 and no price. */
function valuatePositions(
  positions: readonly ProtocolPosition[],
  permissions: readonly LivePermission[],
  borrowable = 200n,
  incomplete: ReadonlySet<Hex> = new Set(),
) {
  const prices = new Map([[priced.contract, ONE]]);
  const holding = { ...makeHolding(token, 100n), contract: RECEIPT };
  const exposed: ExposedPositions = {
    ...noPositions,
    ...{ prices, incomplete, accounts: groupAccounts(positions, prices) },
    assets: new Map([[priced.contract, priced]]),
    borrowable: new Map([[POOL, { units: borrowable, scale: 0 }]]),
  };
  const tokens = [{ holding, isBalanceKnown: true, isVouched: true, price: null, isSpam: false }];
  return new RiskValuation({
    ...{ wallet, permissions, failed: [], isComplete: true, tokens, positions: exposed },
  });
}

const usd = (risk: { value: { units: bigint; scale: number } | null; isPartial: boolean }) => [
  risk.value && Number(risk.value.units) / 10 ** risk.value.scale,
  risk.isPartial,
];
const supplied = position({ receiptTokens: [RECEIPT] });
const debt = position({ kind: "borrowed", contract: POOL }, 120n);
const approved = (rawAllowance: bigint): LivePermission => ({ ...direct(rawAllowance), contract: RECEIPT });
const delegated = (rawAllowance: bigint): LivePermission => ({
  ...{ ...direct(rawAllowance), kind: "borrow-delegation", contract: POOL },
  power: { delegation: aave, underlying: priced.contract },
});

describe("a receipt token", () => {
  it("an allowance of a receipt token is worth its part of the position", () => {
    const permissions = [approved(25n)];
    const valuation = valuatePositions([supplied], permissions);
    expect(usd(valuation.valuePermission(approved(25n)))).toEqual([75, false]);
    expect(usd(valuation.valueTotal())).toEqual([75, false]);
  });

  it("an allowance of a receipt token is worth no more than the account after its debt", () => {
    const valuation = valuatePositions([supplied, debt], [approved(2n ** 255n)]);
    expect(usd(valuation.valueTotal())).toEqual([180, false]);
  });

  it("a receipt token of an account with an unknown part has an unknown value, and the total is partial", () => {
    const odd = position({ kind: "borrowed", contract: POOL }, 1n, unpriced);
    const other: LivePermission = { ...direct(5n), contract: RECEIPT };
    const valuation = valuatePositions([supplied, odd], [other]);
    expect(usd(valuation.valuePermission(other))).toEqual([null, true]);
    expect(usd(valuation.valueTotal())).toEqual([null, true]);
  });
});

describe("a permission over positions", () => {
  it("delegates of debt take what they may borrow, together no more than the pool lends", () => {
    const both = [delegated(150n), { ...delegated(2n ** 256n - 1n), spender: POOL }];
    const valuation = valuatePositions([supplied], both);
    expect(both.map((one) => usd(valuation.valuePermission(one)))).toEqual([
      [150, false],
      [200, false],
    ]);
    expect(usd(valuation.valueTotal())).toEqual([200, false]);
  });

  it("a delegate of debt and an allowance of the collateral together take the account once", () => {
    const valuation = valuatePositions([supplied, debt], [delegated(2n ** 255n), approved(2n ** 255n)], 100n);
    expect(usd(valuation.valueTotal())).toEqual([180, false]);
  });

  it("a delegate of debt takes at least what the pool lends to an account of unknown value", () => {
    const odd = position({ kind: "borrowed", contract: POOL }, 1n, unpriced);
    const { value, isPartial } = valuatePositions([supplied, odd], [delegated(150n)]).valueTotal();
    expect(usd({ value, isPartial })).toEqual([150, true]);
  });

  it("a delegate of debt takes nothing of a wallet without collateral", () => {
    expect(usd(valuatePositions([], [delegated(1n)]).valueTotal())).toEqual([0, false]);
  });

  it("an operator of Euler takes the accounts of its bits, and those that no reader can see make it partial", () => {
    const euler: Delegation = { form: "euler", protocol: "euler", contract: POOL };
    const operator = (accounts: bigint): LivePermission => ({
      ...{
        ...direct(0n),
        kind: "position-operator",
        rawAllowance: null,
        power: { delegation: euler, accounts },
      },
    });
    const own = position({ protocol: "euler", market: `euler:${wallet}` }, 40n);
    const second = position({ protocol: "euler", market: `euler:${wallet.slice(0, -2)}30` }, 2n);
    const valueBits = (bits: bigint) =>
      usd(valuatePositions([own, second], []).valuePermission(operator(bits)));
    expect([valueBits(1n), valueBits(2n), valueBits(3n), valueBits(4n), valueBits(5n)]).toEqual([
      [40, false],
      [2, false],
      [42, false],
      [null, true],
      [40, true],
    ]);
  });

  it("an operator of NFTs of which some were not found takes at least the others", () => {
    const nft: Delegation = { form: "nft", protocol: "uniswap-v4", contract: POOL };
    const operator: LivePermission = {
      ...{ ...direct(0n), kind: "nft-operator", rawAllowance: null, power: { delegation: nft } },
    };
    const found = position({ protocol: "uniswap-v4", market: null, contract: POOL, tokenId: 1n }, 40n);
    const valueFound = (positions: readonly ProtocolPosition[]) =>
      usd(valuatePositions(positions, [operator], 0n, new Set([POOL])).valueTotal());
    expect([valueFound([found]), valueFound([])]).toEqual([
      [40, true],
      [null, true],
    ]);
  });

  it("control of the account takes the positions too", () => {
    const all: LivePermission = { ...direct(0n), kind: "module", controlsAll: true };
    expect(usd(valuatePositions([supplied, debt], [all]).valueTotal())).toEqual([180, false]);
  });
});

describe("the pairs that are read", () => {
  const spenders = {
    ...{ byAddress: new Map(), ofPermit2: [], ofCollections: [], ofPositions: [] },
    ofTokens: Array.from({ length: 100 }, (_, i): Hex => `0x5${(i + 1).toString(16).padStart(39, "0")}`),
  };
  const held = Array.from({ length: 300 }, (_, i) => ({
    ...makeHolding(token, 1n),
    contract: `0x7${(i + 1).toString(16).padStart(39, "0")}` as const,
  }));

  it("chooses pairs of the most valuable tokens when there are too many, wherever a list has them", () => {
    const [first, , last] = [held[0], held[1], held.at(-1)];
    const chain = makeChainConfig("base", 8453);
    const prices = new Map([[last?.contract as Hex, ONE]]);
    expect(fitsAllPairs(held, spenders)).toBe(false);
    expect(fitsAllPairs(held.slice(0, 150), spenders)).toBe(true);
    const ranked = rankHoldings(chain, held, prices);
    const none = { transfers: [], delegations: [], approvals: [], wallet };
    const { reads, omitted, omitsHeld } = collectCandidates({ ...none, chain, holdings: ranked, spenders });
    expect([omitted, omitsHeld]).toEqual([10_000, false]);
    const listed = new Map(held.map(({ contract }) => [contract, token]));
    const ofLists = { ...none, chain: { ...chain, tokens: listed }, holdings: ranked, spenders };
    expect(collectCandidates(ofLists).omitsHeld).toBe(true);
    const tokensRead = new Set(reads.map(({ contract }) => contract));
    expect([tokensRead.has(last?.contract as Hex), tokensRead.has(first?.contract as Hex)]).toEqual([
      true,
      true,
    ]);
    expect(ranked[0]).toBe(last);
  });

  it("reads known spenders before those of logs, whose number third parties decide also for listed tokens", () => {
    const [own, other] = [held[0]?.contract as Hex, held[1]?.contract as Hex];
    const tokens = new Map([own, other].map((contract) => [contract, token]));
    const chain = { ...makeChainConfig("base", 8453), tokens };
    const approve = (contract: Hex, i: number) => ({
      ...{ kind: "erc20-allowance" as const, contract, tokenId: null },
      spender: `0x6${(i + 1).toString(16).padStart(39, "0")}` as const,
    });
    // Older versions of OpenZeppelin log an approval when a third party transfers nothing from a wallet.
    const flood = Array.from({ length: 25_000 }, (_, i) => approve(other, i));
    const real = approve(own, 0);
    const none = { transfers: [], delegations: [], wallet, holdings: held.slice(0, 1), chain, spenders };
    const { reads, omitted, omitsHeld } = collectCandidates({ ...none, approvals: [...flood, real] });
    const ofOwn = reads.filter(({ contract }) => contract === own).map(({ spender: of }) => of);
    // Whether the wallet is an operator of itself tells an ERC-777.
    expect(new Set(ofOwn)).toEqual(new Set([...spenders.ofTokens, real.spender, wallet]));
    expect([reads.length, omitted, omitsHeld]).toEqual([ofOwn.length + 1_000, 24_000, false]);
    const floodOwn = flood.map((pair) => ({ ...pair, contract: own }));
    expect(collectCandidates({ ...none, approvals: floodOwn }).omitsHeld).toBe(true);
  });
});
