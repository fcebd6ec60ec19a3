// Paid data in a terminal: it fits, amounts are those of the pages, loans show how far they are from liquidation.
import type {
  ExposureOverview,
  LendingHealth,
  PortfolioDiffOverview,
  PortfolioOverview,
} from "@sextant/client/generated/records";
import type { Exposure, PortfolioDiff, PortfolioSnapshot } from "@sextant/client/sextant";
import { expect, it } from "vitest";
import { exampleDiff, exampleExposure, exampleSnapshot } from "../../schema/portfolio/examples.ts";
import { createDisplay } from "./display.ts";
import { formatAsked, formatDiff, formatExposure, formatSnapshot } from "./paid-data.ts";
import {
  formatDiffOverview,
  formatExposureOverview,
  formatQuote,
  formatSnapshotOverview,
} from "./paid-overview.ts";
import { formatRecord } from "./record.ts";

const loan: LendingHealth = {
  ...{ chain: "base", chainId: "eip155:8453", protocol: "morpho-blue", name: "Morpho Blue WETH/USDC 86 %" },
  ...{ contract: null, healthFactor: "1.067586206896551724", loanToValue: "0.805555555555555556" },
  ...{ liquidationThreshold: "0.86", distanceToLiquidation: "0.063307493540051679" },
  ...{ liquidatable: false, collateralUsd: "3600", debtUsd: "2900" },
};
const stream = { write: () => true };
const display = createDisplay({ out: stream, err: stream, environment: {} });
const show = (health: readonly LendingHealth[]) =>
  formatSnapshot({ ...exampleSnapshot, health } as PortfolioSnapshot, display).join("\n");

it("shows what a loan owes and how near it is to liquidation, cut rather than rounded", () => {
  const shown = show([
    loan,
    {
      ...loan,
      chain: "ethereum",
      healthFactor: "0.999",
      distanceToLiquidation: "0",
      liquidatable: true,
    },
  ]);
  expect(shown).toContain(`Loans
  loan                        chain     collateral       owed  health factor  may lose
  Morpho Blue WETH/USDC 86 %  base       $3,600.00  $2,900.00           1.06     6.3 %
  Morpho Blue WETH/USDC 86 %  ethereum   $3,600.00  $2,900.00           0.99     0.0 %  can be liquidated now`);
});

it("has no loans if nothing is owed, and dashes if that is unknown", () => {
  expect(show([{ ...loan, debtUsd: "0", loanToValue: "0" }])).not.toContain("Loans");
  const unknown = { healthFactor: null, distanceToLiquidation: null, collateralUsd: null, debtUsd: null };
  const shown = show([{ ...loan, ...unknown, loanToValue: null }]);
  expect(shown).toMatch(/^ {2}Morpho Blue WETH\/USDC 86 % +base +– +– +– +–/m);
});

const terminal = createDisplay({
  out: { ...stream, isTTY: true, columns: 80 },
  err: stream,
  environment: { NO_COLOR: "1" },
});
const permission = exampleExposure.permissions[0] as Exposure["permissions"][number];
const shared = {
  ...permission,
  symbol: null,
  protocol: "morpho-blue",
  unlimited: false,
  allowance: "1234567.5",
};
const exposure = {
  ...exampleExposure,
  permissions: Array.from({ length: 12 }, () => shared),
  summary: { ...exampleExposure.summary, permissionCount: 12 },
} as Exposure;

const address = exampleSnapshot.address;
const taken = { address, timestamp: exampleSnapshot.timestamp, provider: "rpc" };
const overview: PortfolioOverview = {
  ...{ ...taken, totalValueUsd: "7750.25", stablecoinValueUsd: "2750.25", unlistedValueUsd: "12" },
  ...{ tokenCount: 3, pricedTokenCount: 2, unpricedTokenCount: 1, positionCount: 1 },
  blocks: [{ chain: "base", number: 38_000_000 }],
  chains: [{ chain: "base", totalValueUsd: "7750.25" }],
  topHoldings: [{ chain: "base", symbol: "WETH", name: "Wrapped Ether", valueUsd: "5000" }],
  ...{ warnings: ["One of four."], warningCount: 4 },
};
const riskOverview: ExposureOverview = {
  ...{ ...taken, permissionCount: 1, unlimitedCount: 1, unknownSpenderCount: 0, partial: true },
  ...{ valueAtRiskUsd: "900", warnings: [], warningCount: 0 },
  chains: [{ chain: "base", blockNumber: 1, permissionCount: 1, valueAtRiskUsd: "900", partial: true }],
  permissions: [
    {
      ...{ chain: "base", kind: "erc20-allowance", contract: address, symbol: "WETH", spender: address },
      ...{ spenderName: null, unlimited: true, valueAtRiskUsd: "900" },
    },
  ],
};
const change = { changeUsd: "-750", quantityUsd: "-750", priceUsd: "0" };
const diffOverview = {
  ...{ address, from: exampleDiff.from, to: exampleDiff.to, provider: "rpc", warningCount: 2 },
  total: { ...change, beforeUsd: "1750", afterUsd: "1000", otherUsd: "0" },
  ...{ changedTokenCount: 2, changedPositionCount: 0, unknownCount: 1 },
  largestChanges: [{ ...change, chain: "base", contract: null, symbol: null }],
} as unknown as PortfolioDiffOverview;
const price = {
  ...{ url: "http://127.0.0.1:1/portfolio?address=0x", price: "0.012", amount: 12_000n },
  ...{ network: "eip155:8453", asset: address, assetName: "USD Coin", payTo: address, problem: null },
};

it("shows summaries in words, and a price with its currency", () => {
  expect(formatSnapshotOverview(overview, terminal).slice(0, 4).join("\n")).toBe(`Wallet      ${address}
Worth       $7,750.25   stablecoins $2,750.25   not on a list $12.00
Holds       3 tokens, 1 of them without a price; 1 position
Taken       2026-01-01 00:00:00 UTC at base:38000000 by rpc`);
  expect(formatSnapshotOverview(overview, terminal).slice(-2)).toEqual([
    "  One of four.",
    "  3 more warnings without --detail summary",
  ]);
  expect(formatExposureOverview(riskOverview, terminal).join("\n")).toContain(
    "At risk     at least $900.00   1 permission, 1 unlimited, 0 of unknown spenders",
  );
  const diff = formatDiffOverview(diffOverview, terminal).join("\n");
  expect(diff).toContain(
    "Changed     2 tokens, 0 positions, 1 of unknown value\nWarnings    2; read them without --detail summary\n",
  );
  expect(diff).not.toContain("What to know");
  expect(diff).toMatch(/^ {2}native coin +base +−\$750\.00 +−\$750\.00 +\$0\.00$/m);
  expect(formatQuote(price, terminal)[0]).toBe("Price       $0.012 in USDC");
  expect(formatQuote({ ...price, problem: "It costs too much." }, terminal).join("\n")).toMatch(
    /^Problem +It costs too much\.$/m,
  );
});

it("shows the time that --at asked for, and the blocks to which it led", () => {
  const nowMs = Date.parse("2026-11-18T15:00:00Z");
  expect(formatAsked("1h", nowMs, terminal)).toEqual(["Asked for   2026-11-18 14:00:00 UTC, 1h ago"]);
  expect(formatAsked("2026-11-19", nowMs, terminal)).toEqual(["Asked for   2026-11-19"]);
  expect(formatAsked(undefined, nowMs, terminal)).toEqual([]);
  const blocks = [{ chain: "base", number: 34, hash: "0x" }];
  expect(formatSnapshot({ ...exampleSnapshot, blocks } as PortfolioSnapshot, terminal)[2]).toBe(
    "Taken       2026-01-01 00:00:00 UTC at base:34 by rpc",
  );
  expect(formatExposureOverview(riskOverview, terminal)).toContain(
    "Taken       2026-01-01 00:00:00 UTC at base:1 by rpc",
  );
  const { chains } = exampleExposure.summary;
  const unread = { ...exampleExposure.summary, chains: [...chains, { ...chains[0], blockNumber: null }] };
  for (const summary of [exampleExposure.summary, unread])
    expect(formatExposure({ ...exampleExposure, summary } as Exposure, terminal).join("\n")).toContain(
      ` UTC at ${chains.map(({ chain, blockNumber }) => `${chain}:${blockNumber}`).join(", ")} by `,
    );
});

it.each([
  ["a snapshot", () => formatSnapshot({ ...exampleSnapshot, health: [loan] } as PortfolioSnapshot, terminal)],
  ["an exposure", () => formatExposure(exposure, terminal)],
  ["a difference", () => formatDiff(exampleDiff as PortfolioDiff, terminal)],
  ["the summary of a snapshot", () => formatSnapshotOverview(overview, terminal)],
  ["the summary of an exposure", () => formatExposureOverview(riskOverview, terminal)],
  ["the summary of a difference", () => formatDiffOverview(diffOverview, terminal)],
  ["a price", () => formatQuote(price, terminal)],
  ["the fields of a snapshot", () => formatRecord(exampleSnapshot, terminal)],
])("fits %s into 80 columns, except words that are longer", (_, format) => {
  const tooWide = format().filter((line) => line.length > 80 && /\S {1,3}\S+ {1,3}\S/.test(line));
  expect(tooWide).toEqual([]);
});

it("says how often a shared token counts, names protocols, and how many revocations it left out", () => {
  const shown = formatExposure(exposure, terminal).join("\n");
  expect(shown.replace(/\s+/g, " ")).toContain(
    "12 permissions, 1 unlimited, 1 of unknown spenders; a token that several can take counts once",
  );
  expect(shown).toMatch(/^ {2}Morpho Blue on base, 0x/m);
  expect(shown).toContain("\n  2 more with --json\n");
});

it("shows that a spender of the request may take nothing", () => {
  const { chain, chainId, contract, spender } = permission;
  const none = {
    chain,
    chainId,
    contract,
    spender,
    kind: "erc20-allowance",
    rawAllowance: "0",
    expiresAt: null,
  };
  const shown = formatExposure({ ...exposure, allowances: [none] } as Exposure, display).join("\n");
  expect(shown).toMatch(new RegExp(`Allowances of the spenders asked for\n.*\n *${spender} +0 +${chain}`));
});

it("shows money, times and lists of records in the fields of a form that it does not know", () => {
  const { summary, timestamp } = exampleSnapshot;
  const { totalValueUsd, chains } = summary;
  expect(formatRecord({ timestamp, totalValueUsd, chains, block_number: "1794984471" }, display)).toEqual([
    "timestamp      2026-01-01 00:00:00",
    "totalValueUsd  $7,750.25",
    "chains",
    "  chain     tokenCount  pricedTokenCount  unpricedTokenCount  totalValueUsd",
    "  base      2           1                 1                   $2,750.25",
    "  ethereum  1           1                 0                   $5,000.00",
    "block_number   1794984471",
  ]);
});
