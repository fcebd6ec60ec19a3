// Composes the write endpoints: documents, and the writes that the configured mode may require signatures for.
import { localChain } from "../chain/chains/chains.ts";
import { createRpc } from "../chain/rpc/client.ts";
import type { CallObserver } from "../chain/rpc/types.ts";
import { splitRpcUrls, type writeSettings } from "../config/indexing-settings.ts";
import type { Config } from "../config/read-config.ts";
import { Fault } from "../lib/fault.ts";
import type { Log } from "../lib/log.ts";
import type { Secret } from "../lib/secret.ts";
import type { Deployment } from "../protocol/deployment.ts";
import type { Endpoint } from "../schema/endpoint.ts";
import type { Read } from "../schema/reads/read.ts";
import type { WritableTable } from "../schema/record-store.ts";
import type { Database } from "../store/postgres/database.ts";
import { openRecordStore } from "../store/postgres/record-store.ts";
import { createDocumentEndpoints } from "./documents/endpoints.ts";
import { documentReads } from "./documents/reads.ts";
import { createWebhookEndpoints } from "./webhooks/endpoints.ts";
import type { WebhookService } from "./webhooks/records.ts";
import { attestationSchemaReads, createSchemaEndpoint } from "./writes/attestation-schemas.ts";
import {
  createSignedWriteAuthority,
  openWriteAuthority,
  type WriteAuthority,
  type WriteOptions,
} from "./writes/authority.ts";
import {
  createMetadataEndpoint,
  createReservationEndpoint,
  reservationRead,
} from "./writes/intent-metadata.ts";
import { createDisabledBidEndpoints, createOffchainBidEndpoints } from "./writes/offchain-bids.ts";
import { createAccountReads, unavailableAccountReads } from "./writes/verify-signature.ts";

export type WriteServiceOptions = {
  readonly deployment: Pick<Deployment, "chainId" | "contracts">;
  readonly config: Config<typeof writeSettings>;
  /** Nodes of the deployment's chain, to verify signatures of contract accounts. */
  readonly urls: readonly Secret<string>[];
  /** Observes the calls to these nodes, for metrics. */
  readonly onCall: CallObserver | null;
  /** URL the server listens on, once it does; the public URL unless one is configured. */
  readonly listenUrl: () => string;
};

export function openWriteService(
  options: WriteServiceOptions,
  dependencies: {
    database: Database;
    log: Log;
    onChange: (tables: readonly WritableTable[]) => void;
    webhooks: WebhookService | null;
  },
): { readonly endpoints: readonly Endpoint[]; close(): void } {
  const { config, listenUrl } = options;
  const { database, log, onChange, webhooks } = dependencies;
  const limits = {
    clientBytesPerDayMax: config.clientBytesPerDayMax,
    totalBytesMax: config.storedBytesMax,
  };
  const store = openRecordStore(database, { onChange, limits });
  const publicBaseUrl = () => config.publicBaseUrl ?? listenUrl();
  const { authority, close } = openAuthority(options, publicBaseUrl, log);
  return {
    endpoints: createWriteEndpoints({ store, authority, publicBaseUrl, webhooks }),
    close,
  };
}

function openAuthority(
  { config, deployment, urls, onCall }: WriteServiceOptions,
  audience: () => string,
  log: Log,
): { authority: WriteAuthority; close(): void } {
  const { chainId, contracts } = deployment;
  if (resolveWriteMode(config, chainId) === "open") {
    if (config.allowOpenWrites) {
      log.warn(
        { component: "api", event: "open_writes", chainId },
        "Writes are open: anyone can write for any account",
      );
    }
    return { authority: openWriteAuthority, close: () => undefined };
  }
  const domain = { chainId, intentBook: contracts.IntentBook };
  const { http: nodes } = splitRpcUrls(urls);
  if (nodes.length === 0) {
    log.warn(
      { component: "api", event: "signed_writes_unavailable" },
      "Signed writes are rejected until RPC_URL names a node",
    );
    return {
      authority: createSignedWriteAuthority({ domain, audience, reads: unavailableAccountReads }),
      close: () => undefined,
    };
  }
  const rpc = createRpc({ urls: nodes, chainId, log, onCall });
  return {
    authority: createSignedWriteAuthority({ domain, audience, reads: createAccountReads(rpc) }),
    close: () => rpc.close(),
  };
}

export function createWriteEndpoints(
  options: WriteOptions & {
    readonly publicBaseUrl: () => string;
    /** Null if webhooks are not configured. */
    readonly webhooks: WebhookService | null;
  },
): readonly Endpoint[] {
  return [
    ...createDocumentEndpoints(options),
    createMetadataEndpoint(options),
    createReservationEndpoint(options),
    createSchemaEndpoint(options),
    ...createWebhookEndpoints({ ...options, service: options.webhooks }),
    ...(options.authority.mode === "open"
      ? createOffchainBidEndpoints(options.store)
      : createDisabledBidEndpoints()),
  ];
}

/** The reads of what these endpoints store. */
export const writeReads: readonly Read[] = [reservationRead, ...attestationSchemaReads, ...documentReads];

/** Decided at startup, and never open by accident. */
export function resolveWriteMode(
  { writeAuth, allowOpenWrites }: Pick<Config<typeof writeSettings>, "writeAuth" | "allowOpenWrites">,
  chainId: number,
): "open" | "signed" {
  // Development nodes use this chain id, so no other user's data is at risk.
  const isLocal = chainId === localChain.chainId;
  if (writeAuth === "open" && !isLocal && !allowOpenWrites) {
    throw new Fault(
      "CONFIG_INVALID",
      `WRITE_AUTH=open lets anyone write on chain ${chainId}; set WRITE_AUTH=signed, or ALLOW_OPEN_WRITES=true if this is intended.`,
    );
  }
  return writeAuth ?? (isLocal ? "open" : "signed");
}
