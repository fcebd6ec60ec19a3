// The operator's own webhooks: a JSON file, which may name any event and any receiver.
import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Fault } from "../../lib/fault.ts";
import { parseStrictJson } from "../../lib/json.ts";
import type { PublicNetwork } from "../../lib/public-network.ts";
import type { RecordStore, StatementRunner } from "../../schema/record-store.ts";
import { sql } from "../../schema/sql.ts";
import { FINALITIES, type Finality } from "../../store/index/event-logs.ts";
import { parseStart } from "../events/endpoint.ts";
import { chooseNetwork } from "./open.ts";
import { insertWebhook, type NewWebhook } from "./records.ts";
import { parseWebhookFilter, WEBHOOK_FILTER } from "./schemas.ts";
import { parseWebhookUrl } from "./send.ts";

// Few enough to be looked at by eye.
const WEBHOOKS_MAX = 100;

const FILE_SCHEMA = {
  type: "object",
  properties: {
    webhooks: {
      type: "array",
      maxItems: WEBHOOKS_MAX,
      items: {
        type: "object",
        properties: {
          name: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" },
          url: { type: "string" },
          filter: WEBHOOK_FILTER,
          finality: { type: "string", enum: FINALITIES },
          from: { type: "string", maxLength: 512 },
          allow_private: { type: "boolean" },
        },
        required: ["name", "url"],
        additionalProperties: false,
      },
    },
  },
  required: ["webhooks"],
  additionalProperties: false,
};

type FileEntry = {
  readonly name: string;
  readonly url: string;
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly finality?: Finality;
  readonly from?: string;
  readonly allow_private?: boolean;
};

/** Reads the file and stores what it says. Without one nothing changes: another process may have it. */
export async function storeWebhooksFile(
  store: RecordStore,
  { path, chainId }: { readonly path: string | null; readonly chainId: number },
): Promise<void> {
  if (path === null) return;
  const configured = await readWebhooksFile(path, chooseNetwork(chainId));
  await store.write({ client: "operator", tables: ["webhooks"] }, (rows) =>
    storeConfiguredWebhooks(rows, configured),
  );
}

/** Throws a Fault that names the file and what is wrong with it. */
async function readWebhooksFile(path: string, network: PublicNetwork | null): Promise<readonly NewWebhook[]> {
  try {
    const content = parseStrictJson(await readFile(path), "The file");
    const validate = new Ajv2020({ strict: true }).compile(FILE_SCHEMA);
    if (!validate(content)) {
      const [problem] = validate.errors ?? [];
      throw new Error(`${problem?.instancePath || "The file"} ${problem?.message}.`);
    }
    const { webhooks } = content as { readonly webhooks: readonly FileEntry[] };
    const names = new Set(webhooks.map(({ name }) => name));
    if (names.size < webhooks.length) throw new Error("Two webhooks have the same name.");
    return webhooks.map((entry) => readEntry(entry, network));
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new Fault("CONFIG_INVALID", `SEXTANT_WEBHOOKS_FILE ${path} cannot be used: ${problem}`, { cause });
  }
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
    ...{ owner: null, accounts: [], name, allowPrivate, finality, position: from },
    filter: parseWebhookFilter(filter),
  };
}

/** Adds and changes what the file says, and keeps every cursor. What the file no longer names is disabled. */
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
