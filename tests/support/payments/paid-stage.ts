// A paid service for tests: real chain and token, real database, real HTTP.

import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { localAccount } from "@sextant/local-chain/accounts";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import {
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type PrivateKeyAccount,
  type PublicClient,
  parseEventLogs,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createRpc } from "../../../src/chain/rpc/client.ts";
import { addEndpointRoutes } from "../../../src/http/routes/endpoints.ts";
import { createHttpServer } from "../../../src/http/server.ts";
import type { Clock } from "../../../src/lib/clock.ts";
import { Secret } from "../../../src/lib/secret.ts";
import { createFacilitatorEndpoints } from "../../../src/payments/facilitator/endpoints.ts";
import type { PaymentFacilitator } from "../../../src/payments/facilitator/facilitator.ts";
import { createLocalFacilitator } from "../../../src/payments/facilitator/local.ts";
import { createRemoteFacilitator } from "../../../src/payments/facilitator/remote.ts";
import { createGate, type Gate } from "../../../src/payments/paywall/gate.ts";
import type { GateLimits } from "../../../src/payments/paywall/limits.ts";
import type { PaymentOffer } from "../../../src/payments/paywall/offer.ts";
import type { PaidHandler } from "../../../src/payments/paywall/paid-request.ts";
import type { SettlementLookup } from "../../../src/payments/settlement/lookup.ts";
import { createSettlementLookup } from "../../../src/payments/settlement/onchain.ts";
import type { Endpoint } from "../../../src/schema/endpoint.ts";
import type { StatementRunner } from "../../../src/schema/record-store.ts";
import { openRecordStore } from "../../../src/store/postgres/record-store.ts";
import { LOCAL_GAS } from "../chain/local-gas.ts";
import { openTestDatabase } from "../index/test-index.ts";
import { silentLog } from "../quiet-log.ts";
import { TEST_NETWORK } from "./paid-client.ts";

export const TEST_PRICE = 10_000n;
export const TEST_ORIGIN = "https://sold.example";
/** The first account without another role. */
const PAYER_INDEX = 8;

/** Faults that a test injects; each wraps the real facilitator and may respond in its place. */
export type InjectedFacilitatorCalls = {
  verify?: (real: PaymentFacilitator["verify"]) => PaymentFacilitator["verify"];
  settle?: (real: PaymentFacilitator["settle"]) => PaymentFacilitator["settle"];
};

export type PaidStage = Awaited<ReturnType<typeof openPaidStage>>;
export type StagedPaidService = Awaited<ReturnType<PaidStage["serve"]>>;

export async function openPaidStage(kind: "in process" | "over HTTP") {
  const chain = await startLocalChain({ chainId: 31_337, code: LOCAL_GENESIS_CODE });
  const { local } = await deploy({ request: chain.request, owner: chain.accounts.owner });
  const asset = local.UsdCoin.toLowerCase() as Hex;
  const payTo = chain.accounts.merchant.address.toLowerCase() as Hex;
  const node = createPublicClient({ transport: http(chain.rpcUrl, { retryCount: 0 }), pollingInterval: 20 });
  const { database, drop } = await openTestDatabase();
  const rpc = createRpc({
    urls: [new Secret(chain.rpcUrl)],
    log: silentLog,
    onCall: null,
    limits: { requestTimeoutMs: 5_000 },
  });
  const settlements = createSettlementLookup(rpc, { finalityDepth: 32, finalityDepthMin: 0 });
  const closing: (() => Promise<unknown>)[] = [];

  const inProcess = createLocalFacilitator({
    network: TEST_NETWORK,
    urls: [new Secret(chain.rpcUrl)],
    privateKey: new Secret(chain.accounts.facilitator.privateKey),
    store: openRecordStore(database),
    gas: LOCAL_GAS,
    log: silentLog,
    onCall: null,
    confirmationMs: 3_000,
    pollMs: 20,
    nonceGapMs: 300,
  });
  const rules = {
    network: TEST_NETWORK,
    asset,
    assetName: "USD Coin",
    assetVersion: "2",
    amountMin: 1_000n,
  } as const;
  const settling = kind === "in process" ? inProcess : await overHttp();

  async function overHttp(): Promise<PaymentFacilitator> {
    const { url, close } = await listen(
      createFacilitatorEndpoints({
        facilitator: inProcess,
        rules: { ...rules, payees: [payTo] },
        log: silentLog,
      }),
    );
    closing.push(close);
    return createRemoteFacilitator({ url, timeoutMs: 8_000 });
  }

  /** One process of the service: its own gate and port over the shared database and chain. */
  async function serve(
    given: {
      limits?: Partial<GateLimits>;
      offer?: Partial<PaymentOffer>;
      chain?: SettlementLookup;
      clock?: Clock;
      facilitator?: PaymentFacilitator;
    } = {},
  ) {
    const facilitator = given.facilitator ?? settling;
    const injected: InjectedFacilitatorCalls = {};
    const runs: string[] = [];
    const outcomes: string[] = [];
    const sold: { work: PaidHandler } = { work: async () => ({ status: 200, body: { run: runs.length } }) };
    const offer: PaymentOffer = {
      ...{
        network: TEST_NETWORK,
        asset,
        assetName: "USD Coin",
        assetVersion: "2",
        decimals: 6,
        payTo,
        amount: TEST_PRICE,
      },
      ...{
        maxTimeoutSeconds: 60,
        description: "A snapshot.",
        mimeType: "application/json",
        resourceOrigin: TEST_ORIGIN,
        listing: null,
      },
      ...given.offer,
    };
    const verify: PaymentFacilitator["verify"] = (...args) =>
      (injected.verify?.((...real) => facilitator.verify(...real)) ?? facilitator.verify.bind(facilitator))(
        ...args,
      );
    const settle: PaymentFacilitator["settle"] = (...args) =>
      (injected.settle?.((...real) => facilitator.settle(...real)) ?? facilitator.settle.bind(facilitator))(
        ...args,
      );
    const records = openRecordStore(database);
    let statements = 0;
    const store: StatementRunner = {
      run: (statement) => {
        statements += 1;
        return records.run(statement);
      },
    };
    const gate = createGate({
      offer,
      store,
      facilitator: { verify, settle, getSupported: () => facilitator.getSupported() },
      lookup: given.chain ?? settlements,
      log: silentLog,
      ...(given.clock ? { clock: given.clock } : {}),
      limits: { settleMs: 5_000, leaseMs: 3_000, waitMs: 8_000, ...given.limits },
      count: (outcome) => outcomes.push(outcome),
    });
    const { url, close } = await listen([
      paidEndpoint(gate, (q, signal) => {
        runs.push(q);
        return sold.work(signal);
      }),
    ]);
    closing.push(close);
    return { url, gate, runs, outcomes, sold, injected, offer, statements: () => statements };
  }

  const mint = (to: Hex, amount: bigint) =>
    send(chain.accounts.owner.privateKey, {
      address: asset,
      abi: usdCoinAbi,
      functionName: "mint",
      args: [to, amount],
    });

  async function send(
    privateKey: Hex,
    call: { address: Hex; abi: unknown; functionName: string; args: unknown[] },
  ) {
    const wallet = createWalletClient({
      account: privateKeyToAccount(privateKey),
      transport: http(chain.rpcUrl),
    });
    const hash = await wallet.writeContract({ ...call, chain: null } as Parameters<
      typeof wallet.writeContract
    >[0]);
    return node.waitForTransactionReceipt({ hash });
  }

  let payers = 0;
  return {
    kind,
    chain,
    node,
    asset,
    payTo,
    database,
    facilitator: settling,
    inProcess,
    rules,
    settlements,
    serve,
    send,
    mint,
    /** A new account with a dollar. */
    async payer(dollars = 1n): Promise<PrivateKeyAccount> {
      const account = privateKeyToAccount(localAccount(PAYER_INDEX + payers++).privateKey);
      await mint(account.address, dollars * 1_000_000n);
      return account;
    },
    balance: (of: Hex) => balanceOf(node, asset, of),
    /** Transfers from an account to us, by transaction. */
    async transfersFrom(payer: Hex) {
      const logs = await node.getLogs({ address: asset, fromBlock: 0n });
      return parseEventLogs({ abi: usdCoinAbi, eventName: "Transfer", logs }).filter(
        ({ args }) => args.from === payer && args.to.toLowerCase() === payTo,
      );
    },
    async close() {
      for (const close of closing.reverse()) await close();
      rpc.close();
      await drop();
      await chain.stop();
    },
  };
}

function balanceOf(node: PublicClient, asset: Hex, of: Hex): Promise<bigint> {
  return node.readContract({ address: asset, abi: usdCoinAbi, functionName: "balanceOf", args: [of] });
}

async function listen(endpoints: readonly Endpoint[]) {
  const server = createHttpServer({
    log: silentLog,
    bodyBytesMax: 262_144,
    requestMsMax: 30_000,
    checkReadiness: async () => ({ ready: true }),
  });
  addEndpointRoutes(server.app, endpoints);
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "TEST_PORT" });
  return { url, close: () => server.close() };
}

const TEXT = { json: { type: "string" }, parse: (text: string) => text };

function paidEndpoint(
  gate: Pick<Gate, "serve">,
  work: (q: string, signal: AbortSignal) => ReturnType<PaidHandler>,
): Endpoint {
  return {
    method: "GET",
    path: "/paid",
    operationId: "getPaid",
    summary: "What is sold",
    tag: "Paid",
    parameters: [{ name: "q", in: "query", required: true, kind: TEXT, description: "What is requested." }],
    body: null,
    responses: { 200: { type: "object" } },
    handle({ values, headers }) {
      const q = String(values.q);
      const resource = { method: "GET", path: "/paid", query: { q } };
      return gate.serve({ resource, signature: headers["payment-signature"] }, (signal) => work(q, signal));
    },
  };
}
