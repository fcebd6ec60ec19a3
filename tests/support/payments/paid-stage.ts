// A paid service for tests: real chain and token, real database, real HTTP.

import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { localAccount } from "@sextant/local-chain/accounts";
import {
  type Abi,
  createPublicClient,
  custom,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  numberToHex,
  type PrivateKeyAccount,
  type PublicClient,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createRpc } from "../../../src/chain/rpc/client.ts";
import type { Rpc } from "../../../src/chain/rpc/types.ts";
import { addEndpointRoutes } from "../../../src/http/routes/endpoints.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import type { Clock } from "../../../src/lib/clock.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { ChannelClaims } from "../../../src/payments/channels/channel-claims.ts";
import type { ChannelSender } from "../../../src/payments/channels/channel-sender.ts";
import type { ChannelTerms } from "../../../src/payments/channels/channel-terms.ts";
import { openChannels } from "../../../src/payments/channels/open-channels.ts";
import { createFacilitatorEndpoints } from "../../../src/payments/facilitator/endpoints.ts";
import type { PaymentFacilitator } from "../../../src/payments/facilitator/facilitator.ts";
import { createRemoteFacilitator } from "../../../src/payments/facilitator/facilitator.ts";
import { createLocalFacilitator } from "../../../src/payments/facilitator/local.ts";
import { createRemoteChannelSender } from "../../../src/payments/facilitator/remote-channels.ts";
import { readCredential } from "../../../src/payments/mpp/credential.ts";
import { createGate, type Sale } from "../../../src/payments/paywall/gate.ts";
import type { GateLimits } from "../../../src/payments/paywall/limits.ts";
import type { PaidHandler, PaymentOffer } from "../../../src/payments/paywall/offer.ts";
import type { SettlementLookup } from "../../../src/payments/settlement/onchain.ts";
import { createSettlementLookup } from "../../../src/payments/settlement/onchain.ts";
import { openSignIn } from "../../../src/payments/sign-in/open-sign-in.ts";
import type { Endpoint } from "../../../src/schema/endpoint.ts";
import type { StatementRunner } from "../../../src/schema/record-store.ts";
import type { SqlText } from "../../../src/schema/sql.ts";
import type { Database } from "../../../src/store/postgres/database.ts";
import { openRecordStore } from "../../../src/store/postgres/record-store.ts";
import { LOCAL_GAS } from "../chain/local-gas.ts";
import { NO_LIMITS } from "../http/no-limits.ts";
import { silentLog } from "../quiet-log.ts";
import { openPaidBackend, type PaidBackend } from "./paid-backend.ts";
import { TEST_NETWORK, waitFor } from "./paid-client.ts";
import { singleProcessTurns } from "./single-process-turns.ts";

export const TEST_PRICE = 10_000n;
export const TEST_ORIGIN = "https://sold.example";
const TRANSFER = getAbiItem({ abi: usdCoinAbi, name: "Transfer" });
/**
 * Below the time limit of a test: with those of the service, a busy machine takes the turn of a client that signs again, or
 * ends the wait of the last of ten clients.
 */
const CHANNEL_PATIENCE_MS = 90_000;
/** Enough for several transfers in one call. */
const SENT_GAS = numberToHex(1_000_000);

const authorizerKey = privateKeyToAccount(localAccount(21).privateKey);
const receiverAuthorizer = {
  address: authorizerKey.address.toLowerCase() as Hex,
  sign: (digest: Hex) => authorizerKey.sign({ hash: digest }),
};
export const TEST_CHANNEL_TERMS: ChannelTerms = {
  receiverAuthorizer: receiverAuthorizer.address,
  withdrawDelay: 900,
  minDeposit: 10n * TEST_PRICE,
};

/** Faults that a test injects; each wraps the real facilitator and may respond in its place. */
type InjectedFacilitatorCalls = {
  verify?: (real: PaymentFacilitator["verify"]) => PaymentFacilitator["verify"];
  settle?: (real: PaymentFacilitator["settle"]) => PaymentFacilitator["settle"];
  /** Runs a statement, or dies before or after it. */
  statement?: <T>(run: () => Promise<T>) => Promise<T>;
  /** Changes what the database is asked. */
  rewrite?: (statement: SqlText) => SqlText;
};

export type PaidStage = Awaited<ReturnType<typeof openPaidStage>>;
export type StagedPaidService = Awaited<ReturnType<PaidStage["serve"]>>;

/** On a backend of its own, or on one that stages use one after another: closing then resets it for the next. */
export async function openPaidStage(kind: "in process" | "over HTTP", shared?: PaidBackend) {
  const backend = shared ?? (await openPaidBackend());
  const { chain, database } = backend;
  const token = openPaidToken(backend);
  const { asset, payTo } = token;
  const urls = [new Secret(chain.rpcUrl)];
  const rpc = createRpc({
    urls,
    log: silentLog,
    onCall: null,
    // The chain is in this process: what it does not have now, it does not have a second later.
    limits: { requestTimeoutMs: 5_000, pauseMsBase: 1, pauseMsMax: 20 },
  });
  const settlements = createSettlementLookup(rpc, { finalityDepth: 32, finalityDepthMin: 0 });
  const sent = openRecordStore(database);
  const inProcess = createLocalFacilitator({
    network: TEST_NETWORK,
    urls,
    privateKey: new Secret(chain.accounts.facilitator.privateKey),
    store: sent,
    turns: singleProcessTurns(sent),
    gas: LOCAL_GAS,
    log: silentLog,
    onCall: null,
    confirmationMs: 3_000,
    pollMs: 20,
    nonceGapMs: 300,
  });
  const domain = { assetName: "USD Coin", assetVersion: "2" } as const;
  const rules = { network: TEST_NETWORK, asset, ...domain, amountMin: 1_000n } as const;
  const closing: (() => Promise<unknown>)[] = [];
  const listenUntilClosed = async (endpoints: readonly Endpoint[]): Promise<string> => {
    const { url, close } = await listen(endpoints);
    closing.push(close);
    return url;
  };
  const overHttp = async (): Promise<PaymentFacilitator> => {
    const listed = { payees: [payTo], authorizers: [receiverAuthorizer.address] };
    const served = { facilitator: inProcess, rules: { ...rules, ...listed }, log: silentLog };
    const url = await listenUntilClosed(createFacilitatorEndpoints(served));
    return createRemoteFacilitator({ url, timeoutMs: 8_000 });
  };
  const facilitator = kind === "in process" ? inProcess : await overHttp();
  const parts = { asset, payTo, database, facilitator, settlements, rpc, listen: listenUntilClosed };
  const named = { ...rules, name: rules.assetName, version: rules.assetVersion };
  const remote = createRemoteChannelSender({ facilitator, database, rpc, token: named });
  const sender = kind === "in process" ? inProcess.channels : remote;
  return {
    ...token,
    kind,
    database,
    facilitator,
    inProcess,
    rules,
    settlements,
    rpc,
    sender,
    /** One process of the service: its own gate and port over the shared database and chain. */
    serve: (given: PaidServiceOptions = {}) => servePaid({ ...parts, sender }, given),
    async close() {
      for (const close of closing.reverse()) await close();
      rpc.close();
      await (shared === undefined ? backend.close() : backend.reset());
    },
  };
}

/** The token that is paid in, with accounts that hold some. */
function openPaidToken(backend: PaidBackend) {
  const { chain, asset } = backend;
  const payTo = chain.accounts.merchant.address.toLowerCase() as Hex;
  // Without a socket: tests read the chain more often than the service does.
  const request = ({ method, params }: { method: string; params?: unknown }) =>
    chain.request(method, params as unknown[]);
  const node = createPublicClient({ transport: custom({ request }, { retryCount: 0 }), pollingInterval: 20 });

  /** Signed by the chain itself, without a socket: tests send hundreds of these before they begin. */
  async function send(
    { address: from }: { readonly address: Hex },
    call: { address: Hex; abi: Abi; functionName: string; args: readonly unknown[] },
  ): Promise<void> {
    const hash = await chain.request("eth_sendTransaction", [
      { from, to: call.address, data: encodeFunctionData(call), gas: SENT_GAS },
    ]);
    await waitFor(async () => (await chain.request("eth_getTransactionReceipt", [hash])) !== null);
  }

  const mint = (to: Hex, amount: bigint) =>
    send(chain.accounts.owner, {
      address: asset,
      abi: usdCoinAbi,
      functionName: "mint",
      args: [to, amount],
    });

  return {
    chain,
    node,
    asset,
    payTo,
    send,
    mint,
    /** A new account with a dollar. */
    async payer(dollars = 1n): Promise<PrivateKeyAccount> {
      const account = privateKeyToAccount(localAccount(backend.nextPayerIndex()).privateKey);
      await mint(account.address, dollars * 1_000_000n);
      return account;
    },
    balance: (of: Hex) => balanceOf(node, asset, of),
    /** Transfers from an account to us, by transaction. */
    async transfersFrom(payer: Hex) {
      const args = { from: payer, to: payTo };
      return node.getLogs({ address: asset, event: TRANSFER, args, fromBlock: 0n, strict: true });
    },
  };
}

type PaidServiceOptions = {
  limits?: Partial<GateLimits>;
  offer?: Partial<PaymentOffer>;
  chain?: SettlementLookup;
  clock?: Clock;
  facilitator?: PaymentFacilitator;
  /** Sells by channel too, with these changes. */
  channels?: Partial<Omit<Parameters<typeof openChannels>[0], "network" | "store">>;
  /** Gives payers stored responses when they sign in. */
  signIn?: true;
  /** Believes the facilitator as one of this process; without it, as a remote one. */
  readsOwnNodes?: true;
};

type PaidServiceParts = {
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly database: Database;
  readonly facilitator: PaymentFacilitator;
  readonly settlements: SettlementLookup;
  readonly rpc: Rpc;
  readonly sender: ChannelSender;
  readonly listen: (endpoints: readonly Endpoint[]) => Promise<string>;
};

async function servePaid(parts: PaidServiceParts, given: PaidServiceOptions) {
  const injected: InjectedFacilitatorCalls = {};
  const runs: string[] = [];
  const outcomes: string[] = [];
  const sold: { work: PaidHandler } = { work: async () => ({ status: 200, body: { run: runs.length } }) };
  const offer: PaymentOffer = {
    ...{ network: TEST_NETWORK, asset: parts.asset, assetName: "USD Coin", assetVersion: "2", decimals: 6 },
    payTo: parts.payTo,
    amount: TEST_PRICE,
    maxTimeoutSeconds: 60,
    description: "A snapshot.",
    mimeType: "application/json",
    resourceOrigin: TEST_ORIGIN,
    listing: null,
    ...(given.channels ? { channels: TEST_CHANNEL_TERMS } : {}),
    ...given.offer,
  };
  const records = openRecordStore(parts.database);
  let statements = 0;
  const store: StatementRunner = {
    run: <R extends object>(statement: SqlText) => {
      statements += 1;
      const run = () => records.run<R>(injected.rewrite?.(statement) ?? statement);
      return injected.statement ? injected.statement(run) : run();
    },
  };
  const channels = given.channels && openTestChannels(parts, store, given.channels);
  const gate = createGate({
    scope: offer,
    ...(channels ? { channels } : {}),
    ...(given.signIn ? { signIn: await openSignIn(store, offer, given.clock) } : {}),
    store,
    facilitator: {
      ...injectCalls(given.facilitator ?? parts.facilitator, injected),
      ...(given.readsOwnNodes ? { readsOwnNodes: true } : {}),
    },
    lookup: given.chain ?? parts.settlements,
    log: silentLog,
    ...(given.clock ? { clock: given.clock } : {}),
    limits: {
      ...{ settleMs: 5_000, leaseMs: 3_000, recheckMsMin: 0 },
      waitMs: given.channels ? CHANNEL_PATIENCE_MS : 8_000,
      ...given.limits,
    },
    count: (outcome) => outcomes.push(outcome),
  });
  const sale = gate.sell(offer);
  const url = await parts.listen([
    paidEndpoint(sale, (q, signal) => {
      runs.push(q);
      return sold.work(signal);
    }),
  ]);
  const claims = channels && new ChannelClaims({ ...channels, log: silentLog });
  return {
    url,
    gate,
    channels,
    claims,
    sale,
    runs,
    outcomes,
    sold,
    injected,
    offer,
    statements: () => statements,
  };
}

function openTestChannels(
  { rpc, sender }: Pick<PaidServiceParts, "rpc" | "sender">,
  store: StatementRunner,
  changes: NonNullable<PaidServiceOptions["channels"]>,
) {
  const parts = openChannels({
    ...{ network: TEST_NETWORK, store, rpc, sender, authorizer: receiverAuthorizer },
    finality: { depthFallback: 32, depthMin: 0 },
    exposureMax: 1_000_000n,
    claimRules: { valueMin: 1_000_000n, ageSecondsMax: 3_600 },
    log: silentLog,
    ...changes,
    limits: { leaseMs: CHANNEL_PATIENCE_MS, correctionMs: CHANNEL_PATIENCE_MS, ...changes.limits },
  });
  return { ...parts, claims: new ChannelClaims({ ...parts, log: silentLog }) };
}

/** The facilitator with the faults that are injected at the time of each call. */
function injectCalls(real: PaymentFacilitator, injected: InjectedFacilitatorCalls): PaymentFacilitator {
  const verify: PaymentFacilitator["verify"] = (...args) => real.verify(...args);
  const settle: PaymentFacilitator["settle"] = (...args) => real.settle(...args);
  return {
    verify: (...args) => (injected.verify?.(verify) ?? verify)(...args),
    settle: (...args) => (injected.settle?.(settle) ?? settle)(...args),
    getSupported: () => real.getSupported(),
  };
}

function balanceOf(node: PublicClient, asset: Hex, of: Hex): Promise<bigint> {
  return node.readContract({ address: asset, abi: usdCoinAbi, functionName: "balanceOf", args: [of] });
}

async function listen(endpoints: readonly Endpoint[]) {
  const server = createHttpServer({
    ...NO_LIMITS,
    log: silentLog,
    bodyBytesMax: 262_144,
    requestMsMax: 30_000,
    // A test may name the client of a request in X-Forwarded-For.
    trustedProxies: 1,
    checkReadiness: async () => ({ ready: true }),
  });
  addEndpointRoutes(server.app, endpoints);
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "TEST_PORT" });
  return { url, close: () => server.close() };
}

const TEXT = { json: { type: "string" }, parse: (text: string) => text };

function paidEndpoint(
  sale: Pick<Sale, "serve" | "offer">,
  work: (q: string, signal: AbortSignal) => ReturnType<PaidHandler>,
): Endpoint {
  return {
    method: "GET",
    path: "/paid",
    operationId: "getPaid",
    summary: "What is sold",
    description: "What is sold.",
    tag: "Paid",
    parameters: [{ name: "q", in: "query", required: true, kind: TEXT, description: "What is requested." }],
    body: null,
    responses: { 200: { type: "object" } },
    handle({ values, headers, isHead, client }) {
      const q = String(values.q);
      // `a:5` is read from five chains.
      const chainCount = Number(q.split(":")[1] ?? 1);
      const resource = { method: "GET", path: "/paid", query: { q }, chainCount };
      const signature = headers["payment-signature"];
      const credential = sale.offer.mpp === undefined ? undefined : readCredential(headers);
      const signIn = isHead ? undefined : headers["sign-in-with-x"];
      return sale.serve({ resource, signature, credential, signIn, client }, (signal) => work(q, signal));
    },
  };
}
