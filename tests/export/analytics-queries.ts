// The API's analytics as SQL over the views of an export, for DuckDB.

const count = (table: string, where = "true") => `(select count(*)::varchar from ${table} where ${where})`;
const sum = (rows: string, column: string) =>
  `(select coalesce(sum(${column}::bignum), 0)::varchar from ${rows})`;

// A quote that is committed again keeps the amount that was counted first.
const FIRST_QUOTES =
  "(select * from quotes_versions qualify row_number() over (partition by quote_hash order by valid_from) = 1)";

export const SUMMARY = `select
  ${count("merchants")} as merchants, ${count("merchants", "active")} as active_merchants,
  ${count("services")} as services, ${count("services", "active")} as active_services,
  ${count("facilitators")} as facilitators, ${count("facilitators", "active")} as active_facilitators,
  ${count("quotes")} as quotes, ${count("quotes", "settled")} as settled_quotes,
  ${sum(FIRST_QUOTES, "amount")} as quoted_volume,
  ${sum(FIRST_QUOTES, "protocol_fee_amount")} as quoted_protocol_fees,
  ${count("receipts")} as receipts,
  ${sum("receipts", "amount")} as settled_volume,
  ${sum("receipts", "protocol_fee_amount")} as settled_protocol_fees,
  ${count("disputes")} as disputes, ${count("disputes", "status = 'OPEN'")} as open_disputes,
  ${count("disputes", "status = 'RESOLVED'")} as resolved_disputes,
  ${count("disputes", "status = 'REJECTED'")} as rejected_disputes`;

type Grouping = {
  /** Names and expressions of the groups, as they are shown. */
  readonly keys: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly where?: string;
  readonly order: string;
  readonly limit?: number;
};

/** Receipts by group with their volumes, in the order of the API. */
function groupReceipts({ keys, from = "receipts r", where = "true", order, limit }: Grouping): string {
  const groups = Object.entries(keys).map(([name, expression]) => `${expression} as ${name}`);
  return `select ${Object.keys(keys).join(", ")}, receipts::varchar as receipts,
      settled_volume::varchar as settled_volume, protocol_fees::varchar as protocol_fees
    from (select ${groups.join(", ")}, count(*) as receipts, sum(amount::bignum) as settled_volume,
      sum(protocol_fee_amount::bignum) as protocol_fees from ${from} where ${where} group by all) v
    order by ${order}${limit === undefined ? "" : ` limit ${limit}`}`;
}

const BY_VOLUME = "v.settled_volume desc";
const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

/** Queries by the name of the list in the response. */
export const RANKINGS: Readonly<Record<string, string>> = {
  volume_by_token: groupReceipts({
    keys: { token: "r.token" },
    order: `${BY_VOLUME}, token desc`,
    limit: 20,
  }),
  top_merchants: groupReceipts({
    keys: { merchant_id: "r.merchant_id", owner: "m.owner" },
    from: "receipts r join merchants m using (merchant_id)",
    order: `${BY_VOLUME}, merchant_id::bignum desc`,
    limit: 20,
  }),
  top_services: groupReceipts({
    keys: {
      service_numeric_id: "r.service_numeric_id",
      service_id: "s.service_id",
      merchant_id: "s.merchant_id",
    },
    from: "receipts r join services s using (service_numeric_id)",
    order: `${BY_VOLUME}, service_numeric_id::bignum desc`,
    limit: 20,
  }),
  facilitator_volume: groupReceipts({
    keys: { facilitator: "r.facilitator" },
    where: `r.facilitator <> '${ZERO_ADDRESS}'`,
    order: `${BY_VOLUME}, facilitator desc`,
    limit: 20,
  }),
  volume_by_payment_rail: groupReceipts({
    keys: { payment_rail: "r.payment_rail" },
    order: `${BY_VOLUME}, payment_rail desc`,
    limit: 20,
  }),
  trust_signals_by_kind: `select kind, count(*)::varchar as signals from trust_signals group by kind
    order by count(*) desc, kind desc limit 20`,
};

/** Volumes of a token by hour, with all receipts. */
export function hourlyVolumes(token: string, first: string, last: string): string {
  const start = "epoch(b.block_time)::bigint // 3600 * 3600";
  return groupReceipts({
    keys: { start: `(${start})::varchar`, token: "r.token" },
    from: "receipts r join blocks b on b.number = r.block_number",
    where: `r.token = '${token}' and ${start} between ${first} and ${last}`,
    order: "start::bigint",
  });
}

/** The amount that each merchant received in a token. */
export function merchantFlows(token: string): string {
  return groupReceipts({
    keys: { merchant_id: "r.merchant_id" },
    where: `r.token = '${token}'`,
    order: `${BY_VOLUME}, merchant_id::bignum desc`,
    limit: 20,
  });
}

/** The payers from whom those merchants received it. */
export function payerFlows(token: string): string {
  return groupReceipts({
    keys: { agent: "r.agent", merchant_id: "r.merchant_id" },
    where: `r.token = '${token}' and r.merchant_id in (select merchant_id from (${merchantFlows(token)}))`,
    order: `${BY_VOLUME}, merchant_id::bignum desc, agent desc`,
    limit: 20,
  });
}
