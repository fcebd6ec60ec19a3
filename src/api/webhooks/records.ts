// Webhooks as their owners and the operator see and change them: registration within limits, and what can be done later.
import { randomBytes } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { PublicNetwork } from "../../lib/public-network.ts";
import type { Secret } from "../../lib/secret.ts";
import type { EventFilter } from "../../protocol/event-filter.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { type SqlText, sql } from "../../schema/sql.ts";
import type { Finality } from "../../store/index/event-logs.ts";
import { parseStart } from "../events/endpoint.ts";
import { EVERY_EVENT } from "../events/event-page.ts";
import type { ReadEvents } from "../events/read-events.ts";
import { hostNameOf, type ProveReceiver } from "./challenge.ts";
import { createTestMessage } from "./messages.ts";
import {
  listColumns,
  type SelectedRow,
  selected,
  toWebhook,
  WEBHOOK_COLUMNS,
  type Webhook,
  type WebhookRow,
  webhookColumns,
} from "./rows.ts";
import type { SendWebhook } from "./send.ts";
import { listGenerations, type WebhookSigner } from "./signing.ts";

type WebhookLimits = {
  readonly webhooksMax: number;
  readonly webhooksPerOwnerMax: number;
};

export type NewWebhook = {
  readonly id: string;
  readonly owner: Hex | null;
  /** Policy accounts of the owner. */
  readonly accounts: readonly Hex[];
  readonly name: string | null;
  readonly url: Secret<string>;
  readonly host: string;
  readonly allowPrivate: boolean;
  readonly filter: EventFilter;
  readonly finality: Finality;
  readonly position: string;
};

/** The operations on a webhook, without its keys and deliveries. */
export type WebhookChange =
  | { readonly action: "delete" | "pause" | "resume" | "rotate" }
  | { readonly action: "replay"; readonly position: string };

// After these times a webhook makes room for a new one, once there is no other room: one that is paused, disabled or
// has never delivered anything, and one that has delivered. An owner with any activity gets an event within a quarter.
const UNUSED_DAYS = 7;
const QUIET_DAYS = 90;
// Receivers take over a new secret within a day.
const PREVIOUS_KEYS_HOURS = 24;
const TEST_EVERY_SECONDS = 10;

/** The record as JSON; the URL may hold a secret of the receiver, so that only its host is shown. */
const RECORD_COLUMNS = {
  ...WEBHOOK_COLUMNS,
  name: selected<string | null>("w.name"),
  host: selected<string>("w.host"),
  disabledReason: selected<string | null>("w.disabled_reason"),
  lastError: selected<string | null>("w.last_error"),
  delivered: selected<string>("w.delivered"),
  createdAt: selected<string>("iso_time(w.created_at)"),
  retryAt: selected<string | null>("iso_time(nullif(w.retry_at, '-infinity'))"),
  pendingSince: selected<string | null>("iso_time(w.pending_since)"),
  lastSuccessAt: selected<string | null>("iso_time(w.last_success_at)"),
};

const recordColumns = listColumns(RECORD_COLUMNS);

export type WebhookRecordRow = SelectedRow<typeof RECORD_COLUMNS>;

// Earlier versions stored the text of the receiver after its status. It may come from a server that the owner has no
// access to.
const RECEIVER_TEXT = /^(status [0-9]+) .*/s;

export function describeWebhook(row: WebhookRecordRow, signer: WebhookSigner) {
  const { id, owner, accounts, name, host, finality, status, failures } = row;
  const { keys, filter } = toWebhook(row);
  return {
    id,
    owner,
    accounts,
    name,
    host,
    status,
    disabled_reason: row.disabledReason,
    filter: { ...(filter.types === null ? {} : { types: filter.types }), ...filter.subjects },
    finality,
    cursor: row.position,
    public_keys: listGenerations(keys).map((generation) => signer.publicKeyOf(id, generation)),
    delivered: row.delivered,
    failures,
    retry_at: failures > 0 ? row.retryAt : null,
    pending_since: row.pendingSince,
    last_error: row.lastError?.replace(RECEIVER_TEXT, "$1") ?? null,
    last_success_at: row.lastSuccessAt,
    created_at: row.createdAt,
  };
}

/** The begin. The head is the present one, not that of the first delivery; anything else is checked and kept. */
export async function resolveStart(
  readEvents: ReadEvents,
  given: string,
  finality: Finality,
): Promise<string> {
  const from = parseStart(given);
  const page = await readEvents({ from, filter: EVERY_EVENT, finality, limit: 1, client: "webhooks" });
  return "end" in from && from.end === "head" ? page.progress.cursor : given;
}

export function createWebhookId(): string {
  return `wh_${randomBytes(16).toString("base64url")}`;
}

/**
 * Throws a Fault if there are too many. Call it in a transaction during which no other registration runs. The holder is
 * the account that the slot counts for, besides the owner.
 */
export async function insertWebhook(
  rows: StatementRunner,
  { url, ...webhook }: NewWebhook,
  limits: WebhookLimits,
  holder: Hex | null = webhook.owner,
): Promise<WebhookRecordRow> {
  const { id, owner, accounts, name, host, allowPrivate, filter, finality, position } = webhook;
  if (owner !== null) await makeRoom(rows, { owner, holder: holder ?? owner, host }, limits);
  return await runOne(
    rows,
    sql`insert into webhooks as w (id, owner, accounts, name, url, host, allow_private, types, subjects, finality, position)
      values (${id}, ${owner}, ${JSON.stringify(accounts)}::jsonb, ${name}, ${url.reveal()}, ${host}, ${allowPrivate}, ${filter.types && JSON.stringify(filter.types)}::jsonb, ${JSON.stringify(filter.subjects)}::jsonb, ${finality}, ${position}) returning ${recordColumns}`,
  );
}

/** Who takes a slot: an owner, and the account in the index that entitles the owner to it, which may be the same. */
type SlotHolder = {
  readonly owner: Hex;
  readonly holder: Hex;
  /** The host of the receiver, with its port. */
  readonly host: string;
};

// Once half of all slots are taken, an owner may have one webhook at a receiver that has a twentieth of them: owners are
// cheap, a hundred events make a hundred of them. No owner is kept out of a receiver that many share. Names below a domain
// count as receivers of their own: without a list of public suffixes they look the same as customers of a platform.
const FREE_SHARE = 1 / 2;
const HOST_SHARE = 1 / 20;

// Measured by the time of its newest event, not of the last delivery: a replay of old events costs nothing.
const UNUSED = sql`owner is not null and greatest(created_at, (select to_timestamp(b.timestamp) from blocks b where b.number = (reached->>'block')::bigint)) < now() - (case when status = 'active' and delivered > 0 then ${QUIET_DAYS}::int else ${UNUSED_DAYS}::int end) * interval '1 day'`;

/** Throws a Fault if an owner, or all of them, have as many as they may. Deletes an unused one if that helps. */
async function makeRoom(rows: StatementRunner, slot: SlotHolder, limits: WebhookLimits): Promise<void> {
  const unused = await assertRoom(rows, slot, limits);
  if (unused === null) return;
  await rows.run(
    sql`delete from webhooks where id = (select id from webhooks where ${unused} order by status = 'active' and delivered > 0, created_at, id limit 1)`,
  );
}

/** Throws a Fault if there are too many; returns the unused webhooks of which one must be deleted, or null if none must. */
export async function assertRoom(
  rows: StatementRunner,
  { owner, holder, host }: SlotHolder,
  { webhooksMax, webhooksPerOwnerMax }: WebhookLimits,
): Promise<SqlText | null> {
  const hostName = hostNameOf(host);
  const atHost = sql`regexp_replace(host, ':[0-9]+$', '') = ${hostName}`;
  const unusedAtHost = sql`${UNUSED} and ${atHost}`;
  type Counts = Record<
    "total" | "of_owner" | "of_holder" | "of_host" | "own_at_host" | "unused" | "unused_of_host",
    number
  >;
  const [counts] = await rows.run<Counts>(
    sql`select count(*)::int as total, count(*) filter (where owner = ${owner})::int as of_owner, count(*) filter (where owner = ${holder} or accounts ? ${holder})::int as of_holder, count(*) filter (where ${atHost})::int as of_host, count(*) filter (where owner = ${owner} and ${atHost})::int as own_at_host, count(*) filter (where ${UNUSED})::int as unused, count(*) filter (where ${unusedAtHost})::int as unused_of_host from webhooks where owner is not null`,
  );
  if (!counts) throw new Error("a count of webhooks has no row");
  if (counts.of_owner >= webhooksPerOwnerMax) {
    throw new Fault("CONFLICT", `An owner may have ${webhooksPerOwnerMax} webhooks; delete one first.`);
  }
  // The signer() of a contract may change with every block.
  if (counts.of_holder >= webhooksPerOwnerMax) {
    throw new Fault(
      "CONFLICT",
      `${webhooksPerOwnerMax} webhooks of all owners may name ${holder}; delete one first.`,
    );
  }
  const perHostMax = Math.max(webhooksPerOwnerMax, Math.floor(webhooksMax * HOST_SHARE));
  const isCrowded = counts.total >= webhooksMax * FREE_SHARE && counts.of_host >= perHostMax;
  const isHostFull = isCrowded && counts.own_at_host > 0;
  if (isHostFull && counts.unused_of_host === 0) {
    throw new Fault(
      "CONFLICT",
      `The receiver ${hostName} has ${counts.of_host} webhooks, and while most slots of this server are taken an owner may have one at a receiver with ${perHostMax}. Delete yours first, or read /events instead.`,
    );
  }
  // With a limit that was lowered, one less is still too many.
  if (counts.total > webhooksMax || (counts.total === webhooksMax && counts.unused === 0)) {
    throw new Fault(
      "STORAGE_FULL",
      "Webhook limit of this server reached. Read /events instead, or try again later.",
    );
  }
  if (isHostFull) return unusedAtHost;
  return counts.total === webhooksMax ? UNUSED : null;
}

export async function findWebhook(rows: StatementRunner, id: string): Promise<WebhookRecordRow | null> {
  const [row] = await rows.run<WebhookRecordRow>(
    sql`select ${recordColumns} from webhooks w where w.id = ${id}`,
  );
  return row ?? null;
}

/** Sorted by name and age. */
export function listWebhooks(rows: StatementRunner, owner: Hex | null): Promise<readonly WebhookRecordRow[]> {
  const isOwned = owner === null ? sql`true` : sql`w.owner = ${owner}`;
  return rows.run<WebhookRecordRow>(
    sql`select ${recordColumns} from webhooks w where ${isOwned} order by w.name nulls last, w.created_at, w.id`,
  );
}

/** The record after the change; after a deletion, as it was. */
export async function changeWebhook(
  rows: StatementRunner,
  id: string,
  change: WebhookChange,
): Promise<WebhookRecordRow> {
  if (change.action === "delete") {
    return await runOne(rows, sql`delete from webhooks w where w.id = ${id} returning ${recordColumns}`);
  }
  const changes = change.action === "replay" ? setReplay(change.position) : CHANGES[change.action];
  return await runOne(
    rows,
    sql`update webhooks w set ${changes} where w.id = ${id} returning ${recordColumns}`,
  );
}

const CHANGES: Readonly<Record<"pause" | "resume" | "rotate", SqlText>> = {
  pause: sql`status = 'paused', disabled_reason = null`,
  resume: sql`status = 'active', disabled_reason = null, failures = 0, retry_at = '-infinity', caught_up_at = null`,
  rotate: sql`generation = generation + 1, previous_until = now() + ${PREVIOUS_KEYS_HOURS}::int * interval '1 hour'`,
};

/** With a lease that nothing holds: what is being sent comes to its end before the replay begins. */
function setReplay(position: string): SqlText {
  return sql`position = ${position}, is_reached_ahead = reached is not null, caught_up_at = null, failures = 0, retry_at = '-infinity', lease = ${randomBytes(12).toString("base64url")}`;
}

/** Throws a Fault if the last test was a moment ago. */
export async function claimTest(rows: StatementRunner, id: string): Promise<Webhook> {
  const [row] = await rows.run<WebhookRow>(
    sql`update webhooks w set tested_at = now() where w.id = ${id} and w.tested_at < now() - ${TEST_EVERY_SECONDS}::int * interval '1 second' returning ${webhookColumns}`,
  );
  if (row) return toWebhook(row);
  throw new Fault("RATE_LIMITED", `A webhook can be tested every ${TEST_EVERY_SECONDS} seconds.`, {
    retryAfterSeconds: TEST_EVERY_SECONDS,
  });
}

async function runOne(rows: StatementRunner, statement: SqlText): Promise<WebhookRecordRow> {
  const [row] = await rows.run<WebhookRecordRow>(statement);
  if (!row) throw createNoWebhookFault();
  return row;
}

export function createNoWebhookFault(): Fault {
  return new Fault("NOT_FOUND", "No webhook has this id.");
}

export type WebhookService = {
  readonly signer: WebhookSigner;
  readonly send: SendWebhook;
  readonly prove: ProveReceiver;
  readonly readEvents: ReadEvents;
  readonly network: PublicNetwork | null;
  readonly limits: WebhookLimits;
  readonly clock: Clock;
};

type RequestedChange = {
  readonly action: WebhookChange["action"];
  /** The begin of a replay. */
  readonly from: string | undefined;
  readonly finality: Finality;
};

/** Throws a Fault if the chain does not have the begin of a replay. */
export async function readChange(
  { action, from, finality }: RequestedChange,
  { readEvents }: WebhookService,
): Promise<WebhookChange> {
  if (action !== "replay") return { action };
  if (from === undefined)
    throw new Fault("INPUT_INVALID", "A replay needs from: a cursor, a block number or genesis.");
  return { action, position: await resolveStart(readEvents, from, finality) };
}

/** The outcome, as responses have it. */
export async function sendTest(webhook: Webhook, { send, clock }: WebhookService) {
  const result = await send(webhook, createTestMessage(webhook, clock.nowMs()));
  return {
    delivered: result.isDelivered,
    status: result.status,
    error: result.isDelivered ? null : result.error,
  };
}
