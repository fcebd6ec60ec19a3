// The response to a portfolio request: its schema, and the types that follow from it.
import { listOf, nullable, type TypeOf, titledRecord } from "../json-schema.ts";
import { responseProofs } from "./proofs.ts";
import {
  addressText,
  amountText,
  assetContract,
  caip2,
  chainSlug,
  count,
  decimals,
  failedChains,
  flag,
  foreignText,
  foreignTextOrNull,
  hashText,
  positionKind,
  snapshotIdText,
  text,
  textOrNull,
  timeText,
  uintText,
  usdText,
} from "./values.ts";

/** Enough to show what a wallet is doing; this is not a transaction history. */
export const ACTIVITY_MAX = 25;

const totalValueUsd = {
  ...nullable(usdText),
  description:
    'The sum of valueUsd over the positions and the tokens that are not spam. "0" for an empty wallet. Null when it is unknown: no holding has a price, a debt cannot be valued together with everything in the same market, or a lending protocol that may know a debt could not be read; summary.warnings says which.',
};

const assetKeys = {
  contract: assetContract,
  symbol: foreignTextOrNull,
  name: foreignTextOrNull,
  decimals,
};

const amountKeys = {
  rawBalance: { ...uintText, description: "In the smallest unit." },
  balance: { ...nullable(amountText), description: "Exact; null when the decimals are unknown." },
  priceUsd: { ...nullable(amountText), description: "The price of one whole unit; null when unknown." },
  valueUsd: {
    ...nullable(usdText),
    description:
      "balance × priceUsd, rounded half up to 6 decimals; negative for debt. If the price comes from pools, at most what those could pay for the asset on this chain, in the wallet and in positions together; summary.warnings then says so.",
  },
  priceSource: { ...textOrNull, description: "Name of the source of the price." },
  priceContract: {
    ...nullable(addressText),
    description: "The contract that the price was read from; null for a vendor.",
  },
  priceTimestamp: {
    ...nullable(timeText),
    description: "When the source last set the price; null when it does not say.",
  },
};

const portfolioToken = titledRecord("PortfolioToken", {
  chain: chainSlug,
  chainId: caip2,
  ...assetKeys,
  logo: textOrNull,
  ...amountKeys,
  spam: {
    ...flag,
    description: "When true, excluded from totals and top holdings; summary.warnings states why.",
  },
});

const positionAsset = titledRecord("PositionAsset", { ...assetKeys, ...amountKeys });

const portfolioPosition = titledRecord("PortfolioPosition", {
  chain: chainSlug,
  chainId: caip2,
  protocol: text,
  kind: positionKind,
  name: foreignText,
  contract: nullable(addressText),
  assets: listOf(positionAsset),
  valueUsd: {
    ...nullable(usdText),
    description: "The sum of its assets that have a value; null when none has, negative for debt.",
  },
  partial: {
    ...flag,
    description: "True when valueUsd leaves out an asset, because that has no known price.",
  },
  selfReported: {
    ...flag,
    description:
      "True for a vault that only a token list vouches for: it counts with what it says that it could pay now, at most what it holds, and never among the stablecoins.",
  },
});

const recentActivity = titledRecord("RecentActivity", {
  chain: nullable(chainSlug),
  hash: nullable(hashText),
  from: {
    ...nullable(addressText),
    description: "Who paid in the first transfer from the wallet, or else to it.",
  },
  to: { ...nullable(addressText), description: "Who received in that transfer." },
  blockNumber: { type: ["integer", "string", "null"] },
  timestamp: nullable(timeText),
  sender: {
    ...nullable(addressText),
    description:
      "Who signed the transaction and paid for it; null when unknown. Only what the wallet signed is its own activity. It differs from `from` if a relayer, or an account with an allowance, moved the amount.",
  },
  lookalike: {
    ...flag,
    description:
      "The other party reads like another address of this list, or like the wallet: same first and last four digits. Never copy such an address.",
  },
  transfer: {
    ...nullable(
      titledRecord("ActivityTransfer", {
        contract: assetContract,
        symbol: { ...foreignTextOrNull, description: "From the token list; null when the list has none." },
        decimals,
        rawAmount: { ...uintText, description: "In the smallest unit." },
        amount: { ...nullable(amountText), description: "Exact; null when the decimals are unknown." },
      }),
    ),
    description:
      "The asset that moved from `from` to `to`; null when it is unknown, or when the transaction only called a contract. The transaction may have moved more.",
  },
});

const counts = {
  tokenCount: {
    ...count,
    description:
      "The entries of tokens, with spam unless the request excludes it. Positions are not counted.",
  },
  pricedTokenCount: { ...count, description: "The entries with a valueUsd." },
  unpricedTokenCount: { ...count, description: "The entries without a valueUsd." },
};

const portfolioSummary = titledRecord("PortfolioSummary", {
  totalValueUsd,
  ...counts,
  stablecoinValueUsd: {
    ...nullable(amountText),
    description:
      'The value of the dollar stablecoins held, identified by address: in the wallet and in positions. Debt is not subtracted. "0" when none is held, null when none of them has a price.',
  },
  chains: listOf(titledRecord("ChainSummary", { chain: chainSlug, ...counts, totalValueUsd }), {
    description: "One per requested chain, in the order of the request.",
  }),
  topHoldings: listOf(
    titledRecord("TopHolding", {
      chain: chainSlug,
      contract: assetContract,
      symbol: foreignTextOrNull,
      name: foreignTextOrNull,
      valueUsd: usdText,
    }),
    {
      maxItems: 10,
      description:
        "The largest tokens and positions by value, without spam and debt. A position has its own name.",
    },
  ),
  warnings: listOf(text, {
    description: "The block of each chain, and what is missing, not counted or uncertain.",
  }),
  unlistedValueUsd: {
    ...nullable(amountText),
    description:
      'How much of the value held rests on prices of tokens that no list has: only the pools that buy them show what they are worth. "0" when there is none, null when a chain could not be read.',
  },
});

const sideOfDifference = {
  ...textOrNull,
  description:
    "Smallest units for balances, US dollars of one whole unit for a price; null if nothing was read.",
};

const chainCrossCheck = titledRecord("CrossCheck", {
  chain: chainSlug,
  source: { ...text, description: "The second source.", examples: ["goldrush"] },
  status: {
    enum: ["compared", "unavailable"],
    description: "Whether the source could be read.",
  },
  updatedAt: {
    ...nullable(timeText),
    description: "When the source read the chain; null when it does not say.",
  },
  comparedCount: { ...count, description: "Assets that both have." },
  differenceCount: { ...count, description: "All differences, also those beyond the list." },
  differences: listOf(
    titledRecord("CrossCheckDifference", {
      kind: {
        enum: ["balance", "only-there", "only-here", "price"],
        description:
          "`only-there`: the source has an asset that is not among the holdings read here; `only-here` the reverse; `price`: more than 2 % apart.",
      },
      contract: assetContract,
      symbol: { ...foreignTextOrNull, description: "The symbol as we know it; never the source's." },
      ours: sideOfDifference,
      theirs: sideOfDifference,
    }),
    { maxItems: 50 },
  ),
  ignoredSpamCount: { ...count, description: "Assets that only the source has and calls spam itself." },
});

const crossCheck = listOf(chainCrossCheck, {
  description:
    "Only if the service compares with a second source. Nothing of the snapshot comes from that source: differences are reported, not resolved.",
});

const portfolioAccount = titledRecord(
  "PortfolioAccount",
  {
    chain: chainSlug,
    chainId: caip2,
    kind: {
      type: ["string", "null"],
      enum: ["eoa", "delegated", "safe", "smart-account", "contract", null],
      description:
        "eoa: no code. delegated: an EOA that runs the code of `delegate` (EIP-7702). safe: a Safe. smart-account: a contract that names an ERC-4337 entry point. contract: any other code. Null when it could not be read.",
    },
    proven: {
      ...flag,
      description:
        "True when the code itself shows the kind. False when the contract only says so: any contract can name an entry point, owners and a version.",
    },
    delegate: { ...nullable(addressText), description: "The contract whose code a delegated account runs." },
    implementation: {
      ...nullable(addressText),
      description:
        "The contract whose code a Safe or a Coinbase Smart Wallet runs, when its code is their published proxy.",
    },
    version: {
      ...textOrNull,
      description: "The version of a Safe: as published when proven, else as the contract says.",
    },
    owners: {
      ...nullable(listOf(addressText)),
      description: "The owners of a Safe; null for other kinds, and for one with more than 60 owners.",
    },
    threshold: {
      ...nullable({ type: "integer", minimum: 1 }),
      description: "How many owners must sign.",
    },
    entryPoint: {
      ...nullable(addressText),
      description: "The ERC-4337 entry point that the account names, if bundlers use it.",
    },
  },
  {
    nonce: {
      ...nullable(uintText),
      description:
        "Only with `proof=1`: the account's nonce, which grows with every transaction that it sends; null if no proof shows it.",
    },
  },
);

const lendingHealth = titledRecord("LendingHealth", {
  chain: chainSlug,
  chainId: caip2,
  protocol: text,
  name: foreignText,
  contract: {
    ...nullable(addressText),
    description: "The pool, market or vault that decides about a liquidation.",
  },
  healthFactor: {
    ...nullable(amountText),
    description:
      "How many times the collateral, each at its liquidation threshold, covers the debt; below 1 it can be liquidated. Null without debt, and when unknown.",
  },
  loanToValue: { ...nullable(amountText), description: "Debt divided by collateral." },
  liquidationThreshold: {
    ...nullable(amountText),
    description: "The loanToValue at which liquidation begins, for this collateral.",
  },
  distanceToLiquidation: {
    ...nullable(amountText),
    description:
      "The part of its value that the whole collateral can lose before liquidation begins. Null without debt, and when unknown.",
  },
  liquidatable: {
    type: ["boolean", "null"],
    description:
      "Whether the account can be liquidated, by the market's own check if it has one. Null when unknown.",
  },
  collateralUsd: {
    ...nullable(usdText),
    description:
      "The value by the prices of the market itself, which decide about a liquidation. Null when unknown, or when the market counts in an asset without a known price.",
  },
  debtUsd: { ...nullable(usdText), description: 'The debt by the same prices; "0" without debt.' },
});

const wei = { ...nullable(uintText), description: "In wei; null when unknown." };
const gasReadiness = titledRecord("GasReadiness", {
  chain: chainSlug,
  chainId: caip2,
  symbol: { ...text, description: "The symbol of the native coin." },
  rawBalance: { ...uintText, description: "The balance of the native coin, in wei." },
  balance: amountText,
  gasPrice: {
    ...wei,
    description:
      "The base fee of the pinned block and a usual tip, in wei for a unit of gas; null when unknown.",
  },
  transferCost: {
    ...wei,
    description:
      "The fee for sending the native coin: 21,000 gas, and on Base, Optimism and Arbitrum the fee for data. In wei; null when unknown.",
  },
  transfers: {
    ...nullable(uintText),
    description: "How many such transfers the balance pays for, without the amounts sent.",
  },
  tokenTransferCost: { ...wei, description: "The fee for sending a token: 65,000 gas." },
  tokenTransfers: { ...nullable(uintText), description: "How many of those the balance pays for." },
  ready: {
    type: ["boolean", "null"],
    description:
      "Whether the balance pays for at least one transfer of a token. A Safe or smart account may have others pay for it; see accounts.",
  },
});

const omitted = {
  ...titledRecord("OmittedHoldings", {
    minUsd: { ...amountText, description: "The `min_usd` of the request." },
    tokens: { ...count, description: "Tokens that are not listed." },
    unpricedTokens: { ...count, description: "The tokens left out whose value is not known." },
    positions: { ...count, description: "Positions that are not listed." },
  }),
  description: "Only with `min_usd`: how much it left out.",
};

const snapshotId = {
  ...snapshotIdText,
  description:
    "The id under which the snapshot is stored for 90 days, as the start of a difference: the SHA-256 of its figures. Missing if the service stores none.",
};

/** `crossCheck`, `omitted`, `snapshotId`, `failedChains` and `proofs` are the only keys that a response may lack. */
export const portfolioSnapshotSchema = titledRecord(
  "PortfolioSnapshot",
  {
    address: addressText,
    timestamp: { ...timeText, description: "Time of the snapshot." },
    chains: listOf(chainSlug, { minItems: 1 }),
    summary: portfolioSummary,
    tokens: listOf(portfolioToken, { description: "Largest value first, tokens without a value last." }),
    positions: listOf(portfolioPosition),
    recentActivity: listOf(recentActivity, {
      maxItems: ACTIVITY_MAX,
      description:
        "Newest first: transactions in which an amount of a listed token moved. Transfers of nothing or of unlisted tokens, which anyone can forge, are left out. The wallet's own transactions and the received ones each get about half of the entries.",
    }),
    provider: { ...text, description: "Source of the balances." },
    accounts: listOf(portfolioAccount, {
      description:
        "The kind of account at the address, one entry per requested chain, in the order of the request.",
    }),
    health: listOf(lendingHealth, {
      description:
        "Each lending account among the positions, by the market's own numbers at the block of its chain. Ratios are rounded so that no loan looks safer than it is; summary.warnings says why one is unknown.",
    }),
    gas: listOf(gasReadiness, {
      description:
        "The transfers that the native balance pays for, one entry per requested chain, in the order of the request.",
    }),
    name: {
      ...foreignTextOrNull,
      description:
        "The name of the wallet in ENS or, if it has none there, in Basenames, of the requested chains: its own record, verified to lead back to the wallet. Null when it has none. A name can be set to read like another one: pay to addresses.",
    },
    blocks: listOf(
      titledRecord("SnapshotBlock", {
        chain: chainSlug,
        number: count,
        hash: hashText,
      }),
      { description: "The block that each chain was read at, in the order of the request." },
    ),
  },
  { crossCheck, omitted, snapshotId, failedChains, proofs: responseProofs },
);

export type PortfolioSnapshot = TypeOf<typeof portfolioSnapshotSchema>;
export type PortfolioToken = TypeOf<typeof portfolioToken>;
export type PortfolioAsset = TypeOf<typeof positionAsset>;
export type PortfolioPosition = TypeOf<typeof portfolioPosition>;
export type RecentActivity = TypeOf<typeof recentActivity>;
export type ChainSummary = PortfolioSnapshot["summary"]["chains"][number];
export type TopHolding = PortfolioSnapshot["summary"]["topHoldings"][number];
export type PortfolioAccount = TypeOf<typeof portfolioAccount>;
export type LendingHealth = TypeOf<typeof lendingHealth>;
export type GasReadiness = TypeOf<typeof gasReadiness>;
export type SnapshotBlock = PortfolioSnapshot["blocks"][number];
export type ChainCrossCheck = TypeOf<typeof chainCrossCheck>;
export type CrossCheckDifference = ChainCrossCheck["differences"][number];
