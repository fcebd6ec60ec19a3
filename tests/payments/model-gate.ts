// A gate over the model chain, one per request: records the path of the request and counts its statements.
import { authorizationTypes } from "@x402/evm";
import { privateKeyToAccount } from "viem/accounts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import type { Hex } from "../../src/lib/hex.ts";
import type { FlowStateName } from "../../src/payments/paywall/flow-states.ts";
import { createGate } from "../../src/payments/paywall/gate.ts";
import type { GateLimits } from "../../src/payments/paywall/limits.ts";
import type { PaidHandler } from "../../src/payments/paywall/offer.ts";
import type { SettlementLookup } from "../../src/payments/settlement/onchain.ts";
import type { EndpointResponse } from "../../src/schema/endpoint.ts";
import type { StatementRunner } from "../../src/schema/record-store.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { LEDGER_OFFER, TEST_KEY } from "../support/payments/ledger-rows.ts";
import { silentLog } from "../support/quiet-log.ts";
import { encodePayload } from "./chaos/forgeries.ts";
import { GOOD_SIGNATURE, ModelChain, type SettleFault, type VerifyFault } from "./model-chain.ts";

export type ModelRequest = {
  /** The number of the payer's authorization. */
  readonly nonce?: number;
  readonly paymentId?: string | null;
  readonly path?: string;
  readonly payTo?: Hex;
  readonly isForged?: boolean;
  /** Signed by a key, and not by a contract account as all others. */
  readonly isKeySigned?: boolean;
  readonly verify?: VerifyFault;
  readonly settle?: SettleFault;
  readonly handler?: PaidHandler;
  readonly limits?: Partial<GateLimits>;
  /** How far the clock of this process is ahead. */
  readonly aheadMs?: number;
  readonly lookup?: Partial<SettlementLookup>;
  /** Runs before the first statement that matches, as another process would. */
  readonly interrupt?: { readonly before: RegExp; readonly run: () => Promise<unknown> };
  /** The process dies instead of running the statement of this number, or right after it. */
  readonly dies?: { readonly statement: number; readonly when: "before" | "after" };
};

export type ModelResponse = {
  /** Null if the process died. */
  readonly status: number | null;
  readonly body: string;
  readonly path: readonly FlowStateName[];
  readonly statements: number;
};

export const nonceOf = (nonce: number): Hex => `0x${nonce.toString(16).padStart(64, "0")}`;

const ok: PaidHandler = async () => ({ status: 200, body: { sold: true } });

const KEY = privateKeyToAccount(`0x${"44".repeat(32)}`);

function signByKey(authorization: Parameters<typeof encodePayload>[0]): Promise<Hex> {
  const { assetName: name, assetVersion: version, asset: verifyingContract } = LEDGER_OFFER;
  return KEY.signTypedData({
    domain: { name, version, chainId: 31_337, verifyingContract },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: authorization as never,
  });
}

/** One ledger and one chain, and a process of its own for every request. */
export class ModelWorld {
  readonly chain = new ModelChain();
  readonly #database: Database;
  readonly #validBefore = Math.floor(Date.now() / 1_000) + 3_600;

  constructor(database: Database) {
    this.#database = database;
  }

  async header(request: ModelRequest): Promise<string> {
    const { paymentId = null, isForged = false, isKeySigned = false } = request;
    const authorization = this.#authorization(request);
    const signature = isForged ? (`0x${"bb".repeat(65)}` as const) : GOOD_SIGNATURE;
    return encodePayload({
      x402Version: 2,
      accepted: { scheme: "exact", network: LEDGER_OFFER.network, asset: LEDGER_OFFER.asset },
      ...(paymentId === null ? {} : { extensions: { "payment-identifier": { info: { id: paymentId } } } }),
      payload: {
        authorization,
        signature: isKeySigned ? await signByKey(authorization) : signature,
      },
    });
  }

  /** Someone who has the signature sends it to the token. */
  carryOut({ nonce = 1 }: Pick<ModelRequest, "nonce">): void {
    const { from, value, validBefore } = this.#authorization({ nonce });
    this.chain.carryOut({ from, value, validBefore, nonce: nonceOf(nonce) });
  }

  #authorization({ nonce = 1, payTo = LEDGER_OFFER.payTo, isKeySigned = false }: ModelRequest) {
    return {
      from: isKeySigned ? (KEY.address.toLowerCase() as Hex) : TEST_KEY.payer,
      to: payTo,
      value: LEDGER_OFFER.amount.toString(),
      validAfter: "0",
      validBefore: String(this.#validBefore),
      nonce: nonceOf(nonce),
    };
  }

  /** A process: its gate, and what its requests do. */
  process(request: ModelRequest) {
    const { verify = "none", settle = "none", aheadMs = 0, interrupt, dies } = request;
    const edges: (readonly [FlowStateName, FlowStateName])[] = [];
    let statements = 0;
    let isDead = false;
    let isInterrupted = false;
    const records = openRecordStore(this.#database);
    const die = () => {
      isDead = true;
      throw new Error("this process is dead");
    };
    const store: StatementRunner = {
      run: async (statement) => {
        if (isDead) die();
        statements += 1;
        const number = statements;
        if (dies?.statement === number && dies.when === "before") die();
        if (interrupt?.before.test(statement.text) && !isInterrupted) {
          isInterrupted = true;
          await interrupt.run();
        }
        const rows = await records.run(statement);
        if (dies?.statement === number) die();
        return rows as never;
      },
    };
    const clock: Clock = { ...systemClock, nowMs: () => Date.now() + aheadMs };
    const gate = createGate({
      scope: LEDGER_OFFER,
      store,
      facilitator: this.chain.facilitator({ verify, settle }, () => undefined),
      lookup: { ...this.chain.settlements(0), ...request.lookup },
      log: silentLog,
      clock,
      limits: { leaseMs: 60_000, waitMs: 3_000, receiptMs: 0, recheckMsMin: 0, ...request.limits },
      onTransition: (from, to) => edges.push([from, to]),
    });
    return { gate, sale: gate.sell(LEDGER_OFFER), edges, statements: () => statements, isDead: () => isDead };
  }

  async request(request: ModelRequest = {}): Promise<ModelResponse> {
    const { sale, edges, statements, isDead } = this.process(request);
    const resource = { method: "GET", path: request.path ?? "/paid", query: {} };
    const response: EndpointResponse | null = await sale
      .serve({ resource, signature: await this.header(request), client: "192.0.2.1" }, request.handler ?? ok)
      .catch((error: unknown) => {
        if (isDead()) return null;
        throw error;
      });
    const body = response?.body;
    return {
      status: response?.status ?? null,
      body: body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body),
      path: ["opening", ...edges.map(([, to]) => to)],
      statements: statements(),
    };
  }
}
