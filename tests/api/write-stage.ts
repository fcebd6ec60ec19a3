// A chain, its index, and two APIs on it: one with open writes, one with signed writes.

import type { WriteDomain } from "@sextant/client/writes/typed-data";
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { type Intent, intentStructHash } from "@sextant/contracts/hashes/intent-hash";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { buildIntent, cancelIntent, signIntent, submitIntent } from "@sextant/simulator/transactions/intents";
import { openWorld, type World } from "@sextant/simulator/world";
import type { Hex, PrivateKeyAccount } from "viem";
import { serveApi } from "../../src/api/serve.ts";
import {
  metadataWriteSubject,
  reservationWriteSubject,
  type WriteSubject,
} from "../../src/api/writes/signed-write.ts";
import { webhookSettings, writeSettings } from "../../src/config/indexing-settings.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { Secret } from "../../src/lib/secret.ts";
import type { Deployment } from "../../src/protocol/deployment.ts";
import { type ApiResponse, openApiClient } from "../support/http/api-client.ts";
import { NO_LIMITS } from "../support/http/no-limits.ts";
import { signWrite } from "../support/http/sign-write.ts";
import { startTestIndex, type TestIndex, toDeployment } from "../support/index/test-index.ts";
import { silentLog } from "../support/quiet-log.ts";

/** The parts of responses that tests use; whole responses are checked against /openapi.json. */
type WriteResponseBody = Readonly<Record<string, unknown>> & {
  readonly bid_id: string;
  readonly uri: string;
  readonly execution_data: string;
  readonly metadata: { readonly execution_data: string };
  readonly bids: readonly { readonly status: string }[];
  readonly schemas: readonly { readonly schema_hash: string }[];
  readonly pagination: { readonly next_cursor?: string };
};

type WriteResponse = ApiResponse & { readonly body: WriteResponseBody };

type WriteClient = {
  readonly url: string;
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<WriteResponse>;
};

/** Two people who have nothing to do with the deployment. */
export const INTENT_OWNER = 8;
export const UNRELATED_ACCOUNT = 9;

export const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export type WriteStage = {
  readonly chain: LocalChain;
  readonly index: TestIndex;
  readonly domain: WriteDomain;
  /** Another one after each reorg. */
  world(): World;
  readonly signed: WriteClient;
  readonly open: WriteClient;
  /** An account with a key; from index 8 on they are unrelated to the deployment. */
  person(index: number): PrivateKeyAccount;
  addressOf(person: number): Hex;
  /** An intent and its hash, not submitted yet. */
  wish(owner: number, nonce: bigint, dataHash?: Hex): { intent: Intent; hash: Hex };
  submit(owner: number, nonce: bigint, dataHash?: Hex): Promise<bigint>;
  cancel(owner: number, intentId: bigint): Promise<void>;
  /** Waits until the index has the chain's head. */
  waitUntilSynced(): Promise<void>;
  reorg(depth: number): Promise<void>;
  /** Sends a body to the signed API, signed for the subject. */
  send(
    by: PrivateKeyAccount,
    subject: WriteSubject,
    request: {
      method: string;
      path: string;
      body: unknown;
      version: bigint;
      audience?: string;
      signer?: Hex;
    },
  ): Promise<WriteResponse>;
  /** A version as clients choose it: the time, always increasing. */
  nextVersion(): bigint;
  put(intent: bigint, body: unknown, by?: number, version?: bigint): Promise<WriteResponse>;
  reserve(hash: Hex, owner: Hex, fields: object, by?: number): Promise<WriteResponse>;
  get(path: string): Promise<WriteResponse>;
  close(): Promise<void>;
};

const TOKENS = { inputToken: `0x${"77".repeat(20)}`, outputToken: `0x${"88".repeat(20)}` } as const;
const DEADLINE_SECONDS = 60n;

export async function openWriteStage(): Promise<WriteStage> {
  const chain = await startLocalChain({ chainId: 31_337, code: LOCAL_GENESIS_CODE });
  const { request } = chain;
  const local = await deploy({ request, owner: chain.accounts.owner });
  const deployment = toDeployment(local);
  const index = await startTestIndex({ urls: [chain.rpcUrl, chain.wsUrl], deployment });
  const served = { chain, index, deployment };
  let world: World = await openWorld({ request, deployment: local });
  const now = BigInt(Math.floor(Date.now() / 1_000));
  const [signed, open] = await Promise.all([serveWrites("signed", served), serveWrites("open", served)]);
  const domain = { chainId: local.chainId, intentBook: deployment.contracts.IntentBook };
  const wanted = (nonce: bigint, dataHash?: Hex) => ({
    ...TOKENS,
    constraints: { amountInMax: 1_000n, amountOutMin: 900n, deadline: now + 86_400n, slippageBps: 50 },
    execution: dataHash === undefined ? {} : { dataHash },
    nonce,
  });
  let clock = BigInt(Date.now());
  const stage: WriteStage = {
    ...{ chain, index, domain },
    world: () => world,
    signed: signed.client,
    open: open.client,
    person: (account) => world.wallet(account).account,
    addressOf: (account) => world.wallet(account).address,
    wish(owner, nonce, dataHash) {
      const intent = buildIntent(world, world.wallet(owner).address, wanted(nonce, dataHash));
      return { intent, hash: intentStructHash(intent) };
    },
    async submit(owner, nonce, dataHash) {
      const by = world.wallet(owner);
      return submitIntent(world, by, await signIntent(world, by, wanted(nonce, dataHash)));
    },
    cancel: (owner, intentId) => cancelIntent(world, world.wallet(owner), intentId),
    waitUntilSynced: () => waitForHead(served),
    async reorg(depth) {
      await chain.reorg(depth, { replay: "none" });
      // A new world after each reorg, because it reads the nonces of the accounts again.
      world = await openWorld({ request, deployment: local });
    },
    send: createSignedSender(signed.client, domain),
    nextVersion() {
      clock += 1n;
      return clock;
    },
    put: (id, body, by = INTENT_OWNER, version = stage.nextVersion()) =>
      stage.send(stage.person(by), metadataWriteSubject(id), {
        method: "PUT",
        path: `/intents/${id}/metadata`,
        body,
        version,
      }),
    reserve: (hash, owner, fields, by = INTENT_OWNER) =>
      stage.send(stage.person(by), reservationWriteSubject(hash), {
        method: "POST",
        path: "/intents/metadata",
        body: { intent_hash: hash, owner, ...fields },
        version: stage.nextVersion(),
      }),
    get: (path) => signed.client.request("GET", path),
    async close() {
      await Promise.all([signed.close(), open.close()]);
      await index.close();
      await chain.stop();
    },
  };
  await stage.waitUntilSynced();
  return stage;
}

type ServedIndex = Pick<WriteStage, "chain" | "index"> & { readonly deployment: Deployment };

async function waitForHead({ chain, index }: ServedIndex): Promise<void> {
  const head = (await chain.request("eth_getBlockByNumber", ["latest", false])) as Record<string, string>;
  await index.waitUntilIndexed({ number: Number(head.number), hash: String(head.hash) });
}

/** An API over the index; `mode` is WRITE_AUTH. */
async function serveWrites(
  mode: string,
  { chain, index, deployment }: ServedIndex,
): Promise<{ client: WriteClient; close(): Promise<void> }> {
  const ready = async () => ({ ready: true }) as const;
  const server = createHttpServer({
    ...NO_LIMITS,
    log: silentLog,
    bodyBytesMax: 262_144,
    requestMsMax: 20_000,
    checkReadiness: ready,
  });
  let url = "";
  const config = readConfig({ WRITE_AUTH: mode }, writeSettings);
  const urls = [new Secret(chain.rpcUrl)];
  const writing = { deployment, config, urls, onCall: null, listenUrl: () => url };
  const webhooks = {
    config: readConfig({ SEXTANT_WEBHOOK_KEY: `0x${"5e".repeat(32)}` }, webhookSettings),
    chainId: deployment.chainId,
    timing: { pollMs: 100, spacingMs: 0 },
  };
  const api = serveApi(server, { database: index.database, log: silentLog, writes: writing, webhooks });
  url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "API_PORT" });
  return {
    client: await openClient(url),
    async close() {
      await server.close();
      await api.close();
    },
  };
}

/** Signs a body for its subject and sends it. */
function createSignedSender(client: WriteClient, domain: WriteDomain): WriteStage["send"] {
  return async (by, subject, { method, path, body, version, audience, signer }) => {
    const text = JSON.stringify(body);
    const deadline = BigInt(Math.floor(Date.now() / 1_000)) + DEADLINE_SECONDS;
    const write = { ...subject, audience: audience ?? client.url, version, deadline, body: text };
    const headers = await signWrite(by, domain, write);
    return client.request(method, path, text, {
      ...headers,
      ...(signer === undefined ? {} : { "x-write-signer": signer }),
    });
  };
}

/** Checks every response against the OpenAPI document. */
async function openClient(url: string): Promise<WriteClient> {
  const { call } = await openApiClient(url);
  return {
    url,
    request: async (method, path, body, headers = {}) =>
      (await call(path, { method, headers, body })) as WriteResponse,
  };
}
