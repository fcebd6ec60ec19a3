// `sextant webhooks`: delivers events to webhooks, beside other processes; or shows and manages them for the operator.
import { Registry } from "prom-client";
import { openEvents } from "../../api/events/open.ts";
import type { ReadEvents } from "../../api/events/read-events.ts";
import { openSourceReaders } from "../../api/source-readers.ts";
import { storeWebhooksFile } from "../../api/webhooks/configured.ts";
import { openWebhooks } from "../../api/webhooks/open.ts";
import { manageAsOperator, type OperatorRequest } from "../../api/webhooks/operator.ts";
import type { WebhookService } from "../../api/webhooks/service.ts";
import { type Config, readConfig } from "../../config/read-config.ts";
import {
  databaseSettings,
  indexerSettings,
  listenSettings,
  requestSettings,
  webhookCommandSettings,
  webhookSettings,
} from "../../config/settings.ts";
import { createHttpServer } from "../../http/server.ts";
import { addStatusRoutes } from "../../http/status-routes.ts";
import { Fault } from "../../lib/fault.ts";
import type { Log } from "../../lib/log.ts";
import { closeWithDeadline, waitForAbort } from "../../lib/shutdown.ts";
import { readDeployment } from "../../protocol/deployment.ts";
import { assertSameDeployment } from "../../store/index/prepare.ts";
import { openConfiguredDatabase } from "../../store/open-database.ts";
import { watchChanges } from "../../store/postgres/change-notifications.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { type CommandContext, type RunCommand, readStringOption } from "../command.ts";

const settings = {
  ...listenSettings,
  ...requestSettings,
  ...databaseSettings,
  ...webhookSettings,
  ...webhookCommandSettings,
  network: indexerSettings.network,
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
  const { chainId, ...deployment } = await readDeployment(config.network);
  const { database, close } = await openConfiguredDatabase(config, log, "webhooks");
  const readers = openSourceReaders(database);
  const events = openEvents({ database, log, run: readers.history });
  const registry = new Registry();
  const { readEvents } = events;
  const webhooks = openWebhooks({ config, chainId }, { database, readEvents, log, registry });
  try {
    await assertSameDeployment(database, { chainId, ...deployment });
    const service = requireService(webhooks.service);
    if (request !== null) {
      const store = openRecordStore(database);
      context.print(await manageAsOperator(request, store, service));
    } else {
      await storeWebhooksFile(openRecordStore(database), { path: config.webhooksFile, chainId });
      await serve(context, config, { database, readEvents, registry, onChange: webhooks.onChange });
    }
  } finally {
    await webhooks.close();
    events.close();
    await readers.close();
    await close();
  }
  return 0;
};

function requireService(service: WebhookService | null): WebhookService {
  if (service === null) throw new Error("webhooks have a key");
  return service;
}

type Delivering = {
  readonly database: Database;
  readonly readEvents: ReadEvents;
  readonly registry: Registry;
  readonly onChange: () => void;
};

/** Until the process is to stop. */
async function serve(
  { log, stop, onListening }: CommandContext,
  config: Config<typeof settings>,
  { database, registry, onChange }: Delivering,
): Promise<void> {
  const server = createHttpServer({
    ...config,
    log,
    registry,
    checkReadiness: async () => ({ ready: true }),
  });
  addStatusRoutes(server.app, registry);
  const url = await server.listen({
    host: config.host,
    port: config.webhooksPort,
    portVariable: "WEBHOOKS_PORT",
  });
  log.info({ component: "cli", event: "webhooks_listening", url }, "Webhook delivery is running");
  onListening?.(url);
  const watcher = watchChangesUntil(database, log, stop, onChange);
  await waitForAbort(stop);
  await closeWithDeadline([server.close]);
  await watcher;
}

function watchChangesUntil(
  database: Database,
  log: Log,
  signal: AbortSignal,
  onChange: () => void,
): Promise<void> {
  return watchChanges(database, {
    onChange: (tables) => {
      if (tables === null || tables.includes("webhooks")) onChange();
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
