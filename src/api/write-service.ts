// Everything the API lets people write, put together: documents, and what the configured mode asks signatures for.
import { createRpc } from "../chain/rpc/client.ts";
import { splitUrls } from "../config/node-urls.ts";
import type { Config } from "../config/read-config.ts";
import type { writeSettings } from "../config/settings.ts";
import type { Log } from "../lib/log.ts";
import type { Secret } from "../lib/secret.ts";
import type { Deployment } from "../protocol/deployment.ts";
import type { Endpoint } from "../schema/endpoint.ts";
import type { WrittenTable } from "../schema/record-store.ts";
import type { Database } from "../store/postgres/database.ts";
import { openRecordStore } from "../store/postgres/record-store.ts";
import { accountReads, noAccountReads } from "./account-reads.ts";
import { documentEndpoints } from "./documents/endpoints.ts";
import { writeMode } from "./write-mode.ts";
import { openWrites, signedWrites, type WriteAuthority } from "./writes/authority.ts";
import { writeEndpoints } from "./writes/endpoints.ts";

export type Writing = {
  readonly endpoints: readonly Endpoint[];
  close(): void;
};

/** What a door must know to let people write. */
export type WritingOptions = {
  readonly deployment: Pick<Deployment, "chainId" | "contracts">;
  readonly config: Config<typeof writeSettings>;
  /** Nodes of the deployment's chain, for accounts that are contracts. */
  readonly urls: readonly Secret<string>[];
  /** Where we listen, once we do: clients that know no better address reach us there. */
  readonly listensAt: () => string;
};

export function openWriting(
  options: WritingOptions,
  parts: { database: Database; log: Log; changed: (tables: readonly WrittenTable[]) => void },
): Writing {
  const { config, listensAt } = options;
  const { database, log, changed } = parts;
  const limits = {
    clientBytesPerDayMax: config.clientBytesPerDayMax,
    totalBytesMax: config.storedBytesMax,
  };
  const store = openRecordStore(database, { changed, limits });
  const publicBaseUrl = () => config.publicBaseUrl ?? listensAt();
  const { authority, close } = openAuthority(options, publicBaseUrl, log);
  return {
    endpoints: [...documentEndpoints({ store, publicBaseUrl }), ...writeEndpoints({ store, authority })],
    close,
  };
}

function openAuthority(
  { config, deployment, urls }: WritingOptions,
  audience: () => string,
  log: Log,
): { authority: WriteAuthority; close(): void } {
  const { chainId, contracts } = deployment;
  if (writeMode(config, chainId) === "open") {
    if (config.allowOpenWrites) log.warn({ chainId }, "Writes are open: anyone may write in anyone's name");
    return { authority: openWrites, close: () => undefined };
  }
  const domain = { chainId, intentBook: contracts.IntentBook };
  const { http: nodes } = splitUrls(urls);
  if (nodes.length === 0) {
    log.warn("Signed writes are refused until RPC_URL names a node: signatures of contracts need one");
    return {
      authority: signedWrites({ domain, audience, reads: noAccountReads }),
      close: () => undefined,
    };
  }
  const rpc = createRpc({ urls: nodes, chainId, log });
  return {
    authority: signedWrites({ domain, audience, reads: accountReads(rpc) }),
    close: () => rpc.close(),
  };
}
