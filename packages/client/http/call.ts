// Runs one operation of the table: builds its request, sends it, and checks the response.
import { keccak256, toBytes } from "viem/utils";
import { SextantError } from "../errors.ts";
import { OPERATIONS } from "../generated/operations.ts";
import type { List, Operation, Page, PublishedDocument } from "../operation.ts";
import { signWrite, type Writer } from "../writes/sign-write.ts";
import type { OwnWrites } from "./own-writes.ts";
import { sendRepeatedly } from "./repeat.ts";
import type { SeenBlock } from "./seen-block.ts";
import { type HttpRequest, type HttpResponse, parseJson, type Transport } from "./transport.ts";

export type CallContext = {
  readonly transport: Transport;
  /** The URL of each service, without a slash at the end. */
  readonly urls: Readonly<Record<Operation["service"], string | null>>;
  readonly writer: Writer | null;
  /** How often a read is sent before it fails. */
  readonly attemptsMax: number;
  /** The chain id of the indexing API. */
  readonly seen: SeenBlock;
  readonly ownWrites: OwnWrites;
  /** Buys a read whose response demands a payment. */
  readonly buyRead: (
    transport: Transport,
    request: HttpRequest,
    unpaid: HttpResponse,
  ) => Promise<HttpResponse>;
  /** Buys a minute of a stream. */
  readonly buyStream: (request: HttpRequest, unpaid: HttpResponse) => Promise<ReadableStream<Uint8Array>>;
};

export type Call = {
  readonly id: string;
  readonly operation: Operation;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>> | null;
  /** For reads as of a block. */
  readonly findBlock: (() => Promise<string>) | null;
  readonly minBlock: bigint | number | undefined;
  readonly signal: AbortSignal | undefined;
};

/** The URL with its parameters, always in the same order. */
export function buildUrl(
  { urls }: Pick<CallContext, "urls">,
  call: Pick<Call, "id" | "operation" | "parameters"> & { readonly block: string | null },
): string {
  const { operation, parameters, block } = call;
  const base = urls[operation.service];
  if (base === null) {
    throw new SextantError(
      "NOT_CONFIGURED",
      `createSextant was given no URL of the ${operation.service} service.`,
    );
  }
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined || value === null || value === "") {
      throw new SextantError("INPUT_INVALID", `${call.id} needs the parameter ${name}.`);
    }
    return encodeURIComponent(String(value));
  });
  const query = new URLSearchParams();
  for (const name of operation.query) {
    const value = parameters[name];
    if (value !== undefined && value !== null) query.set(name, formatValue(value));
  }
  if (block !== null) query.set("block", block);
  const text = query.toString();
  return text === "" ? base + path : `${base}${path}?${text}`;
}

/** The block itself, or the one at a time, which is asked for once: later reads are of the same block. */
export function createBlockFinder(
  context: CallContext,
  given: bigint | number | Date | string,
): () => Promise<string> {
  if (typeof given === "bigint" || typeof given === "number") {
    const block = BigInt(given).toString();
    return async () => block;
  }
  const call = { ...HEAD_CALL, parameters: { at: given } };
  let finding: Promise<string> | null = null;
  const find = async () => {
    const { text, headers } = await sendChecked(context, call);
    const { block_number: found, block_timestamp: own } = parseJson(text) as Readonly<
      Record<string, unknown>
    >;
    // Deadlines are judged at the time itself, which may be long after the last block with events.
    const seconds = Date.parse(headers.get("x-block-time") ?? "") / 1_000;
    if (typeof found === "string" && /^\d{1,19}$/.test(found)) {
      return Number.isNaN(seconds) || String(seconds) === own ? found : `${found}@${seconds}`;
    }
    throw new SextantError("RESPONSE_INVALID", "The service did not say which block the time leads to.");
  };
  return () => {
    finding ??= find().catch((error: unknown) => {
      finding = null;
      throw error;
    });
    return finding;
  };
}

/** The position of the index, which takes a time in place of a block. */
const HEAD_CALL: Omit<Call, "parameters"> = {
  id: "getHead",
  operation: { ...OPERATIONS.getHead, query: ["at"] },
  body: null,
  findBlock: null,
  minBlock: undefined,
  signal: undefined,
};

function formatValue(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

/** A read or a write; a list is one page here. */
export async function send(context: CallContext, call: Call): Promise<unknown> {
  const response = await sendChecked(context, call);
  return parseJson(response.text);
}

/** A document, whose text must have the hash it was asked for by. */
export async function sendForDocument(context: CallContext, call: Call): Promise<PublishedDocument> {
  const { text } = await sendChecked(context, call);
  const expected = String(call.parameters.hash).toLowerCase();
  const hash = keccak256(toBytes(text));
  if (hash !== expected) {
    throw new SextantError("HASH_MISMATCH", `The service sent a text with the hash ${hash} for ${expected}.`);
  }
  return { hash, text, json: parseJson(text) };
}

/** Follows cursors, one page at a time and only as far as the caller reads. */
export function createList(context: CallContext, call: Call): List<unknown> {
  const field = call.operation.list ?? "";
  async function* pages(): AsyncGenerator<Page<unknown>> {
    let cursor = call.parameters.cursor;
    for (;;) {
      const page = readPage(
        await send(context, { ...call, parameters: { ...call.parameters, cursor } }),
        field,
      );
      yield page;
      if (page.nextCursor === null) return;
      // A cursor that does not move would be read forever.
      if (page.nextCursor === cursor)
        throw new SextantError("RESPONSE_INVALID", "The list does not advance.");
      cursor = page.nextCursor;
    }
  }
  async function* records(): AsyncGenerator<unknown> {
    for await (const page of pages()) yield* page.records;
  }
  return {
    pages,
    [Symbol.asyncIterator]: records,
    async take(max) {
      const taken: unknown[] = [];
      if (max <= 0) return taken;
      for await (const record of records()) {
        taken.push(record);
        if (taken.length >= max) break;
      }
      return taken;
    },
  };
}

function readPage(body: unknown, field: string): Page<unknown> {
  const { [field]: records, pagination } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(records)) throw new SextantError("RESPONSE_INVALID", `The page has no ${field}.`);
  const { next_cursor } = (pagination ?? {}) as { next_cursor?: unknown };
  return { records, nextCursor: typeof next_cursor === "string" ? next_cursor : null };
}

/** The response itself. */
export async function sendChecked(context: CallContext, call: Call): Promise<HttpResponse> {
  const request = await buildRequest(context, call);
  const isWrite = call.operation.kind === "write" || call.operation.kind === "signed";
  if (isWrite) context.ownWrites.record();
  const attemptsMax = isWrite ? 1 : context.attemptsMax;
  const isRead = call.operation.service === "api" && call.operation.method === "GET";
  const repetition = { attemptsMax, accepted: isRead ? [200, 201, 402] : [200, 201] };
  if (call.operation.service !== "api") return await sendRepeatedly(context.transport, request, repetition);
  const { transport, onFailure } = context.seen.observeCall(context.transport);
  try {
    const response = await sendRepeatedly(transport, request, repetition);
    return response.status === 402 ? await context.buyRead(transport, request, response) : response;
  } catch (error) {
    onFailure(error);
    throw error;
  }
}

function readsIndex({ operation: { service, takesMinBlock } }: Call): boolean {
  return service === "api" && takesMinBlock;
}

async function buildRequest(context: CallContext, call: Call): Promise<HttpRequest> {
  const { operation, body, signal } = call;
  const minBlock = readsIndex(call) ? context.seen.raise(call.minBlock) : call.minBlock;
  const block = (await call.findBlock?.()) ?? null;
  const url = buildUrl(context, { ...call, block });
  const text = body === null ? null : JSON.stringify(body, bigintAsText);
  const headers: Record<string, string> = {
    ...(text === null ? {} : { "content-type": "application/json" }),
    ...(minBlock === undefined ? {} : { "x-min-block": BigInt(minBlock).toString() }),
    ...(operation.service === "api" ? context.ownWrites.headers : {}),
  };
  // Without a writer the write is sent unsigned, as a local run takes it.
  if (operation.kind === "signed" && context.writer !== null && text !== null) {
    const { parameters, id } = call;
    const audience = context.urls.api ?? "";
    const write = { operation: id, parameters, value: body ?? {}, body: text, audience };
    Object.assign(headers, await signWrite(context.writer, write));
  }
  return { method: operation.method, url, headers, ...(text === null ? {} : { body: text }), signal };
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
