// A time in place of blocks, or a name of an address: redirects to the same request with those, so that payers see what they pay for.
import { readQuery } from "../../http/internal-requests.ts";
import type { Clock } from "../../lib/clock.ts";
import { untilAborted } from "../../lib/deadline.ts";
import { Fault } from "../../lib/fault.ts";
import { formatMoment, isMoment, parseMoment } from "../../lib/moment.ts";
import type { EndpointResponse, RequestHead } from "../../schema/endpoint.ts";
import { closedObject, nullable } from "../../schema/json-schema.ts";
import { text } from "../../schema/portfolio/values.ts";
import type { FreeReads } from "../free-reads.ts";
import type { NameResolver, ResolvedName } from "../names/name-resolver.ts";
import { blocksKind, chainsKind, formatBlocks, selectDefaultChains } from "../query.ts";
import type { PortfolioChain } from "../types.ts";
import { readPaidResource } from "./paid-resource.ts";

export const datedRequestSchema = {
  title: "DatedRequest",
  description: "The last final blocks at or before the times; the same request by blocks is at `location`.",
  ...closedObject({
    location: text,
    blocks: {
      type: "array",
      items: closedObject({
        parameter: text,
        time: text,
        blocks: text,
        blockTimes: {
          description: "The time of each chain's block; null for blocks that a payment names.",
          ...nullable({ type: "array", items: closedObject({ chain: text, time: text }) }),
        },
      }),
    },
  }),
};

/** The parameter that takes the blocks of a time. */
const TARGETS: Readonly<Record<string, string>> = { at: "block", from: "from", to: "to" };

type DateServices = {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly freeReads: FreeReads;
  readonly clock: Clock;
};
type DateOptions = DateServices & {
  readonly path: string;
  readonly served: readonly string[];
  /** The names of the route's parameters. */
  readonly parameters: readonly string[];
};

/** Null for a request without a time, at no cost. */
export function redirectDates(options: DateOptions, head: RequestHead): Promise<EndpointResponse> | null {
  const given = readGiven(head.query);
  const dated = [...given].filter(([name, value]) => {
    return options.parameters.includes(name) && (name === "at" || (name in TARGETS && isMoment(value)));
  });
  return dated.length === 0 ? null : redirectToBlocks(options, { given, dated }, head);
}

/** A query that is not valid is left to the parameters. */
function readGiven(query: string): ReadonlyMap<string, string> {
  if (!/(?:^|&)(?:at|from|to)=/.test(query)) return new Map();
  try {
    return readQuery(`?${query}`);
  } catch (error) {
    if (error instanceof Fault) return new Map();
    throw error;
  }
}

type DatedQuery = {
  readonly given: ReadonlyMap<string, string>;
  readonly dated: readonly (readonly [string, string])[];
};

async function redirectToBlocks(
  options: DateOptions,
  { given, dated }: DatedQuery,
  { query, headers, client }: RequestHead,
): Promise<EndpointResponse> {
  const { path, served, clock } = options;
  if (given.has("at") && given.has("block")) {
    throw new Fault("INPUT_INVALID", "at and block exclude each other: give the time or the blocks.");
  }
  const paid = readPaidResource(headers);
  const nowMs = clock.nowMs();
  const moments = dated.map(([name, value]) => ({ name, seconds: parseMoment(value.trim(), name, nowMs) }));
  const slugs = selectChains(served, given);
  const blocks = new Map<string, string>();
  const shown: Readonly<Record<string, unknown>>[] = [];
  for (const { name, seconds } of moments) {
    const found =
      paid === undefined
        ? await findBlocks(options, { slugs, seconds }, client)
        : { blocks: readPaidBlocks(paid, name), blockTimes: null };
    blocks.set(name, found.blocks);
    shown.push({ parameter: TARGETS[name], time: formatMoment(seconds), ...found });
  }
  const location = `${path}?${replaceDates(query, blocks)}`;
  return { status: 307, body: { location, blocks: shown }, headers: { location } };
}

/** Selects those that the request names, by itself or by the blocks of its other end. */
function selectChains(served: readonly string[], given: ReadonlyMap<string, string>): readonly string[] {
  const chains = given.get("chains");
  if (chains !== undefined) return chainsKind(served).parse(chains, "chains");
  const other = ["from", "to"].find((name) => given.has(name) && !isMoment(given.get(name) ?? ""));
  if (other === undefined) return selectDefaultChains(served);
  const value = given.get(other) ?? "";
  if (value.includes(":")) {
    return blocksKind(served)
      .parse(value, other)
      .map(([slug]) => slug);
  }
  throw new Fault("INPUT_INVALID", "A time needs chains next to a snapshotId: name those of the snapshot.");
}

type PaidParameters = Exclude<ReturnType<typeof readPaidResource>, undefined>;

type FoundBlocks = {
  readonly blocks: string;
  readonly blockTimes: readonly { readonly chain: string; readonly time: string }[];
};

/** A search is one free read per chain: its requests to a node are bounded, and most are spared by earlier ones. */
async function findBlocks(
  { chains, freeReads }: DateServices,
  { slugs, seconds }: { readonly slugs: readonly string[]; readonly seconds: number },
  client: string,
): Promise<FoundBlocks> {
  const signal = AbortSignal.timeout(SEARCH_MS_MAX);
  const find = async (slug: string) => {
    const chain = chains.get(slug);
    if (chain === undefined) throw new Fault("INPUT_INVALID", `Chain ${slug} is not served.`);
    const searching = freeReads.run(client, () => chain.blockAt(seconds, signal));
    return [slug, await untilAborted(searching, signal)] as const;
  };
  try {
    const found = await Promise.all(slugs.map(find));
    return {
      blocks: formatBlocks(new Map(found.map(([slug, { number }]) => [slug, number])), slugs),
      blockTimes: found.map(([chain, { timestamp }]) => ({ chain, time: formatMoment(timestamp) })),
    };
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new Fault("NODE_UNAVAILABLE", "The block of the time could not be found in time; try again.", {
      cause,
    });
  }
}

// Twenty requests to a node that responds in a quarter of a second.
const SEARCH_MS_MAX = 5_000;

/**
 * A client repeats the request with the payment that it signed for the blocks of its first try: an age leads to later
 * blocks by then.
 */
function readPaidBlocks(paid: PaidParameters, name: string): string {
  const blocks = paid?.get(TARGETS[name] ?? name);
  if (blocks?.includes(":")) return blocks;
  throw new Fault(
    "PAYMENT_CONFLICT",
    "The payment does not say which blocks it was signed for: it has no `resource` of the terms. This request charged nothing. Send the payment with the request by blocks.",
  );
}

/** The other parameters stay as they were sent, byte for byte. */
function replaceDates(query: string, blocks: ReadonlyMap<string, string>): string {
  return query
    .split("&")
    .map((part) => {
      const [name = ""] = readQuery(`?${part}`).keys();
      const found = blocks.get(name);
      return found === undefined ? part : `${TARGETS[name]}=${encodeURIComponent(found)}`;
    })
    .join("&");
}

export const namedWalletSchema = {
  title: "NamedWallet",
  description: "The address that the name leads to now; the same request by address is at `location`.",
  ...closedObject({ name: text, address: text, location: text }),
};

export const LOCATION_HEADER =
  "The same request with the address in place of the name, or with blocks in place of times.";

/** Null for a request without a name, at no cost. */
export function redirectNamedWallet(
  { names, path }: { readonly names: NameResolver; readonly path: string },
  head: RequestHead,
): Promise<EndpointResponse> | null {
  const name = findName(head.query);
  return name === null ? null : redirectToAddress({ names, path, name }, head);
}

/** A text with a dot that is not an address; a query that is not valid is left to the parameters. */
function findName(query: string): string | null {
  // The dot may be percent-encoded; most queries have neither and are not parsed here.
  if (!/\.|%2e/i.test(query)) return null;
  try {
    const given = readQuery(`?${query}`).get("address")?.trim();
    return given?.includes(".") ? given : null;
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

async function redirectToAddress(
  { names, path, name }: { readonly names: NameResolver; readonly path: string; readonly name: string },
  { query, headers, client }: RequestHead,
): Promise<EndpointResponse> {
  const resolved = await names.resolve(name, client);
  requireSameWallet(readPaidResource(headers), resolved);
  const location = `${path}?${replaceAddress(query, resolved.address)}`;
  return { status: 307, body: { ...resolved, location }, headers: { location } };
}

/** The other parameters stay as they were sent, byte for byte. */
function replaceAddress(query: string, address: string): string {
  const isAddress = (part: string) => readQuery(`?${part}`).has("address");
  return query
    .split("&")
    .map((part) => (isAddress(part) ? `address=${address}` : part))
    .join("&");
}

/**
 * A client repeats the request by name with the payment that it signed for an address: that must still be the one. A
 * payment that does not name it could be led anywhere by the owner of the name.
 */
function requireSameWallet(paid: PaidParameters | undefined, { name, address }: ResolvedName): void {
  if (paid === undefined) return;
  const wallet = paid?.get("address")?.toLowerCase() ?? "";
  const paidFor = ADDRESS.test(wallet) ? wallet : null;
  if (paidFor === address) return;
  const found =
    paidFor === null
      ? "The payment does not say which address it was signed for: it has no `resource` of the terms"
      : `The payment was signed for ${paidFor}, and ${name} now leads to ${address}`;
  throw new Fault(
    "PAYMENT_CONFLICT",
    `${found}. This request charged nothing. Send the payment with the address it was signed for: if it was charged before, that request gets its response.`,
  );
}

const ADDRESS = /^0x[0-9a-f]{40}$/;
