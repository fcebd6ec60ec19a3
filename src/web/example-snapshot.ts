// An example snapshot, for the documentation and for tests of the page.

const WALLET = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045";
const USDC_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
const CLAIM_BASE = "0x00000000000000000000000000000000000bad00";
const AWETH_BASE = "0xd4a0e0b9149bcee3c920d2e00b5de09138fd8bb7";
const WETH_BASE = "0x4200000000000000000000000000000000000006";
const ETH_FEED = "0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419";
const ETH_FEED_BASE = "0x71041dddad3595f9ced3dccfbe3d1f4b0a16bb70";
const USDC_FEED_BASE = "0x7e860098f58bbfc8648a4311b374b1d669a2bc6b";

const EXTERNALLY_OWNED = {
  kind: "eoa",
  proven: true,
  delegate: null,
  implementation: null,
  version: null,
  owners: null,
  threshold: null,
  entryPoint: null,
} as const;

export const exampleSnapshot = {
  address: WALLET,
  timestamp: "2026-01-01T00:00:00.000Z",
  chains: ["base", "ethereum"],
  summary: {
    totalValueUsd: "7750.25",
    pricedTokenCount: 2,
    unpricedTokenCount: 1,
    tokenCount: 3,
    stablecoinValueUsd: "1250.25",
    chains: [
      { chain: "base", tokenCount: 2, pricedTokenCount: 1, unpricedTokenCount: 1, totalValueUsd: "2750.25" },
      { chain: "ethereum", tokenCount: 1, pricedTokenCount: 1, unpricedTokenCount: 0, totalValueUsd: "5000" },
    ],
    topHoldings: [
      { chain: "ethereum", contract: null, symbol: "ETH", name: "Ether", valueUsd: "5000" },
      {
        chain: "base",
        contract: AWETH_BASE,
        symbol: "WETH",
        name: "Aave v3 WETH supplied",
        valueUsd: "1500",
      },
      { chain: "base", contract: USDC_BASE, symbol: "USDC", name: "USD Coin", valueUsd: "1250.25" },
    ],
    warnings: [
      `Base was read at block 40000123 (0x${"a5".repeat(32)}).`,
      "Base: recent activity and unlisted tokens are found by token transfers since block 38704124 (about 30 days); transfers of ETH itself leave no log and are not shown.",
      `Classified as spam on Base and not counted: ${CLAIM_BASE}. The name or symbol invites to claim, visit or redeem something.`,
      `Ethereum was read at block 24136000 (0x${"e1".repeat(32)}).`,
    ],
    unlistedValueUsd: "0",
  },
  tokens: [
    {
      chain: "ethereum",
      chainId: "eip155:1",
      contract: null,
      symbol: "ETH",
      name: "Ether",
      decimals: 18,
      logo: null,
      rawBalance: "2000000000000000000",
      balance: "2",
      priceUsd: "2500",
      valueUsd: "5000",
      spam: false,
      priceSource: "chainlink",
      priceContract: ETH_FEED,
      priceTimestamp: "2025-12-31T23:58:11.000Z",
    },
    {
      chain: "base",
      chainId: "eip155:8453",
      contract: USDC_BASE,
      symbol: "USDC",
      name: "USD Coin",
      decimals: 6,
      logo: null,
      rawBalance: "1250250000",
      balance: "1250.25",
      priceUsd: "1",
      valueUsd: "1250.25",
      spam: false,
      priceSource: "chainlink",
      priceContract: USDC_FEED_BASE,
      priceTimestamp: "2025-12-31T23:58:11.000Z",
    },
    {
      chain: "base",
      chainId: "eip155:8453",
      contract: CLAIM_BASE,
      symbol: "CLAIM",
      name: "Claim your reward at a web site",
      decimals: 18,
      logo: null,
      rawBalance: "1000000000000000000000000",
      balance: "1000000",
      priceUsd: null,
      valueUsd: null,
      spam: true,
      priceSource: null,
      priceContract: null,
      priceTimestamp: null,
    },
  ],
  positions: [
    {
      chain: "base",
      chainId: "eip155:8453",
      protocol: "aave-v3",
      kind: "supplied",
      name: "Aave v3 WETH supplied",
      contract: AWETH_BASE,
      assets: [
        {
          contract: WETH_BASE,
          symbol: "WETH",
          name: "Wrapped Ether",
          decimals: 18,
          rawBalance: "600000000000000000",
          balance: "0.6",
          priceUsd: "2500",
          valueUsd: "1500",
          priceSource: "chainlink",
          priceContract: ETH_FEED_BASE,
          priceTimestamp: "2025-12-31T23:51:47.000Z",
        },
      ],
      valueUsd: "1500",
      partial: false,
      selfReported: false,
    },
  ],
  recentActivity: [
    {
      chain: "base",
      hash: `0x${"12".repeat(32)}`,
      from: "0x1111111111111111111111111111111111111111",
      to: WALLET,
      blockNumber: 40000000,
      timestamp: "2025-12-31T23:59:00.000Z",
      sender: "0x1111111111111111111111111111111111111111",
      lookalike: false,
      transfer: {
        contract: USDC_BASE,
        symbol: "USDC",
        decimals: 6,
        rawAmount: "250000000",
        amount: "250",
      },
    },
  ],
  provider: "rpc",
  accounts: [
    { ...{ chain: "base", chainId: "eip155:8453" }, ...EXTERNALLY_OWNED },
    { ...{ chain: "ethereum", chainId: "eip155:1" }, ...EXTERNALLY_OWNED },
  ],
  health: [],
  gas: [
    {
      ...{ chain: "base", chainId: "eip155:8453", symbol: "ETH", rawBalance: "0", balance: "0" },
      ...{ gasPrice: "6000000", transferCost: "130000000000", transfers: "0" },
      ...{ tokenTransferCost: "396000000000", tokenTransfers: "0", ready: false },
    },
  ],
  name: "vitalik.eth",
  blocks: [
    { chain: "base", number: 40000123, hash: `0x${"a5".repeat(32)}` },
    { chain: "ethereum", number: 24136000, hash: `0x${"e1".repeat(32)}` },
  ],
};

/** The beginning of the example, for directories: short enough for a header. */
export const exampleExcerpt = {
  address: exampleSnapshot.address,
  timestamp: exampleSnapshot.timestamp,
  chains: exampleSnapshot.chains,
  summary: { totalValueUsd: exampleSnapshot.summary.totalValueUsd },
  tokens: exampleSnapshot.tokens
    .slice(0, 1)
    .map(({ chain, symbol, balance, valueUsd }) => ({ chain, symbol, balance, valueUsd })),
};
