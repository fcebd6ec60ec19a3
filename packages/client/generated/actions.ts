// The actions of the client, one per operation. Written by `npm run client:actions`; do not edit.
import type { List, Paid, PaidOptions, PublishedDocument, ReadOptions, RequestOptions } from "../operation.ts";
import type { Account, Agent, Attestation, AttestationSchema, Attestor, Bid, Catalog, CatalogMetadata, CommerceAnalytics, Deployments, Dispute, EventPage, Explanation, Exposure, ExposureOverview, ExposureSelection, Facilitator, Head, HostedDocument, Integrity, Intent, IntentMetadata, IntentMetadataReservation, IntentWithMetadata, ManagedWebhook, Merchant, MerchantReputation, OffchainBid, PaymentFlows, Policy, PortfolioDiff, PortfolioDiffOverview, PortfolioDiffSelection, PortfolioHoldings, PortfolioOverview, PortfolioSelection, PortfolioSnapshot, Preflight, Quote, QuoteRequest, QuoteRequestMetadata, QuoteResponse, QuoteResponseMetadata, Receipt, RegisteredWebhook, Service, SessionKey, Solver, SpendingWindow, Totals, TrustSignal, Volumes, Webhook, WebhookList } from "./records.ts";

/** Reads of the index, which `at(block)` offers as of a block. */
export interface IndexedActions {
  /**
   * One agent. An entry of AgentRegistry: who owns it, its metadata, public key and capabilities, and whether it is revoked. (GET /agents/{agentId})
   *
   * @example
   * ```ts
   * const record = await sextant.getAgent({ agentId: "1" });
   * ```
   */
  getAgent(parameters: {
    /** Agent id. */
    agentId: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Agent>;

  /**
   * Agents of an owner, by id. Every agent that the address has registered, revoked ones included. (GET /agents)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listAgents({ owner: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f" })) console.log(record);
   * ```
   */
  listAgents(parameters: {
    /** Owner address. */
    owner: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Agent>;

  /**
   * Agents of all owners, newest first. Every registered agent, revoked ones included. Filters can be combined. (GET /directory/agents)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listAgentDirectory({ owner: "0xca11bde05977b3631167028862be2a173976ca11" })) console.log(record);
   * ```
   */
  listAgentDirectory(parameters?: {
    /** Filter by owner. */
    owner?: string;
    /** Filter by whether it is revoked. */
    revoked?: "true" | "false";
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Agent>;

  /**
   * One intent. An intent with its state, its fill if there is one, and the execution metadata that its owner has stored. (GET /intents/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getIntent({ id: "14" });
   * ```
   */
  getIntent(parameters: {
    /** Intent id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names (provenance), or what its execution requires and proved (requirements). */
    include?: "provenance" | "requirements" | "provenance,requirements" | "requirements,provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<IntentWithMetadata>;

  /**
   * Intents, newest first. All intents, or those in one state, of one owner, token pair or selected solver. An intent whose deadline has passed counts as expired, although the contract still stores it as open. (GET /intents)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listIntents({ status: "filled" })) console.log(record);
   * ```
   */
  listIntents(parameters?: {
    /** Filter by state; case-insensitive. */
    status?: "open" | "filled" | "cancelled" | "expired";
    /** Filter by owner. */
    owner?: string;
    /** Filter by input token and output token, with a dash between them. */
    pair?: string;
    /** Filter by the solver whose bid is selected on chain, by its address. */
    solver?: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names (provenance), or what its execution requires and proved (requirements). */
    include?: "provenance" | "requirements" | "provenance,requirements" | "requirements,provenance";
  }, options?: ReadOptions): List<Intent>;

  /**
   * Bids on an intent, best first. Bids from the chain and, in open write mode, offchain ones: the highest output first, then the lowest input and fee, then the oldest. (GET /intents/{id}/bids)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listBids({ id: "17" })) console.log(record);
   * ```
   */
  listBids(parameters: {
    /** Intent id. */
    id: bigint | string;
    /** Filter by state; case-insensitive. */
    status?: "open" | "selected" | "rejected" | "expired";
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Bid>;

  /**
   * Policies of an account. The rules that PolicyModule enforces for the account: spend limits, allowed targets and functions, payment policies, guardian and freeze. Each type has its own fields. (GET /accounts/{address}/policies)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listPolicies({ address: "0xe23bd8b58a8c9def5677a52bad9465d29a4dc4fb" })) console.log(record);
   * ```
   */
  listPolicies(parameters: {
    /** Account address. */
    address: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Policy>;

  /**
   * One account. Whether the account is frozen, its guardian, whether its function allowlist is on, and how many agents, intents, receipts, policies and session keys it has. An address that the index does not know has none. (GET /accounts/{address})
   *
   * @example
   * ```ts
   * const record = await sextant.getAccount({ address: "0xc7f5400616b277098f8702c29c0d358ab3982741" });
   * ```
   */
  getAccount(parameters: {
    /** Account address. */
    address: string;
  }, options?: ReadOptions): Promise<Account>;

  /**
   * What an account has spent of its limits. Every spend limit and payment policy of the account, with what is spent in its current window and when that ends. A window begins with the first spend and lasts 86,400 seconds; at an earlier block it is judged at the time of that block. (GET /accounts/{address}/windows)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listSpendingWindows({ address: "0xc7f5400616b277098f8702c29c0d358ab3982741" })) console.log(record);
   * ```
   */
  listSpendingWindows(parameters: {
    /** Account address. */
    address: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<SpendingWindow>;

  /**
   * Session keys of an account. Every key that the account has ever given access, with the end of its access and its state as of the block; an old block without events has the time of the last one before it with events. (GET /accounts/{address}/session-keys)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listSessionKeys({ address: "0xc7f5400616b277098f8702c29c0d358ab3982741" })) console.log(record);
   * ```
   */
  listSessionKeys(parameters: {
    /** Account address. */
    address: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<SessionKey>;

  /**
   * One attestation. Who attests what about which subject under which schema, and whether it is revoked. The attested data itself is off chain; the record has its hash. (GET /attestations/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getAttestation({ id: "1" });
   * ```
   */
  getAttestation(parameters: {
    /** Attestation id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Attestation>;

  /**
   * Attestations, by id. All attestations, revoked ones included. Filters can be combined. (GET /attestations)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listAttestations({ schema: "0x4444444444444444444444444444444444444444444444444444444444444444" })) console.log(record);
   * ```
   */
  listAttestations(parameters?: {
    /** Filter by schema. */
    schema?: string;
    /** Filter by subject. */
    subject?: string;
    /** Filter by attester. */
    attester?: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Attestation>;

  /**
   * One solver. An entry of SolverRegistry with its bond, and what its operator has bid, won and filled so far. (GET /solvers/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getSolver({ id: "1" });
   * ```
   */
  getSolver(parameters: {
    /** Solver id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Solver>;

  /**
   * Solvers, by id. Registered solvers with the bids, wins and fills of their operators, by which a client can choose one. (GET /solvers)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listSolvers({ active: "true" })) console.log(record);
   * ```
   */
  listSolvers(parameters?: {
    /** Filter by active state. */
    active?: "true" | "false";
    /** Filter by operator. */
    operator?: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Solver>;

  /**
   * One attestor. An entry of AttestorRegistry, and how many attestations its operator has made and revoked. (GET /attestors/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getAttestor({ id: "1" });
   * ```
   */
  getAttestor(parameters: {
    /** Attestor id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Attestor>;

  /**
   * Attestors, by id. Registered attestors with the number of their attestations. (GET /attestors)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listAttestors({ active: "true" })) console.log(record);
   * ```
   */
  listAttestors(parameters?: {
    /** Filter by active state. */
    active?: "true" | "false";
    /** Filter by operator. */
    operator?: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Attestor>;

  /**
   * One merchant. An entry of CommerceRegistry: owner, payout address, metadata, and whether it is active. (GET /merchants/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getMerchant({ id: "1" });
   * ```
   */
  getMerchant(parameters: {
    /** Merchant id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Merchant>;

  /**
   * Merchants, by id. Registered merchants. Filters can be combined. (GET /merchants)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listMerchants({ owner: "0x09f70e78f2f37a5e8d25751ae9923fa6d392bf3c" })) console.log(record);
   * ```
   */
  listMerchants(parameters?: {
    /** Filter by owner. */
    owner?: string;
    /** Filter by active state. */
    active?: "true" | "false";
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Merchant>;

  /**
   * Reputation of a merchant. The merchant with the totals of its receipts, disputes and trust signals, all as of the same block. (GET /merchants/{id}/reputation)
   *
   * @example
   * ```ts
   * const record = await sextant.getMerchantReputation({ id: "1" });
   * ```
   */
  getMerchantReputation(parameters: {
    /** Merchant reputation id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): Promise<MerchantReputation>;

  /**
   * One service, by its number. An offer of a merchant: its text id, metadata and capabilities, and whether it is active. (GET /services/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getService({ id: "1" });
   * ```
   */
  getService(parameters: {
    /** Service id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Service>;

  /**
   * Services, by number. The services of all merchants, or of one. Filters can be combined. (GET /services)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listServices({ merchant_id: "1" })) console.log(record);
   * ```
   */
  listServices(parameters?: {
    /** Filter by merchant. */
    merchant_id?: bigint | string;
    /** Filter by capability hash. */
    capability_hash?: string;
    /** Filter by active state. */
    active?: "true" | "false";
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Service>;

  /**
   * One facilitator. An entry of CommerceRegistry: its address, metadata, and whether it is active. (GET /facilitators/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getFacilitator({ id: "1" });
   * ```
   */
  getFacilitator(parameters: {
    /** Facilitator id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Facilitator>;

  /**
   * Facilitators, by id. Facilitators in CommerceRegistry, which settle payments for merchants. Filters can be combined. (GET /facilitators)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listFacilitators({ facilitator: "0x86ea961b98c8cc709c25091d2613f528e215306b" })) console.log(record);
   * ```
   */
  listFacilitators(parameters?: {
    /** Filter by address, as receipts name it. */
    facilitator?: string;
    /** Filter by active state. */
    active?: "true" | "false";
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Facilitator>;

  /**
   * One quote. The terms that a merchant has quoted to an agent on chain: amount, token, fee and expiry, and whether they are settled. (GET /quotes/{quoteHash})
   *
   * @example
   * ```ts
   * const record = await sextant.getQuote({ quoteHash: "0xa56b6546545c0efe7b2c86f26ad06b9a8868413047c7363b8031af85a0343f32" });
   * ```
   */
  getQuote(parameters: {
    /** Quote hash. */
    quoteHash: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Quote>;

  /**
   * One receipt. A settled payment between an agent and a merchant: its quote, amount, protocol fee and the hashes that prove it. (GET /receipts/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getReceipt({ id: "7" });
   * ```
   */
  getReceipt(parameters: {
    /** Receipt id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Receipt>;

  /**
   * Receipts, newest first. Settled payments between agents and merchants, each with its quote, amount and protocol fee. Filters can be combined. (GET /receipts)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listReceipts({ agent: "0xe23bd8b58a8c9def5677a52bad9465d29a4dc4fb" })) console.log(record);
   * ```
   */
  listReceipts(parameters?: {
    /** Filter by paying agent. */
    agent?: string;
    /** Filter by merchant. */
    merchant_id?: bigint | string;
    /** Filter by service. */
    service_numeric_id?: bigint | string;
    /** Filter by the address of the facilitator. */
    facilitator?: string;
    /** Filter by token. */
    token?: string;
    /** Filter by quote. */
    quote_hash?: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Receipt>;

  /**
   * Trust signals, newest first. Signals of reporters about merchants, services, facilitators and agents. Filters can be combined. (GET /trust-signals)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listTrustSignals({ subject_type: 3 })) console.log(record);
   * ```
   */
  listTrustSignals(parameters?: {
    /** Filter by subject type: 0 merchants, 1 services, 2 facilitators, 3 agents. */
    subject_type?: 0 | 1 | 2 | 3;
    /** Filter by subject id. */
    subject_id?: bigint | string;
    /** Filter by kind: 0 verification, 1 risk, 2 compliance, 3 fulfillment. */
    kind?: 0 | 1 | 2 | 3;
    /** Filter by reporter. */
    reporter?: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<TrustSignal>;

  /**
   * One dispute. A dispute about a receipt: who opened it, its status, and the hashes of reason and resolution. (GET /disputes/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getDispute({ id: "5" });
   * ```
   */
  getDispute(parameters: {
    /** Dispute id. */
    id: bigint | string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
    /** `1` adds `proofs`: Merkle proofs of what the contract stores, against the hash of the block. What cannot be proven says why. Counts as five requests. */
    proof?: "1";
  }, options?: ReadOptions): Promise<Dispute>;

  /**
   * Disputes, newest first. Disputes about receipts, with their status and the hashes of reason and resolution. Filters can be combined. (GET /disputes)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listDisputes({ receipt_id: "5" })) console.log(record);
   * ```
   */
  listDisputes(parameters?: {
    /** Filter by receipt. */
    receipt_id?: bigint | string;
    /** Filter by the merchant of the receipt. */
    merchant_id?: bigint | string;
    /** Filter by who opened it. */
    opener?: string;
    /** Filter by status. */
    status?: "open" | "resolved" | "rejected";
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
    /** Adds to each record the transaction and block of the event that block_number names. */
    include?: "provenance";
  }, options?: ReadOptions): List<Dispute>;

  /**
   * Commerce analytics. Totals of commerce, and the largest tokens, merchants, services, facilitators and payment rails by settled volume. Volumes add units of all tokens; `volume_by_token` and `/analytics/volumes` do not. Available from the finalized block on. (GET /analytics/commerce)
   *
   * @example
   * ```ts
   * const record = await sextant.getCommerceAnalytics();
   * ```
   */
  getCommerceAnalytics(options?: ReadOptions): Promise<CommerceAnalytics>;

  /**
   * Settled volumes over time. Receipts, settled volume and protocol fees of each token by hour or day, in UTC, for all receipts or those of a merchant, payment rail or facilitator. An interval without receipts has no element. Without token, the 5 with the most receipts, because amounts of different tokens do not compare. Available from the finalized block on. (GET /analytics/volumes)
   *
   * @example
   * ```ts
   * const record = await sextant.getVolumes();
   * ```
   */
  getVolumes(parameters?: {
    /** Length of the intervals, in UTC: hour, or day (default). */
    interval?: "hour" | "day";
    /** Only this token. */
    token?: string;
    /** Only receipts of this merchant. */
    merchant_id?: bigint | string;
    /** Only receipts of this payment rail. */
    payment_rail?: 0 | 1 | 2 | 3;
    /** Only receipts through this facilitator, which is not the zero address. */
    facilitator?: string;
    /** Unix seconds within the first interval; by default the 30th day or 48th hour before the end. At most 400 intervals. */
    from?: bigint | string;
    /** Unix seconds within the last interval; by default the time of the block. */
    to?: bigint | string;
  }, options?: ReadOptions): Promise<Volumes>;

  /**
   * Payment flows in a token. The 20 merchants with the largest settled volume in the token, the 20 largest payers among theirs, and the 20 largest facilitators, among which the zero address means none. Null stands for all others, so that each list sums up to the token's total. Available from the finalized block on. (GET /analytics/flows)
   *
   * @example
   * ```ts
   * const record = await sextant.getPaymentFlows({ token: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6" });
   * ```
   */
  getPaymentFlows(parameters: {
    /** Token address. */
    token: string;
  }, options?: ReadOptions): Promise<PaymentFlows>;

  /**
   * Totals. How many agents, intents, bids, receipts and other records there are, and how many came in each of the last 48 hours or 30 days; the running one is the last. Available from the finalized block on. (GET /totals)
   *
   * @example
   * ```ts
   * const record = await sextant.getTotals();
   * ```
   */
  getTotals(parameters?: {
    /** Length of the intervals, in UTC: hour, or day (default). */
    interval?: "hour" | "day";
  }, options?: ReadOptions): Promise<Totals>;

  /**
   * Explain a transaction. Every event of the protocol in the transaction, in log order, each decoded and in one sentence. (GET /tx/{hash}/explain)
   *
   * @example
   * ```ts
   * const record = await sextant.explainTransaction({ hash: "0xc74497aebeb938fd76018626136665302cfc1d4e704a5d8d1fb2acf082d22314" });
   * ```
   */
  explainTransaction(parameters: {
    /** Transaction hash. */
    hash: string;
  }, options?: ReadOptions): Promise<Explanation>;

  /**
   * Position of the index. The latest indexed block, the newest final one and the first; and of the block that is read, its time and the nearest blocks before and after it with events of the protocol. An old block without events has the time of the last one before it with events. (GET /head)
   *
   * @example
   * ```ts
   * const record = await sextant.getHead();
   * ```
   */
  getHead(options?: ReadOptions): Promise<Head>;

  /**
   * Get the metadata reservation of an intent: the linked one, otherwise the newest. The metadata reserved for the hash, and the id of the intent once it is indexed. (GET /intents/metadata/{intentHash})
   *
   * @example
   * ```ts
   * const record = await sextant.getIntentMetadataReservation({ intentHash: "0xc0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ff" });
   * ```
   */
  getIntentMetadataReservation(parameters: {
    /** EIP-712 struct hash of the intent. */
    intentHash: string;
    /** Filter by owner. Anyone may reserve; only the reservation of the intent's owner is linked. */
    owner?: string;
  }, options?: ReadOptions): Promise<IntentMetadataReservation>;

  /**
   * Check a planned transaction against the policies of an account. Says whether PolicyModule would let the transaction pass, every rule that it violates, and the calls that would make it pass. Nothing is sent to the chain. (POST /preflight)
   *
   * @example
   * ```ts
   * const record = await sextant.preflight({ account: "0xe23bd8b58a8c9def5677a52bad9465d29a4dc4fb", target: "0x8a791620dd6260079bf849dc5567adc3f2fdc318", value: "0", data: "0xa9059cbb0000000000000000000000003958cf1cf076864bb2c6c05172696fb64316aa3f00000000000000000000000000000000000000000000000000000000017d7840" });
   * ```
   */
  preflight(body: {
    /** Account that would send the transaction. */
    account: string;
    /** Target of the transaction. */
    target: string;
    /** Native coin sent along, in wei; 0 if absent. */
    value?: string;
    /** Calldata; empty (0x) if absent. */
    data?: string;
    /** Session key that would sign the call; the rules of a PolicyAccount for session keys then apply as well. */
    session_key?: string;
    /** parts: the action and every reason in parts, with the token of each amount. */
    include?: "parts";
  }, options?: ReadOptions): Promise<Preflight>;
}

/** Everything else: documents, schemas, writes, and what is sold. */
export interface OtherActions {
  /**
   * Create an offchain bid (development helper, open write mode only). Lets a solver try the bid flow before it bids on chain. In signed write mode the path responds 404. (POST /intents/{id}/bids)
   *
   * @example
   * ```ts
   * const record = await sextant.createOffchainBid({ id: "17" }, { solver: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f", amount_in: "1359619450751412045", amount_out: "4078858352", valid_until: "4102444800", execution_plan: { steps: ["swap"] }, fee: "1000" });
   * ```
   */
  createOffchainBid(parameters: {
    /** Intent id. */
    id: bigint | string;
  }, body: {
    solver: string;
    amount_in: string;
    amount_out: string;
    fee?: string;
    /** Unix seconds. */
    valid_until: string;
    execution_plan?: Record<string, unknown>;
  }, options?: RequestOptions): Promise<OffchainBid>;

  /**
   * Get an attestation schema. The meaning of attestations under this schema hash, as their JSON Schema. (GET /attestations/schemas/{schemaHash})
   *
   * @example
   * ```ts
   * const record = await sextant.getAttestationSchema({ schemaHash: "0x8d950da61ff368e72c72fd34eb378d955bf60c1ef3f4e5f0e3e5142d50fe1114" });
   * ```
   */
  getAttestationSchema(parameters: {
    /** Attestation schema hash. */
    schemaHash: string;
  }, options?: ReadOptions): Promise<AttestationSchema>;

  /**
   * List attestation schemas, built-in and published, by hash. The meaning of the schema hashes that attestations name. (GET /attestations/schemas)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listAttestationSchemas()) console.log(record);
   * ```
   */
  listAttestationSchemas(parameters?: {
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
  }, options?: ReadOptions): List<AttestationSchema>;

  /**
   * Publish or replace an attestation schema. The first publisher of a hash owns it and may replace it. Without schema_hash, the hash is that of the schema's canonical form. (POST /attestations/schemas)
   *
   * @example
   * ```ts
   * const record = await sextant.publishAttestationSchema({ name: "delivery_time", description: "How long a merchant takes to deliver.", json_schema: { type: "object", properties: { seconds: { type: "integer", minimum: 0 } }, required: ["seconds"] } });
   * ```
   */
  publishAttestationSchema(body: {
    name: string;
    /** Default: keccak256 of the RFC 8785 form of json_schema. */
    schema_hash?: string | null;
    description?: string | null;
    /** JSON Schema 2020-12 without external references. */
    json_schema?: Record<string, unknown> | null;
    recommended_subject?: string | null;
  }, options?: RequestOptions): Promise<AttestationSchema>;

  /**
   * Published documents with given hashes. The documents published under the hashes: their kind, what the publisher has stated about the text, and its size. A text may be published as several kinds; a hash without a document has no element. (GET /documents)
   *
   * @example
   * ```ts
   * for await (const record of sextant.listDocuments({ hash: "0x36f0f61f3105920b6e3c2cec8ecb85defdf7a24050e5f999f5b30d08abbc2cad,0xdbd74645638b859a5ce71f82f2ce4f9ff8931af291bfcad49b014a88e579ec2f" })) console.log(record);
   * ```
   */
  listDocuments(parameters: {
    /** Hashes of documents, at most 33, separated by commas. */
    hash: string;
    /** Records per page, at most 100; larger values count as 100. A page ends early if it would exceed 512 KiB; continue with next_cursor, or with offset plus count. */
    limit?: number;
    /** next_cursor of the previous page, with the same filters. */
    cursor?: string;
  }, options?: ReadOptions): List<HostedDocument>;

  /**
   * Whether the index can be trusted. How far the index is behind its chain, what is final, the reorgs that were recorded, the last comparisons with the chain, and the deployment and declarations that the rows come from. Never cached. (GET /integrity)
   *
   * @example
   * ```ts
   * const record = await sextant.getIntegrity();
   * ```
   */
  getIntegrity(options?: ReadOptions): Promise<Integrity>;

  /**
   * The deployments that this server serves. Each deployment of the protocol with its chain, the path of its API, and how far its index is. The default one is first. Never cached. (GET /deployments)
   *
   * @example
   * ```ts
   * const record = await sextant.getDeployments();
   * ```
   */
  getDeployments(options?: RequestOptions): Promise<Deployments>;

  /**
   * Events as they happen, with undo after a reorg. Every event of the protocol, explained, ordered by block and log index. With Accept: text/event-stream a stream that stays open: messages are events, undo, progress and rejected, and their ids are cursors. Otherwise a page, as JSON or, with Accept: application/x-ndjson, as lines. (GET /events)
   *
   * @example
   * ```ts
   * const record = await sextant.readEvents();
   * ```
   */
  readEvents(parameters?: {
    /** The position to begin at: after a cursor, with a block number, at genesis or at the head. Default: head for a stream and for order=desc, genesis for any other page. */
    from?: string;
    /** desc: a page with the newest events first, from the head or a block on downwards. A cursor belongs to one order, and keeps the finality of the first page. A stream has no order. */
    order?: "asc" | "desc";
    /** When an event is delivered: as soon as it is indexed (instant, the default), once nodes call its block safe, or once it is final (finalized). Only what is final is never undone. */
    finality?: "instant" | "safe" | "finalized";
    /** Events per page, at most 1000; a stream ignores it. A page may have fewer, or none, while has_more is true. */
    limit?: number;
    /** Only events of these types, separated by commas. */
    type?: string;
    /** rows: with each event the rows that it has changed, before and after it; a page then has at most 100 events. parts: with each event its description in parts, with the token of each amount; a submitted intent then has its amounts. */
    include?: "rows" | "parts" | "rows,parts";
    /** Only events about this agent: by its id, or by the address with which it acts. */
    agent?: string;
    /** Only events about this intent. */
    intent?: bigint | string;
    /** Only events in which this address takes part, in whatever role; not as token or target. */
    account?: string;
    /** Only events about this merchant: by its id, or by the address that owns it or is paid. */
    merchant?: string;
    /** Only events about this service. */
    service?: bigint | string;
    /** Only events about this solver: by its id, or by its address as in bids and fills. */
    solver?: string;
  }, options?: RequestOptions): Promise<EventPage>;

  /**
   * Publish a catalog, addressed by the hash of its text. Stores the text byte for byte under its keccak256 hash. Published again, it keeps the record of the first publication. (POST /catalogs)
   *
   * @example
   * ```ts
   * const record = await sextant.publishCatalog({ catalog_json: "{\"name\":\"Weather\",\"services\":[{\"id\":\"forecast\",\"price\":\"10000\" }] }", merchant_id: "1", service_id: "forecast" });
   * ```
   */
  publishCatalog(body: {
    /** The catalog as JSON text, at most 131072 bytes; stored byte for byte. */
    catalog_json: string;
    /** If given, the text must have this hash. */
    expected_hash?: string | null;
    merchant_id?: string | null;
    service_id?: string | null;
  }, options?: RequestOptions): Promise<Catalog>;

  /**
   * Get the text of a catalog, byte for byte as published. Its keccak256 hash is the one in the path, so that a client can verify it. It never changes. (GET /catalogs/{hash})
   *
   * @example
   * ```ts
   * const record = await sextant.getCatalog({ hash: "0x36f0f61f3105920b6e3c2cec8ecb85defdf7a24050e5f999f5b30d08abbc2cad" });
   * ```
   */
  getCatalog(parameters: {
    /** keccak256 of the document's bytes. */
    hash: string;
  }, options?: RequestOptions): Promise<PublishedDocument>;

  /**
   * Get the metadata of a catalog. The publisher's statements about the text, its size, and when it was published. (GET /catalogs/{hash}/metadata)
   *
   * @example
   * ```ts
   * const record = await sextant.getCatalogMetadata({ hash: "0x36f0f61f3105920b6e3c2cec8ecb85defdf7a24050e5f999f5b30d08abbc2cad" });
   * ```
   */
  getCatalogMetadata(parameters: {
    /** keccak256 of the document's bytes. */
    hash: string;
  }, options?: RequestOptions): Promise<CatalogMetadata>;

  /**
   * Publish a quote request, addressed by the hash of its text. Stores the text byte for byte under its keccak256 hash. Published again, it keeps the record of the first publication. (POST /quote-requests)
   *
   * @example
   * ```ts
   * const record = await sextant.publishQuoteRequest({ quote_request_json: "{\"service\":\"forecast\",\"place\":\"Lisbon\" }", request_id: "request-1", merchant_id: "1", service_numeric_id: "1", agent: "0xe23bd8b58a8c9def5677a52bad9465d29a4dc4fb" });
   * ```
   */
  publishQuoteRequest(body: {
    /** The quote request as JSON text, at most 131072 bytes; stored byte for byte. */
    quote_request_json: string;
    /** If given, the text must have this hash. */
    expected_hash?: string | null;
    request_id?: string | null;
    merchant_id?: string | null;
    service_numeric_id?: string | null;
    service_id?: string | null;
    agent?: string | null;
  }, options?: RequestOptions): Promise<QuoteRequest>;

  /**
   * Get the text of a quote request, byte for byte as published. Its keccak256 hash is the one in the path, so that a client can verify it. It never changes. (GET /quote-requests/{hash})
   *
   * @example
   * ```ts
   * const record = await sextant.getQuoteRequest({ hash: "0xdbd74645638b859a5ce71f82f2ce4f9ff8931af291bfcad49b014a88e579ec2f" });
   * ```
   */
  getQuoteRequest(parameters: {
    /** keccak256 of the document's bytes. */
    hash: string;
  }, options?: RequestOptions): Promise<PublishedDocument>;

  /**
   * Get the metadata of a quote request. The publisher's statements about the text, its size, and when it was published. (GET /quote-requests/{hash}/metadata)
   *
   * @example
   * ```ts
   * const record = await sextant.getQuoteRequestMetadata({ hash: "0xdbd74645638b859a5ce71f82f2ce4f9ff8931af291bfcad49b014a88e579ec2f" });
   * ```
   */
  getQuoteRequestMetadata(parameters: {
    /** keccak256 of the document's bytes. */
    hash: string;
  }, options?: RequestOptions): Promise<QuoteRequestMetadata>;

  /**
   * Publish a quote response, addressed by the hash of its text. Stores the text byte for byte under its keccak256 hash. Published again, it keeps the record of the first publication. (POST /quote-responses)
   *
   * @example
   * ```ts
   * const record = await sextant.publishQuoteResponse({ quote_response_json: "{\"price\":\"10000\",\"token\":\"USDC\" }", request_hash: "0xdbd74645638b859a5ce71f82f2ce4f9ff8931af291bfcad49b014a88e579ec2f", request_id: "request-1", merchant_id: "1", service_numeric_id: "1", agent: "0xe23bd8b58a8c9def5677a52bad9465d29a4dc4fb" });
   * ```
   */
  publishQuoteResponse(body: {
    /** The quote response as JSON text, at most 131072 bytes; stored byte for byte. */
    quote_response_json: string;
    /** If given, the text must have this hash. */
    expected_hash?: string | null;
    request_hash?: string | null;
    request_id?: string | null;
    merchant_id?: string | null;
    service_numeric_id?: string | null;
    agent?: string | null;
  }, options?: RequestOptions): Promise<QuoteResponse>;

  /**
   * Get the text of a quote response, byte for byte as published. Its keccak256 hash is the one in the path, so that a client can verify it. It never changes. (GET /quote-responses/{hash})
   *
   * @example
   * ```ts
   * const record = await sextant.getQuoteResponse({ hash: "0x97e6cf94436b587dd00bf894e69ffb6d8406a7550703a36ffa6817806ec883bf" });
   * ```
   */
  getQuoteResponse(parameters: {
    /** keccak256 of the document's bytes. */
    hash: string;
  }, options?: RequestOptions): Promise<PublishedDocument>;

  /**
   * Get the metadata of a quote response. The publisher's statements about the text, its size, and when it was published. (GET /quote-responses/{hash}/metadata)
   *
   * @example
   * ```ts
   * const record = await sextant.getQuoteResponseMetadata({ hash: "0x97e6cf94436b587dd00bf894e69ffb6d8406a7550703a36ffa6817806ec883bf" });
   * ```
   */
  getQuoteResponseMetadata(parameters: {
    /** keccak256 of the document's bytes. */
    hash: string;
  }, options?: RequestOptions): Promise<QuoteResponseMetadata>;

  /**
   * Store the execution metadata of an indexed intent; signed by its owner. Replaces what a solver needs for execution. Data must have the hash that the intent committed to on chain. (PUT /intents/{id}/metadata)
   *
   * @example
   * ```ts
   * const record = await sextant.putIntentMetadata({ id: "17" }, { execution_target: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6", required_attestation_subject: "0xabababababababababababababababababababababababababababababababab", required_attestation_schema: "0x1111111111111111111111111111111111111111111111111111111111111111" });
   * ```
   */
  putIntentMetadata(parameters: {
    /** Intent id. */
    id: bigint | string;
  }, body: {
    execution_target?: string | null;
    execution_data?: string | null;
    required_attestation_subject?: string | null;
    required_attestation_schema?: string | null;
  }, options?: ReadOptions): Promise<IntentMetadata>;

  /**
   * Reserve execution metadata for an intent that is not indexed yet; signed by its owner. Stores what a solver needs for execution before the intent is on chain. It is linked to the intent of this hash and owner once that is indexed. (POST /intents/metadata)
   *
   * @example
   * ```ts
   * const record = await sextant.reserveIntentMetadata({ intent_hash: "0xc0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ff", owner: "0xc223b10ef31d74b74ac4931da23c76dfd154e43f", execution_target: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6", required_attestation_subject: "0xabababababababababababababababababababababababababababababababab", required_attestation_schema: "0x1111111111111111111111111111111111111111111111111111111111111111" });
   * ```
   */
  reserveIntentMetadata(body: {
    /** EIP-712 struct hash of the intent. */
    intent_hash: string;
    /** Owner of the intent. */
    owner: string;
    execution_target?: string | null;
    execution_data?: string | null;
    required_attestation_subject?: string | null;
    required_attestation_schema?: string | null;
  }, options?: RequestOptions): Promise<IntentMetadataReservation>;

  /**
   * Register a webhook for events of what the owner has; signed by the owner. Delivers events by the Standard Webhooks specification, in order, with undo after a reorg: those in which the owner takes part, and those about records of the owner, or of the policy accounts that are named. In signed mode the owner must be in the index, and the receiver must return the challenge of a message that is sent to it before the response. (POST /webhooks)
   *
   * @example
   * ```ts
   * const record = await sextant.registerWebhook({ owner: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f", url: "http://127.0.0.1:9/hook", filter: { types: ["IntentSubmitted","IntentFilled"] }, finality: "safe", from: "head" });
   * ```
   */
  registerWebhook(body: {
    /** The account whose events are delivered; signs the registration. */
    owner: string;
    /** Policy accounts of the owner, whose events are delivered as well: their signer() is the owner. */
    accounts?: string[];
    /** The URL to which messages are sent by POST; https:// only. */
    url: string;
    /** Filters as in GET /events: only events that pass all of them. */
    filter?: {
      types?: ("AccountFrozen" | "AgentRegistered" | "AgentRevoked" | "AgentUpdated" | "AttestationRevoked" | "AttestationSubmitted" | "AttestorRegistered" | "AttestorUpdated" | "DisputeOpened" | "DisputeResolved" | "EIP712DomainChanged" | "FacilitatorRegistered" | "FacilitatorUpdated" | "FulfillmentRecorded" | "FunctionAllowlistModeUpdated" | "FunctionAllowlistUpdated" | "GuardianSet" | "IntentCancelled" | "IntentFillProof" | "IntentFilled" | "IntentSubmitted" | "MerchantRegistered" | "MerchantUpdated" | "PaymentPolicySet" | "QuoteCommitted" | "ReceiptRecorded" | "ServiceRegistered" | "ServiceUpdated" | "SessionKeyExecuted" | "SessionKeyUpdated" | "SettlementExecuted" | "SignedPaymentRecorded" | "SolverBidSelected" | "SolverBidSubmitted" | "SolverBondChanged" | "SolverRegistered" | "SolverUpdated" | "SpendLimitSet" | "SpendRecorded" | "TargetAllowlistUpdated" | "TrustSignalRecorded")[];
      /** Only events about this agent: by its id, or by the address with which it acts. */
      agent?: string;
      /** Only events about this intent. */
      intent?: string;
      /** Only events in which this address takes part, in whatever role; not as token or target. */
      account?: string;
      /** Only events about this merchant: by its id, or by the address that owns it or is paid. */
      merchant?: string;
      /** Only events about this service. */
      service?: string;
      /** Only events about this solver: by its id, or by its address as in bids and fills. */
      solver?: string;
    };
    /** The finality as in GET /events; default instant. */
    finality?: "instant" | "safe" | "finalized";
    /** A cursor, a block number, genesis, or head, which is the default. */
    from?: string;
  }, options?: RequestOptions): Promise<RegisteredWebhook>;

  /**
   * List the webhooks of an owner; signed by the owner. The request is signed because only the owner may know where the events go. It changes nothing. (POST /webhooks/list)
   *
   * @example
   * ```ts
   * const record = await sextant.listWebhooks({ owner: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f" });
   * ```
   */
  listWebhooks(body: {
    /** The owner, who signs the request. */
    owner: string;
  }, options?: RequestOptions): Promise<WebhookList>;

  /**
   * Pause, resume, replay, rotate the keys of, test or delete a webhook; signed by its owner. A replay delivers again from a cursor, with the ids that the messages had. After a rotation the old keys sign in addition to the new ones for 24 hours. A test sends a message of the type webhook.test at once and returns what became of it. (POST /webhooks/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.manageWebhook({ id: "wh_Uf2iTH5GQQV3s1IO0trUvQ" }, { action: "pause" });
   * ```
   */
  manageWebhook(parameters: {
    /** Id of the webhook, as its registration returned it. */
    id: string;
  }, body: {
    action: "pause" | "resume" | "replay" | "rotate" | "test" | "delete";
    /** The position at which a replay begins: a cursor, a block number, genesis or head. */
    from?: string;
  }, options?: RequestOptions): Promise<ManagedWebhook>;

  /**
   * Get a webhook: its state, and the public keys that sign its messages. Readable by anyone who knows its id: the owner, and the receiver, to which messages of the type webhook.test name it. (GET /webhooks/{id})
   *
   * @example
   * ```ts
   * const record = await sextant.getWebhook({ id: "wh_Uf2iTH5GQQV3s1IO0trUvQ" });
   * ```
   */
  getWebhook(parameters: {
    /** Id of the webhook, as its registration returned it. */
    id: string;
  }, options?: RequestOptions): Promise<Webhook>;

  /**
   * Select an offchain bid (development helper, open write mode only). Selects the bid and rejects all other offchain bids on the intent. In signed write mode the path responds 404. (POST /bids/{bidId}/select)
   *
   * @example
   * ```ts
   * const record = await sextant.selectOffchainBid({ bidId: "1" });
   * ```
   */
  selectOffchainBid(parameters: {
    /** Bid id (bid_id). */
    bidId: bigint | string;
  }, options?: RequestOptions): Promise<OffchainBid>;

  /**
   * Holdings of a wallet and their value. A snapshot of an EVM wallet on the chains you choose: every token with balance, price and USD value, DeFi positions net of debt, totals, recent activity, spam marked, and warnings about what could not be known. (GET /portfolio)
   *
   * @example
   * ```ts
   * const { data, receipt } = await sextant.getPortfolio({ address: "0x14dc79964da2c08b23698b3d3cc7ca32193d9955" });
   * ```
   */
  getPortfolio<Data extends PortfolioSnapshot | PortfolioHoldings | PortfolioOverview | PortfolioSelection = PortfolioSnapshot>(parameters: {
    /** The EVM wallet, in upper or lower case; or a name in ENS or Basenames, which is redirected (307) to the same request by address before anything is paid. */
    address: string;
    /** Chains to include, separated by commas: base, ethereum. At most 10; duplicates are ignored, the order is preserved. */
    chains?: string;
    /** The block of each chain, for a snapshot as of then: `chain:number`, separated by commas. Either every chain is named or none; without `chains`, those named here are read. The response then follows from the chains alone, and its timestamp is that of the newest block named. */
    block?: string;
    /** A time in place of `block`: `7d` ago (also `m`, `h` and `w`), `YYYY-MM-DD` (its first second in UTC) or `YYYY-MM-DDThh:mmZ`. It is redirected (307) to the same request with the last final block of each chain at or before it, before anything is paid. */
    at?: Date | string;
    /** Whether to list tokens marked as spam. Totals exclude them either way; `summary.warnings` counts what is not listed. */
    spam?: "include" | "exclude";
    /** What to do when a chain cannot be read: `reject` the request without a charge, or `allow` a response without that chain, at the same price. `failedChains` then names it, and totals that lack it are null, or marked as partial. */
    partial?: "reject" | "allow";
    /** How much of the snapshot to return: `full`; `tokens`, tokens and positions in six fields each and no activity, at the same price; or `summary`, totals, largest holdings and warnings in at most 2,048 bytes, whatever the wallet holds, which may cost less. */
    detail?: "full" | "tokens" | "summary";
    /** Leaves out tokens worth less than this, and tokens without a known value; and positions worth less, or owing less, unless their value is partial or unknown, because that may be a debt. Totals and counts stay those of the whole wallet; `omitted` says how many were left out. */
    min_usd?: string;
    /** Only these fields of the response, separated by commas; a dot leads into a record or into each entry of a list, such as `tokens.chain`. */
    fields?: string;
    /** `1` adds `proofs`: Merkle proofs of balances, allowances, and the account's code and nonce against the hash of each chain's block, which anyone can check without us. Only with the whole response (`detail=full`, no `fields`). What cannot be proven says why; it may cost more. */
    proof?: "0" | "1";
  }, options?: PaidOptions): Promise<Paid<Data>>;

  /**
   * What changed in a wallet between two blocks. The difference of two snapshots of an EVM wallet, each as of blocks that you name: per token, position, chain and in total, the change in value split exactly into quantity and price, with what was known before and after. (GET /portfolio/diff)
   *
   * @example
   * ```ts
   * const { data, receipt } = await sextant.getPortfolioDiff({ address: "0x14dc79964da2c08b23698b3d3cc7ca32193d9955", from: "base:38000000,ethereum:23700000" });
   * ```
   */
  getPortfolioDiff<Data extends PortfolioDiff | PortfolioDiffOverview | PortfolioDiffSelection = PortfolioDiff>(parameters: {
    /** The EVM wallet, in upper or lower case; or a name in ENS or Basenames, which is redirected (307) to the same request by address before anything is paid. */
    address: string;
    /** Chains to include, separated by commas; without it, those that `from` names, or the default ones if it is a time. */
    chains?: string;
    /** The block of each chain at which the difference starts: `chain:number`, separated by commas. Or a time, which is redirected (307) to the last final blocks at or before it: `7d` ago (also `m`, `h` and `w`), `YYYY-MM-DD` (its first second in UTC) or `YYYY-MM-DDThh:mmZ`. Or the `snapshotId` of a snapshot of this wallet, whose chains it then has. */
    from: Date | string;
    /** The blocks or the time at which it ends, in the same form; without it, the newest blocks. */
    to?: Date | string;
    /** What to do when a chain cannot be read: `reject` the request without a charge, or `allow` a response without that chain, at the same price. `failedChains` then names it, and totals that lack it are null, or marked as partial. */
    partial?: "reject" | "allow";
    /** How much to return: `full`, or `summary`, which may cost less: the total change and the largest changes of tokens in at most 2,048 bytes. */
    detail?: "full" | "summary";
    /** Only these fields of the response, separated by commas; a dot leads into a record or into each entry of a list, such as `chains.chain`. */
    fields?: string;
    /** `1` adds `proofs`: Merkle proofs of balances, allowances, and the account's code and nonce against the hash of each chain's block, which anyone can check without us. Only with the whole response (`detail=full`, no `fields`). What cannot be proven says why; it may cost more. */
    proof?: "0" | "1";
  }, options?: PaidOptions): Promise<Paid<Data>>;

  /**
   * What can be taken from a wallet. Every live permission over an EVM wallet on the chains you choose: token allowances, NFT operators, Permit2 allowances with expiry, who may act on its positions in lending protocols, its EIP-7702 delegate, owners, modules and session keys; who has it, the value at risk, why it matters, and the calldata that revokes it. (GET /exposure)
   *
   * @example
   * ```ts
   * const { data, receipt } = await sextant.getExposure({ address: "0x14dc79964da2c08b23698b3d3cc7ca32193d9955" });
   * ```
   */
  getExposure<Data extends Exposure | ExposureOverview | ExposureSelection = Exposure>(parameters: {
    /** The EVM wallet, in upper or lower case; or a name in ENS or Basenames, which is redirected (307) to the same request by address before anything is paid. */
    address: string;
    /** Chains to include, separated by commas: base, ethereum. At most 10; duplicates are ignored, the order is preserved. */
    chains?: string;
    /** The block of each chain, for a snapshot as of then: `chain:number`, separated by commas. Either every chain is named or none; without `chains`, those named here are read. The response then follows from the chains alone, and its timestamp is that of the newest block named. */
    block?: string;
    /** A time in place of `block`: `7d` ago (also `m`, `h` and `w`), `YYYY-MM-DD` (its first second in UTC) or `YYYY-MM-DDThh:mmZ`. It is redirected (307) to the same request with the last final block of each chain at or before it, before anything is paid. */
    at?: Date | string;
    /** What to do when a chain cannot be read: `reject` the request without a charge, or `allow` a response without that chain, at the same price. `failedChains` then names it, and totals that lack it are null, or marked as partial. */
    partial?: "reject" | "allow";
    /** At most 10 addresses, separated by commas. `allowances` then states what each may take of held tokens, also that it is nothing; with `proof=1` zero is proven, too. */
    spenders?: string;
    /** How much to return: `full`, or `summary`, which may cost less: counts, value at risk and the permissions most at risk in at most 2,048 bytes. */
    detail?: "full" | "summary";
    /** Only these fields of the response, separated by commas; a dot leads into a record or into each entry of a list, such as `permissions.chain`. */
    fields?: string;
    /** `1` adds `proofs`: Merkle proofs of balances, allowances, and the account's code and nonce against the hash of each chain's block, which anyone can check without us. Only with the whole response (`detail=full`, no `fields`). What cannot be proven says why; it may cost more. */
    proof?: "0" | "1";
  }, options?: PaidOptions): Promise<Paid<Data>>;
}
