// A demanding snapshot: many tokens, debts, and hostile names.
import { exampleSnapshot } from "../../src/web/example-snapshot.ts";

export const HOSTILE_TEXT = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

const [ether, dollar] = exampleSnapshot.tokens;
const [supplied] = exampleSnapshot.positions;
const [transfer] = exampleSnapshot.recentActivity;

const otherTokens = [
  ["AERO", "base", "4120.5", "1.02", "4202.91"],
  ["WBTC", "ethereum", "0.0314", "97000.5", "3045.8157"],
  ["ARB", "arbitrum", "2500", "0.71", "1775"],
  ["PEPE", "ethereum", "12000000", "0.0000082", "98.4"],
  ["LINK", "ethereum", "40", "17.25", "690"],
  ["OP", "optimism", "310.75", "1.55", "481.6625"],
  ["DUST", "base", "0.000000000012", "1", "0.000001"],
  ["ODD", "base", "17", null, null],
].map(([symbol, chain, balance, priceUsd, valueUsd], index) => ({
  ...ether,
  chain,
  contract: `0x${String(index + 1).padStart(40, "a")}`,
  symbol,
  name: `${symbol} token`,
  balance,
  priceUsd,
  valueUsd,
}));

export const richSnapshot = {
  ...exampleSnapshot,
  chains: ["base", "ethereum", "arbitrum", "optimism"],
  summary: {
    ...exampleSnapshot.summary,
    totalValueUsd: "17244.038201",
    tokenCount: 11,
    pricedTokenCount: 9,
    unpricedTokenCount: 2,
    chains: [
      {
        chain: "base",
        tokenCount: 5,
        pricedTokenCount: 3,
        unpricedTokenCount: 2,
        totalValueUsd: "6153.160001",
      },
      {
        chain: "ethereum",
        tokenCount: 4,
        pricedTokenCount: 4,
        unpricedTokenCount: 0,
        totalValueUsd: "8834.2157",
      },
      { chain: "arbitrum", tokenCount: 1, pricedTokenCount: 1, unpricedTokenCount: 0, totalValueUsd: "1775" },
      {
        chain: "optimism",
        tokenCount: 1,
        pricedTokenCount: 1,
        unpricedTokenCount: 0,
        totalValueUsd: "481.6625",
      },
    ],
    warnings: ["base was read at block 40000000.", "Base: native transfers leave no log.", HOSTILE_TEXT],
  },
  tokens: [
    ether,
    dollar,
    ...otherTokens,
    {
      ...ether,
      chain: "base",
      contract: `0x${"bad0".repeat(10)}`,
      symbol: HOSTILE_TEXT,
      name: HOSTILE_TEXT,
      valueUsd: null,
      priceUsd: null,
      spam: true,
    },
  ],
  positions: [
    supplied,
    {
      ...supplied,
      kind: "borrowed",
      name: "Aave v3 USDC borrowed",
      assets: [{ ...supplied?.assets[0], symbol: "USDC", balance: "800", valueUsd: "-800" }],
      valueUsd: "-800",
    },
  ],
  recentActivity: Array.from({ length: 5 }, (_, index) => ({
    ...transfer,
    hash: `0x${String(index).repeat(64)}`,
  })),
};
