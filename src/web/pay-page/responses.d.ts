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
export type PaidBody = { address: string; timestamp?: string };

/** What the wallet is on a chain. */
export type Account = {
  chain: string;
  kind: string | null;
  proven: boolean;
  delegate: string | null;
  owners: string[] | null;
  threshold: number | null;
};

/** A lending account; ratios are parts of one. */
export type Loan = {
  chain: string;
  name: string;
  healthFactor: string | null;
  loanToValue: string | null;
  liquidationThreshold: string | null;
  distanceToLiquidation: string | null;
  liquidatable: boolean | null;
  collateralUsd: string | null;
  debtUsd: string | null;
};

type Gas = { chain: string; symbol: string; transfers: string | null; ready: boolean | null };

/** The last four are absent from what an older service sold and the tab has kept. */
export type Snapshot = PaidBody & {
  timestamp: string;
  chains: string[];
  provider: string;
  summary: Summary;
  tokens: Token[];
  positions: Position[];
  recentActivity: Activity[];
  name?: string | null;
  accounts?: Account[];
  health?: Loan[];
  gas?: Gas[];
};

/** What ends a permission: a call by the wallet, or an authorization (EIP-7702) that it signs. */
export type Revocation =
  | { type: "call"; from: string; to: string; data: string; value: string; description: string }
  | {
      type: "authorization";
      authorization: { chainId: number; address: string };
      description: string;
    };

export type Permission = {
  chain: string;
  chainId: string;
  kind: string;
  contract: string;
  protocol: string | null;
  symbol: string | null;
  name: string | null;
  spender: string;
  spenderName: string | null;
  spenderProtocol: string | null;
  via: string | null;
  rawAllowance: string | null;
  allowance: string | null;
  unlimited: boolean;
  tokenId: string | null;
  expiresAt: string | null;
  rawBalance: string | null;
  balance: string | null;
  valueAtRiskUsd: string | null;
  partial: boolean;
  reasons: string[];
  revoke: Revocation | null;
};

type ExposureCounts = {
  permissionCount: number;
  unlimitedCount: number;
  unknownSpenderCount: number;
  valueAtRiskUsd: string | null;
  partial: boolean;
};

export type Exposure = PaidBody & {
  timestamp: string;
  chains: string[];
  provider: string;
  summary: ExposureCounts & {
    spenderListVersion: string;
    chains: (ExposureCounts & { chain: string; blockNumber: number; searchedFromBlock: number | null })[];
    warnings: string[];
  };
  permissions: Permission[];
};

/** Decimal text; null if a value is unknown on one side. */
export type ValueChange = {
  changeUsd: string | null;
  quantityUsd: string | null;
  priceUsd: string | null;
};

type TotalChange = ValueChange & {
  beforeUsd: string | null;
  afterUsd: string | null;
  otherUsd: string | null;
};

type DifferenceSide = {
  timestamp: string;
  blocks: { chain: string; number: number }[];
  warnings: string[];
};

type Figures = { symbol: string | null; valueUsd: string | null };

type Sides = { before: Figures | null; after: Figures | null };

/** Each side has a time of its own. */
export type Difference = PaidBody & {
  from: DifferenceSide;
  to: DifferenceSide;
  total: TotalChange;
  chains: (TotalChange & { chain: string })[];
  tokens: (ValueChange & Sides & { chain: string; contract: string | null })[];
  positions: (ValueChange & { chain: string; name: string; assets: (ValueChange & Sides)[] })[];
  unknownCount: number;
  provider: string;
};
