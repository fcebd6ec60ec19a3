// The rows that the API is measured over: SQL over a counter, and the same values for the load.
import { createHash } from "node:crypto";

export type TableSizes = Readonly<
  Record<"agents" | "intents" | "bids" | "sales" | "merchants" | "blocks", number>
>;

export function tableSizes(scale: number): TableSizes {
  const of = (full: number) => Math.max(200, Math.round(full * scale));
  const intents = of(300_000);
  return {
    agents: of(100_000),
    intents,
    bids: intents * 2,
    sales: of(300_000),
    merchants: of(2_000),
    blocks: of(100_000),
  };
}

/** About how many events such rows come of: one for each row, and one for each change that shows in it. */
export function countEventsOfSizes({ agents, intents, bids, sales, merchants }: TableSizes): number {
  const disputes = sales / 100;
  const made =
    agents + intents + bids + merchants * (1 + SERVICES_PER_MERCHANT) + 2 * sales + disputes + sales / 3;
  const changed = agents / 50 + intents * (0.05 + 0.9 + 0.9) + sales / 2 + (disputes * 2) / 3;
  return Math.round(made + changed);
}

/** The rows that about so many events leave. */
export function tableSizesOfEvents(events: number): TableSizes {
  return tableSizes(events / countEventsOfSizes(tableSizes(1)));
}

export const BENCH_GENESIS = 1_767_225_600;
export const BLOCK_SECONDS = 12;
/** The hash that stands for the `number`-th thing of a kind, here and in SQL alike. */
export function benchHashSql(kind: string, number: number): string {
  return `0x${createHash("sha256").update(`${kind} ${number}`).digest("hex")}`;
}

export function benchAddressSql(kind: string, number: number): string {
  return benchHashSql(kind, number).slice(0, 42);
}

export const digestSql = (kind: string, number: string) => `sha256(('${kind} ' || (${number}))::bytea)`;
export const hashSql = (kind: string, number = "i") => `'0x' || encode(${digestSql(kind, number)}, 'hex')`;
const address = (kind: string, number: string) => `substr(${hashSql(kind, number)}, 1, 42)`;

/** Agents that own and pay: each has about ten of everything. */
export const ROWS_PER_OWNER = 10;
const SERVICES_PER_MERCHANT = 2;
const SOLVERS = 500;

export type RowGenerator = {
  readonly count: number;
  readonly where?: string;
  readonly values: Readonly<Record<string, string>>;
};

/** Tables by name; whatever is not named here stays empty, and rollups are counted afterwards. */
export function rowGenerators(sizes: TableSizes): Readonly<Record<string, RowGenerator>> {
  return { ...agentRows(sizes), ...intentRows(sizes), ...merchantRows(sizes), ...saleRows(sizes) };
}

const DOCUMENT = {
  metadata_uri: "'https://example.com/documents/' || i",
  metadata_hash: hashSql("document"),
};

const ownerOf = (agents: number) => address("owner", `i % ${Math.ceil(agents / ROWS_PER_OWNER)}`);

function agentRows({ agents }: TableSizes): Readonly<Record<string, RowGenerator>> {
  return {
    agents: {
      count: agents,
      values: {
        agent_id: "i",
        owner: ownerOf(agents),
        metadata_uri: DOCUMENT.metadata_uri,
        pubkey: `${hashSql("key")} || '04'`,
        capabilities_hash: hashSql("capabilities"),
        revoked: "i % 50 = 0",
      },
    },
  };
}

function intentRows({ agents, intents, bids, blocks }: TableSizes): Readonly<Record<string, RowGenerator>> {
  const filled = "i % 20 > 1";
  return {
    intents: {
      count: intents,
      values: {
        intent_id: "i",
        owner: ownerOf(agents),
        intent_type: "'SWAP'",
        input_token: address("token", "i % 5"),
        output_token: address("token", "(i + 1) % 5"),
        amount_in_max: "1000000 + i",
        amount_out_min: "900000 + i",
        // Most of those never closed expired long ago; every fortieth of them is still open.
        deadline: `${BENCH_GENESIS} + case when i % 800 = 0 then ${blocks * BLOCK_SECONDS} + i else i end`,
        slippage_bps: "50",
        nonce: "i",
        status: `case when i % 20 = 0 then 'OPEN' when i % 20 = 1 then 'CANCELLED' else 'FILLED' end`,
        selected_bid_id: `case when ${filled} then 1 end`,
        // The time of its block, which makeTable numbers in the same way.
        submitted_at: `${BENCH_GENESIS} + (1 + (i::bigint - 1) * ${blocks} / ${intents}) * ${BLOCK_SECONDS}`,
        selected_solver: `case when ${filled} then ${address("solver", `(2 * i - 1) % ${SOLVERS}`)} end`,
        intent_hash: hashSql("intent"),
        execution_target: address("target", "i % 100"),
        data_hash: hashSql("data"),
        required_attestation_subject: `'0x' || repeat('0', 64)`,
        required_attestation_schema: `'0x' || repeat('0', 64)`,
        metadata_uri_hash: `'0x' || repeat('0', 64)`,
      },
    },
    bids: {
      count: bids,
      values: {
        intent_id: "((i + 1) / 2)",
        chain_bid_id: "2 - i % 2",
        solver: address("solver", `i % ${SOLVERS}`),
        amount_in: "1000000",
        amount_out: "950000 + i",
        fee: "100",
        valid_until: `${BENCH_GENESIS + blocks * BLOCK_SECONDS} + i`,
        execution_hash: hashSql("execution"),
      },
    },
    fills: {
      count: intents,
      where: filled,
      values: {
        intent_id: "i",
        // The first bid of an intent is the one that is taken.
        solver: address("solver", `(2 * i - 1) % ${SOLVERS}`),
        latency_seconds: "0",
        amount_in: "1000000 + i",
        amount_out: "900100 + i",
        latency_blocks: "0",
        surplus_out: "100",
      },
    },
  };
}

function merchantRows({ merchants }: TableSizes): Readonly<Record<string, RowGenerator>> {
  return {
    merchants: {
      count: merchants,
      values: {
        merchant_id: "i",
        owner: address("merchant", "i"),
        payout_address: address("merchant", "i"),
        ...DOCUMENT,
        active: "i % 10 <> 0",
      },
    },
    services: {
      count: merchants * SERVICES_PER_MERCHANT,
      values: {
        service_numeric_id: "i",
        merchant_id: `1 + (i - 1) % ${merchants}`,
        service_id: hashSql("service"),
        ...DOCUMENT,
        capability_hash: hashSql("capability", "i % 50"),
        active: "i % 10 <> 0",
      },
    },
  };
}

function saleRows({ sales, merchants }: TableSizes): Readonly<Record<string, RowGenerator>> {
  const service = `(1 + (i * 7) % ${merchants * SERVICES_PER_MERCHANT})`;
  const sale = {
    merchant_id: `1 + (${service} - 1) % ${merchants}`,
    service_numeric_id: service,
    agent: address("agent", `i % ${Math.ceil(sales / ROWS_PER_OWNER)}`),
    token: address("token", "i % 5"),
    facilitator: address("facilitator", "i % 100"),
    amount: "1000 + i",
    payment_rail: "i % 3",
    protocol_fee_bps: "100",
    protocol_fee_amount: "(1000 + i) / 100",
    resource_hash: hashSql("resource"),
  };
  return {
    quotes: {
      count: sales,
      values: {
        quote_hash: hashSql("quote"),
        ...sale,
        expires_at: `${BENCH_GENESIS} + i`,
        payment_nonce: "i",
        terms_hash: hashSql("terms"),
        x402_payload_hash: hashSql("payload"),
        settled: "true",
      },
    },
    receipts: {
      count: sales,
      values: {
        receipt_id: "i",
        quote_hash: hashSql("quote"),
        ...sale,
        result_hash: hashSql("result"),
        fulfillment_hash: `case when i % 2 = 0 then ${hashSql("fulfillment")} end`,
      },
    },
    disputes: {
      count: Math.ceil(sales / 100),
      values: {
        dispute_id: "i",
        receipt_id: "i",
        merchant_id: `1 + (${service} - 1) % ${merchants}`,
        opener: sale.agent,
        reason_hash: hashSql("reason"),
        status: "(array['OPEN', 'RESOLVED', 'REJECTED'])[1 + i % 3]",
        resolution_hash: `case when i % 3 > 0 then ${hashSql("resolution")} end`,
      },
    },
    trust_signals: {
      count: Math.ceil(sales / 3),
      values: {
        signal_id: "i",
        subject_type: "0",
        subject_id: `1 + i % ${merchants}`,
        kind: "i % 4",
        reporter: address("reporter", "i % 1000"),
        signal_hash: hashSql("signal"),
      },
    },
  };
}
