// The subjects of each event, derived from the events before it alone: no rows, no statements, written from the protocol.
type PlainEvent = {
  readonly type: string;
  readonly address: string;
  readonly block_number: string;
  readonly args: Readonly<Record<string, string | boolean>>;
};

type Concerns = Readonly<
  Record<"agent" | "intent" | "account" | "merchant" | "service" | "solver", ReadonlySet<string>>
>;

const NOT_ACCOUNTS = new Set(["token", "target"]);
const SUBJECT_KINDS = ["merchant", "service", "facilitator", "agent"];

type Sale = { merchant: string; service: string; agent: string; facilitator: string };
type Known = {
  readonly owners: Map<string, string>;
  readonly payouts: Map<string, string>;
  readonly merchantOfService: Map<string, string>;
  readonly sales: Map<string, Sale>;
  readonly saleOfReceipt: Map<string, Sale>;
  readonly receiptOfDispute: Map<string, string>;
  readonly openers: Map<string, string>;
  readonly selected: Map<string, string>;
};

/** The concerns of every event, in order. A change of a block counts for all of its events. */
export function tellConcerns(events: readonly PlainEvent[]): readonly Concerns[] {
  const known: Known = {
    owners: new Map(),
    payouts: new Map(),
    merchantOfService: new Map(),
    sales: new Map(),
    saleOfReceipt: new Map(),
    receiptOfDispute: new Map(),
    openers: new Map(),
    selected: new Map(),
  };
  const derived: Concerns[] = [];
  let block: PlainEvent[] = [];
  const endBlock = () => {
    for (const event of block) learn(event, known);
    derived.push(...block.map((event) => tell(event, known)));
    block = [];
  };
  for (const event of events) {
    if (block.length > 0 && block[0]?.block_number !== event.block_number) endBlock();
    block.push(event);
  }
  endBlock();
  return derived;
}

function learn({ type, args }: PlainEvent, known: Known): void {
  const text = (name: string) => String(args[name]);
  if (type === "AgentRegistered") known.owners.set(`agent ${text("agentId")}`, text("owner"));
  if (type === "IntentSubmitted") known.owners.set(`intent ${text("intentId")}`, text("owner"));
  if (type === "SolverRegistered") {
    known.owners.set(`solver ${text("solverId")}`, text("operator"));
    known.owners.set(`operator ${text("operator")}`, text("solverId"));
  }
  if (type === "AttestorRegistered") known.owners.set(`attestor ${text("attestorId")}`, text("operator"));
  if (type === "AttestationSubmitted") known.owners.set(`attestation ${text("id")}`, text("attester"));
  if (type === "MerchantRegistered") known.owners.set(`merchant ${text("merchantId")}`, text("owner"));
  if (type === "FacilitatorRegistered") {
    known.owners.set(`facilitator ${text("facilitatorId")}`, text("facilitator"));
  }
  if ("payoutAddress" in args) known.payouts.set(text("merchantId"), text("payoutAddress"));
  if (type === "ServiceRegistered") known.merchantOfService.set(text("serviceNumericId"), text("merchantId"));
  if (type === "QuoteCommitted" || type === "ReceiptRecorded") {
    const sale = {
      merchant: text("merchantId"),
      service: text("serviceNumericId"),
      agent: text("agent"),
      facilitator: text("facilitator"),
    };
    if (type === "QuoteCommitted") known.sales.set(text("quoteHash"), sale);
    else known.saleOfReceipt.set(text("receiptId"), sale);
  }
  if (type === "DisputeOpened") {
    known.receiptOfDispute.set(text("disputeId"), text("receiptId"));
    known.openers.set(text("disputeId"), text("opener"));
  }
  if (type === "SolverBidSelected") known.selected.set(text("intentId"), text("solver"));
}

function tell(event: PlainEvent, known: Known): Concerns {
  const { type, args } = event;
  const sets = {
    agent: set(),
    intent: set(),
    account: set(),
    merchant: set(),
    service: set(),
    solver: set(),
  };
  const ownerOf = (kind: string, id: unknown) => known.owners.get(`${kind} ${id}`);
  const add = (subject: keyof Concerns, ...values: (string | undefined)[]) => {
    for (const value of values) if (value !== undefined) sets[subject].add(value);
  };
  const aboutMerchant = (id: string | undefined) => {
    const people = id === undefined ? [] : [ownerOf("merchant", id), known.payouts.get(id)];
    add("merchant", id, ...people);
    add("account", ...people);
  };
  const aboutService = (id: string) => {
    add("service", id);
    aboutMerchant(known.merchantOfService.get(id));
  };
  const aboutAgent = (id: unknown) => {
    for (const subject of ["agent", "account"] as const) add(subject, ownerOf("agent", id));
    add("agent", String(id));
  };
  const aboutSale = (sale: Sale | undefined) => {
    aboutMerchant(sale?.merchant);
    add("service", sale?.service);
    add("agent", sale?.agent);
    add("account", sale?.agent, sale?.facilitator);
  };
  const aboutSolver = (address: string | undefined) =>
    add("solver", address, address && ownerOf("operator", address));
  add("account", ...addressesIn(event));
  if ("agentId" in args) aboutAgent(args.agentId);
  if ("agent" in args) add("agent", String(args.agent));
  if ("solverId" in args) {
    add("solver", String(args.solverId), ownerOf("solver", args.solverId));
    add("account", ownerOf("solver", args.solverId));
  }
  if ("solver" in args) aboutSolver(String(args.solver));
  if ("attestorId" in args) add("account", ownerOf("attestor", args.attestorId));
  if (type.startsWith("Attestation")) add("account", ownerOf("attestation", args.id));
  if ("intentId" in args) {
    const id = String(args.intentId);
    add("intent", id);
    add("agent", ownerOf("intent", id));
    add("account", ownerOf("intent", id), known.selected.get(id));
    aboutSolver(known.selected.get(id));
  }
  if ("merchantId" in args) aboutMerchant(String(args.merchantId));
  if ("merchant" in args) add("merchant", String(args.merchant));
  if ("serviceNumericId" in args) aboutService(String(args.serviceNumericId));
  if ("quoteHash" in args) aboutSale(known.sales.get(String(args.quoteHash)));
  if ("receiptId" in args) aboutSale(known.saleOfReceipt.get(String(args.receiptId)));
  if ("disputeId" in args) {
    add("account", known.openers.get(String(args.disputeId)));
    aboutSale(known.saleOfReceipt.get(known.receiptOfDispute.get(String(args.disputeId)) ?? ""));
  }
  if (type === "TrustSignalRecorded") {
    const kind = SUBJECT_KINDS[Number(args.subjectType)];
    const about = { merchant: aboutMerchant, service: aboutService, agent: aboutAgent };
    const note = about[kind as keyof typeof about];
    if (note) note(String(args.subjectId));
    else add("account", ownerOf("facilitator", args.subjectId));
  }
  return sets;
}

function addressesIn({ type, address, args }: PlainEvent): readonly string[] {
  const named = Object.entries(args).flatMap(([name, value]) =>
    /^0x[0-9a-f]{40}$/.test(String(value)) && !NOT_ACCOUNTS.has(name) ? [String(value)] : [],
  );
  return type.startsWith("SessionKey") ? [...named, address] : named;
}

const set = () => new Set<string>();
