// Composes webhooks: keys, the guarded sender, what the endpoints need, and delivery if this process delivers.
import type { Registry } from "prom-client";
import { localChain } from "../../chain/chains/chains.ts";
import type { webhookSettings } from "../../config/indexing-settings.ts";
import type { Config } from "../../config/read-config.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { createPublicNetwork, type PublicNetwork } from "../../lib/public-network.ts";
import type { Database } from "../../store/postgres/database.ts";
import type { ReadEvents } from "../events/read-events.ts";
import { createReceiverProof } from "./challenge.ts";
import type { WebhookService } from "./records.ts";
import { startWebhookDelivery, type WebhookDelivery, type WebhookTiming } from "./run.ts";
import { createWebhookSender } from "./send.ts";
import { createWebhookSigner } from "./signing.ts";

export type WebhooksOptions = {
  readonly config: Config<typeof webhookSettings>;
  readonly chainId: number;
  readonly clock?: Clock;
  readonly timing?: Partial<WebhookTiming>;
  /** The addresses that receivers may have; for tests. By default the public internet, on a local chain any. */
  readonly network?: PublicNetwork | null;
};

export type Webhooks = {
  /** Null without a key. */
  readonly service: WebhookService | null;
  /** The index or a webhook has changed. */
  onChange(): void;
  close(): Promise<void>;
};

type WebhookDependencies = {
  readonly database: Database;
  readonly readEvents: ReadEvents;
  readonly log: Log;
  readonly registry?: Registry;
};

export function openWebhooks(options: WebhooksOptions, dependencies: WebhookDependencies): Webhooks {
  const { config, clock = systemClock, timing } = options;
  const service = createWebhookService(options, dependencies.readEvents);
  if (service === null) return { service, onChange: () => undefined, close: async () => undefined };
  const delivery: WebhookDelivery | null = config.webhookDelivery
    ? startWebhookDelivery({ ...dependencies, ...(timing ? { timing } : {}), send: service.send, clock })
    : null;
  return {
    service,
    onChange: () => delivery?.onChange(),
    async close() {
      await delivery?.close();
      service.network?.agent.destroy();
    },
  };
}

function createWebhookService(options: WebhooksOptions, readEvents: ReadEvents): WebhookService | null {
  const { config, chainId, clock = systemClock } = options;
  const { webhookKey, webhooksMax, webhooksPerOwnerMax } = config;
  if (webhookKey === null) return null;
  const { network = chooseNetwork(chainId) } = options;
  const signer = createWebhookSigner(webhookKey);
  const send = createWebhookSender({ signer, clock, network });
  const prove = createReceiverProof({ send, clock });
  return { signer, send, prove, readEvents, network, limits: { webhooksMax, webhooksPerOwnerMax }, clock };
}

/** On a local chain receivers are on this machine, so that nothing is guarded. */
export function chooseNetwork(chainId: number): PublicNetwork | null {
  return chainId === localChain.chainId ? null : createPublicNetwork();
}
