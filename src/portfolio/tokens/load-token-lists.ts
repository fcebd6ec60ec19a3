// Loads token lists at start: those shipped with Sextant, and the operator's own from files and URLs.
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Fault } from "../../lib/fault.ts";
import { HttpClientError, sendHttpRequest } from "../../lib/http-client.ts";
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

// Lists made from packages describe tokens better than the extracts of public repositories, so they come first.
const SHIPPED = ["", "repositories/"].map((folder) =>
  fileURLToPath(new URL(`../../../token-lists/${folder}`, import.meta.url)),
);

// The largest public lists have 4 MB.
const BYTES_MAX = 16 * 1024 * 1024;

// Once, at start: long enough for a slow server, without delaying the start for long.
const FETCH_MS_MAX = 20_000;

type Source = {
  readonly shown: string;
  readonly read: () => Promise<string>;
  /** Removes secrets from an error. */
  readonly redact: (cause: unknown) => unknown;
};

/** Most trusted first; the first list with a token describes it. */
export async function loadTokenLists(options: TokenListOptions): Promise<readonly TokenList[]> {
  const chainIds = new Set(options.chains.map(({ chainId }) => chainId));
  const folders = await Promise.all(SHIPPED.map((folder) => listShipped(folder, options.chains)));
  const shipped = folders.flat().map(file);
  const own = options.sources.map((source) => operatorSource(source, options.signal));
  return Promise.all(
    [...own, ...shipped].map(async (source) =>
      parseTokenList(await readJson(source), source.shown, chainIds),
    ),
  );
}

async function listShipped(folder: string, chains: TokenListOptions["chains"]): Promise<readonly string[]> {
  const names = new Set(await readdir(folder));
  return chains
    .map(({ slug }) => `${slug}.json`)
    .filter((name) => names.has(name))
    .map((name) => `${folder}${name}`);
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
  return {
    shown: path,
    redact: (cause) => cause,
    read: async () => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      // `end` is inclusive: reads at most one byte more than allowed, even from an endless file.
      for await (const chunk of createReadStream(path, { end: BYTES_MAX }) as AsyncIterable<Uint8Array>) {
        size += chunk.byteLength;
        chunks.push(chunk);
      }
      if (size > BYTES_MAX) throw tooLarge(path);
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}

function web(source: string, signal: AbortSignal | undefined): Source {
  const endpoint = createRemoteEndpoint(new Secret(source));
  // Path and query may hold a key; the host is enough to identify the list.
  const shown = `at ${endpoint.host}`;
  return {
    shown,
    redact: (cause) => redactError(cause, endpoint),
    async read() {
      const limits = { timeoutMs: FETCH_MS_MAX, responseBytesMax: BYTES_MAX };
      const { status, text } = await sendHttpRequest({
        endpoint,
        ...limits,
        signals: signal ? [signal] : [],
      }).catch((error: unknown) => {
        throw error instanceof HttpClientError && error.reason === "response-too-large"
          ? tooLarge(shown)
          : error;
      });
      // Only the operator decides which host describes tokens.
      if (status >= 300 && status < 400) throw unusable(shown, "it redirects; configure the URL it leads to");
      if (status < 200 || status > 299) throw unusable(shown, `the response has status ${status}`);
      return text;
    },
  };
}

async function readJson({ shown, read, redact }: Source): Promise<unknown> {
  let text: string;
  try {
    text = await read();
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw unusable(shown, "it cannot be read", redact(cause));
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unusable(shown, "it is not JSON", redact(cause));
  }
}

function tooLarge(shown: string): Fault {
  return unusable(shown, `it is larger than ${BYTES_MAX >> 20} MiB`);
}

function unusable(shown: string, why: string, cause?: unknown): Fault {
  return new Fault("CONFIG_INVALID", `The token list ${shown} cannot be used: ${why}.`, { cause });
}
