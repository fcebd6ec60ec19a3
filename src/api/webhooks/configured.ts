// The operator's own webhooks: a JSON file, which may name any event and any receiver.
import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Fault } from "../../lib/fault.ts";
import { parseStrictJson } from "../../lib/json.ts";
import type { PublicNetwork } from "../../lib/public-network.ts";
import { closedObject, listOf, type TypeOf, wordOf } from "../../schema/json-schema.ts";
import type { RecordStore, StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import { FINALITIES } from "../../store/index/event-logs.ts";
import { parseStart } from "../events/endpoint.ts";
import { chooseNetwork } from "./open.ts";
import { createWebhookId, insertWebhook, type NewWebhook } from "./records.ts";
import { parseWebhookFilter, WEBHOOK_FILTER } from "./schemas.ts";
import { parseWebhookUrl } from "./send.ts";

// Few enough to be looked at by eye.
const WEBHOOKS_MAX = 100;

const ENTRY = closedObject(
  { name: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" }, url: { type: "string" } },
  {
    deployment: { type: "string" },
    filter: WEBHOOK_FILTER,
    finality: wordOf(FINALITIES),
    from: { type: "string", maxLength: 512 },
    allow_private: { type: "boolean" },
  },
);
const FILE = closedObject({ webhooks: listOf(ENTRY, { maxItems: WEBHOOKS_MAX }) });
type FileEntry = TypeOf<typeof ENTRY>;

/** A deployment that the file may name. */
export type WebhookDeployment = {
  readonly name: string;
  /** Whether entries without a deployment belong to it. */
  readonly isDefault: boolean;
  readonly chainId: number;
  /** Null if another process stores its webhooks. */
  readonly store: RecordStore | null;
};

/**
 * Reads the file and stores what it says in the deployment that each entry names. Without a file nothing changes:
 * another process may have it.
 */
export async function storeWebhooksFile(
  path: string | null,
  deployments: readonly WebhookDeployment[],
): Promise<void> {
  if (path === null) return;
  const entriesOf = await readWebhooksFile(path, deployments);
  for (const [{ store }, configured] of entriesOf) {
    await store?.write({ client: "operator", tables: ["webhooks"] }, (rows) =>
      storeConfiguredWebhooks(rows, configured),
    );
  }
}

/** Throws a Fault that names the file and what is wrong with it. */
async function readWebhooksFile(
  path: string,
  deployments: readonly WebhookDeployment[],
): Promise<ReadonlyMap<WebhookDeployment, readonly NewWebhook[]>> {
  try {
    const content = parseStrictJson(await readFile(path), "The file");
    const validate = new Ajv2020({ strict: true }).compile<TypeOf<typeof FILE>>(FILE);
    if (!validate(content)) {
      const [problem] = validate.errors ?? [];
      throw new Error(`${problem?.instancePath || "The file"} ${problem?.message}.`);
    }
    const { webhooks } = content;
    assertKnown(webhooks, deployments);
    return new Map(
      deployments.map((each) => [
        each,
        readEntries(
          webhooks.filter((entry) => isFor(entry, each)),
          each,
        ),
      ]),
    );
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new Fault("CONFIG_INVALID", `SEXTANT_WEBHOOKS_FILE ${path} cannot be used: ${problem}`, { cause });
  }
}

function isFor({ deployment }: FileEntry, { name, isDefault }: WebhookDeployment): boolean {
  return deployment === undefined ? isDefault : deployment === name;
}

function assertKnown(webhooks: readonly FileEntry[], deployments: readonly WebhookDeployment[]): void {
  const unknown = webhooks.find((entry) => !deployments.some((each) => isFor(entry, each)));
  if (unknown === undefined) return;
  const known = deployments.map(({ name }) => name).join(", ");
  throw new Error(`The deployment of ${unknown.name} is not one of ${known}.`);
}

/** A name is unique within its deployment. */
function readEntries(entries: readonly FileEntry[], { chainId }: WebhookDeployment): readonly NewWebhook[] {
  const names = new Set(entries.map(({ name }) => name));
  if (names.size < entries.length) throw new Error("Two webhooks have the same name.");
  const network = chooseNetwork(chainId);
  return entries.map((entry) => readEntry(entry, network));
}

function readEntry(entry: FileEntry, network: PublicNetwork | null): NewWebhook {
  const {
    name,
    filter = {},
    finality = "instant",
    from = "head",
    allow_private: allowPrivate = false,
  } = entry;
  // Checks its form; the head is the one of the first delivery.
  parseStart(from);
  return {
    ...parseWebhookUrl(entry.url, { network, allowPrivate }),
    id: createWebhookId(),
    owner: null,
    accounts: [],
    name,
    allowPrivate,
    finality,
    position: from,
    filter: parseWebhookFilter(filter),
  };
}

/** Adds and changes what the file says, and keeps every cursor. Disables webhooks that the file no longer names. */
async function storeConfiguredWebhooks(
  rows: StatementRunner,
  configured: readonly NewWebhook[],
): Promise<void> {
  const names = JSON.stringify(configured.map(({ name }) => name));
  await rows.run(
    sql`update webhooks set status = 'disabled', disabled_reason = 'unconfigured' where owner is null and status = 'active' and not ${names}::jsonb ? name`,
  );
  for (const webhook of configured) {
    const { name, url, host, allowPrivate, filter, finality } = webhook;
    const changed = await rows.run(
      sql`update webhooks set url = ${url.reveal()}, host = ${host}, allow_private = ${allowPrivate}, finality = ${finality}, types = ${filter.types && JSON.stringify(filter.types)}::jsonb, subjects = ${JSON.stringify(filter.subjects)}::jsonb,
          status = case when disabled_reason = 'unconfigured' then 'active' else status end, disabled_reason = nullif(disabled_reason, 'unconfigured') where name = ${name} returning id`,
    );
    if (changed.length === 0) await insertWebhook(rows, webhook, { webhooksMax: 0, webhooksPerOwnerMax: 0 });
  }
}
