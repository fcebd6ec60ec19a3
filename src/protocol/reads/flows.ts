// Reads: GET /analytics/flows, who pays whom through which facilitator in one token.
import { address } from "../../schema/column.ts";
import { closedObject, eachKey, nullable, type TypeOf, titledRecord } from "../../schema/json-schema.ts";
import { addressParameter } from "../../schema/parameter.ts";
import { type AsOf, defineIndexRead, type ResultRows, toFirstRecord } from "../../schema/reads/read.ts";
import { isValidAt } from "../../schema/reads/record.ts";
import { equalsHex, type SqlText, type SqlValue, sql } from "../../schema/sql.ts";
import { listValueColumns } from "../../schema/table.ts";
import { merchantFlows } from "../domains/commerce-totals.ts";
import {
  orderRows,
  packRows,
  type Ranked,
  selectChanged,
  selectLargest,
  selectUnchanged,
  unpackRows,
} from "./totals.ts";

// Bounds the response.
const ROWS_MAX = 20;
const VOLUME = listValueColumns(merchantFlows);

const merchantsOf = (token: SqlValue): Ranked => ({
  table: "merchant_flows",
  key: ["merchant_id"],
  by: "settled_volume",
  limit: ROWS_MAX,
  where: equalsHex("token", token),
});

/** The largest links of the shown merchants `m`: each of them is among the largest of its merchant. */
function selectLinks(table: string, party: string, token: SqlValue, asOf: AsOf): SqlText {
  const key = ["merchant_id", party];
  const links: Ranked = { table, key, by: "settled_volume", limit: ROWS_MAX };
  const ofMerchant = { ...links, where: sql`${equalsHex("token", token)} and merchant_id = m.merchant_id` };
  const each = sql`select l.* from m cross join lateral (${selectUnchanged(ofMerchant, asOf)}) l`;
  if (asOf === null) return sql`select * from (${each}) links ${orderRows(links)}`;
  const ofAll = {
    ...links,
    key: ["token", ...key],
    where: sql`${equalsHex("o.token", token)} and o.merchant_id in (select m.merchant_id from m)`,
  };
  return sql`select * from (${each} union all ${selectChanged(ofAll, asOf)}) links ${orderRows(links)}`;
}

function statement(token: SqlValue, asOf: AsOf): SqlText {
  const pack = (rows: SqlText, party?: string) =>
    packRows(
      ["v.merchant_id", ...(party ? [`hex_text(v.${party})`] : []), ...VOLUME.map((column) => `v.${column}`)],
      sql`from (${rows}) v`,
      `v.settled_volume desc, v.merchant_id desc${party ? `, v.${party} desc` : ""}`,
    );
  const total = packRows(
    VOLUME.map((column) => `v.${column}`),
    sql`from token_volumes v where ${equalsHex("v.token", token)} and ${isValidAt("v", asOf)}`,
    "v.token",
  );
  return sql`with m as materialized (${selectLargest(merchantsOf(token), asOf)})
    select ${total} as total, ${pack(sql`select * from m`)} as merchants,
      ${pack(selectLinks("payer_flows", "agent", token, asOf), "agent")} as payers,
      ${pack(selectLinks("facilitator_flows", "facilitator", token, asOf), "facilitator")} as facilitators`;
}

type Volume = readonly [receipts: bigint, settledVolume: bigint, protocolFees: bigint];
/** A merchant or party of null stands for all others. */
type Link = { readonly merchant: string | null; readonly party: string | null; readonly volume: Volume };

const NOTHING: Volume = [0n, 0n, 0n];

function toVolume(cells: readonly (string | null)[]): Volume {
  const [receipts, settled, fees] = cells.map((cell) => BigInt(cell ?? 0));
  return [receipts ?? 0n, settled ?? 0n, fees ?? 0n];
}

const subtract = (a: Volume, b: Volume): Volume => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const sumOf = (links: readonly { readonly volume: Volume }[]): Volume =>
  links.reduce<Volume>((sum, { volume: [a, b, c] }) => [sum[0] + a, sum[1] + b, sum[2] + c], NOTHING);
const show = ([receipts, settled, fees]: Volume) => ({
  receipts: String(receipts),
  settled_volume: String(settled),
  protocol_fees: String(fees),
});

function unpackLinks(packed: unknown): Link[] {
  return unpackRows(packed).map(([merchant, party, ...cells]) => ({
    merchant: merchant ?? "",
    party: party ?? null,
    volume: toVolume(cells),
  }));
}

/** The rest of each merchant goes to or comes from no named party, so that every list sums up to the token's total. */
function addRests(links: readonly Link[], merchants: readonly Link[]): Link[] {
  const rests = merchants.map(({ merchant, volume }) => ({
    merchant,
    party: null,
    volume: subtract(volume, sumOf(links.filter((link) => link.merchant === merchant))),
  }));
  return [...links, ...rests.filter(({ volume: [receipts] }) => receipts > 0n)];
}

function assemble(rows: ResultRows, token: string): TypeOf<typeof flowsSchema> | null {
  const record = toFirstRecord(rows);
  if (!record) return null;
  const total = toVolume(unpackRows(record.total)[0] ?? []);
  const merchants = unpackRows(record.merchants).map(
    ([merchant, ...cells]): Link => ({ merchant: merchant ?? "", party: null, volume: toVolume(cells) }),
  );
  const others = subtract(total, sumOf(merchants));
  const rest: Link[] = others[0] > 0n ? [{ merchant: null, party: null, volume: others }] : [];
  const listLinks = (packed: unknown) => [...addRests(unpackLinks(packed), merchants), ...rest];
  const showMerchant = ({ merchant, volume }: Link) => ({ merchant_id: merchant, ...show(volume) });
  return {
    token,
    ...show(total),
    merchants: [...merchants, ...rest].map(showMerchant),
    payers: listLinks(record.payers).map((link) => ({ agent: link.party, ...showMerchant(link) })),
    facilitators: listLinks(record.facilitators).map((link) => ({
      facilitator: link.party,
      ...showMerchant(link),
    })),
  };
}

const AMOUNT = { type: "string", pattern: "^[0-9]+$" } as const;
const VOLUME_SCHEMAS = eachKey(VOLUME, AMOUNT);
const MERCHANT = { merchant_id: nullable(AMOUNT), ...VOLUME_SCHEMAS };
const PARTY = nullable(address.json);

export const flowsSchema = titledRecord("PaymentFlows", {
  token: address.json,
  ...VOLUME_SCHEMAS,
  merchants: { type: "array", maxItems: ROWS_MAX + 1, items: closedObject(MERCHANT) },
  payers: { type: "array", maxItems: 2 * ROWS_MAX + 1, items: closedObject({ agent: PARTY, ...MERCHANT }) },
  facilitators: {
    type: "array",
    maxItems: 2 * ROWS_MAX + 1,
    items: closedObject({ facilitator: PARTY, ...MERCHANT }),
  },
});

export const flows = defineIndexRead({
  path: "/analytics/flows",
  operationId: "getPaymentFlows",
  summary: "Payment flows in a token",
  description:
    "The 20 merchants with the largest settled volume in the token, the 20 largest payers among theirs, and the 20 largest facilitators, among which the zero address means none. Null stands for all others, so that each list sums up to the token's total. Available from the finalized block on.",
  tag: "Commerce",
  parameters: [
    { name: "token", in: "query", required: true, kind: addressParameter, description: "Token address." },
  ],
  provenance: false,
  recentOnly: true,
  responseSchema: flowsSchema,
  notFoundMessage: null,
  // At an earlier block, the statement reads every row that has changed since.
  plan: ({ asOf, values: { token } }) => ({
    sql: statement(token, asOf),
    cost: asOf === null ? "quick" : "slow",
    assemble: (rows) => assemble(rows, token),
  }),
});
