// Everything the API lets people write, put together: documents, and what the configured mode asks signatures for.
import { createRpc } from "../chain/rpc/client.ts";
import type { CallObserver } from "../chain/rpc/types.ts";
import { splitRpcUrls } from "../config/node-urls.ts";
import type { Config } from "../config/read-config.ts";
import type { writeSettings } from "../config/settings.ts";
import type { Log } from "../lib/log.ts";
import type { Secret } from "../lib/secret.ts";
import type { Deployment } from "../protocol/deployment.ts";
import type { Endpoint } from "../schema/endpoint.ts";
import type { WritableTable } from "../schema/record-store.ts";
import type { Database } from "../store/postgres/database.ts";
import { openRecordStore } from "../store/postgres/record-store.ts";
import { createAccountReads, unavailableAccountReads } from "./account-reads.ts";
import { createDocumentEndpoints } from "./documents/endpoints.ts";
import { resolveWriteMode } from "./write-mode.ts";
import { createSignedWriteAuthority, openWriteAuthority, type WriteAuthority } from "./writes/authority.ts";
import { createWriteEndpoints } from "./writes/endpoints.ts";

export type WriteService = {
  readonly endpoints: readonly Endpoint[];
  close(): void;
};

/** What a door must know to let people write. */
export type WriteServiceOptions = {
  readonly deployment: Pick<Deployment, "chainId" | "contracts">;
  readonly config: Config<typeof writeSettings>;
  /** Nodes of the deployment's chain, for accounts that are contracts. */
  readonly urls: readonly Secret<string>[];
  /** For the metrics of the calls to these nodes. */
  readonly onCall: CallObserver | null;
  /** Where we listen, once we do: clients that know no better address reach us there. */
  readonly listenUrl: () => string;
};

export function openWriteService(
  options: WriteServiceOptions,
  parts: { database: Database; log: Log; changed: (tables: readonly WritableTable[]) => void },
): WriteService {
  const { config, listenUrl: listensAt } = options;
  const { database, log, changed } = parts;
  const limits = {
    clientBytesPerDayMax: config.clientBytesPerDayMax,
    totalBytesMax: config.storedBytesMax,
  };
  const store = openRecordStore(database, { onChange: changed, limits });
  const publicBaseUrl = () => config.publicBaseUrl ?? listensAt();
  const { authority, close } = openAuthority(options, publicBaseUrl, log);
  return {
    endpoints: [
      ...createDocumentEndpoints({ store, publicBaseUrl }),
      ...createWriteEndpoints({ store, authority }),
    ],
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
    if (config.allowOpenWrites) log.warn({ chainId }, "Writes are open: anyone may write in anyone's name");
    return { authority: openWriteAuthority, close: () => undefined };
  }
  const domain = { chainId, intentBook: contracts.IntentBook };
  const { http: nodes } = splitRpcUrls(urls);
  if (nodes.length === 0) {
    log.warn("Signed writes are refused until RPC_URL names a node: signatures of contracts need one");
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
