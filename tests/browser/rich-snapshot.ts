// A demanding snapshot: many tokens and transfers, debts, unknown prices, and hostile names.
import { addDecimals, formatDecimal, parseDecimal } from "../../src/lib/decimal.ts";
import type { Hex } from "../../src/lib/hex.ts";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import type {
  ChainSummary,
  LendingHealth,
  PortfolioAccount,
  PortfolioAsset,
  PortfolioPosition,
  PortfolioSnapshot,
  PortfolioToken,
  RecentActivity,
} from "../../src/schema/portfolio/snapshot.ts";

export const HOSTILE_TEXT = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
/** Reads as USDC, and turns the text after it around. */
export const BIDI_TEXT = "\u202eCDSU\u200b";

const WALLET = exampleSnapshot.address;
const CHAINS = { base: 8453, ethereum: 1, arbitrum: 42161, optimism: 10, polygon: 137 } as const;
type Chain = keyof typeof CHAINS;
const chainNames = Object.keys(CHAINS) as Chain[];

const addressOf = (index: number): Hex => `0x${(index + 1).toString(16).padStart(40, "a")}`;

/** Symbol, balance, price and value. */
type Amount = readonly [
  symbol: string,
  balance: string | null,
  priceUsd: string | null,
  valueUsd: string | null,
];

function asset([symbol, balance, priceUsd, valueUsd]: Amount, index: number): PortfolioAsset {
  const isPriced = priceUsd !== null;
  return {
    contract: addressOf(index),
    symbol,
    name: `${symbol} token`,
    decimals: balance === null ? null : 18,
    rawBalance: "31400000000000000",
    balance,
    priceUsd,
    valueUsd,
    priceSource: isPriced ? "chainlink" : null,
    priceContract: isPriced ? addressOf(index + 1000) : null,
    priceTimestamp: isPriced ? "2025-12-31T23:58:11.000Z" : null,
  };
}

function token(chain: Chain, amount: Amount, index: number, more: Partial<PortfolioToken> = {}) {
  const chainId = `eip155:${CHAINS[chain]}`;
  return { chain, chainId, logo: null, spam: false, ...asset(amount, index), ...more };
}

const NATIVE = { contract: null, name: "Ether" };
const LONG = "A governance token whose name does not end where names of tokens usually end";

const tokens: readonly PortfolioToken[] = [
  token("ethereum", ["SHIB", "98765432109876.1234", "0.0000125", "1234567901.373452"], 15),
  token("ethereum", ["ETH", "2", "2500", "5000"], 0, NATIVE),
  token("base", ["AERO", "4120.5", "1.02", "4202.91"], 1),
  token("ethereum", ["WBTC", "0.0314", "97000.5", "3045.8157"], 2),
  token("arbitrum", ["ARB", "2500", "0.71", "1775"], 3),
  token("base", ["USDC", "1250.25", "1", "1250.25"], 4, { name: "USD Coin" }),
  token("ethereum", ["LINK", "40", "17.25", "690"], 5),
  token("optimism", ["OP", "310.75", "1.55", "481.6625"], 6),
  token("polygon", ["WALLETGOVERNANCETOKENV2", "128", "2.1", "268.8"], 7, { name: LONG }),
  token("ethereum", ["PEPE", "12000000", "0.0000082", "98.4"], 8),
  ...Array.from({ length: 18 }, (_, index) =>
    token(chainNames[index % 5] ?? "base", [`SMALL${index}`, "10", "0.5", "5"], 20 + index),
  ),
  token("base", ["DUST", "0.000000000012", "1", "0.000001"], 9),
  token("base", ["ODD", "17", null, null], 10),
  token("base", ["NODECIMALS", null, null, null], 11),
  token("base", [HOSTILE_TEXT, "1000000", null, null], 12, { name: HOSTILE_TEXT, spam: true }),
  token("ethereum", [BIDI_TEXT, "1000000", null, null], 13, { name: `${BIDI_TEXT} airdrop`, spam: true }),
  token("ethereum", [`Z${"\u0300".repeat(200)}`, "1", null, null], 14, { name: "W".repeat(300), spam: true }),
];

function position(
  chain: Chain,
  [protocol, kind, name]: readonly [string, PortfolioPosition["kind"], string],
  amounts: readonly Amount[],
  valueUsd: string | null,
): PortfolioPosition {
  const assets = amounts.map((amount, index) => asset(amount, 50 + index));
  const partial = valueUsd !== null && assets.some((part) => part.valueUsd === null);
  const chainId = `eip155:${CHAINS[chain]}`;
  const contract = addressOf(60);
  return { chain, chainId, protocol, kind, name, contract, assets, valueUsd, partial, selfReported: false };
}

const positions: readonly PortfolioPosition[] = [
  position(
    "base",
    ["aave-v3", "supplied", "Aave v3 WETH supplied"],
    [["WETH", "0.6", "2500", "1500"]],
    "1500",
  ),
  position(
    "ethereum",
    ["uniswap-v3", "liquidity", "Uniswap v3 USDC/WETH 0.05 % #712345"],
    [
      ["USDC", "410.5", "1", "410.5"],
      ["WETH", "0.25", "2500", "625"],
    ],
    "1035.5",
  ),
  position("ethereum", ["erc-4626", "vault", "Steakhouse USDC"], [["USDC", "400", "1", "400"]], "400"),
  position("ethereum", ["lido", "staked", "Lido stETH"], [["stETH", "0.1", "2500", "250"]], "250"),
  position("base", ["aave-v3", "borrowed", "Aave v3 USDC borrowed"], [["USDC", "800", "1", "-800"]], "-800"),
  position(
    "optimism",
    ["velodrome", "liquidity", "Velodrome volatile pool"],
    [
      ["OP", "2", "1.55", "3.1"],
      ["NEW", "70", null, null],
    ],
    "3.1",
  ),
];

function sumUsd(values: readonly (string | null)[]): string {
  const known = values.filter((value) => value !== null).map((value) => parseDecimal(value, "value"));
  return formatDecimal(known.reduce(addDecimals, { units: 0n, scale: 0 }));
}

function summarize(isIncluded: (chain: string) => boolean): Omit<ChainSummary, "chain"> {
  const listed = tokens.filter(({ chain }) => isIncluded(chain));
  const counted = [...listed.filter(({ spam }) => !spam), ...positions.filter((p) => isIncluded(p.chain))];
  const pricedTokenCount = listed.filter(({ valueUsd }) => valueUsd !== null).length;
  return {
    tokenCount: listed.length,
    pricedTokenCount,
    unpricedTokenCount: listed.length - pricedTokenCount,
    totalValueUsd: sumUsd(counted.map(({ valueUsd }) => valueUsd)),
  };
}

const OUTSIDER = "0x1111111111111111111111111111111111111111";
const RELAYER = "0x2222222222222222222222222222222222222222";

const USDC = { contract: addressOf(4), symbol: "USDC", decimals: 6 };
const TRANSFERS = [
  { ...USDC, rawAmount: "1250500000", amount: "1250.5" },
  { ...USDC, rawAmount: "1", amount: "0.000001" },
  { contract: addressOf(71), symbol: null, decimals: null, rawAmount: "1".repeat(60), amount: null },
] as const;
const LARGE_TRANSFER = { ...USDC, rawAmount: "1234567891200", amount: "1234567.8912" };

/** Paid to the wallet, by the wallet, by a relayer for the wallet, and from a lookalike, in turns. */
const activity: readonly RecentActivity[] = Array.from({ length: 25 }, (_, index) => {
  const isOut = index % 2 === 1;
  return {
    chain: index === 2 ? "ethereum" : "base",
    hash: `0x${(index + 1).toString(16).padStart(64, "c")}`,
    from: isOut ? WALLET : OUTSIDER,
    to: isOut ? OUTSIDER : WALLET,
    blockNumber: 40_000_000 - index,
    timestamp: index === 24 ? null : new Date(Date.UTC(2025, 11, 31, 23, 59 - index)).toISOString(),
    sender: index === 3 ? RELAYER : isOut ? WALLET : OUTSIDER,
    lookalike: index === 4,
    transfer: index === 5 ? null : index === 6 ? LARGE_TRANSFER : (TRANSFERS[index % 3] ?? null),
  };
});

function account(chain: Chain, kind: "eoa" | "delegated"): PortfolioAccount {
  return {
    ...{
      chain,
      chainId: `eip155:${CHAINS[chain]}`,
      kind,
      proven: true,
      delegate: null,
      implementation: null,
    },
    ...(kind === "delegated" ? { delegate: OUTSIDER } : {}),
    ...{ version: null, owners: null, threshold: null, entryPoint: null },
  };
}

function loan(name: string, ratios: Partial<LendingHealth>): LendingHealth {
  return {
    ...{ chain: "base", chainId: "eip155:8453", protocol: "aave-v3", name, contract: addressOf(60) },
    ...{ healthFactor: null, loanToValue: null, liquidationThreshold: null, distanceToLiquidation: null },
    ...{ liquidatable: null, collateralUsd: null, debtUsd: null },
    ...ratios,
  };
}

/** Safe, close, lost, unknown, and without a debt. */
const loans: readonly LendingHealth[] = [
  loan("Aave v3", {
    ...{ healthFactor: "1.546875000000000001", loanToValue: "0.533333333333333334", liquidatable: false },
    ...{ liquidationThreshold: "0.825", distanceToLiquidation: "0.353535353535353535" },
    ...{ collateralUsd: "1500", debtUsd: "800" },
  }),
  loan("Morpho Blue cbBTC/USDC", {
    ...{ healthFactor: "1.049999999999999999", loanToValue: "0.81904", liquidatable: false },
    ...{ liquidationThreshold: "0.86", distanceToLiquidation: "0.047619047619047619" },
    ...{ collateralUsd: "123456789012.34", debtUsd: "101119999999.12" },
  }),
  loan("Compound v3 USDC", {
    ...{ healthFactor: "0.98", loanToValue: "1.2", liquidationThreshold: "0.9", liquidatable: true },
    distanceToLiquidation: "0",
  }),
  loan(HOSTILE_TEXT, {}),
  loan("No debt", { loanToValue: "0", debtUsd: "0", collateralUsd: "5", liquidatable: false }),
];

/** Sentences that every snapshot has. */
export const ROUTINE_NOTES = [
  ...chainNames.map((name, index) => {
    const title = name.replace(/^./, (letter) => letter.toUpperCase());
    return `${title} was read at block ${40_000_000 + index} (0x${String(index + 1).repeat(64)}).`;
  }),
  "Base: recent activity and unlisted tokens are found by token transfers since block 38704001 (about 30 days); transfers of ETH itself leave no log and are not shown.",
  `Classified as spam on Base and not counted: ${addressOf(12)}. The name or symbol contains a web address.`,
];

/** Sentences that ask for attention; the last one does not come from the service. */
export const RICH_WARNINGS = [
  `These tokens have no known price on Base and are missing in its totals: ${addressOf(10)}.`,
  `These tokens do not state their decimals on Base: only the raw balance is known: ${addressOf(11)}.`,
  HOSTILE_TEXT,
];

export const richSnapshot: PortfolioSnapshot = {
  address: WALLET,
  timestamp: exampleSnapshot.timestamp,
  chains: chainNames,
  summary: {
    ...summarize(() => true),
    stablecoinValueUsd: "2060.75",
    chains: chainNames.map((chain) => ({ chain, ...summarize((slug) => slug === chain) })),
    topHoldings: [],
    warnings: [...ROUTINE_NOTES.slice(0, 2), ...RICH_WARNINGS, ...ROUTINE_NOTES.slice(2)],
    unlistedValueUsd: "0",
  },
  tokens,
  positions,
  recentActivity: activity,
  provider: "rpc",
  accounts: [account("base", "eoa"), account("ethereum", "delegated")],
  health: loans,
  gas: [],
  name: null,
  blocks: [],
};
