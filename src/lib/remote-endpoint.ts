// An address of somebody we ask: where to, the host by which it may be named, and how to keep its key out of texts.
import { Fault } from "./fault.ts";
import { Secret } from "./secret.ts";

export type RemoteEndpoint = {
  /** The only part of the address that is ever shown. */
  readonly host: string;
  readonly url: Secret<string>;
  readonly authorization: Secret<string> | null;
  /** Text from the other side, made fit to be shown: one line, bounded, without addresses and without its key. */
  readonly redact: (text: string) => string;
};

// Long enough for any sentence, short enough for a log line.
const SHOWN_LENGTH_MAX = 240;
// What is looked at to find the part that is shown: bounded, because the other side decides how long its text is.
const READ_LENGTH_MAX = 65_536;
// Shorter pieces of an address ("v2", "rpc", "eth") are ordinary words and no secret.
const SECRET_LENGTH_MIN = 6;

export function createRemoteEndpoint(url: Secret<string>, protocols = ["http:", "https:"]): RemoteEndpoint {
  const parsed = URL.canParse(url.reveal()) ? new URL(url.reveal()) : null;
  if (!parsed || !protocols.includes(parsed.protocol)) {
    const names = protocols.map((protocol) => `${protocol}//`).join(" or ");
    throw new Fault("CONFIG_INVALID", `A node address must be a full URL that begins with ${names}.`);
  }
  const secrets = secretsOf(parsed, url.reveal());
  // fetch refuses credentials inside a URL, so they travel in the header that they stand for.
  const credentials = `${decode(parsed.username)}:${decode(parsed.password)}`;
  parsed.username = "";
  parsed.password = "";
  return {
    host: parsed.host,
    url: new Secret(parsed.href),
    authorization:
      credentials === ":" ? null : new Secret(`Basic ${Buffer.from(credentials).toString("base64")}`),
    redact: (text) => scrub(text, secrets),
  };
}

/** What a failed fetch says, cleaned: it says only "fetch failed" itself, and what happened is in its causes. */
export function redactError(error: unknown, { redact }: Pick<RemoteEndpoint, "redact">): Error {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  const code = (error as NodeJS.ErrnoException).code;
  const text = redact(code && !error.message.includes(code) ? `${code} ${error.message}` : error.message);
  return new Error(text, error.cause === undefined ? {} : { cause: redactError(error.cause, { redact }) });
}

function secretsOf(url: URL, whole: string): readonly string[] {
  const pieces = [...url.pathname.split("/"), ...url.searchParams.values(), url.username, url.password];
  const spelled = pieces.flatMap((piece) => [piece, decode(piece)]);
  const long = spelled.filter((piece) => piece.length >= SECRET_LENGTH_MIN);
  const short = [url.password, decode(url.password), url.pathname, `${url.pathname}${url.search}`];
  const named = short.filter((piece) => piece !== "" && piece !== "/");
  // The longest first, so that no piece breaks a longer one before it is found.
  return [...new Set([whole, url.href, ...long, ...named])].sort((a, b) => b.length - a.length);
}

function decode(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    // Not percent-encoded after all: the piece stands for itself.
    return piece;
  }
}

function scrub(text: string, secrets: readonly string[]): string {
  let shown = text.slice(0, READ_LENGTH_MAX);
  for (const secret of secrets) shown = shown.replaceAll(secret, "[secret]");
  shown = shown.replaceAll(/\b(?:https?|wss?):\/\/[^\s"'<>]+/gi, "[url]").replaceAll(/[\s\p{Cc}]+/gu, " ");
  return shown.length > SHOWN_LENGTH_MAX ? `${shown.slice(0, SHOWN_LENGTH_MAX)}…` : shown;
}
