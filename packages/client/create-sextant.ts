// Creates the client: one action per row of the table of operations, and the payments behind those that are sold.
import { SextantError } from "./errors.ts";
import type { IndexedActions, OtherActions } from "./generated/actions.ts";
import { OPERATIONS } from "./generated/operations.ts";
import {
  buildUrl,
  type Call,
  type CallContext,
  createBlockFinder,
  createList,
  send,
  sendForDocument,
} from "./http/call.ts";
import { OwnWrites } from "./http/own-writes.ts";
import { SeenBlock } from "./http/seen-block.ts";
import { createTransport, RESPONSE_BYTES_MAX } from "./http/transport.ts";
import { assertChecksum } from "./http/wallet-address.ts";
import { createMemoryJournal, type Journal } from "./journal/journal.ts";
import type { Operation, Paid, PaidOptions, ReadOptions } from "./operation.ts";
import type { Payer } from "./payments/authorization.ts";
import { type Channels, createChannels } from "./payments/channel-actions.ts";
import { type ChannelOptions, useChannels } from "./payments/channel-options.ts";
import { createGuard, type GuardOptions } from "./payments/guard.ts";
import { createPayments, type Payments } from "./payments/payments.ts";
import { buy } from "./payments/purchase.ts";
import { type Quote, quotePrice } from "./payments/quote.ts";
import type { PaymentReceipt } from "./payments/receipt.ts";
import type { PurchaseContext } from "./payments/standing.ts";
import { type Watch, type WatchFilter, type WatchOptions, watch } from "./watch/watch.ts";
import type { Writer } from "./writes/sign-write.ts";

export interface SextantOptions {
  /** URL of the indexing API. */
  readonly api?: string;
  /** URL of the portfolio service. */
  readonly portfolio?: string;
  /** The account that pays; without one nothing is ever signed. */
  readonly payer?: Payer;
  /** Limits which payments may be signed, and how much; on by default. */
  readonly guard?: GuardOptions;
  /** Pays by channel where the service takes it: one deposit, then a signature for each purchase. Needs a `journal`. */
  readonly channel?: ChannelOptions;
  /** Called with the receipt of each read of the index, and each minute of a watch, that was bought. */
  readonly onPaid?: (receipt: PaymentReceipt) => void;
  /** The journal of payments; default: in memory, which forgets them when the process ends. */
  readonly journal?: Journal;
  /** The account that signs writes; without one they are sent unsigned, as a local run takes them. */
  readonly writer?: Writer;
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch;
  /** Milliseconds for one request, until its response is read; default: 35 seconds. */
  readonly timeoutMs?: number;
  /** Bytes of one response, and of one message of a stream; default: 16 MiB. */
  readonly responseBytesMax?: number;
  /** How often a read or a signature is sent before the call fails; default: 4. */
  readonly attemptsMax?: number;
}

export interface Sextant extends IndexedActions, OtherActions {
  /**
   * Reads of the index as of a block, or of the last block at or before a time. All reads of one `at` are of the same block.
   *
   * @example
   * ```ts
   * const then = await sextant.at(327n).getIntent({ id: "15" });
   * const yesterday = await sextant.at("1d").getIntent({ id: "15" });
   * ```
   */
  at(block: bigint | number | Date | string): IndexedActions;
  /**
   * Returns the price of a snapshot, and whether the guard would allow it. Signs and pays nothing, and needs no payer.
   *
   * @example
   * ```ts
   * const { price, payTo, problem } = await sextant.quote({ address: "0x14dc79964da2c08b23698b3d3cc7ca32193d9955" });
   * ```
   */
  quote(...given: Parameters<OtherActions["getPortfolio"]>): Promise<Quote>;
  /**
   * The same for any operation that is sold.
   *
   * @example
   * ```ts
   * const { price } = await sextant.quote("getExposure", { address: "0x14dc79964da2c08b23698b3d3cc7ca32193d9955" });
   * ```
   */
  quote<Id extends SoldOperation>(operation: Id, ...given: Parameters<OtherActions[Id]>): Promise<Quote>;
  /**
   * Events as they happen, in the order of the chain, through reorgs, lost connections and restarts of the service. It
   * ends when you stop reading, or by the signal. Store the cursor with what you make of each item; pass it as `from`.
   *
   * @example
   * ```ts
   * for await (const item of sextant.watch({ type: "IntentSubmitted" }, { from: "genesis" })) {
   *   if (item.kind === "event") console.log(item.event.block_number, item.event.description);
   *   else if (item.kind === "undo") console.log(`forget everything after block ${item.undo.block_number}`);
   * }
   * ```
   *
   * @example
   * Only what is final, which nothing undoes:
   * ```ts
   * for await (const item of sextant.watch({ agent: 1n }, { finalized: true })) {
   *   if (item.kind === "event") console.log(item.event.id);
   * }
   * ```
   */
  readonly watch: Watch;
  /** Payments: what was paid, what is open, and what is left to spend. */
  readonly payments: Payments;
  /** Payment channels: what they hold, and how it comes back. */
  readonly channels: Channels;
}

/** The actions that pay. */
type SoldOperation = {
  [Id in keyof OtherActions]: ReturnType<OtherActions[Id]> extends Promise<Paid<unknown>> ? Id : never;
}[keyof OtherActions];

const ATTEMPTS_MAX = 4;

/**
 * @example
 * ```ts
 * const sextant = createSextant({ api: "http://127.0.0.1:3001", portfolio: "http://127.0.0.1:3002" });
 * const agent = await sextant.getAgent({ agentId: "1" });
 * for await (const intent of sextant.listIntents({ status: "open" })) console.log(intent.intent_id);
 * ```
 */
export function createSextant(options: SextantOptions): Sextant {
  return openSextant(options).sextant;
}

/** The client, and what its calls are made with, for a program that sends requests of its own. */
export function openSextant(options: SextantOptions): {
  readonly sextant: Sextant;
  readonly calls: CallContext;
} {
  const { fetch, timeoutMs, responseBytesMax, attemptsMax = ATTEMPTS_MAX } = options;
  const transport = createTransport({ fetch, timeoutMs, responseBytesMax });
  const urls = { api: baseUrl(options.api, "api"), portfolio: baseUrl(options.portfolio, "portfolio") };
  const purchases = createPurchases(options, { transport, urls, attemptsMax });
  const calls: CallContext = {
    transport,
    urls,
    attemptsMax,
    writer: options.writer ?? null,
    seen: new SeenBlock(),
    ownWrites: new OwnWrites(),
    buyRead: async (observed, request, unpaid) => {
      const { buyRead } = await import("./payments/buy-read.ts");
      const { response, receipt } = await buyRead({ ...purchases, transport: observed }, request, unpaid);
      if (receipt !== null) options.onPaid?.(receipt);
      return response;
    },
    buyStream: async (request, unpaid) => {
      const { buyStream } = await import("./payments/buy-read.ts");
      const { body, receipt } = await buyStream(purchases, request, unpaid);
      if (receipt !== null) options.onPaid?.(receipt);
      return body;
    },
  };
  const sextant = {
    ...createActions(calls, purchases, null),
    at: (given: bigint | number | Date | string) =>
      createActions(calls, purchases, createBlockFinder(calls, given)),
    quote: createQuote(calls, purchases),
    watch: (filter?: WatchFilter, given?: WatchOptions) =>
      watch({ ...calls, messageLengthMax: responseBytesMax ?? RESPONSE_BYTES_MAX }, filter, given),
    payments: createPayments(purchases),
    channels: createChannels(purchases),
  } as unknown as Sextant;
  return { sextant, calls };
}

function createPurchases(
  options: SextantOptions,
  { transport, urls, attemptsMax }: Pick<CallContext, "transport" | "urls" | "attemptsMax">,
): PurchaseContext {
  if (options.channel !== undefined && options.journal === undefined) {
    const why = "a channel whose journal ends with the process cannot be used on or emptied";
    throw new SextantError("NOT_CONFIGURED", `channel needs a journal that lasts: ${why}.`);
  }
  const services = [urls.portfolio, urls.api].filter((url) => url !== null);
  const guard = createGuard(options.guard ?? {}, services);
  return {
    transport,
    attemptsMax,
    journal: options.journal ?? createMemoryJournal(),
    guard,
    payer: options.payer ?? null,
    now: () => Date.now(),
    channels: options.channel === undefined ? null : useChannels(options.channel, guard.decimals),
  };
}

function createQuote(calls: CallContext, purchases: PurchaseContext) {
  return async (...given: readonly unknown[]): Promise<Quote> => {
    const [id, ...rest] = typeof given[0] === "string" ? given : ["getPortfolio", ...given];
    const sold = (OPERATIONS as Readonly<Record<string, Operation>>)[String(id)];
    if (sold?.kind !== "paid")
      throw new SextantError("INPUT_INVALID", "quote takes an operation that is sold.");
    const { call } = readCall(String(id), sold, rest, null);
    assertChecksum(call.parameters.address);
    return quotePrice(purchases, buildUrl(calls, { ...call, block: null }), call.signal);
  };
}

/** All actions, or those of a block. The types are written by the same generator as the table. */
function createActions(calls: CallContext, purchases: PurchaseContext, findBlock: Call["findBlock"]) {
  const table: readonly (readonly [string, Operation])[] = Object.entries(OPERATIONS);
  return Object.fromEntries(
    table
      .filter(([, operation]) => findBlock === null || operation.takesBlock)
      .map(([id, operation]) => [
        id,
        (...given: readonly unknown[]) => {
          const { call, options } = readCall(id, operation, given, findBlock);
          if (operation.kind === "list") return createList(calls, call);
          return run(calls, purchases, call, options);
        },
      ]),
  );
}

async function run(
  calls: CallContext,
  purchases: PurchaseContext,
  call: Call,
  options: PaidOptions,
): Promise<unknown> {
  const { kind, method } = call.operation;
  if (kind === "document") return sendForDocument(calls, call);
  if (kind !== "paid") return send(calls, call);
  assertChecksum(call.parameters.address);
  const { signal, purchase = null, again = false } = options;
  const url = buildUrl(calls, { ...call, block: null });
  const { data, receipt, exchange } = await buy(purchases, { method, url, purchase, signal, again });
  return { data, receipt, exchange };
}

/** Arguments in the order of the types: parameters if there are any, the body if there is one, options. */
function readCall(id: string, operation: Operation, given: readonly unknown[], findBlock: Call["findBlock"]) {
  const left = [...given];
  const parameters = (operation.hasParameters ? left.shift() : null) ?? {};
  const body = (operation.hasBody ? left.shift() : null) ?? null;
  const options = (left.shift() ?? {}) as ReadOptions & PaidOptions;
  const { minBlock, signal } = options;
  return { call: { id, operation, parameters, body, findBlock, minBlock, signal } as Call, options };
}

function baseUrl(text: string | undefined, name: string): string | null {
  if (text === undefined) return null;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new SextantError("NOT_CONFIGURED", `${name} must be an http or https URL.`);
  }
  const url = new URL(text);
  if (url.search !== "" || url.hash !== "" || url.username !== "") {
    throw new SextantError("NOT_CONFIGURED", `${name} must be a URL without query, fragment and user.`);
  }
  return url.href.replace(/\/+$/, "");
}
