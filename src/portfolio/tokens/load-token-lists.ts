// Loads token lists at start: those shipped with Sextant, and the operator's own from files and URLs.
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Fault } from "../../lib/fault.ts";
import { createRemoteEndpoint, redactError } from "../../lib/remote-endpoint.ts";
import { Secret } from "../../lib/secret.ts";
import { parseTokenList, type TokenList } from "./token-list.ts";

type TokenListOptions = {
  /** Paths and http(s) URLs; they take precedence over the shipped lists, so that an operator can correct those. */
  readonly sources: readonly string[];
  /** The served chains. */
  readonly chains: readonly { readonly slug: string; readonly chainId: number }[];
  readonly signal?: AbortSignal;
};

const SHIPPED = fileURLToPath(new URL("../../../token-lists/", import.meta.url));

// The largest public lists have 4 MB.
const BYTES_MAX = 16 * 1024 * 1024;

// Once, at start: long enough for a slow server, short enough for whoever waits for the start.
const FETCH_MS_MAX = 20_000;

type Source = {
  readonly shown: string;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
  /** Removes secrets from an error. */
  readonly redact: (cause: unknown) => unknown;
};

/** Most trusted first; the first list with a token describes it. */
export async function loadTokenLists(options: TokenListOptions): Promise<readonly TokenList[]> {
  const chainIds = new Set(options.chains.map(({ chainId }) => chainId));
  const names = new Set(await readdir(SHIPPED));
  const shipped = options.chains
    .map(({ slug }) => `${slug}.json`)
    .filter((name) => names.has(name))
    .map((name) => file(`${SHIPPED}${name}`));
  const own = options.sources.map((source) => operatorSource(source, options.signal));
  return Promise.all(
    [...own, ...shipped].map(async (source) =>
      parseTokenList(await readJson(source), source.shown, chainIds),
    ),
  );
}

function operatorSource(source: string, signal: AbortSignal | undefined): Source {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source)?.[1]?.toLowerCase();
  if (scheme === undefined) return file(source);
  if ((scheme === "http" || scheme === "https") && URL.canParse(source)) return web(source, signal);
  throw new Fault(
    "CONFIG_INVALID",
    `A token list must be a file path or an http(s) URL; ${scheme}:// is neither.`,
  );
}

function file(path: string): Source {
  // `end` is inclusive: reads at most one byte more than allowed, even from an endless file.
  return {
    shown: path,
    open: async () => createReadStream(path, { end: BYTES_MAX }),
    redact: (cause) => cause,
  };
}

function web(source: string, signal: AbortSignal | undefined): Source {
  const endpoint = createRemoteEndpoint(new Secret(source));
  const { url, authorization, host } = endpoint;
  // Path and query may hold a key; the host is enough to find the list by.
  const shown = `at ${host}`;
  return {
    shown,
    redact: (cause) => redactError(cause, endpoint),
    async open() {
      const timeout = AbortSignal.timeout(FETCH_MS_MAX);
      const response = await fetch(url.reveal(), {
        headers: authorization === null ? {} : { authorization: authorization.reveal() },
        // Whoever decides what a wallet seems to hold is named by the operator, and by nobody else.
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      if (response.status >= 300 && response.status < 400) {
        throw unusable(shown, "it redirects; give the address it leads to");
      }
      if (!response.ok || !response.body) throw unusable(shown, `the answer has status ${response.status}`);
      return response.body as AsyncIterable<Uint8Array>;
    },
  };
}

async function readJson({ shown, open, redact }: Source): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of await open()) {
      size += chunk.byteLength;
      if (size > BYTES_MAX) throw unusable(shown, `it is larger than ${BYTES_MAX >> 20} MiB`);
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw unusable(shown, "it cannot be read", redact(cause));
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch (cause) {
    throw unusable(shown, "it is not JSON", redact(cause));
  }
}

function unusable(shown: string, why: string, cause?: unknown): Fault {
  return new Fault("CONFIG_INVALID", `The token list ${shown} cannot be used: ${why}.`, { cause });
}
