// The paid responses as the page reads them: the fields that it shows.

type Amount = {
  contract: string | null;
  symbol: string | null;
  name: string | null;
  balance: string | null;
  priceUsd: string | null;
  valueUsd: string | null;
};

export type Token = Amount & {
  chain: string;
  rawBalance: string;
  spam: boolean;
  priceSource: string | null;
  priceTimestamp: string | null;
};

export type Position = {
  chain: string;
  protocol: string;
  kind: string;
  name: string;
  assets: (Amount & { rawBalance: string })[];
  valueUsd: string | null;
  partial: boolean;
};

export type Activity = {
  chain: string | null;
  hash: string | null;
  from: string | null;
  to: string | null;
  timestamp: string | null;
  sender: string | null;
  lookalike: boolean;
  transfer: {
    contract: string | null;
    symbol: string | null;
    rawAmount: string;
    amount: string | null;
  } | null;
};

export type ChainSummary = { chain: string; tokenCount: number; totalValueUsd: string | null };

type Summary = {
  totalValueUsd: string | null;
  stablecoinValueUsd: string | null;
  tokenCount: number;
  pricedTokenCount: number;
  unpricedTokenCount: number;
  chains: ChainSummary[];
  warnings: string[];
};

/** What every paid response has. */
export type PaidBody = { address: string; timestamp: string };

export type Snapshot = PaidBody & {
  chains: string[];
  provider: string;
  summary: Summary;
  tokens: Token[];
  positions: Position[];
  recentActivity: Activity[];
};
