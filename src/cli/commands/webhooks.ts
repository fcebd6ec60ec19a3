// `sextant webhooks`: delivers events to webhooks, alongside other processes; or shows and manages them for the operator.
import { Registry } from "prom-client";
import { openEvents } from "../../api/events/open.ts";
import { openSourceReaders } from "../../api/source-readers.ts";
import { storeWebhooksFile } from "../../api/webhooks/configured.ts";
import { openWebhooks, type Webhooks } from "../../api/webhooks/open.ts";
import { manageAsOperator, type OperatorPlace, type OperatorRequest } from "../../api/webhooks/operator.ts";
import { webhookCommandSettings, webhookSettings } from "../../config/indexing-settings.ts";
import { type Config, readConfig } from "../../config/read-config.ts";
import { databaseSettings, listenSettings, requestSettings } from "../../config/service-settings.ts";
import { mergeMetrics } from "../../http/metrics.ts";
import { createHttpServer } from "../../http/server.ts";
import { addStatusRoutes } from "../../http/status-routes.ts";
import { assertDefined } from "../../lib/assert-defined.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { closeWithDeadline, waitForAbort } from "../../lib/shutdown.ts";
import { assertSameDeployment } from "../../store/index/prepare.ts";
import { openConfiguredDatabases } from "../../store/open-database.ts";
import { watchChanges } from "../../store/postgres/change-notifications.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { type CommandContext, type RunCommand, readStringOption } from "../command.ts";
import {
  chooseDeployments,
  type InstalledDeployment,
  readInstallation,
  toWebhookDeployments,
} from "../installation.ts";

const settings = {
  ...listenSettings,
  ...requestSettings,
  ...databaseSettings,
  ...webhookSettings,
  ...webhookCommandSettings,
};

export const webhooksCommand: RunCommand = async (context) => {
  const { environment, options, log } = context;
  const request = readRequest(options);
  const given = readConfig(environment, settings);
  if (given.webhookKey === null) {
    throw new Fault(
      "CONFIG_INVALID",
      "SEXTANT_WEBHOOK_KEY is required: 32 random bytes, such as 0x$(openssl rand -hex 32), the same for all processes.",
    );
  }
  // This command is there to deliver, and a request of the operator does not.
  const config = { ...given, webhookDelivery: request === null };
  const chosen = await chooseDeployments({ environment, options });
  const schemas = chosen.map(({ databaseSchema }) => databaseSchema);
  const { databases, close } = await openConfiguredDatabases(config, schemas, log, "webhooks");
  const opened = chosen.map((each, index) => {
    const own = chosen.length === 1 ? log : log.child({ deployment: each.name });
    const database = assertDefined(databases[index], "the database of a deployment");
    return openOne(each, { database, config, log: own, deployments: chosen.length });
  });
  try {
    for (const { database, deployment } of opened) await assertSameDeployment(database, deployment);
    if (request !== null) {
      context.print(await manageAsOperator(request, opened.map(toPlace)));
    } else {
      const all = await readInstallation({ environment, options });
      await storeWebhooksFile(config.webhooksFile, toWebhookDeployments(all, opened));
      await serve(context, config, opened);
    }
  } finally {
    for (const each of opened) await each.close();
    await close();
  }
  return 0;
};

/** A deployment whose webhooks this process delivers or manages. */
type OpenedDeployment = InstalledDeployment & {
  readonly database: Database;
  readonly webhooks: Webhooks;
  readonly registry: Registry;
  readonly log: Log;
  close(): Promise<void>;
};

type Surroundings = {
  readonly database: Database;
  readonly config: Config<typeof settings>;
  readonly log: Log;
  /** How many this process has. */
  readonly deployments: number;
};

function openOne(
  each: InstalledDeployment,
  { database, config, log, deployments }: Surroundings,
): OpenedDeployment {
  const { chainId } = each.deployment;
  const readers = openSourceReaders(database, { deployments });
  const events = openEvents({ database, log, run: readers.history });
  const { readEvents } = events;
  const registry = new Registry();
  const webhooks = openWebhooks({ config, chainId }, { database, readEvents, log, registry });
  const close = async () => {
    await webhooks.close();
    events.close();
    await readers.close();
  };
  return { ...each, database, webhooks, registry, log, close };
}

function toPlace({ name: deployment, database, webhooks }: OpenedDeployment): OperatorPlace {
  const service = assertDefined(webhooks.service, "the service, since there is a key");
  return { deployment, store: openRecordStore(database), service };
}

/** Until the process is to stop. */
async function serve(
  { log, stop, onListening }: CommandContext,
  config: Config<typeof settings>,
  opened: readonly OpenedDeployment[],
): Promise<void> {
  for (const { name, registry } of opened)
    if (opened.length > 1) registry.setDefaultLabels({ deployment: name });
  const status = new Registry();
  const checkReadiness = async () => ({ ready: true }) as const;
  const server = createHttpServer({ ...config, log, registry: status, checkReadiness });
  addStatusRoutes(server.app, mergeMetrics([status, ...opened.map(({ registry }) => registry)]));
  const url = await server.listen({
    host: config.host,
    port: config.webhooksPort,
    portVariable: "WEBHOOKS_PORT",
  });
  log.info({ component: "cli", event: "webhooks_listening", url }, "Webhook delivery is running");
  onListening?.(url);
  const watchers = opened.map((each) => watchChangesUntil(each, stop));
  await waitForAbort(stop);
  await closeWithDeadline([server.close]);
  await Promise.all(watchers);
}

function watchChangesUntil(
  { database, webhooks, log }: OpenedDeployment,
  signal: AbortSignal,
): Promise<void> {
  return watchChanges(database, {
    onChange: (tables) => {
      if (tables === null || tables.includes("webhooks")) webhooks.onChange();
    },
    onDisconnect: () => undefined,
    log,
    signal,
  });
}

const ACTIONS = ["pause", "resume", "rotate", "test", "secret", "delete", "replay"] as const;

/** Null without one: the command delivers. */
function readRequest(options: CommandContext["options"]): OperatorRequest | null {
  const given = ACTIONS.filter((action) => readStringOption(options, action) !== undefined);
  const from = readStringOption(options, "from");
  if (given.length + (options.list === true ? 1 : 0) > 1) {
    throw new Fault(
      "USAGE_INVALID",
      `Only one of --list, ${given.map((each) => `--${each}`).join(", ")} at a time.`,
    );
  }
  const [action] = given;
  if (from !== undefined && action !== "replay")
    throw new Fault("USAGE_INVALID", "--from belongs to --replay.");
  if (from === undefined && action === "replay") {
    throw new Fault("USAGE_INVALID", "--replay needs --from with a cursor, a block number, genesis or head.");
  }
  if (action === undefined) return options.list === true ? { action: "list" } : null;
  return { action, webhook: readStringOption(options, action) ?? "", from };
}
