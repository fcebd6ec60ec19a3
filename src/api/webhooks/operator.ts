// Manages every webhook for the operator, from the command line.
import { Fault } from "../../lib/fault.ts";
import type { RecordStore } from "../../schema/record-store.ts";
import {
  changeWebhook,
  describeWebhook,
  listWebhooks,
  readChange,
  sendTest,
  type WebhookRecordRow,
  type WebhookService,
} from "./records.ts";
import { toWebhook } from "./rows.ts";

export type OperatorRequest =
  | { readonly action: "list" }
  | {
      readonly action: "pause" | "resume" | "rotate" | "test" | "secret" | "delete" | "replay";
      /** An id, or a name of the configuration. */
      readonly webhook: string;
      /** The begin of a replay. */
      readonly from: string | undefined;
    };

/** A deployment whose webhooks the operator manages. */
export type OperatorPlace = {
  readonly deployment: string;
  readonly store: RecordStore;
  readonly service: WebhookService;
};

/** The output: a line of JSON for each webhook, or the secret. With several deployments each line names its own. */
export async function manageAsOperator(
  request: OperatorRequest,
  places: readonly OperatorPlace[],
): Promise<string> {
  const formatLine = (row: WebhookRecordRow, { deployment, service }: OperatorPlace) => {
    const described = describeWebhook(row, service.signer);
    return `${JSON.stringify(places.length > 1 ? { deployment, ...described } : described)}\n`;
  };
  if (request.action === "list") {
    const lines = places.map(async (place) =>
      (await listWebhooks(place.store, null)).map((row) => formatLine(row, place)),
    );
    return (await Promise.all(lines)).flat().join("");
  }
  const { found, place } = await findByIdOrName(places, request.webhook);
  const { store, service } = place;
  const { signer } = service;
  if (request.action === "secret") return `${signer.secretOf(found.id, found.generation)}\n`;
  if (request.action === "test") return `${JSON.stringify(await sendTest(toWebhook(found), service))}\n`;
  const { action, from } = request;
  const change = await readChange({ action, from, finality: found.finality }, service);
  const row = await store.write({ client: "operator", tables: ["webhooks"] }, (rows) =>
    changeWebhook(rows, found.id, change),
  );
  const secret = action === "rotate" ? `${signer.secretOf(row.id, row.generation)}\n` : "";
  return formatLine(row, place) + secret;
}

type FoundWebhook = { readonly found: WebhookRecordRow; readonly place: OperatorPlace };

/** Ids are unique everywhere, names within a deployment. */
async function findByIdOrName(places: readonly OperatorPlace[], wanted: string): Promise<FoundWebhook> {
  const matches: FoundWebhook[] = [];
  for (const place of places) {
    const rows = await listWebhooks(place.store, null);
    for (const found of rows)
      if (found.id === wanted || found.name === wanted) matches.push({ found, place });
  }
  const [first, ...others] = matches;
  if (!first) throw new Fault("NOT_FOUND", "No webhook has this id or name; --list shows all of them.");
  if (others.length > 0) {
    const names = matches.map(({ place }) => place.deployment).join(", ");
    throw new Fault(
      "USAGE_INVALID",
      `Several deployments have a webhook of this name: ${names}; choose one with --deployment, or use the id.`,
    );
  }
  return first;
}
