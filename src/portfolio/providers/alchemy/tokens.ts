// Every token of a wallet on one chain, page after page, to the end or not at all.
import { isJsonObject } from "../../../lib/json-object.ts";
import { VendorError } from "../../vendor-request.ts";
import type { AlchemyClient } from "./client.ts";
import { type AlchemyToken, type AlchemyTokenQuery, parseAlchemyToken } from "./parse-token.ts";

// About ten thousand tokens; whoever holds more is not served half.
const PAGES_MAX = 100;

type Page = { readonly tokens: readonly AlchemyToken[]; readonly next: string | null };

/** Throws a VendorError unless every page was read and none of them is incomplete. */
export async function readAlchemyTokens(
  client: AlchemyClient,
  question: AlchemyTokenQuery,
  signal: AbortSignal,
): Promise<readonly AlchemyToken[]> {
  const tokens: AlchemyToken[] = [];
  const followed = new Set<string>();
  let pageKey: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const body = bodyOf(question, pageKey);
    const read = (answer: unknown) => readPage(answer, question);
    const page: Page = await client.callDataApi("assets/tokens/by-address", body, read, signal);
    tokens.push(...page.tokens);
    if (page.next === null) return tokens;
    if (followed.has(page.next)) throw new VendorError("refused", "A page names one that was read before.");
    followed.add(page.next);
    pageKey = page.next;
  }
  throw new VendorError("refused", `There are more than ${PAGES_MAX} pages.`);
}

function bodyOf({ wallet, network }: AlchemyTokenQuery, pageKey: string | null): unknown {
  return {
    addresses: [{ address: wallet, networks: [network.name] }],
    withMetadata: true,
    withPrices: true,
    includeNativeTokens: true,
    includeErc20Tokens: true,
    ...(pageKey === null ? {} : { pageKey }),
  };
}

function readPage(answer: unknown, question: AlchemyTokenQuery): Page {
  const data = isJsonObject(answer) ? answer.data : undefined;
  if (!isJsonObject(answer) || !isJsonObject(data) || !Array.isArray(data.tokens)) {
    throw new VendorError("unreliable", "The answer has no list of tokens.");
  }
  refusePartial(answer.error, question.network.name);
  const { pageKey } = data;
  if (pageKey !== undefined && pageKey !== null && typeof pageKey !== "string") {
    throw new VendorError("unreliable", "The answer names no readable next page.");
  }
  const tokens = data.tokens.flatMap((entry: unknown) => parseAlchemyToken(entry, question) ?? []);
  return { tokens, next: pageKey || null };
}

// An error that names no chain may be about ours.
function refusePartial(error: unknown, network: string): void {
  const parts = isJsonObject(error) && Array.isArray(error.partialErrors) ? error.partialErrors : [];
  for (const part of parts) {
    if (!isJsonObject(part) || part.network === undefined || part.network === network) {
      throw new VendorError("unreliable", "The answer leaves out a part of the chain.");
    }
  }
}
