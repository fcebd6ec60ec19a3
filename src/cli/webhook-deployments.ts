// The deployments that the operator's file of webhooks may name, with the stores of those that this process runs.
import type { WebhookDeployment } from "../api/webhooks/configured.ts";
import type { Database } from "../store/postgres/database.ts";
import { openRecordStore } from "../store/postgres/record-store.ts";
import type { InstalledDeployment } from "./installation.ts";

type RunDeployment = { readonly name: string; readonly database: Database };

/** Webhooks of a deployment that this process does not run are stored by those that do. */
export function toWebhookDeployments(
  all: readonly InstalledDeployment[],
  run: readonly RunDeployment[],
): readonly WebhookDeployment[] {
  return all.map(({ name, base, deployment }) => {
    const own = run.find((each) => each.name === name);
    const store = own ? openRecordStore(own.database) : null;
    return { name, isDefault: base === "", chainId: deployment.chainId, store };
  });
}
