// The table of webhooks: which are due, who delivers to each, and how far each is.
import { randomBytes } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { Hex } from "../../lib/hex.ts";
import { Secret } from "../../lib/secret.ts";
import type { EventFilter } from "../../protocol/event-filter.ts";
import type { UndoRecord } from "../../protocol/event-page.ts";
import { type RawSql, rawSql, type SqlText, sql } from "../../schema/sql.ts";
import { type Finality, UP_TO } from "../../store/index/event-logs.ts";
import type { QueryRunner } from "../../store/postgres/session.ts";
import { parseStart } from "../events/endpoint.ts";
import { blockOfCursor } from "../events/event-page.ts";
import { addUndo, type UndoneBlocks } from "./messages.ts";
import type { KeyGenerations } from "./signing.ts";

/** The place of an event, comparable without reading its cursor. */
export type ReachedEvent = { readonly cursor: string; readonly block: number; readonly logIndex: number };

/** An expression of a select list, and the type of its values. */
type Selected<T> = { readonly expression: string; readonly type?: T };
type SelectedColumns = Readonly<Record<string, Selected<unknown>>>;

export function selected<T>(expression: string): Selected<T> {
  return { expression };
}

/** The row that a select list returns. */
export type SelectedRow<Columns> = {
  readonly [Name in keyof Columns]: Columns[Name] extends Selected<infer T> ? T : never;
};

export function listColumns(columns: SelectedColumns): RawSql {
  return rawSql(
    Object.entries(columns)
      .map(([name, { expression }]) => `${expression} as "${name}"`)
      .join(", "),
  );
}

/** The columns that delivery needs; the table is `w`. */
export const WEBHOOK_COLUMNS = {
  id: selected<string>("w.id"),
  /** Null for a webhook of the operator. */
  owner: selected<Hex | null>("w.owner"),
  accounts: selected<readonly Hex[]>("w.accounts"),
  url: selected<string>("w.url"),
  allowPrivate: selected<boolean>("w.allow_private"),
  types: selected<readonly string[] | null>("w.types"),
  subjects: selected<EventFilter["subjects"]>("w.subjects"),
  finality: selected<Finality>("w.finality"),
  status: selected<"active" | "paused" | "disabled">("w.status"),
  position: selected<string>("w.position"),
  reached: selected<ReachedEvent | null>("w.reached"),
  isReachedAhead: selected<boolean>("w.is_reached_ahead"),
  undo: selected<{ readonly record: UndoRecord; readonly decidedMs: number } | null>("w.undo"),
  epoch: selected<number>("w.epoch"),
  undos: selected<UndoneBlocks>("w.undos"),
  generation: selected<number>("w.generation"),
  isPreviousValid: selected<boolean>("w.previous_until > now()"),
  failures: selected<number>("w.failures"),
  /** Whether there was nothing to deliver at the last read. */
  isCaughtUp: selected<boolean>("w.caught_up_at is not null"),
};

export type WebhookRow = SelectedRow<typeof WEBHOOK_COLUMNS>;

export const webhookColumns = listColumns(WEBHOOK_COLUMNS);

/** A webhook as delivery uses it. */
export type Webhook = Omit<WebhookRow, "url" | "types" | "subjects" | "generation" | "isPreviousValid"> & {
  readonly url: Secret<string>;
  /** The filter of an owner's webhook has participants: the owner, and the owner's accounts. */
  readonly filter: EventFilter;
  readonly keys: KeyGenerations;
};

export function toWebhook(row: WebhookRow): Webhook {
  const { url, types, subjects, generation, isPreviousValid, ...webhook } = row;
  const { owner, accounts } = row;
  return {
    ...webhook,
    url: new Secret(url),
    filter: { types, subjects, ...(owner !== null && { participants: [owner, ...accounts] }) },
    keys: { generation, isPreviousValid },
  };
}

/** The right to deliver to a webhook, until its lease ends. */
export type Claim = {
  readonly webhook: Webhook;
  readonly lease: string;
  /** The end of the lease by performance.now(): a request that begins until then is over before the lease is. */
  readonly sendUntilMs: number;
};

/** The block up to which a position leads; null for the head, if nothing was read there yet. */
export function blockOfPosition(position: string): number | null {
  const start = parseStart(position);
  if ("cursor" in start) return blockOfCursor(start.cursor);
  if ("block" in start) return start.block - 1;
  return start.end === "genesis" ? -1 : null;
}

/**
 * The state of the index, of the table `checkpoint` as `h`: what there is to deliver depends on nothing else. The revision
 * differs even if a reorg is undone; the hash even if the index begins again.
 */
const HEAD = rawSql("concat_ws(' ', h.revision, encode(h.block_hash, 'hex'))");

/** Instead of a head: there may be more at once, and it is not far. */
export const NEAR_HEAD = "";

const atMs = (ms: number): SqlText => sql`to_timestamp(${ms}::double precision / 1000)`;

// Deliveries come in bursts, one statement each: they leave most connections of the process to others.
const STATEMENTS_MAX = 3;
// One for each webhook, with room to spare.
const WAITING_MAX = 10_000;

type WebhookRowsOptions = {
  readonly database: QueryRunner;
  readonly clock: Clock;
  /** How long a process may go without a word before another one delivers. Longer than a request takes. */
  readonly leaseMs: number;
  /** The longest request. */
  readonly requestMsMax: number;
};

/** Statements of delivery. Leases follow the database's clock, which all processes share; retries that of the process. */
export class WebhookRows {
  readonly #options: WebhookRowsOptions;
  readonly #queue: ConcurrencyLimit = createConcurrencyLimit({
    runningMax: STATEMENTS_MAX,
    waitingMax: WAITING_MAX,
  });

  constructor(options: WebhookRowsOptions) {
    this.#options = options;
  }

  /** Null while nothing is indexed. */
  async readHead(): Promise<string | null> {
    const [row] = await this.#run<{ head: string }>(sql`select ${HEAD} as head from checkpoint h`);
    return row?.head ?? null;
  }

  /** Webhooks that may have something to deliver at this head, each for one process; those first that waited longest. */
  async claimDue(
    head: string,
    { max, onlyCaughtUp }: { readonly max: number; readonly onlyCaughtUp: boolean },
  ): Promise<readonly Claim[]> {
    const sendUntilMs = this.#sendUntilMs();
    const lease = randomBytes(12).toString("base64url");
    const due = sql`select d.id from webhooks d where d.status = 'active' and d.retry_at <= ${atMs(this.#options.clock.nowMs())}
        and d.leased_until < now() and d.caught_up_at is distinct from ${head} and (d.caught_up_at is not null or not ${onlyCaughtUp}::boolean)
        order by d.leased_until, d.retry_at, d.id limit ${max} for update skip locked`;
    const rows = await this.#run<WebhookRow>(
      sql`update webhooks w set lease = ${lease}, leased_until = ${this.#leaseEnd()} from (${due}) due where w.id = due.id returning ${webhookColumns}`,
    );
    return rows.map((row) => ({ webhook: toWebhook(row), lease, sendUntilMs }));
  }

  /** Null if the claim is lost. */
  renew(claim: Claim): Promise<Claim | null> {
    return this.#update(claim, sql`lease = w.lease`);
  }

  /** Before an event is sent: from here on the receiver may have it. Null if the claim is lost. */
  begin(claim: Claim, reached: ReachedEvent): Promise<Claim | null> {
    const pending = sql`pending_since = coalesce(pending_since, ${this.#now()})`;
    return this.#update(claim, sql`${pending}, ${setNext(reached)}`);
  }

  /** The receiver has an event. `next` is sent at once. */
  advance(claim: Claim, position: string, next: ReachedEvent | null): Promise<Claim | null> {
    const { reached } = claim.webhook;
    const isAhead = reached !== null && reached.cursor !== position;
    const rest =
      next === null
        ? sql`is_reached_ahead = ${isAhead}, pending_since = null`
        : sql`pending_since = ${this.#now()}, ${setNext(next)}`;
    return this.#update(claim, sql`position = ${position}, ${this.#setDelivered()}, ${rest}`);
  }

  /** The receiver has the undo that was decided. */
  completeUndo(claim: Claim): Promise<Claim | null> {
    return this.#update(claim, sql`undo = null, pending_since = null, ${this.#setDelivered()}`);
  }

  /**
   * Goes on from `position`. With `undo`, the receiver has events that are gone: the undo is stored before it is sent, so
   * that it reaches the receiver even if the chain changes again.
   */
  moveTo(
    claim: Claim,
    move: {
      readonly position: string;
      readonly undo: UndoRecord | null;
      readonly reached: ReachedEvent | null;
    },
  ): Promise<Claim | null> {
    const { position, undo, reached } = move;
    const { epoch, undos } = claim.webhook;
    const isAhead = reached !== null && undo !== null && reached.cursor !== position;
    const nowMs = this.#options.clock.nowMs();
    const decided =
      undo === null
        ? sql``
        : sql`undo = ${JSON.stringify({ record: undo, decidedMs: nowMs })}::jsonb, epoch = ${epoch + 1},
            undos = ${JSON.stringify(addUndo(undos, Number(undo.block_number), epoch + 1))}::jsonb, pending_since = coalesce(pending_since, ${this.#now()}), `;
    return this.#update(
      claim,
      sql`${decided}position = ${position}, reached = ${toJson(reached)}::jsonb, is_reached_ahead = ${isAhead}, caught_up_at = null`,
    );
  }

  /** Ends the claim after a failed attempt. */
  async fail(
    { webhook, lease }: Claim,
    failure: { readonly error: string; readonly retryAtMs: number; readonly disabledReason: string | null },
  ): Promise<void> {
    const { error, retryAtMs, disabledReason } = failure;
    const disabled =
      disabledReason === null ? sql`` : sql`status = 'disabled', disabled_reason = ${disabledReason}, `;
    await this.#run(
      sql`update webhooks set ${disabled}failures = failures + 1, last_error = ${error}, retry_at = ${atMs(retryAtMs)}, lease = null, leased_until = '-infinity' where id = ${webhook.id} and lease = ${lease}`,
    );
  }

  /**
   * Ends claims without an attempt. The position is how far each has read without finding anything, or null; the head
   * is set if nothing more was there, and null if history is left to read.
   */
  async release(
    claims: readonly {
      readonly claim: Claim;
      readonly position: string | null;
      readonly head: string | null;
    }[],
  ): Promise<void> {
    if (claims.length === 0) return;
    const rows = claims.map(({ claim: { webhook, lease }, position, head }) => ({
      id: webhook.id,
      lease,
      position,
      head,
    }));
    await this.#run(
      sql`update webhooks w set position = coalesce(d.position, w.position), caught_up_at = d.head, is_reached_ahead = w.is_reached_ahead and coalesce(d.head, ${NEAR_HEAD}) = ${NEAR_HEAD}, lease = null, leased_until = now()
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as d (id text, lease text, position text, head text) where w.id = d.id and w.lease = d.lease`,
    );
  }

  /** Ends a claim that failed through no fault of the receiver. */
  async postpone({ webhook, lease }: Claim, untilMs: number): Promise<void> {
    await this.#run(
      sql`update webhooks set retry_at = ${atMs(untilMs)}, lease = null, leased_until = '-infinity' where id = ${webhook.id} and lease = ${lease}`,
    );
  }

  async countByState(): Promise<WebhookCounts> {
    const [row] = await this.#run<WebhookCounts>(
      sql`select count(*) filter (where status = 'active')::int as active, count(*) filter (where status = 'paused')::int as paused,
          count(*) filter (where status = 'disabled')::int as disabled, count(*) filter (where status = 'active' and pending_since is not null)::int as pending from webhooks`,
    );
    return row ?? { active: 0, paused: 0, disabled: 0, pending: 0 };
  }

  /** How far each active webhook is behind the newest block that its finality lets it have. */
  async readLags(): Promise<readonly WebhookLag[]> {
    const upTo = rawSql(
      `case w.finality ${Object.entries(UP_TO)
        .map(([finality, block]) => `when '${finality}' then ${block}`)
        .join(" ")} end`,
    );
    const rows = await this.#run<LagRow>(
      sql`select w.id, w.position, ${upTo} as up_to, d.start_block, w.caught_up_at is not distinct from ${HEAD} as is_caught_up
          from webhooks w cross join checkpoint h cross join deployment d where w.status = 'active'`,
    );
    const behind = rows.filter(({ is_caught_up }) => !is_caught_up).map(placeLag);
    const places = JSON.stringify(behind.map(({ block, upTo: to }) => ({ block, to })));
    // Empty blocks that are final are deleted: from the first block to come that is stored to the last.
    const seconds = await this.#run<{ seconds: string }>(
      sql`select coalesce(greatest(0, (select b.timestamp from blocks b where b.number <= k.to order by b.number desc limit 1)
            - (select b.timestamp from blocks b where b.number > k.block order by b.number limit 1)), 0) as seconds
          from rows from (jsonb_to_recordset(${places}::jsonb) as (block bigint, "to" bigint)) with ordinality k(block, "to", at) order by k.at`,
    );
    return [
      ...rows
        .filter(({ is_caught_up }) => is_caught_up)
        .map(({ id }) => ({ webhook: id, blocks: 0, seconds: 0 })),
      ...behind.map(({ webhook, block, upTo: to }, at) => ({
        webhook,
        blocks: Math.max(0, to - block),
        seconds: Number(seconds[at]?.seconds ?? 0),
      })),
    ];
  }

  #sendUntilMs(): number {
    const { leaseMs, requestMsMax } = this.#options;
    return performance.now() + leaseMs - requestMsMax;
  }

  #setDelivered(): SqlText {
    return sql`failures = 0, last_error = null, last_success_at = ${this.#now()}, delivered = delivered + 1`;
  }

  #now(): SqlText {
    return atMs(this.#options.clock.nowMs());
  }

  #leaseEnd(): SqlText {
    return sql`now() + ${this.#options.leaseMs}::double precision * interval '1 millisecond'`;
  }

  /** Every step renews the lease, and returns the webhook as it is then. */
  async #update({ webhook, lease }: Claim, changes: SqlText): Promise<Claim | null> {
    const sendUntilMs = this.#sendUntilMs();
    const [row] = await this.#run<WebhookRow>(
      sql`update webhooks w set ${changes}, leased_until = ${this.#leaseEnd()} where w.id = ${webhook.id} and w.lease = ${lease} returning ${webhookColumns}`,
    );
    return row ? { webhook: toWebhook(row), lease, sendUntilMs } : null;
  }

  #run<R extends object>({ text, values }: SqlText): Promise<readonly R[]> {
    return this.#queue.run(async () => (await this.#options.database.query<R>({ text, values })).rows);
  }
}

export type WebhookCounts = {
  readonly active: number;
  readonly paused: number;
  readonly disabled: number;
  /** Active ones with a message that is not delivered yet. */
  readonly pending: number;
};

export type WebhookLag = {
  readonly webhook: string;
  readonly blocks: number;
  /** A span of the chain's time: from the first block that it does not have to the newest that it may have. */
  readonly seconds: number;
};

type LagRow = {
  readonly id: string;
  readonly position: string;
  readonly up_to: string;
  readonly start_block: string;
  readonly is_caught_up: boolean;
};

/** Nothing before the first block of the deployment is missing. */
function placeLag({ id, position, up_to, start_block }: LagRow) {
  const upTo = Number(up_to);
  const block = Math.max(blockOfPosition(position) ?? upTo, Number(start_block) - 1);
  return { webhook: id, block, upTo };
}

function setNext(reached: ReachedEvent): SqlText {
  return sql`reached = ${toJson(reached)}::jsonb, is_reached_ahead = true, caught_up_at = null`;
}

function toJson(value: ReachedEvent | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
