// What the operator can do with every webhook, from the command line.
import { Fault } from "../../lib/fault.ts";
import type { RecordStore, StatementRunner } from "../../schema/record-store.ts";
import { changeWebhook, describeWebhook, listWebhooks, type WebhookRecordRow } from "./records.ts";
import { toWebhook } from "./rows.ts";
import { readChange, sendTest, type WebhookService } from "./service.ts";

export type OperatorRequest =
  | { readonly action: "list" }
  | {
      readonly action: "pause" | "resume" | "rotate" | "test" | "secret" | "delete" | "replay";
      /** An id, or a name of the configuration. */
      readonly webhook: string;
      /** Where a replay begins. */
      readonly from: string | undefined;
    };

/** What to print: a line of JSON for each webhook, or the secret. */
export async function manageAsOperator(
  request: OperatorRequest,
  store: RecordStore,
  service: WebhookService,
): Promise<string> {
  const { signer } = service;
  if (request.action === "list") {
    const rows = await listWebhooks(store, null);
    return rows.map((row) => `${JSON.stringify(describeWebhook(row, signer))}\n`).join("");
  }
  const found = await findByIdOrName(store, request.webhook);
  if (request.action === "secret") return `${signer.secretOf(found.id, found.generation)}\n`;
  if (request.action === "test") return `${JSON.stringify(await sendTest(toWebhook(found), service))}\n`;
  const { action, from } = request;
  const change = await readChange({ action, from, finality: found.finality }, service);
  const row = await store.write({ client: "operator", tables: ["webhooks"] }, (rows) =>
    changeWebhook(rows, found.id, change),
  );
  const secret = action === "rotate" ? `${signer.secretOf(row.id, row.generation)}\n` : "";
  return `${JSON.stringify(describeWebhook(row, signer))}\n${secret}`;
}

async function findByIdOrName(rows: StatementRunner, wanted: string): Promise<WebhookRecordRow> {
  const found = (await listWebhooks(rows, null)).find(({ id, name }) => id === wanted || name === wanted);
  if (!found) throw new Fault("NOT_FOUND", "No webhook has this id or name; --list shows all of them.");
  return found;
}
