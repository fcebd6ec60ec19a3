// The address of a remote service: its URL and credentials, the host shown in messages, and redaction of its secrets.
import { Fault } from "./fault.ts";
import { Secret } from "./secret.ts";

export type RemoteEndpoint = {
  /** The only part of the address that is ever shown. */
  readonly host: string;
  readonly url: Secret<string>;
  readonly authorization: Secret<string> | null;
  /** Makes a remote text safe to show: one line, bounded, without URLs and secrets. */
  readonly redact: (text: string) => string;
};

// Long enough for any sentence, short enough for a log line.
const SHOWN_LENGTH_MAX = 240;
// The part that redaction reads: bounded, because the remote side decides how long its text is.
const READ_LENGTH_MAX = 65_536;
// Shorter pieces of an address ("v2", "rpc", "eth") are ordinary words and not secret.
const SECRET_LENGTH_MIN = 6;

type RemoteEndpointOptions = {
  readonly protocols?: readonly string[];
  /** Secret whatever their length, such as an API key in the path. */
  readonly secrets?: readonly Secret<string>[];
};

export function createRemoteEndpoint(
  url: Secret<string>,
  { protocols = ["http:", "https:"], secrets: named = [] }: RemoteEndpointOptions = {},
): RemoteEndpoint {
  const parsed = URL.canParse(url.reveal()) ? new URL(url.reveal()) : null;
  if (!parsed || !protocols.includes(parsed.protocol)) {
    const names = protocols.map((protocol) => `${protocol}//`).join(" or ");
    throw new Fault("CONFIG_INVALID", `A node address must be a full URL that begins with ${names}.`);
  }
  const secrets = secretsOf(
    parsed,
    url.reveal(),
    named.map((secret) => secret.reveal()),
  );
  // Sent as the header that they stand for: clients differ in what they do with credentials inside a URL.
  const credentials = `${decode(parsed.username)}:${decode(parsed.password)}`;
  parsed.username = "";
  parsed.password = "";
  return {
    host: parsed.host,
    url: new Secret(parsed.href),
    authorization:
      credentials === ":" ? null : new Secret(`Basic ${Buffer.from(credentials).toString("base64")}`),
    redact: (text) => redactText(text, secrets),
  };
}

/** Only texts and codes survive, redacted: errors of the platform carry the whole address in their own properties. */
export function redactError(error: unknown, { redact }: Pick<RemoteEndpoint, "redact">): Error {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  const code = (error as NodeJS.ErrnoException).code;
  const text = redact(code && !error.message.includes(code) ? `${code} ${error.message}` : error.message);
  return new Error(text, error.cause === undefined ? {} : { cause: redactError(error.cause, { redact }) });
}

function secretsOf(url: URL, whole: string, named: readonly string[]): readonly string[] {
  const pieces = [...url.pathname.split("/"), ...url.searchParams.values(), url.username, url.password];
  const spelled = pieces.flatMap((piece) => [piece, decode(piece)]);
  const long = spelled.filter((piece) => piece.length >= SECRET_LENGTH_MIN);
  const anyLength = [
    ...[url.password, decode(url.password), url.pathname, `${url.pathname}${url.search}`],
    ...named.flatMap((secret) => [secret, encodeURIComponent(secret)]),
  ].filter((piece) => piece !== "" && piece !== "/");
  // The longest first, so that replacing a piece does not hide a longer one.
  return [...new Set([whole, url.href, ...long, ...anyLength])].sort((a, b) => b.length - a.length);
}

function decode(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    // Not percent-encoded.
    return piece;
  }
}

function redactText(text: string, secrets: readonly string[]): string {
  let shown = text.slice(0, READ_LENGTH_MAX);
  for (const secret of secrets) shown = shown.replaceAll(secret, "[secret]");
  shown = shown.replaceAll(/\b(?:https?|wss?):\/\/[^\s"'<>]+/gi, "[url]").replaceAll(/[\s\p{Cc}]+/gu, " ");
  return shown.length > SHOWN_LENGTH_MAX ? `${shown.slice(0, SHOWN_LENGTH_MAX)}…` : shown;
}
