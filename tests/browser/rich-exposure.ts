// A demanding exposure: every kind of limit, Permit2, collections, holders of control, and hostile names.

import type { Hex } from "../../src/lib/hex.ts";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import type { Exposure, ExposurePermission } from "../../src/schema/portfolio/exposure.ts";
import { PAYER } from "./browser.ts";
import { BIDI_TEXT, HOSTILE_TEXT } from "./rich-snapshot.ts";

/** The wallet of the browser, so that it can revoke. */
export const EXPOSED_WALLET = PAYER.address.toLowerCase() as Hex;
export const USDC_SPENDER = "0x6ff5693b99212da76ad316178a184ab56d299b43";
const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";
const CHAIN_IDS = { base: "eip155:8453", ethereum: "eip155:1" };
const addressOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, "b")}`;

/** `approve(spender, 0)`. */
export const approveNothing = (spender: string): Hex =>
  `0x095ea7b3${spender.slice(2).padStart(64, "0")}${"0".repeat(64)}`;

const UNLIMITED = String(2n ** 256n - 1n);

function permission(given: Partial<ExposurePermission>): ExposurePermission {
  const { chain = "base", contract = USDC, spender = USDC_SPENDER } = given;
  return {
    ...{ chain, chainId: chain === "base" ? CHAIN_IDS.base : CHAIN_IDS.ethereum, kind: "erc20-allowance" },
    ...{
      contract,
      symbol: "USDC",
      name: "USD Coin",
      decimals: 6,
      spender,
      spenderName: null,
      spenderProtocol: null,
    },
    ...{ via: null, rawAllowance: UNLIMITED, allowance: null, unlimited: false, tokenId: null },
    ...{
      expiresAt: null,
      rawBalance: "1250250000",
      balance: "1250.25",
      priceUsd: "1",
      valueAtRiskUsd: "1250.25",
    },
    ...{ protocol: null, partial: false, reasons: [] },
    revoke: {
      ...{
        type: "call",
        from: EXPOSED_WALLET,
        to: contract as Hex,
        data: approveNothing(spender),
        value: "0",
      },
      description: "Sets the allowance of the spender to zero.",
    },
    ...given,
  };
}

const WETH = {
  contract: addressOf(1),
  symbol: "WETH",
  name: "Wrapped Ether",
  rawBalance: "2000000000000000000",
};
const ITEMS = { symbol: null, allowance: null, rawAllowance: null, balance: null, valueAtRiskUsd: null };
const CONTROL = { contract: EXPOSED_WALLET, ...ITEMS, name: null, rawBalance: null };
const LONG = "A router whose name does not end where names of routers usually end, and goes on";

const permissions: readonly ExposurePermission[] = [
  permission({
    ...{
      ...WETH,
      chain: "ethereum",
      balance: "2",
      unlimited: true,
      valueAtRiskUsd: "5000",
      spender: addressOf(2),
    },
    reasons: ["unlimited", "unknown spender"],
  }),
  permission({
    ...{
      kind: "position-operator",
      protocol: "compound-v3",
      contract: addressOf(20),
      spender: addressOf(21),
    },
    ...{ symbol: null, name: null, decimals: null, rawAllowance: null, rawBalance: null, balance: null },
    ...{ priceUsd: null, valueAtRiskUsd: "2000", partial: true, reasons: ["unknown spender"] },
  }),
  permission({
    ...{
      unlimited: true,
      spenderName: "Universal Router",
      spenderProtocol: "Uniswap",
      reasons: ["unlimited"],
    },
  }),
  permission({
    ...{ kind: "permit2-allowance", via: PERMIT2, spender: addressOf(3), spenderName: LONG },
    ...{ rawAllowance: "500000000", allowance: "500", valueAtRiskUsd: "500", spenderProtocol: "Aggregator" },
    expiresAt: "2027-01-03T12:00:00.000Z",
  }),
  permission({ spender: addressOf(4), rawAllowance: "1", allowance: "0.000001", valueAtRiskUsd: "0.000001" }),
  permission({
    ...{ ...ITEMS, kind: "nft-operator", contract: addressOf(5), name: "Pixel Boats", rawBalance: "7" },
    ...{ spender: addressOf(6), spenderName: "Seaport 1.6", spenderProtocol: "OpenSea" },
  }),
  permission({
    ...{ ...ITEMS, kind: "nft-approval", contract: addressOf(7), name: HOSTILE_TEXT, rawBalance: "1" },
    ...{ tokenId: String(2n ** 255n), spender: addressOf(8), reasons: ["unknown spender"] },
  }),
  permission({
    contract: addressOf(9),
    symbol: BIDI_TEXT,
    name: HOSTILE_TEXT,
    valueAtRiskUsd: null,
    reasons: ["unlimited", "unknown spender"],
    unlimited: true,
  }),
  permission({
    contract: addressOf(10),
    symbol: "OLD",
    name: "Old token",
    rawBalance: "0",
    balance: "0",
    valueAtRiskUsd: "0",
    unlimited: true,
    reasons: ["unlimited"],
  }),
  permission({
    contract: addressOf(11),
    symbol: HOSTILE_TEXT,
    name: "W".repeat(300),
    valueAtRiskUsd: "0",
    reasons: ["spam token", "unknown spender"],
  }),
  permission({
    ...{ ...CONTROL, kind: "delegate", spender: addressOf(12), valueAtRiskUsd: "1250.25" },
    ...{ reasons: ["full control", "unverified delegate"] },
    revoke: {
      type: "authorization",
      authorization: { chainId: 8453, address: `0x${"0".repeat(40)}` },
      description:
        "Sign this authorization and send it in a transaction of type 4: the account then runs no code.",
    },
  }),
  permission({
    ...{
      ...CONTROL,
      chain: "ethereum",
      kind: "module",
      spender: addressOf(13),
      spenderName: "Allowance Module",
    },
    revoke: {
      ...{ type: "call", from: EXPOSED_WALLET, to: EXPOSED_WALLET, data: "0xe009cfde", value: "0" },
      description: "Disables the module; a transaction of the Safe.",
    },
  }),
  permission({ ...CONTROL, chain: "ethereum", kind: "owner", spender: addressOf(14), revoke: null }),
  permission({
    ...CONTROL,
    kind: "session-key",
    spender: addressOf(15),
    expiresAt: "2026-12-24T00:00:00.000Z",
  }),
];

export const richExposure: Exposure = {
  address: EXPOSED_WALLET,
  timestamp: exampleSnapshot.timestamp,
  chains: ["base", "ethereum"],
  summary: {
    ...{
      permissionCount: 14,
      unlimitedCount: 4,
      unknownSpenderCount: 5,
      valueAtRiskUsd: "8250.25",
      partial: true,
    },
    spenderListVersion: "1 (2026-11-16)",
    chains: [
      {
        ...{ chain: "base", permissionCount: 11, unlimitedCount: 3, unknownSpenderCount: 4 },
        ...{
          partial: true,
          valueAtRiskUsd: "3250.25",
          blockNumber: 40_000_000,
          searchedFromBlock: 38_704_001,
        },
      },
      {
        ...{ chain: "ethereum", permissionCount: 3, unlimitedCount: 1, unknownSpenderCount: 1 },
        ...{ partial: false, valueAtRiskUsd: "5000", blockNumber: 24_000_000, searchedFromBlock: null },
      },
    ],
    warnings: [
      `Base was read at block 40000000 (0x${"1".repeat(64)}).`,
      `Ethereum was read at block 24000000 (0x${"2".repeat(64)}).`,
      HOSTILE_TEXT,
    ],
  },
  permissions: [...permissions],
  provider: "rpc",
};

export const emptyExposure: Exposure = {
  ...richExposure,
  summary: {
    ...richExposure.summary,
    ...{ permissionCount: 0, unlimitedCount: 0, unknownSpenderCount: 0, valueAtRiskUsd: "0", partial: false },
    chains: richExposure.summary.chains.map((chain) => ({
      ...chain,
      ...{ permissionCount: 0, unlimitedCount: 0, unknownSpenderCount: 0, valueAtRiskUsd: "0" },
      partial: false,
    })),
    warnings: richExposure.summary.warnings.slice(0, 2),
  },
  permissions: [],
};
