// Records of the API as the reference model has them at a block.
import type { BlockState } from "../../reference-model/chain-branches.ts";
import type { PlainRow, ReadModel } from "../../reference-model/read-model.ts";
import { AGENT_SHAPE, FILL_SHAPE, INTENT_SHAPE, LIST_SHAPES, POLICY_SHAPES } from "../record-shapes.ts";

type Plain = Readonly<Record<string, unknown>>;
type Shape = typeof AGENT_SHAPE;

/** Tables whose records are read by an id, with their path. */
export const RECORD_TABLES = {
  ...Object.fromEntries(
    Object.entries(LIST_SHAPES).map(([path, { key, id, shape }]) => [key, { path, id, shape }]),
  ),
  agents: { path: "/agents", id: "agent_id", shape: AGENT_SHAPE },
} as Readonly<Record<string, { readonly path: string; readonly id: string; readonly shape: Shape }>>;

export function toRecord(state: BlockState, table: string, row: PlainRow): Plain {
  if (table === "intents") return toIntent(state, row);
  const record = pick(row, RECORD_TABLES[table]?.shape ?? {});
  if (table === "solvers") return { ...record, ...countSolver(state.model, row.operator) };
  if (table === "attestors") return { ...record, ...countAttestor(state.model, row.operator) };
  return record;
}

/** The columns of the row that the record shows; numbers as text, but for those that the shape calls integers. */
function pick(row: PlainRow, shape: Shape): Plain {
  return Object.fromEntries(
    Object.entries(shape).map(([name, kind]) => {
      const value = row[name] ?? null;
      return [name, kind.startsWith("number") && value !== null ? String(value) : value];
    }),
  );
}

const whole = (value: unknown): bigint => BigInt(String(value ?? 0));

export function isOpenIntent(state: BlockState, { status, deadline }: PlainRow): boolean {
  return status === "OPEN" && whole(deadline) > state.block.timestamp;
}

export function intentStatus(state: BlockState, row: PlainRow): string {
  return row.status === "OPEN" && !isOpenIntent(state, row) ? "EXPIRED" : String(row.status);
}

function toIntent(state: BlockState, row: PlainRow): Plain {
  const { model } = state;
  const fill = model.has("fills", row.intent_id) ? pick(model.get("fills", row.intent_id), FILL_SHAPE) : null;
  return { ...pick(row, INTENT_SHAPE), status: intentStatus(state, row), fill };
}

/** Rounds half up to six decimals, without trailing zeros; null for no values. */
function average(sum: unknown, count: unknown): string | null {
  const divisor = whole(count);
  if (divisor === 0n) return null;
  const millionths = (whole(sum) * 2_000_000n + divisor) / (2n * divisor);
  const decimals = String(millionths % 1_000_000n).padStart(6, "0");
  return `${millionths / 1_000_000n}.${decimals}`.replace(/\.?0+$/, "");
}

function countSolver(model: ReadModel, operator: unknown): Plain {
  const done: PlainRow = model.has("solver_activity", operator) ? model.get("solver_activity", operator) : {};
  return {
    fills: String(done.fills ?? 0),
    successful_fills: String(done.fills ?? 0),
    failed_fills: "0",
    avg_latency_blocks: average(done.latency_blocks_total, done.fills),
    avg_surplus_out: average(done.surplus_out_total, done.fills),
    bids: String(done.bids ?? 0),
    selected_bids: String(done.selected_bids ?? 0),
    win_rate: average(done.selected_bids, done.bids),
    avg_latency_seconds: average(done.latency_seconds_total, done.fills),
  };
}

function countAttestor(model: ReadModel, operator: unknown): Plain {
  const has = model.has("attester_activity", operator);
  const done: PlainRow = has ? model.get("attester_activity", operator) : {};
  const { attestations = 0, revoked_attestations = 0 } = done;
  return { attestations: String(attestations), revoked_attestations: String(revoked_attestations) };
}

/** Best first. */
export function listBids(state: BlockState, intent: PlainRow): readonly Plain[] {
  const { intent_id } = intent;
  const bids = state.model.rows("bids").filter((bid) => bid.intent_id === intent_id);
  const rank = (bid: PlainRow) => [
    -whole(bid.amount_out),
    whole(bid.amount_in),
    whole(bid.fee),
    whole(bid.chain_bid_id),
  ];
  const order = (a: PlainRow, b: PlainRow) => {
    const [left, right] = [rank(a), rank(b)];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at < 0 ? 0 : (left[at] ?? 0n) < (right[at] ?? 0n) ? -1 : 1;
  };
  return bids.toSorted(order).map((bid) => toBid(state, intent, bid));
}

function toBid(state: BlockState, intent: PlainRow, bid: PlainRow): Plain {
  const { intent_id, chain_bid_id, solver, amount_in, amount_out, fee, valid_until } = bid;
  const isLate = whole(valid_until) <= state.block.timestamp || !isOpenIntent(state, intent);
  const undecided = isLate ? "EXPIRED" : "OPEN";
  const decided = chain_bid_id === intent.selected_bid_id ? "SELECTED" : "REJECTED";
  const createdMs = Number(state.ancestor(Number(bid.block_number)).timestamp) * 1_000;
  return {
    bid_id: `${intent_id}-${chain_bid_id}`,
    ...{ chain_bid_id, intent_id, solver, amount_in, amount_out, fee, valid_until },
    execution_plan: { execution_hash: bid.execution_hash },
    status: intent.selected_bid_id === null ? undecided : decided,
    created_at: new Date(createdMs).toISOString(),
  };
}

export function listPolicies({ model }: BlockState, account: string): readonly Plain[] {
  const placeOf = (row: PlainRow) => `${row.policy_type}\0${row.policy_subject}`;
  return model
    .rows("policies")
    .filter((row) => row.account === account)
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    .map((row) => pick(row, POLICY_SHAPES[String(row.policy_type)] ?? {}));
}
