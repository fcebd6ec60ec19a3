// `sextant verify`: checks a stored response without believing its service, with nodes and keys that the reader names.
import { readFileSync, statSync } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import { Rejection } from "@sextant/client/verify/rejection";
import {
  describeStatus,
  type HostKeys,
  type Verification,
  type VerificationRow,
  type VerifyOptions,
  verify,
} from "@sextant/client/verify/verify";
import { Fault } from "../../lib/fault.ts";
import { PROGRAM } from "../../lib/program.ts";
import {
  type ClientContext,
  type CommandOptions,
  type RunClientCommand,
  readIntegerOption,
  readRepeatedOption,
} from "../command.ts";
import { hangText, toPlainJson, toPlainText } from "../display/plain-text.ts";
import { printTable } from "../display/print-table.ts";
import { fetchOverHttp } from "../http-fetch.ts";

/** As much as the verifier reads. */
const FILE_MAX = 32 * 1024 * 1024;
/** Also for a file with keys or of a deployment. */
const KEYS_MAX = 256 * 1024;
const KEYS_MS_MAX = 10_000;
const KEYS_PATH = "/.well-known/http-message-signatures-directory";
const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const PUBLIC_KEY = /^[A-Za-z0-9_-]{43}$/;

export const verifyCommand: RunClientCommand = async (context) => {
  const { operands, options, display, print, stop } = context;
  const named = readOptions(options);
  const content = await readStoredFile(operands[0]);
  const keys = readRepeatedOption(options, "key").map((key) =>
    PUBLIC_KEY.test(key)
      ? key
      : readJsonFile("key", "a public key (43 characters of base64url) or a file with keys", key),
  );
  const hostKeys = await readHostKeys(options, stop);
  const deployments = readRepeatedOption(options, "deployment").map((named) =>
    ADDRESS.test(named) ? named : readJsonFile("deployment", "an address or a deployment file", named),
  );
  const given = { ...named, keys, hostKeys, deployments, fetch: fetchOverHttp, signal: stop };
  const done = display.progress("Checking");
  const result = await verify(content, given)
    .catch((cause: unknown) => {
      if (cause instanceof Rejection) throw new Fault("INPUT_INVALID", cause.message, { cause });
      throw cause;
    })
    .finally(done);
  if (options.json === true) await print(`${toPlainJson(result)}\n`);
  else await printResult(result, context);
  return result.ok ? 0 : 1;
};

async function readStoredFile(file: string | undefined): Promise<Uint8Array | string> {
  if (file === undefined) {
    throw new Fault(
      "USAGE_INVALID",
      `Name the file to check: ${PROGRAM} verify response.json, or - for standard input.`,
    );
  }
  if (file === "-") return readAll(process.stdin);
  try {
    if (statSync(file).size <= FILE_MAX) return readFileSync(file);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "does not exist" : "cannot be read";
    throw new Fault("INPUT_INVALID", `The file "${toPlainText(file)}" ${why}. Name a stored response.`, {
      cause,
    });
  }
  throw new Fault(
    "INPUT_INVALID",
    `The file "${toPlainText(file)}" is larger than 32 MiB: it is not a response.`,
  );
}

function readOptions(options: CommandOptions): VerifyOptions {
  const nodes = readRepeatedOption(options, "rpc");
  for (const node of nodes) readWebUrl("rpc", node);
  const blockHashes = readRepeatedOption(options, "block");
  const malformed = blockHashes.find((hash) => !HASH.test(hash));
  if (malformed !== undefined) {
    throw new Fault(
      "USAGE_INVALID",
      `--block must be the hash of a block (0x and 64 hex digits), not "${malformed}".`,
    );
  }
  const nodesMin = readIntegerOption(options, "min-nodes", 1);
  return { nodes, blockHashes, ...(nodesMin === null ? {} : { nodesMin }) };
}

/** The value is left out of the error: the URL of a node may hold a key. */
function readWebUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "") {
    throw new Fault(
      "USAGE_INVALID",
      `--${option} must be a URL with http or https, and without a user name.`,
    );
  }
  return url;
}

/** Addresses of keys come from the command line only: a file could name any host, also one inside your network. */
async function readHostKeys(options: CommandOptions, signal: AbortSignal): Promise<readonly HostKeys[]> {
  const urls = readRepeatedOption(options, "keys").map((text) => readWebUrl("keys", text));
  return Promise.all(
    urls.map(async (url) => {
      // The directory says when each key counts, which a DID document does not.
      const source = await fetchKeys(url.pathname === "/" ? new URL(KEYS_PATH, url) : url, signal);
      return { host: url.host, source };
    }),
  );
}

function readJsonFile(option: string, expected: string, file: string): unknown {
  try {
    return JSON.parse(statSync(file).size > KEYS_MAX ? "" : readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Fault("INPUT_INVALID", `--${option} must be ${expected}, not "${toPlainText(file)}".`, {
      cause,
    });
  }
}

async function fetchKeys(url: URL, signal: AbortSignal): Promise<unknown> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(KEYS_MS_MAX)]);
    const headers = { accept: "application/json" };
    const response = await fetchOverHttp(url.href, { headers, signal: limit });
    const text = await readLimited(response);
    if (response.status === 200) return JSON.parse(text);
    throw new Error(`status ${response.status}`);
  } catch (cause) {
    signal.throwIfAborted();
    throw new Fault(
      "INPUT_INVALID",
      `No keys could be read from ${toPlainText(url.origin)}. Name its ${KEYS_PATH}, or give a key with --key.`,
      { cause },
    );
  }
}

async function readLimited(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of response.body ?? []) {
    text += decoder.decode(part as Uint8Array, { stream: true });
    if (text.length > KEYS_MAX) throw new Error("more than 256 kB");
  }
  return text;
}

const COLUMNS = [{ title: "value" }, { title: "amount" }, { title: "result" }, { title: "why" }];

async function printResult(result: Verification, context: ClientContext): Promise<void> {
  const { display, print } = context;
  const mark = result.ok ? display.style("green", "Checked") : display.style("red", "Not proven");
  const title = hangText(`${mark}: ${toPlainText(result.summary)}`, display.columns);
  const record = result.record === null ? [] : [toPlainText(`${result.record.kind} ${result.record.id}`)];
  await print([...title, ...record, ""].join("\n"));
  await printTable(COLUMNS, result.rows.map(describeRow), context);
  const { coverage } = result;
  if (coverage === null) return;
  const { provenUsd, conditionalUsd, totalUsd } = coverage;
  const sentence = `Proven: $${provenUsd} of $${totalUsd}, and $${conditionalUsd} under a condition.`;
  await print([...hangText(sentence, display.columns), ""].join("\n"));
}

function describeRow(row: VerificationRow): readonly string[] {
  const { path, value, stated, reason } = row;
  const amount = stated === null || stated === value ? (value ?? "") : `${stated} (${value})`;
  return [path === "" ? "the whole response" : path, amount, describeStatus(row), reason];
}
