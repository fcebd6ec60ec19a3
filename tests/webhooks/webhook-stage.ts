// Webhooks of the operator over an index whose chain a test writes itself, with delivery in this process.
import { Registry } from "prom-client";
import { openEvents } from "../../src/api/events/open.ts";
import type { ReadEvents } from "../../src/api/events/read-events.ts";
import { openSourceReaders } from "../../src/api/source-readers.ts";
import { openWebhooks, type Webhooks, type WebhooksOptions } from "../../src/api/webhooks/open.ts";
import {
  changeWebhook,
  createWebhookId,
  findWebhook,
  insertWebhook,
  type WebhookChange,
  type WebhookService,
} from "../../src/api/webhooks/records.ts";
import { WebhookRows } from "../../src/api/webhooks/rows.ts";
import { webhookSettings } from "../../src/config/indexing-settings.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Hex } from "../../src/lib/hex.ts";
import type { Log } from "../../src/lib/log.ts";
import { Secret } from "../../src/lib/secret.ts";
import type { EventFilter } from "../../src/protocol/event-filter.ts";
import type { Finality } from "../../src/store/index/event-logs.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { silentLog } from "../support/quiet-log.ts";

export const WEBHOOK_KEY = `0x${"5e".repeat(32)}`;
const CONFIG = readConfig({ SEXTANT_WEBHOOK_KEY: WEBHOOK_KEY }, webhookSettings);

export type DeliveringProcess = {
  readonly service: WebhookService;
  readonly webhooks: Webhooks;
  readonly registry: Registry;
  close(): Promise<void>;
};

/** As a process of its own would deliver, on a local chain. */
export function startDelivering(
  database: Database,
  options: Partial<WebhooksOptions> = {},
  {
    log = silentLog,
    wrapReads = (readEvents) => readEvents,
  }: { log?: Log; wrapReads?: (readEvents: ReadEvents) => ReadEvents } = {},
): DeliveringProcess {
  const readers = openSourceReaders(database);
  const events = openEvents({ database, log, run: readers.history });
  const registry = new Registry();
  const webhooks = openWebhooks(
    { config: CONFIG, chainId: 31_337, timing: { pollMs: 50, spacingMs: 0 }, ...options },
    { database, readEvents: wrapReads(events.readEvents), log, registry },
  );
  const { service } = webhooks;
  if (service === null) throw new Error("webhooks have a key");
  return {
    service,
    webhooks,
    registry,
    async close() {
      await webhooks.close();
      events.close();
      await readers.close();
    },
  };
}

let added = 0;

/** A webhook for every event from the beginning; returns its id. */
export async function addWebhook(
  database: Database,
  url: string,
  options: {
    readonly finality?: Finality;
    readonly types?: readonly string[];
    readonly subjects?: EventFilter["subjects"];
    readonly from?: string;
    /** The operator's if absent. */
    readonly owner?: Hex;
    readonly accounts?: readonly Hex[];
  } = {},
): Promise<string> {
  added += 1;
  const { finality = "instant", types = null, subjects = {}, from = "genesis" } = options;
  const { owner = null, accounts = [] } = options;
  const { host } = new URL(url);
  const { id } = await insertWebhook(
    openRecordStore(database),
    {
      id: createWebhookId(),
      ...{ owner, accounts, name: owner === null ? `test-${added}` : null, url: new Secret(url), host },
      ...{ allowPrivate: false, filter: { types, subjects }, finality, position: from },
    },
    { webhooksMax: 1_000, webhooksPerOwnerMax: 10 },
  );
  return id;
}

export async function change(database: Database, id: string, given: WebhookChange): Promise<void> {
  await changeWebhook(openRecordStore(database), id, given);
}

/**
 * Whether no process delivers to any webhook, or is about to: a replay waits until the lease of one that does has ended.
 * A webhook that is not caught up at the head is claimed again at once.
 */
export async function isDeliveryIdle(database: Database): Promise<boolean> {
  const reader = new WebhookRows({ database, clock: systemClock, leaseMs: 0, requestMsMax: 0 });
  const { rows } = await database.query({
    text: "select from webhooks where lease is not null or caught_up_at is distinct from $1",
    values: [await reader.readHead()],
  });
  return rows.length === 0;
}

export async function readWebhook(database: Database, id: string) {
  const row = await findWebhook(openRecordStore(database), id);
  if (!row) throw new Error("the webhook is gone");
  return row;
}
