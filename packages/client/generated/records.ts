// Records of both services, from their OpenAPI documents. Written by `npm run client:actions`; do not edit.

export type ACCOUNT_FROZEN = {
  policy_type: "ACCOUNT_FROZEN";
  frozen: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type Account = {
  account: string;
  frozen: boolean;
  guardian: string | null;
  function_allowlist_enabled: boolean;
  counts: {
    agents: string | null;
    intents: string | null;
    receipts: string | null;
    policies: string | null;
    session_keys: string | null;
  };
};

export type ActivityTransfer = {
  /** Null for the native coin. */
  contract: string | null;
  /** From the token list; null when the list has none. */
  symbol: string | null;
  decimals: number | null;
  /** In the smallest unit. */
  rawAmount: string;
  /** Exact; null when the decimals are unknown. */
  amount: string | null;
};

export type Agent = {
  agent_id: string;
  owner: string;
  metadata_uri: string;
  pubkey: string;
  capabilities_hash: string;
  revoked: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type AgentsRow = {
  agent_id: string;
  owner: string;
  metadata_uri: string;
  pubkey: string;
  capabilities_hash: string;
  revoked: boolean;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type AssetFigures = {
  symbol: string | null;
  decimals: number | null;
  /** In the smallest unit. */
  rawBalance: string;
  /** The price of one whole unit; null when unknown. */
  priceUsd: string | null;
  /** As in a snapshot; negative for debt, null when unknown. */
  valueUsd: string | null;
};

export type Attestation = {
  attestation_id: string;
  attester: string;
  schema_hash: string;
  subject: string;
  data_hash: string;
  timestamp: string;
  revoked: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type AttestationSchema = {
  schema_hash: string;
  name: string;
  description: string | null;
  json_schema: Record<string, unknown>;
  recommended_subject: string | null;
  created_at: string;
  updated_at: string;
};

export type AttestationsRow = {
  attestation_id: string;
  attester: string;
  schema_hash: string;
  subject: string;
  data_hash: string;
  timestamp: string;
  revoked: boolean;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type AttesterActivityRow = {
  attester: string;
  attestations: string;
  revoked_attestations: string;
};

export type Attestor = {
  attestor_id: string;
  operator: string;
  metadata_uri: string;
  schemas_hash: string;
  active: boolean;
  attestations: string;
  revoked_attestations: string;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type AttestorsRow = {
  attestor_id: string;
  operator: string;
  metadata_uri: string;
  schemas_hash: string;
  active: boolean;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type AuditResult = {
  source: "self" | "command";
  kind: "blocks" | "rows" | "tables";
  block_number: string | null;
  checked: string;
  /** The total of all comparisons of this source and kind up to this one. */
  checked_total: string;
  differences: string;
  first_difference: string | null;
  version: string;
  at: string;
};

export type Authorization = {
  chainId: number;
  address: string;
};

export type Bid = {
  bid_id: string;
  chain_bid_id: string | null;
  intent_id: string;
  solver: string;
  amount_in: string;
  amount_out: string;
  fee: string;
  valid_until: string;
  execution_plan: Record<string, unknown>;
  status: "OPEN" | "SELECTED" | "REJECTED" | "EXPIRED";
  created_at: string;
  /** With include=provenance. */
  block_number?: string | null;
  /** With include=provenance. */
  tx_hash?: string | null;
  /** With include=provenance. */
  log_index?: number | null;
  /** With include=provenance. */
  block_hash?: string | null;
  /** With include=provenance. */
  block_timestamp?: string | null;
};

export type BidsRow = {
  intent_id: string;
  chain_bid_id: string;
  solver: string;
  amount_in: string;
  amount_out: string;
  fee: string;
  valid_until: string;
  execution_hash: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type Catalog = {
  catalog_hash: string;
  merchant_id: string | null;
  service_id: string | null;
  size_bytes: number;
  uri: string;
};

export type CatalogMetadata = {
  catalog_hash: string;
  merchant_id: string | null;
  service_id: string | null;
  size_bytes: number;
  uri: string;
  created_at: string;
  updated_at: string;
};

export type ChainAtRisk = {
  /** The chain's slug. */
  chain: string;
  /** Null for a chain that could not be read. */
  blockNumber: number | null;
  permissionCount: number;
  /** The most that all of them can take together: of each token that is not spam the smaller of its balance and the sum of its ERC-20 allowances; of each account in a protocol no more than it is worth; all tokens and positions of a chain if anything but an owner has full control. NFTs that are not positions are not part of it. */
  valueAtRiskUsd: string | null;
  /** Something of it has no known value: at least `valueAtRiskUsd` can be taken, or an unknown amount if that is null. */
  partial: boolean;
};

export type ChainChange = {
  /** The chain's slug. */
  chain: string;
  /** The total of the snapshot before; null when unknown. */
  beforeUsd: string | null;
  /** The total of the snapshot after; null when unknown. */
  afterUsd: string | null;
  /** The value after minus the value before; null when one of them is unknown. */
  changeUsd: string | null;
  /** The part by quantity: the change of the balance at the price before, rounded half up to 6 decimals. All of the change if the asset came or went as a whole; null if a value is limited by what markets could pay. */
  quantityUsd: string | null;
  /** The part by price: changeUsd − quantityUsd, the new balance times the change of the price. */
  priceUsd: string | null;
  /** changeUsd − quantityUsd − priceUsd: the change that cannot be split, of positions without parts and of assets that are unknown or spam on one side. */
  otherUsd: string | null;
};

export type ChainExposure = {
  /** The chain's slug. */
  chain: string;
  /** Null for a chain that could not be read. */
  blockNumber: number | null;
  /** The oldest block searched for approvals; null when they could not be searched. */
  searchedFromBlock: number | null;
  permissionCount: number;
  unlimitedCount: number;
  unknownSpenderCount: number;
  /** The most that all of them can take together: of each token that is not spam the smaller of its balance and the sum of its ERC-20 allowances; of each account in a protocol no more than it is worth; all tokens and positions of a chain if anything but an owner has full control. NFTs that are not positions are not part of it. */
  valueAtRiskUsd: string | null;
  /** Something of it has no known value: at least `valueAtRiskUsd` can be taken, or an unknown amount if that is null. */
  partial: boolean;
};

export type ChainSummary = {
  /** The chain's slug. */
  chain: string;
  /** The entries of tokens, with spam unless the request excludes it. Positions are not counted. */
  tokenCount: number;
  /** The entries with a valueUsd. */
  pricedTokenCount: number;
  /** The entries without a valueUsd. */
  unpricedTokenCount: number;
  /** The sum of valueUsd over the positions and the tokens that are not spam. "0" for an empty wallet. Null when it is unknown: no holding has a price, a debt cannot be valued together with everything in the same market, or a lending protocol that may know a debt could not be read; summary.warnings says which. */
  totalValueUsd: string | null;
};

export type ChainTotal = {
  /** The chain's slug. */
  chain: string;
  /** The sum of valueUsd over the positions and the tokens that are not spam. "0" for an empty wallet. Null when it is unknown: no holding has a price, a debt cannot be valued together with everything in the same market, or a lending protocol that may know a debt could not be read; summary.warnings says which. */
  totalValueUsd: string | null;
};

export type CommerceAnalytics = {
  summary: {
    merchants: string;
    active_merchants: string;
    services: string;
    active_services: string;
    facilitators: string;
    active_facilitators: string;
    quotes: string;
    settled_quotes: string;
    quoted_volume: string;
    quoted_protocol_fees: string;
    receipts: string;
    settled_volume: string;
    settled_protocol_fees: string;
    disputes: string;
    open_disputes: string;
    resolved_disputes: string;
    rejected_disputes: string;
  };
  volume_by_token: {
    token: string;
    receipts: string;
    settled_volume: string;
    protocol_fees: string;
  }[];
  top_merchants: {
    merchant_id: string;
    owner: string;
    receipts: string;
    settled_volume: string;
    protocol_fees: string;
  }[];
  top_services: {
    service_numeric_id: string;
    service_id: string;
    merchant_id: string;
    receipts: string;
    settled_volume: string;
    protocol_fees: string;
  }[];
  facilitator_volume: {
    facilitator: string;
    receipts: string;
    settled_volume: string;
    protocol_fees: string;
  }[];
  volume_by_payment_rail: {
    payment_rail: number;
    receipts: string;
    settled_volume: string;
    protocol_fees: string;
  }[];
  trust_signals_by_kind: {
    kind: number;
    signals: string;
  }[];
};

export type CrossCheck = {
  /** The chain's slug. */
  chain: string;
  /** The second source. */
  source: string;
  /** Whether the source could be read. */
  status: "compared" | "unavailable";
  /** When the source read the chain; null when it does not say. */
  updatedAt: string | null;
  /** Assets that both have. */
  comparedCount: number;
  /** All differences, also those beyond the list. */
  differenceCount: number;
  differences: CrossCheckDifference[];
  /** Assets that only the source has and calls spam itself. */
  ignoredSpamCount: number;
};

export type CrossCheckDifference = {
  /** `only-there`: the source has an asset that is not among the holdings read here; `only-here` the reverse; `price`: more than 2 % apart. */
  kind: "balance" | "only-there" | "only-here" | "price";
  /** Null for the native coin. */
  contract: string | null;
  /** The symbol as we know it; never the source's. */
  symbol: string | null;
  /** Smallest units for balances, US dollars of one whole unit for a price; null if nothing was read. */
  ours: string | null;
  /** Smallest units for balances, US dollars of one whole unit for a price; null if nothing was read. */
  theirs: string | null;
};

export type Deployment = {
  name: string;
  /** The path of this deployment's whole API, to append to the URL of the server. */
  path: string;
  /** Whether it is at the root of the server as well. */
  is_default: boolean;
  chain_id: string;
  /** Fingerprint of chain, start block and contracts, as in cursors of events; null before anything is indexed. */
  fingerprint: string | null;
  indexed: {
    block_number: string;
    block_hash: string;
    block_timestamp: string;
  } | null;
  finalized_block: string | null;
  /** The newest block that a node has shown to the indexer. */
  chain_block: string | null;
  /** Null while no indexer reports: the chain may be anywhere by then. */
  lag: {
    blocks: string | null;
    seconds: string | null;
  };
  phase: string | null;
  ready: boolean;
  /** Why it is not ready. */
  reason: string | null;
};

export type DeploymentToken = {
  address: string;
  symbol: string;
  decimals: number;
};

export type Deployments = {
  deployments: Deployment[];
  /** Symbol and decimals of the tokens that the deployment at this path names; its coin has the zero address. */
  tokens: DeploymentToken[];
};

export type DiffBlock = {
  /** The chain's slug. */
  chain: string;
  number: number;
};

export type DiffSide = {
  /** The time of the newest of its blocks, or the time at which the snapshot was taken. */
  timestamp: string;
  /** The stored snapshot that this side is; null for a read as of blocks or of now. */
  snapshotId: string | null;
  /** The block of each chain; empty for a stored snapshot whose blocks are not known. */
  blocks: DiffBlock[];
  /** The parts that are missing, not counted or uncertain on this side. */
  warnings: string[];
};

export type Dispute = {
  dispute_id: string;
  receipt_id: string;
  opener: string;
  reason_hash: string;
  status: string;
  resolution_hash: string | null;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type DisputesRow = {
  dispute_id: string;
  receipt_id: string;
  merchant_id: string;
  opener: string;
  reason_hash: string;
  status: string;
  resolution_hash: string | null;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type EventPage = {
  undo: EventUndo | null;
  events: ProtocolEvent[];
  progress: EventProgress;
  has_more: boolean;
};

export type EventProgress = {
  block_number: string;
  indexed_block: string;
  finalized_block: string;
  cursor: string;
  /** With order=desc: goes on forwards, with what is newer than the first page; for a stream, too. */
  forward_cursor?: string;
};

export type EventUndo = {
  block_number: string;
  block_hash: string | null;
  cursor: string;
};

export type Explanation = {
  tx_hash: string;
  block_number: string;
  summary: string;
  events: {
    eventName: string;
    args: Record<string, unknown>;
    description: string;
  }[];
};

export type Exposure = {
  address: string;
  timestamp: string;
  chains: string[];
  summary: ExposureSummary;
  /** Permissions of unknown value first, then by value at risk. */
  permissions: ExposurePermission[];
  provider: string;
  /** Only with `partial=allow`: chains that could not be read. Nothing of them is in the response, and no total includes them: it is null, or marked as partial. */
  failedChains?: string[];
  /** Only with `spenders`: what each of them may take of the listed tokens that are held, the most valuable first, and of stablecoins; of at most 20 tokens of a chain. */
  allowances?: SpenderAllowance[];
  proofs?: Proofs;
};

export type ExposureOverview = {
  address: string;
  timestamp: string;
  permissionCount: number;
  unlimitedCount: number;
  unknownSpenderCount: number;
  /** The most that all of them can take together: of each token that is not spam the smaller of its balance and the sum of its ERC-20 allowances; of each account in a protocol no more than it is worth; all tokens and positions of a chain if anything but an owner has full control. NFTs that are not positions are not part of it. */
  valueAtRiskUsd: string | null;
  /** Something of it has no known value: at least `valueAtRiskUsd` can be taken, or an unknown amount if that is null. */
  partial: boolean;
  chains: ChainAtRisk[];
  /** The permissions most at risk that fit; a long symbol or name is cut and ends in …. */
  permissions: OverviewPermission[];
  warningCount: number;
  /** The warnings that fit; a long one is cut and ends in …. */
  warnings: string[];
  provider: string;
};

export type ExposurePermission = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  kind: "erc20-allowance" | "permit2-allowance" | "token-operator" | "nft-operator" | "nft-approval" | "borrow-delegation" | "position-operator" | "delegate" | "owner" | "module" | "module-allowance" | "guard" | "fallback-handler" | "session-key" | "guardian" | "entry-point" | "account-code";
  /** The token, the collection, the debt token or the contract of a protocol, or the wallet itself; the zero address for the native coin in a module of a Safe. */
  contract: string;
  /** The protocol in which the holder can act on positions; null for every other permission. */
  protocol: string | null;
  /** The symbol of the token; for a debt token the symbol of the asset that can be borrowed. */
  symbol: string | null;
  name: string | null;
  decimals: number | null;
  /** Who has the permission. */
  spender: string;
  /** The name in the list of known spenders; null when the list does not have it. */
  spenderName: string | null;
  spenderProtocol: string | null;
  /** Permit2, or the module of a Safe, for an allowance in it. */
  via: string | null;
  /** The allowance in the smallest unit; null if the permission has no amount. */
  rawAllowance: string | null;
  /** Exact; null when the decimals are unknown. */
  allowance: string | null;
  /** The allowance is more than any balance can be. */
  unlimited: boolean;
  /** The id of one NFT. */
  tokenId: string | null;
  /** Null when it does not expire. */
  expiresAt: string | null;
  /** The balance of the token; null when unknown. */
  rawBalance: string | null;
  balance: string | null;
  /** The price of one whole unit; null when unknown. */
  priceUsd: string | null;
  /** The smaller of allowance and balance times the price, rounded half up to 6 decimals; for an allowance in Permit2 also no more than Permit2 may take. Receipt tokens are worth their position. For permissions inside protocols what the positions are worth, less what is owed; for a delegate of debt what it can borrow. All tokens and positions of the chain for full control. "0" if nothing is held, null if it is unknown, as for NFTs that are not positions. */
  valueAtRiskUsd: string | null;
  /** Something of it has no known value: at least `valueAtRiskUsd` can be taken. */
  partial: boolean;
  reasons: ("unlimited" | "unknown spender" | "unverified delegate" | "unverified code" | "full control" | "spam token")[];
  /** The call or authorization that ends the permission; null if nothing does. A call must come from the wallet itself, for a Safe or a smart account through its own transaction. An authorization is signed by the wallet (EIP-7702). */
  revoke: RevokingCall | RevokingAuthorization | null;
};

export type ExposureSelection = Record<string, unknown>;

export type ExposureSummary = {
  permissionCount: number;
  unlimitedCount: number;
  unknownSpenderCount: number;
  /** The most that all of them can take together: of each token that is not spam the smaller of its balance and the sum of its ERC-20 allowances; of each account in a protocol no more than it is worth; all tokens and positions of a chain if anything but an owner has full control. NFTs that are not positions are not part of it. */
  valueAtRiskUsd: string | null;
  /** Something of it has no known value: at least `valueAtRiskUsd` can be taken, or an unknown amount if that is null. */
  partial: boolean;
  spenderListVersion: string;
  chains: ChainExposure[];
  warnings: string[];
};

export type FUNCTION_ALLOWLIST = {
  policy_type: "FUNCTION_ALLOWLIST";
  target: string;
  selector: string;
  allowed: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type FUNCTION_ALLOWLIST_MODE = {
  policy_type: "FUNCTION_ALLOWLIST_MODE";
  enabled: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type Facilitator = {
  facilitator_id: string;
  facilitator: string;
  metadata_uri: string;
  metadata_hash: string;
  active: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type FacilitatorsRow = {
  facilitator_id: string;
  facilitator: string;
  metadata_uri: string;
  metadata_hash: string;
  active: boolean;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type FillProofsRow = {
  intent_id: string;
  result_hash: string;
  trace_hash: string;
  attestation_id: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type FillsRow = {
  intent_id: string;
  solver: string;
  amount_in: string;
  amount_out: string;
  latency_blocks: string;
  latency_seconds: string;
  surplus_out: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type GUARDIAN = {
  policy_type: "GUARDIAN";
  guardian: string;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type GasReadiness = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  /** The symbol of the native coin. */
  symbol: string;
  /** The balance of the native coin, in wei. */
  rawBalance: string;
  balance: string;
  /** The base fee of the pinned block and a usual tip, in wei for a unit of gas; null when unknown. */
  gasPrice: string | null;
  /** The fee for sending the native coin: 21,000 gas, and on Base, Optimism and Arbitrum the fee for data. In wei; null when unknown. */
  transferCost: string | null;
  /** How many such transfers the balance pays for, without the amounts sent. */
  transfers: string | null;
  /** The fee for sending a token: 65,000 gas. */
  tokenTransferCost: string | null;
  /** How many of those the balance pays for. */
  tokenTransfers: string | null;
  /** Whether the balance pays for at least one transfer of a token. A Safe or smart account may have others pay for it; see accounts. */
  ready: boolean | null;
};

export type Head = {
  block_number: string;
  block_timestamp: string | null;
  previous_event_block: string | null;
  next_event_block: string | null;
  indexed_block: string;
  indexed_timestamp: string;
  finalized_block: string;
  start_block: string;
};

export type HeldPosition = {
  /** The chain's slug. */
  chain: string;
  protocol: string;
  kind: "supplied" | "borrowed" | "vault" | "liquidity" | "staked";
  name: string;
  /** The sum of its assets that have a value; null when none has, negative for debt. */
  valueUsd: string | null;
  /** True when valueUsd leaves out an asset, because that has no known price. */
  partial: boolean;
};

export type HeldToken = {
  /** The chain's slug. */
  chain: string;
  /** Null for the native coin. */
  contract: string | null;
  symbol: string | null;
  /** Exact; null when the decimals are unknown. */
  balance: string | null;
  /** balance × priceUsd, rounded half up to 6 decimals; negative for debt. If the price comes from pools, at most what those could pay for the asset on this chain, in the wallet and in positions together; summary.warnings then says so. */
  valueUsd: string | null;
  /** When true, excluded from totals and top holdings; summary.warnings states why. */
  spam: boolean;
};

export type HostedDocument = {
  hash: string;
  kind: "catalog" | "quote_request" | "quote_response";
  request_hash: string | null;
  request_id: string | null;
  merchant_id: string | null;
  service_numeric_id: string | null;
  service_id: string | null;
  agent: string | null;
  name: string | null;
  size_bytes: number;
  created_at: string;
  updated_at: string;
};

export type Integrity = {
  /** The version of the process that responds. */
  version: string;
  deployment: {
    chain_id: string;
    start_block: string;
    contracts: Record<string, unknown>;
    /** Fingerprint of chain, start block and contracts, as in cursors of events. */
    fingerprint: string;
  };
  rows: {
    /** The fold version of the process that responds. */
    fold_version: string;
    /** Fingerprint of the tables and the fold version that made the stored rows. */
    declaration_hash: string | null;
    /** Whether the stored rows are those of the process that responds. */
    is_current: boolean;
  };
  indexed: {
    block_number: string;
    block_hash: string;
    block_timestamp: string;
  };
  finalized_block: string;
  safe_block: string | null;
  chain: {
    block_number: string;
    block_hash: string;
    block_timestamp: string;
    seen_at: string | null;
  } | null;
  /** Null while no indexer reports: the chain may be anywhere by then. */
  lag: {
    blocks: string | null;
    seconds: string | null;
  };
  indexer: {
    phase: string;
    reason: string | null;
    reported_at: string;
    /** Whether its last report is recent; the rest is what it said then. */
    is_reporting: boolean;
  } | null;
  reorgs: {
    count: string;
    deepest: string | null;
    last: Reorg[];
  };
  audits: {
    /** Blocks that only one of several nodes has shown. */
    unconfirmed_blocks: string | null;
    /** The last comparison of each source and kind. */
    latest: AuditResult[];
    last: AuditResult[];
  };
};

export type Intent = {
  intent_id: string;
  owner: string;
  intent_type: string;
  input_token: string;
  output_token: string;
  amount_in_max: string;
  amount_out_min: string;
  deadline: string;
  slippage_bps: string;
  nonce: string;
  status: "OPEN" | "FILLED" | "CANCELLED" | "EXPIRED";
  block_number: string;
  fill: {
    solver: string;
    amount_in: string;
    amount_out: string;
    tx_hash: string;
    block_number: string;
    /** With include=requirements. */
    result_hash?: string | null;
    /** With include=requirements. */
    trace_hash?: string | null;
    /** With include=requirements. */
    attestation_id?: string | null;
  } | null;
  /** With include=requirements. */
  requirements?: {
    execution_target: string;
    data_hash: string;
    required_attestation_subject: string;
    required_attestation_schema: string;
    metadata_uri_hash: string;
  };
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type IntentMetadata = {
  intent_id: string;
  execution_target: string | null;
  execution_data: string | null;
  required_attestation_subject: string | null;
  required_attestation_schema: string | null;
  created_at: string;
  updated_at: string;
};

export type IntentMetadataReservation = {
  intent_hash: string;
  owner: string;
  /** Null until the intent is indexed. */
  intent_id: string | null;
  execution_target: string | null;
  execution_data: string | null;
  required_attestation_subject: string | null;
  required_attestation_schema: string | null;
  created_at: string;
  updated_at: string;
};

export type IntentWithMetadata = {
  intent_id: string;
  owner: string;
  intent_type: string;
  input_token: string;
  output_token: string;
  amount_in_max: string;
  amount_out_min: string;
  deadline: string;
  slippage_bps: string;
  nonce: string;
  status: "OPEN" | "FILLED" | "CANCELLED" | "EXPIRED";
  block_number: string;
  fill: {
    solver: string;
    amount_in: string;
    amount_out: string;
    tx_hash: string;
    block_number: string;
    /** With include=requirements. */
    result_hash?: string | null;
    /** With include=requirements. */
    trace_hash?: string | null;
    /** With include=requirements. */
    attestation_id?: string | null;
  } | null;
  metadata: {
    intent_id: string;
    execution_target: string | null;
    execution_data: string | null;
    required_attestation_subject: string | null;
    required_attestation_schema: string | null;
    created_at: string;
    updated_at: string;
  } | null;
  /** With include=requirements. */
  requirements?: {
    execution_target: string;
    data_hash: string;
    required_attestation_subject: string;
    required_attestation_schema: string;
    metadata_uri_hash: string;
  };
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type IntentsRow = {
  intent_id: string;
  owner: string;
  intent_type: string;
  input_token: string;
  output_token: string;
  amount_in_max: string;
  amount_out_min: string;
  deadline: string;
  slippage_bps: number;
  nonce: string;
  status: string;
  selected_bid_id: string | null;
  selected_solver: string | null;
  submitted_at: string;
  intent_hash: string;
  execution_target: string;
  data_hash: string;
  required_attestation_subject: string;
  required_attestation_schema: string;
  metadata_uri_hash: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type LendingHealth = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  protocol: string;
  name: string;
  /** The pool, market or vault that decides about a liquidation. */
  contract: string | null;
  /** How many times the collateral, each at its liquidation threshold, covers the debt; below 1 it can be liquidated. Null without debt, and when unknown. */
  healthFactor: string | null;
  /** Debt divided by collateral. */
  loanToValue: string | null;
  /** The loanToValue at which liquidation begins, for this collateral. */
  liquidationThreshold: string | null;
  /** The part of its value that the whole collateral can lose before liquidation begins. Null without debt, and when unknown. */
  distanceToLiquidation: string | null;
  /** Whether the account can be liquidated, by the market's own check if it has one. Null when unknown. */
  liquidatable: boolean | null;
  /** The value by the prices of the market itself, which decide about a liquidation. Null when unknown, or when the market counts in an asset without a known price. */
  collateralUsd: string | null;
  /** The debt by the same prices; "0" without debt. */
  debtUsd: string | null;
};

export type ManagedWebhook = {
  id: string;
  owner: string | null;
  /** Policy accounts of the owner that were registered. */
  accounts: string[];
  name: string | null;
  /** The host of the URL, which is not shown. */
  host: string;
  status: "active" | "paused" | "disabled";
  disabled_reason: "gone" | "failing" | "position" | "unconfigured" | null;
  filter: Record<string, unknown>;
  finality: "instant" | "safe" | "finalized";
  /** Everything up to here is delivered. */
  cursor: string;
  /** Ed25519, the newest first; any of them may sign. */
  public_keys: string[];
  /** Number of messages. */
  delivered: string;
  /** Failed attempts of the message that is next. */
  failures: number;
  retry_at: string | null;
  pending_since: string | null;
  last_error: string | null;
  last_success_at: string | null;
  created_at: string;
  secret: string | null;
  test: WebhookTest | null;
};

export type Merchant = {
  merchant_id: string;
  owner: string;
  payout_address: string;
  metadata_uri: string;
  metadata_hash: string;
  active: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type MerchantRecordsRow = {
  merchant_id: string;
  receipts: string;
  settled_volume: string;
  protocol_fees: string;
  fulfilled_receipts: string;
  disputes: string;
  open_disputes: string;
  resolved_disputes: string;
  rejected_disputes: string;
};

export type MerchantReputation = {
  merchant: Merchant;
  commerce: {
    receipts: string;
    settled_volume: string;
    fulfilled_receipts: string;
  };
  disputes: {
    disputes: string;
    open_disputes: string;
    resolved_disputes: string;
    rejected_disputes: string;
  };
  trust_signals_by_kind: {
    kind: number;
    signals: string;
  }[];
};

export type MerchantsRow = {
  merchant_id: string;
  owner: string;
  payout_address: string;
  metadata_uri: string;
  metadata_hash: string;
  active: boolean;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type OffchainBid = {
  bid_id: string;
  chain_bid_id: null;
  intent_id: string;
  solver: string;
  amount_in: string;
  amount_out: string;
  fee: string;
  valid_until: string;
  execution_plan: Record<string, unknown>;
  status: "OPEN" | "SELECTED" | "REJECTED" | "EXPIRED";
  created_at: string;
};

export type OmittedHoldings = {
  /** The `min_usd` of the request. */
  minUsd: string;
  /** Tokens that are not listed. */
  tokens: number;
  /** The tokens left out whose value is not known. */
  unpricedTokens: number;
  /** Positions that are not listed. */
  positions: number;
};

export type OverviewChange = {
  /** The chain's slug. */
  chain: string;
  /** Null for the native coin. */
  contract: string | null;
  /** The value after minus the value before; null when one of them is unknown. */
  changeUsd: string | null;
  /** The part by quantity: the change of the balance at the price before, rounded half up to 6 decimals. All of the change if the asset came or went as a whole; null if a value is limited by what markets could pay. */
  quantityUsd: string | null;
  /** The part by price: changeUsd − quantityUsd, the new balance times the change of the price. */
  priceUsd: string | null;
  symbol: string | null;
};

export type OverviewHolding = {
  /** The chain's slug. */
  chain: string;
  symbol: string | null;
  name: string | null;
  valueUsd: string;
};

export type OverviewPermission = {
  /** The chain's slug. */
  chain: string;
  kind: "erc20-allowance" | "permit2-allowance" | "token-operator" | "nft-operator" | "nft-approval" | "borrow-delegation" | "position-operator" | "delegate" | "owner" | "module" | "module-allowance" | "guard" | "fallback-handler" | "session-key" | "guardian" | "entry-point" | "account-code";
  /** The token, the collection, the debt token or the contract of a protocol, or the wallet itself; the zero address for the native coin in a module of a Safe. */
  contract: string;
  /** The symbol of the token; for a debt token the symbol of the asset that can be borrowed. */
  symbol: string | null;
  /** Who has the permission. */
  spender: string;
  /** The name in the list of known spenders; null when the list does not have it. */
  spenderName: string | null;
  /** The allowance is more than any balance can be. */
  unlimited: boolean;
  /** The smaller of allowance and balance times the price, rounded half up to 6 decimals; for an allowance in Permit2 also no more than Permit2 may take. Receipt tokens are worth their position. For permissions inside protocols what the positions are worth, less what is owed; for a delegate of debt what it can borrow. All tokens and positions of the chain for full control. "0" if nothing is held, null if it is unknown, as for NFTs that are not positions. */
  valueAtRiskUsd: string | null;
};

export type OverviewSide = {
  /** The time of the newest of its blocks, or the time at which the snapshot was taken. */
  timestamp: string;
  /** The block of each chain; empty for a stored snapshot whose blocks are not known. */
  blocks: DiffBlock[];
};

export type PAYMENT_POLICY = {
  policy_type: "PAYMENT_POLICY";
  merchant: string;
  token: string;
  facilitator: string;
  max_per_payment: string;
  max_per_day: string;
  allowed: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type PaymentFlows = {
  token: string;
  receipts: string;
  settled_volume: string;
  protocol_fees: string;
  merchants: ({
    merchant_id: string | null;
    receipts: string;
    settled_volume: string;
    protocol_fees: string;
  })[];
  payers: ({
    agent: string | null;
    merchant_id: string | null;
    receipts: string;
    settled_volume: string;
    protocol_fees: string;
  })[];
  facilitators: ({
    facilitator: string | null;
    merchant_id: string | null;
    receipts: string;
    settled_volume: string;
    protocol_fees: string;
  })[];
};

export type PaymentWindowsRow = {
  account: string;
  merchant: string;
  token: string;
  facilitator: string;
  spent: string;
  window_start: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type PoliciesRow = {
  account: string;
  policy_type: string;
  policy_subject: string;
  token: string | null;
  target: string | null;
  selector: string | null;
  merchant: string | null;
  facilitator: string | null;
  guardian: string | null;
  max_per_payment: string | null;
  max_per_day: string | null;
  allowed: boolean | null;
  enabled: boolean | null;
  frozen: boolean | null;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type Policy = SPEND_LIMIT | TARGET_ALLOWLIST | FUNCTION_ALLOWLIST | FUNCTION_ALLOWLIST_MODE | PAYMENT_POLICY | GUARDIAN | ACCOUNT_FROZEN;

export type PolicyAccountsRow = {
  account: string;
  policies: string;
};

export type PolicyUpdate = {
  policy_type: "ACCOUNT_FROZEN" | "TARGET_ALLOWLIST" | "FUNCTION_ALLOWLIST" | "SPEND_LIMIT";
  target?: string;
  selector?: string;
  token?: string;
  /** The smallest sufficient value; a limit of 0 means no limit. */
  suggested_value: boolean | string;
  /** The policy module. */
  to: string;
  data: string;
};

export type PortfolioAccount = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  /** eoa: no code. delegated: an EOA that runs the code of `delegate` (EIP-7702). safe: a Safe. smart-account: a contract that names an ERC-4337 entry point. contract: any other code. Null when it could not be read. */
  kind: "eoa" | "delegated" | "safe" | "smart-account" | "contract" | null;
  /** True when the code itself shows the kind. False when the contract only says so: any contract can name an entry point, owners and a version. */
  proven: boolean;
  /** The contract whose code a delegated account runs. */
  delegate: string | null;
  /** The contract whose code a Safe or a Coinbase Smart Wallet runs, when its code is their published proxy. */
  implementation: string | null;
  /** The version of a Safe: as published when proven, else as the contract says. */
  version: string | null;
  /** The owners of a Safe; null for other kinds, and for one with more than 60 owners. */
  owners: string[] | null;
  /** How many owners must sign. */
  threshold: number | null;
  /** The ERC-4337 entry point that the account names, if bundlers use it. */
  entryPoint: string | null;
  /** Only with `proof=1`: the account's nonce, which grows with every transaction that it sends; null if no proof shows it. */
  nonce?: string | null;
};

export type PortfolioDiff = {
  address: string;
  from: DiffSide;
  to: DiffSide;
  total: TotalChange;
  /** One per chain, in the order of the request. */
  chains: ChainChange[];
  /** The tokens whose balance, price, value or spam mark changed. */
  tokens: TokenChange[];
  /** The positions with an asset that changed. Equal positions are one. */
  positions: PositionChange[];
  /** Entries of tokens and positions whose changeUsd is null. */
  unknownCount: number;
  /** Source of the balances. */
  provider: string;
  /** Only with `partial=allow`: chains that could not be read. Nothing of them is in the response, and no total includes them: it is null, or marked as partial. */
  failedChains?: string[];
  proofs?: Proofs;
};

export type PortfolioDiffOverview = {
  address: string;
  from: OverviewSide;
  to: OverviewSide;
  total: TotalChange;
  changedTokenCount: number;
  changedPositionCount: number;
  /** Entries of tokens and positions whose changeUsd is null. */
  unknownCount: number;
  /** The tokens whose value changed most, in either direction, that fit. */
  largestChanges: OverviewChange[];
  /** The warnings of both sides. */
  warningCount: number;
  /** Source of the balances. */
  provider: string;
};

export type PortfolioDiffSelection = Record<string, unknown>;

export type PortfolioHoldings = {
  address: string;
  /** Time of the snapshot. */
  timestamp: string;
  chains: string[];
  /** The block that each chain was read at, in the order of the request. */
  blocks: ReadBlock[];
  summary: PortfolioSummary;
  /** Largest value first, tokens without a value last. */
  tokens: HeldToken[];
  positions: HeldPosition[];
  /** Source of the balances. */
  provider: string;
  omitted?: OmittedHoldings;
};

export type PortfolioOverview = {
  address: string;
  /** Time of the snapshot. */
  timestamp: string;
  /** The block that each chain was read at, in the order of the request. */
  blocks: ReadBlock[];
  /** The sum of valueUsd over the positions and the tokens that are not spam. "0" for an empty wallet. Null when it is unknown: no holding has a price, a debt cannot be valued together with everything in the same market, or a lending protocol that may know a debt could not be read; summary.warnings says which. */
  totalValueUsd: string | null;
  /** The value of the dollar stablecoins held, identified by address: in the wallet and in positions. Debt is not subtracted. "0" when none is held, null when none of them has a price. */
  stablecoinValueUsd: string | null;
  /** How much of the value held rests on prices of tokens that no list has: only the pools that buy them show what they are worth. "0" when there is none, null when a chain could not be read. */
  unlistedValueUsd: string | null;
  /** The entries of tokens, with spam unless the request excludes it. Positions are not counted. */
  tokenCount: number;
  /** The entries with a valueUsd. */
  pricedTokenCount: number;
  /** The entries without a valueUsd. */
  unpricedTokenCount: number;
  positionCount: number;
  /** One per requested chain, in the order of the request. */
  chains: ChainTotal[];
  /** The largest of the snapshot's that fit; a long symbol or name is cut and ends in …. */
  topHoldings: OverviewHolding[];
  /** The warnings of the snapshot, listed or not. */
  warningCount: number;
  /** The warnings that fit, missing or uncertain parts before what every snapshot says; a long one is cut and ends in …. */
  warnings: string[];
  /** Source of the balances. */
  provider: string;
  omitted?: OmittedHoldings;
};

export type PortfolioPosition = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  protocol: string;
  kind: "supplied" | "borrowed" | "vault" | "liquidity" | "staked";
  name: string;
  contract: string | null;
  assets: PositionAsset[];
  /** The sum of its assets that have a value; null when none has, negative for debt. */
  valueUsd: string | null;
  /** True when valueUsd leaves out an asset, because that has no known price. */
  partial: boolean;
  /** True for a vault that only a token list vouches for: it counts with what it says that it could pay now, at most what it holds, and never among the stablecoins. */
  selfReported: boolean;
};

export type PortfolioSelection = Record<string, unknown>;

export type PortfolioSnapshot = {
  address: string;
  /** Time of the snapshot. */
  timestamp: string;
  chains: string[];
  summary: PortfolioSummary;
  /** Largest value first, tokens without a value last. */
  tokens: PortfolioToken[];
  positions: PortfolioPosition[];
  /** Newest first: transactions in which an amount of a listed token moved. Transfers of nothing or of unlisted tokens, which anyone can forge, are left out. The wallet's own transactions and the received ones each get about half of the entries. */
  recentActivity: RecentActivity[];
  /** Source of the balances. */
  provider: string;
  /** The kind of account at the address, one entry per requested chain, in the order of the request. */
  accounts: PortfolioAccount[];
  /** Each lending account among the positions, by the market's own numbers at the block of its chain. Ratios are rounded so that no loan looks safer than it is; summary.warnings says why one is unknown. */
  health: LendingHealth[];
  /** The transfers that the native balance pays for, one entry per requested chain, in the order of the request. */
  gas: GasReadiness[];
  /** The name of the wallet in ENS or, if it has none there, in Basenames, of the requested chains: its own record, verified to lead back to the wallet. Null when it has none. A name can be set to read like another one: pay to addresses. */
  name: string | null;
  /** The block that each chain was read at, in the order of the request. */
  blocks: SnapshotBlock[];
  /** Only if the service compares with a second source. Nothing of the snapshot comes from that source: differences are reported, not resolved. */
  crossCheck?: CrossCheck[];
  omitted?: OmittedHoldings;
  /** The id under which the snapshot is stored for 90 days, as the start of a difference: the SHA-256 of its figures. Missing if the service stores none. */
  snapshotId?: string;
  /** Only with `partial=allow`: chains that could not be read. Nothing of them is in the response, and no total includes them: it is null, or marked as partial. */
  failedChains?: string[];
  proofs?: Proofs;
};

export type PortfolioSummary = {
  /** The sum of valueUsd over the positions and the tokens that are not spam. "0" for an empty wallet. Null when it is unknown: no holding has a price, a debt cannot be valued together with everything in the same market, or a lending protocol that may know a debt could not be read; summary.warnings says which. */
  totalValueUsd: string | null;
  /** The entries of tokens, with spam unless the request excludes it. Positions are not counted. */
  tokenCount: number;
  /** The entries with a valueUsd. */
  pricedTokenCount: number;
  /** The entries without a valueUsd. */
  unpricedTokenCount: number;
  /** The value of the dollar stablecoins held, identified by address: in the wallet and in positions. Debt is not subtracted. "0" when none is held, null when none of them has a price. */
  stablecoinValueUsd: string | null;
  /** One per requested chain, in the order of the request. */
  chains: ChainSummary[];
  /** The largest tokens and positions by value, without spam and debt. A position has its own name. */
  topHoldings: TopHolding[];
  /** The block of each chain, and what is missing, not counted or uncertain. */
  warnings: string[];
  /** How much of the value held rests on prices of tokens that no list has: only the pools that buy them show what they are worth. "0" when there is none, null when a chain could not be read. */
  unlistedValueUsd: string | null;
};

export type PortfolioToken = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  /** Null for the native coin. */
  contract: string | null;
  symbol: string | null;
  name: string | null;
  decimals: number | null;
  logo: string | null;
  /** In the smallest unit. */
  rawBalance: string;
  /** Exact; null when the decimals are unknown. */
  balance: string | null;
  /** The price of one whole unit; null when unknown. */
  priceUsd: string | null;
  /** balance × priceUsd, rounded half up to 6 decimals; negative for debt. If the price comes from pools, at most what those could pay for the asset on this chain, in the wallet and in positions together; summary.warnings then says so. */
  valueUsd: string | null;
  /** Name of the source of the price. */
  priceSource: string | null;
  /** The contract that the price was read from; null for a vendor. */
  priceContract: string | null;
  /** When the source last set the price; null when it does not say. */
  priceTimestamp: string | null;
  /** When true, excluded from totals and top holdings; summary.warnings states why. */
  spam: boolean;
};

export type PositionAsset = {
  /** Null for the native coin. */
  contract: string | null;
  symbol: string | null;
  name: string | null;
  decimals: number | null;
  /** In the smallest unit. */
  rawBalance: string;
  /** Exact; null when the decimals are unknown. */
  balance: string | null;
  /** The price of one whole unit; null when unknown. */
  priceUsd: string | null;
  /** balance × priceUsd, rounded half up to 6 decimals; negative for debt. If the price comes from pools, at most what those could pay for the asset on this chain, in the wallet and in positions together; summary.warnings then says so. */
  valueUsd: string | null;
  /** Name of the source of the price. */
  priceSource: string | null;
  /** The contract that the price was read from; null for a vendor. */
  priceContract: string | null;
  /** When the source last set the price; null when it does not say. */
  priceTimestamp: string | null;
};

export type PositionAssetChange = {
  /** Null for the native coin. */
  contract: string | null;
  /** The figures before; null if the wallet had none. */
  before: AssetFigures | null;
  /** The figures after; null if the wallet has none. */
  after: AssetFigures | null;
  /** The value after minus the value before; null when one of them is unknown. */
  changeUsd: string | null;
  /** The part by quantity: the change of the balance at the price before, rounded half up to 6 decimals. All of the change if the asset came or went as a whole; null if a value is limited by what markets could pay. */
  quantityUsd: string | null;
  /** The part by price: changeUsd − quantityUsd, the new balance times the change of the price. */
  priceUsd: string | null;
};

export type PositionChange = {
  /** The chain's slug. */
  chain: string;
  protocol: string;
  kind: "supplied" | "borrowed" | "vault" | "liquidity" | "staked";
  name: string;
  contract: string | null;
  /** All assets of the position on either side. */
  assets: PositionAssetChange[];
  /** The value after minus the value before; null when one of them is unknown. */
  changeUsd: string | null;
  /** The part by quantity: the change of the balance at the price before, rounded half up to 6 decimals. All of the change if the asset came or went as a whole; null if a value is limited by what markets could pay. */
  quantityUsd: string | null;
  /** The part by price: changeUsd − quantityUsd, the new balance times the change of the price. */
  priceUsd: string | null;
};

export type Preflight = {
  allowed: boolean;
  /** What the transaction does, in one sentence. */
  action: string;
  /** Every violated rule; the first is the one the contract reverts with. */
  reasons: string[];
  missing_policies: ("ACCOUNT_FROZEN" | "TARGET_ALLOWLIST" | "FUNCTION_ALLOWLIST" | "SPEND_LIMIT")[];
  spend_checks: SpendCheck[];
  /** Empty for a reason that no policy can change, such as an expired session key. */
  required_policy_updates: PolicyUpdate[];
  /** With include=parts: the action in parts, whose texts joined are the action. An amount is in the smallest unit, with its token (zero is the coin of the chain), or null if that is not known. */
  action_parts?: SentencePart[];
  /** With include=parts: every reason. */
  reason_parts?: SentencePart[][];
};

export type ProofChain = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  block: {
    number: string;
    hash: string;
    timestamp: string;
  } | null;
  /** The block's header in RLP: its keccak256 is the block's hash. Null if nothing is proven. */
  header: string | null;
  /** Why nothing of the chain is proven; otherwise null. `no_proofs`: no node offers eth_getProof. `node_refused`: its proofs do not lead to the state root. `header`: the hash of this chain's blocks is not that of these fields. `block`: the block was not found. `late`: the time was over. */
  reason: string | null;
  /** Nodes of the tries of accounts and storage in RLP, each once, to be found by keccak256. */
  nodes: string[];
  claims: ProofClaim[];
  /** The side of a difference. */
  side?: "from" | "to";
};

export type ProofClaim = {
  /** The field of this response, as a JSON pointer. For a side without figures the side itself: zero. */
  path: string;
  /** `none`: not proven, for `reason`. */
  kind: "native" | "erc20" | "allowance" | "permit2" | "owner" | "code" | "nonce" | "none";
  /** The account whose trie shows it. */
  account?: string;
  layout?: ProofLayout;
  /** The key of the word in the account's storage. */
  slot?: string;
  /** The code of the account, to be hashed; null if it has none. */
  code?: string | null;
  /** `no_layout`: the slot was not found. `ambiguous_layout`: several slots have the value. `rebasing`: the token keeps another amount for the holder than it reports. `mismatch`: the state has another value. `node_refused`: no proof of the node leads to the state root. `unknown`: the response does not know it either. `nft`, `other_permission`: permissions that this version does not prove. `too_many`: beyond the limits of a response. Otherwise the reason of the chain. */
  reason?: string;
};

export type ProofCoverage = {
  /** The value of the amounts that are proven; debt counts as positive. */
  provenUsd: string;
  /** The value of all amounts with a price, spam left out. */
  totalUsd: string;
  /** Their ratio, rounded down; null without a value. */
  share: string | null;
};

export type ProofLayout = {
  /** How the slot of a key is computed in a mapping. */
  rule: "solidity" | "vyper" | "solady";
  /** The slot of the mapping itself, in hex; the base of a namespace for ERC-7201. */
  position: string;
  /** The bits of the word that are the value; the others are flags or other fields. */
  bits: string;
};

export type Proofs = {
  version: 1;
  /** One for each chain that was read; in a difference, for each side. */
  chains: ProofChain[];
  coverage: ProofCoverage;
};

export type ProtocolEvent = {
  /** The same whenever this event of this block is delivered. */
  id: string;
  type: string;
  contract: string;
  address: string;
  args: Record<string, unknown>;
  description: string;
  tx_hash: string;
  log_index: number;
  block_number: string;
  block_hash: string;
  block_timestamp: string;
  cursor: string;
  /** With include=rows: the rows that the event has changed, before and after it. Null if the block is too large. */
  rows?: RowChange[] | null;
  /** With include=parts: the description in parts, whose texts joined are the description. An amount is in the smallest unit, with its token (zero is the coin of the chain), or null if that is not known. */
  parts?: SentencePart[];
};

export type Quote = {
  quote_hash: string;
  merchant_id: string;
  service_numeric_id: string;
  agent: string;
  token: string;
  facilitator: string;
  amount: string;
  payment_rail: number;
  protocol_fee_bps: number;
  protocol_fee_amount: string;
  expires_at: string;
  payment_nonce: string;
  resource_hash: string;
  terms_hash: string;
  x402_payload_hash: string;
  settled: boolean;
  /** With include=provenance. */
  block_number?: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type QuoteRequest = {
  request_hash: string;
  request_id: string | null;
  merchant_id: string | null;
  service_numeric_id: string | null;
  service_id: string | null;
  agent: string | null;
  size_bytes: number;
  uri: string;
};

export type QuoteRequestMetadata = {
  request_hash: string;
  request_id: string | null;
  merchant_id: string | null;
  service_numeric_id: string | null;
  service_id: string | null;
  agent: string | null;
  size_bytes: number;
  uri: string;
  created_at: string;
  updated_at: string;
};

export type QuoteResponse = {
  response_hash: string;
  request_hash: string | null;
  request_id: string | null;
  merchant_id: string | null;
  service_numeric_id: string | null;
  agent: string | null;
  size_bytes: number;
  uri: string;
};

export type QuoteResponseMetadata = {
  response_hash: string;
  request_hash: string | null;
  request_id: string | null;
  merchant_id: string | null;
  service_numeric_id: string | null;
  agent: string | null;
  size_bytes: number;
  uri: string;
  created_at: string;
  updated_at: string;
};

export type QuotesRow = {
  quote_hash: string;
  merchant_id: string;
  service_numeric_id: string;
  agent: string;
  token: string;
  facilitator: string;
  amount: string;
  payment_rail: number;
  protocol_fee_bps: number;
  protocol_fee_amount: string;
  expires_at: string;
  payment_nonce: string;
  resource_hash: string;
  terms_hash: string;
  x402_payload_hash: string;
  settled: boolean;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type ReadBlock = {
  /** The chain's slug. */
  chain: string;
  number: number;
};

export type Receipt = {
  receipt_id: string;
  quote_hash: string;
  agent: string;
  merchant_id: string;
  service_numeric_id: string;
  token: string;
  amount: string;
  payment_rail: number;
  protocol_fee_bps: number;
  protocol_fee_amount: string;
  facilitator: string;
  result_hash: string;
  resource_hash: string;
  fulfillment_hash: string | null;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type ReceiptsRow = {
  receipt_id: string;
  quote_hash: string;
  agent: string;
  merchant_id: string;
  service_numeric_id: string;
  token: string;
  amount: string;
  payment_rail: number;
  protocol_fee_bps: number;
  protocol_fee_amount: string;
  facilitator: string;
  result_hash: string;
  resource_hash: string;
  fulfillment_hash: string | null;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type RecentActivity = {
  chain: string | null;
  hash: string | null;
  /** Who paid in the first transfer from the wallet, or else to it. */
  from: string | null;
  /** Who received in that transfer. */
  to: string | null;
  blockNumber: number | string | null;
  timestamp: string | null;
  /** Who signed the transaction and paid for it; null when unknown. Only what the wallet signed is its own activity. It differs from `from` if a relayer, or an account with an allowance, moved the amount. */
  sender: string | null;
  /** The other party reads like another address of this list, or like the wallet: same first and last four digits. Never copy such an address. */
  lookalike: boolean;
  /** The asset that moved from `from` to `to`; null when it is unknown, or when the transaction only called a contract. The transaction may have moved more. */
  transfer: ActivityTransfer | null;
};

export type RecordClaim = {
  /** The field of this response, as a JSON pointer. */
  path: string;
  /** `storage`: a word of the contract's storage shows it. `log`: an event of a block shows it. `mismatch`: the storage holds another value, so that the index is wrong. `none`: not proven, for `reason`. */
  kind: "storage" | "log" | "mismatch" | "none";
  /** The key of the first word in the contract's storage. */
  slot?: string;
  /** The position of the event in `logs`. */
  log?: number;
  /** What the storage holds, if it is not what the record says. */
  proven?: string;
  /** `event`: known from events only. `derived`: computed from several records. `off_chain`: what a client has stored here. `time`: judged at another time than that of the block. `too_long`: more words than a response proves. `text`: stored bytes that are not plain UTF-8. `no_layout`: the contract has other code, and keeps the record elsewhere. `no_log`: the block's receipts do not show the event. `node_refused`: no proof of the node leads to the state root. Otherwise the reason of the whole. */
  reason?: string;
};

export type RecordLog = {
  /** The name of the event. */
  event: string;
  block: {
    number: string;
    hash: string;
    timestamp: string;
  };
  header: string;
  /** Nodes of the block's trie of receipts in RLP. */
  nodes: string[];
  /** The position of the transaction in the block. */
  transaction: number;
  /** The position of the event in the receipt of its transaction. */
  log: number;
};

export type RecordProofs = {
  version: 1;
  record: "intent" | "agent" | "attestation" | "solver" | "attestor" | "merchant" | "service" | "facilitator" | "quote" | "receipt" | "dispute";
  /** CAIP-2. */
  chainId: string;
  contract: {
    name: string;
    address: string;
    /** The code, if its hash alone does not identify it: it has values of the deployment in it. */
    code: string | null;
  };
  block: {
    number: string;
    hash: string;
    timestamp: string;
  } | null;
  /** The block's header in RLP: its keccak256 is the block's hash. Null if nothing is proven. */
  header: string | null;
  /** Why nothing is proven; otherwise null. `no_node`: the service has no node. `no_proofs`: no node offers eth_getProof for the block. `node_refused`: its proofs do not lead to the state root. `header`: the hash of this chain's blocks is not that of these fields. `block`: no node has the block. `late`: the time was over. */
  reason: string | null;
  /** Nodes of the tries of accounts and storage in RLP, each once, to be found by keccak256. */
  nodes: string[];
  claims: RecordClaim[];
  logs: RecordLog[];
};

export type RegisteredWebhook = {
  id: string;
  owner: string | null;
  /** Policy accounts of the owner that were registered. */
  accounts: string[];
  name: string | null;
  /** The host of the URL, which is not shown. */
  host: string;
  status: "active" | "paused" | "disabled";
  disabled_reason: "gone" | "failing" | "position" | "unconfigured" | null;
  filter: Record<string, unknown>;
  finality: "instant" | "safe" | "finalized";
  /** Everything up to here is delivered. */
  cursor: string;
  /** Ed25519, the newest first; any of them may sign. */
  public_keys: string[];
  /** Number of messages. */
  delivered: string;
  /** Failed attempts of the message that is next. */
  failures: number;
  retry_at: string | null;
  pending_since: string | null;
  last_error: string | null;
  last_success_at: string | null;
  created_at: string;
  secret: string | null;
};

export type Reorg = {
  ancestor_block: string;
  ancestor_hash: string;
  /** The last block of the branch that was left. */
  abandoned_block: string;
  abandoned_hash: string;
  depth: string;
  at: string;
};

export type RevokingAuthorization = {
  type: "authorization";
  authorization: Authorization;
  description: string;
};

export type RevokingCall = {
  type: "call";
  from: string;
  to: string;
  data: string;
  value: "0";
  description: string;
};

export type RowChange = {
  table: "agents";
  key: {
    agent_id: string;
  };
  before: AgentsRow | null;
  after: AgentsRow;
} | {
  table: "intents";
  key: {
    intent_id: string;
  };
  before: IntentsRow | null;
  after: IntentsRow;
} | {
  table: "bids";
  key: {
    intent_id: string;
    chain_bid_id: string;
  };
  before: BidsRow | null;
  after: BidsRow;
} | {
  table: "fills";
  key: {
    intent_id: string;
  };
  before: FillsRow | null;
  after: FillsRow;
} | {
  table: "fill_proofs";
  key: {
    intent_id: string;
  };
  before: FillProofsRow | null;
  after: FillProofsRow;
} | {
  table: "solver_activity";
  key: {
    solver: string;
  };
  before: SolverActivityRow | null;
  after: SolverActivityRow;
} | {
  table: "policies";
  key: {
    account: string;
    policy_type: string;
    policy_subject: string;
  };
  before: PoliciesRow | null;
  after: PoliciesRow;
} | {
  table: "policy_accounts";
  key: {
    account: string;
  };
  before: PolicyAccountsRow | null;
  after: PolicyAccountsRow;
} | {
  table: "spend_windows";
  key: {
    account: string;
    token: string;
  };
  before: SpendWindowsRow | null;
  after: SpendWindowsRow;
} | {
  table: "payment_windows";
  key: {
    account: string;
    merchant: string;
    token: string;
    facilitator: string;
  };
  before: PaymentWindowsRow | null;
  after: PaymentWindowsRow;
} | {
  table: "signed_payments";
  key: {
    account: string;
    payment_hash: string;
  };
  before: SignedPaymentsRow | null;
  after: SignedPaymentsRow;
} | {
  table: "session_keys";
  key: {
    account: string;
    session_key: string;
  };
  before: SessionKeysRow | null;
  after: SessionKeysRow;
} | {
  table: "session_executions";
  key: {
    account: string;
    session_key: string;
    nonce: string;
  };
  before: SessionExecutionsRow | null;
  after: SessionExecutionsRow;
} | {
  table: "attestations";
  key: {
    attestation_id: string;
  };
  before: AttestationsRow | null;
  after: AttestationsRow;
} | {
  table: "attester_activity";
  key: {
    attester: string;
  };
  before: AttesterActivityRow | null;
  after: AttesterActivityRow;
} | {
  table: "solvers";
  key: {
    solver_id: string;
  };
  before: SolversRow | null;
  after: SolversRow;
} | {
  table: "attestors";
  key: {
    attestor_id: string;
  };
  before: AttestorsRow | null;
  after: AttestorsRow;
} | {
  table: "merchants";
  key: {
    merchant_id: string;
  };
  before: MerchantsRow | null;
  after: MerchantsRow;
} | {
  table: "merchant_records";
  key: {
    merchant_id: string;
  };
  before: MerchantRecordsRow | null;
  after: MerchantRecordsRow;
} | {
  table: "services";
  key: {
    service_numeric_id: string;
  };
  before: ServicesRow | null;
  after: ServicesRow;
} | {
  table: "facilitators";
  key: {
    facilitator_id: string;
  };
  before: FacilitatorsRow | null;
  after: FacilitatorsRow;
} | {
  table: "quotes";
  key: {
    quote_hash: string;
  };
  before: QuotesRow | null;
  after: QuotesRow;
} | {
  table: "receipts";
  key: {
    receipt_id: string;
  };
  before: ReceiptsRow | null;
  after: ReceiptsRow;
} | {
  table: "disputes";
  key: {
    dispute_id: string;
  };
  before: DisputesRow | null;
  after: DisputesRow;
} | {
  table: "trust_signals";
  key: {
    signal_id: string;
  };
  before: TrustSignalsRow | null;
  after: TrustSignalsRow;
} | {
  table: "subject_signal_counts";
  key: {
    subject_type: number;
    subject_id: string;
    kind: number;
  };
  before: SubjectSignalCountsRow | null;
  after: SubjectSignalCountsRow;
} | {
  table: "settlements";
  key: {
    settlement_id: string;
  };
  before: SettlementsRow | null;
  after: SettlementsRow;
};

export type SPEND_LIMIT = {
  policy_type: "SPEND_LIMIT";
  token: string;
  max_per_day: string;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type SentencePart = {
  kind: "text" | "quoted" | "address" | "token" | "hash" | "time";
  text: string;
} | {
  kind: "record";
  text: string;
  record: "agent" | "attestation" | "attestor" | "dispute" | "facilitator" | "intent" | "merchant" | "quote" | "receipt" | "service" | "solver";
  id: string;
} | {
  kind: "amount";
  text: string;
  amount: string;
  token: string | null;
};

export type Service = {
  service_numeric_id: string;
  merchant_id: string;
  service_id: string;
  metadata_uri: string;
  metadata_hash: string;
  capability_hash: string;
  active: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type ServicesRow = {
  service_numeric_id: string;
  merchant_id: string;
  service_id: string;
  metadata_uri: string;
  metadata_hash: string;
  capability_hash: string;
  active: boolean;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type SessionExecutionsRow = {
  account: string;
  session_key: string;
  nonce: string;
  target: string;
  value: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type SessionKey = {
  session_key: string;
  expires_at: string;
  active: boolean;
  state: "ACTIVE" | "EXPIRED" | "WITHDRAWN";
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type SessionKeysRow = {
  account: string;
  session_key: string;
  expires_at: string;
  active: boolean;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type SettlementsRow = {
  settlement_id: string;
  quote_hash: string;
  settlement_plan_hash: string;
  payer: string;
  token: string;
  gross_amount: string;
  execution_hash: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type SignedPaymentsRow = {
  account: string;
  payment_hash: string;
  merchant: string;
  token: string;
  facilitator: string;
  amount: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type SnapshotBlock = {
  /** The chain's slug. */
  chain: string;
  number: number;
  hash: string;
};

export type Solver = {
  solver_id: string;
  operator: string;
  metadata_uri: string;
  capabilities_hash: string;
  bond: string;
  active: boolean;
  fills: string;
  successful_fills: string;
  failed_fills: string;
  avg_latency_blocks: string | null;
  avg_surplus_out: string | null;
  bids: string;
  selected_bids: string;
  win_rate: string | null;
  avg_latency_seconds: string | null;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
  proofs?: RecordProofs;
};

export type SolverActivityRow = {
  solver: string;
  bids: string;
  selected_bids: string;
  fills: string;
  latency_blocks_total: string;
  latency_seconds_total: string;
  surplus_out_total: string;
};

export type SolversRow = {
  solver_id: string;
  operator: string;
  metadata_uri: string;
  capabilities_hash: string;
  bond: string;
  active: boolean;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type SpendCheck = {
  /** The zero address is the native coin. */
  token: string;
  attempted: string;
  /** The amount spent in the current window, as of the block. */
  spent: string;
  /** The limit; null without one. */
  max_per_day: string | null;
  remaining: string | null;
  ok: boolean;
};

export type SpendWindowsRow = {
  account: string;
  token: string;
  spent: string;
  window_start: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type SpenderAllowance = {
  /** The chain's slug. */
  chain: string;
  /** CAIP-2. */
  chainId: string;
  kind: "erc20-allowance" | "permit2-allowance";
  /** The token. */
  contract: string;
  spender: string;
  /** In the smallest unit; "0" if the spender may take nothing, null if it could not be read. */
  rawAllowance: string | null;
  /** The end of an allowance in Permit2, also of one that is over; null without one. */
  expiresAt: string | null;
};

export type SpendingWindow = {
  policy_type: "PAYMENT_POLICY" | "SPEND_LIMIT";
  token: string;
  merchant: string | null;
  facilitator: string | null;
  /** The limit; null without one. */
  max_per_payment: string | null;
  /** The limit; null without one. */
  max_per_day: string | null;
  allowed: boolean | null;
  /** The amount spent in the current window, as of the block. */
  spent: string;
  /** The limit; null without one. */
  remaining: string | null;
  /** Time of the first spend of the current window; null if none is open. */
  window_start: string | null;
  /** Time from which nothing counts as spent; null if no window is open. */
  resets_at: string | null;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type SubjectSignalCountsRow = {
  subject_type: number;
  subject_id: string;
  kind: number;
  signals: string;
};

export type TARGET_ALLOWLIST = {
  policy_type: "TARGET_ALLOWLIST";
  target: string;
  allowed: boolean;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type TokenChange = {
  /** The chain's slug. */
  chain: string;
  /** Null for the native coin. */
  contract: string | null;
  /** The figures before; null if the wallet had none. */
  before: TokenFigures | null;
  /** The figures after; null if the wallet has none. */
  after: TokenFigures | null;
  /** The value after minus the value before; null when one of them is unknown. */
  changeUsd: string | null;
  /** The part by quantity: the change of the balance at the price before, rounded half up to 6 decimals. All of the change if the asset came or went as a whole; null if a value is limited by what markets could pay. */
  quantityUsd: string | null;
  /** The part by price: changeUsd − quantityUsd, the new balance times the change of the price. */
  priceUsd: string | null;
};

export type TokenFigures = {
  symbol: string | null;
  decimals: number | null;
  /** In the smallest unit. */
  rawBalance: string;
  /** The price of one whole unit; null when unknown. */
  priceUsd: string | null;
  /** As in a snapshot; negative for debt, null when unknown. */
  valueUsd: string | null;
  /** Spam counts in no total. */
  spam: boolean;
};

export type TopHolding = {
  /** The chain's slug. */
  chain: string;
  /** Null for the native coin. */
  contract: string | null;
  symbol: string | null;
  name: string | null;
  valueUsd: string;
};

export type TotalChange = {
  /** The total of the snapshot before; null when unknown. */
  beforeUsd: string | null;
  /** The total of the snapshot after; null when unknown. */
  afterUsd: string | null;
  /** The value after minus the value before; null when one of them is unknown. */
  changeUsd: string | null;
  /** The part by quantity: the change of the balance at the price before, rounded half up to 6 decimals. All of the change if the asset came or went as a whole; null if a value is limited by what markets could pay. */
  quantityUsd: string | null;
  /** The part by price: changeUsd − quantityUsd, the new balance times the change of the price. */
  priceUsd: string | null;
  /** changeUsd − quantityUsd − priceUsd: the change that cannot be split, of positions without parts and of assets that are unknown or spam on one side. */
  otherUsd: string | null;
};

export type Totals = {
  totals: {
    agents: string;
    accounts: string;
    intents: string;
    open_intents: string;
    filled_intents: string;
    cancelled_intents: string;
    expired_intents: string;
    bids: string;
    fills: string;
    solvers: string;
    attestors: string;
    attestations: string;
    merchants: string;
    services: string;
    facilitators: string;
    quotes: string;
    receipts: string;
    disputes: string;
    open_disputes: string;
    trust_signals: string;
  };
  interval: "hour" | "day";
  series: {
    start: string;
    agents: string;
    accounts: string;
    intents: string;
    cancelled_intents: string;
    bids: string;
    fills: string;
    solvers: string;
    attestors: string;
    attestations: string;
    trust_signals: string;
    merchants: string;
    services: string;
    facilitators: string;
    quotes: string;
    receipts: string;
    disputes: string;
  }[];
};

export type TrustSignal = {
  signal_id: string;
  subject_type: number;
  subject_id: string;
  kind: number;
  reporter: string;
  signal_hash: string;
  block_number: string;
  /** With include=provenance. */
  tx_hash?: string;
  /** With include=provenance. */
  log_index?: number;
  /** With include=provenance. */
  block_hash?: string;
  /** With include=provenance. */
  block_timestamp?: string;
};

export type TrustSignalsRow = {
  signal_id: string;
  subject_type: number;
  subject_id: string;
  kind: number;
  reporter: string;
  signal_hash: string;
  block_number: string;
  tx_hash: string;
  log_index: number;
};

export type Volumes = {
  interval: "hour" | "day";
  from: string | null;
  to: string | null;
  volumes: {
    start: string;
    token: string;
    receipts: string;
    settled_volume: string;
    protocol_fees: string;
  }[];
};

export type Webhook = {
  id: string;
  owner: string | null;
  /** Policy accounts of the owner that were registered. */
  accounts: string[];
  name: string | null;
  /** The host of the URL, which is not shown. */
  host: string;
  status: "active" | "paused" | "disabled";
  disabled_reason: "gone" | "failing" | "position" | "unconfigured" | null;
  filter: Record<string, unknown>;
  finality: "instant" | "safe" | "finalized";
  /** Everything up to here is delivered. */
  cursor: string;
  /** Ed25519, the newest first; any of them may sign. */
  public_keys: string[];
  /** Number of messages. */
  delivered: string;
  /** Failed attempts of the message that is next. */
  failures: number;
  retry_at: string | null;
  pending_since: string | null;
  last_error: string | null;
  last_success_at: string | null;
  created_at: string;
};

export type WebhookList = {
  webhooks: Webhook[];
};

export type WebhookTest = {
  delivered: boolean;
  status: number | null;
  error: string | null;
};
