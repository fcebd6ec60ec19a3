// Gets a response that was paid for again: the payer proves its account by x402's sign-in-with-x, and nothing is charged.
import { SextantError } from "../errors.ts";
import { pauseBefore, sendRepeatedly } from "../http/repeat.ts";
import { type HttpRequest, type HttpResponse, toResponseError } from "../http/transport.ts";
import type { Payer } from "./authorization.ts";
import { formatSignInMessage, SIGN_IN, SIGN_IN_TYPE, SIGN_IN_VERSION } from "./sign-in-message.ts";
import type { PurchaseContext } from "./standing.ts";
import { fieldsOf } from "./terms.ts";
import { decodeHeader, encodeHeader } from "./x402-header.ts";

type SigningPayer = Required<Pick<Payer, "address" | "signMessage">>;

type Challenge = {
  readonly domain: string;
  readonly uri: string;
  readonly nonce: string;
  readonly issuedAt: string;
};

// A proxy that repeats a request uses its nonce up: only a second 402, to another nonce, says that there is nothing.
const REJECTIONS_MAX = 2;
const NONCE = /^[0-9A-Za-z]{8,64}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;
// A challenge is good for minutes, and clocks differ. A signature for a later time would be good for as long.
const CLOCK_TOLERANCE_MS = 3_600_000;
const KEY_SIGNATURE = /^0x[0-9a-fA-F]{130}$/;
/** All that a challenge may say. What it says besides would be signed. */
const FIELDS: ReadonlySet<string> = new Set(["domain", "uri", "version", "nonce", "issuedAt"]);

/**
 * The stored response (200), or the terms of the service (402) if it has none for the payer. Throws if that is not known:
 * then nothing may be paid, because the response may be there.
 */
export async function signIn(
  context: PurchaseContext,
  request: Pick<HttpRequest, "method" | "url" | "signal">,
  unpaid: HttpResponse,
): Promise<HttpResponse> {
  const { transport, attemptsMax } = context;
  const payer = readPayer(context);
  context.guard.assertOrigin(request.url);
  let terms = unpaid;
  let rejections = 0;
  for (let attempt = 1; ; ) {
    const challenge = readChallenge(terms, request.url, context);
    if (challenge === null) return terms;
    const header = await prove(payer, challenge, context.guard.network);
    const outcome = await sendOnce(context, { ...request, headers: { [SIGN_IN]: header } });
    if (!(outcome instanceof SextantError)) {
      if (outcome.status === 200) return outcome;
      rejections += 1;
      if (rejections >= REJECTIONS_MAX) return outcome;
      terms = outcome;
      continue;
    }
    const mayHelp = outcome.retry === "same-signature" && outcome.code !== "ABORTED";
    if (!mayHelp || attempt >= attemptsMax) throw outcome;
    if (!(await pauseBefore(attempt, outcome.retryAfterMs, request.signal))) throw outcome;
    attempt += 1;
    // The nonce may be used up.
    terms = await sendRepeatedly(transport, request, { attemptsMax, accepted: [200, 402] });
    if (terms.status === 200) return terms;
  }
}

function readPayer({ payer }: Pick<PurchaseContext, "payer">): SigningPayer {
  const signMessage = payer?.signMessage?.bind(payer);
  if (payer && signMessage) return { address: payer.address, signMessage };
  throw new SextantError(
    "NOT_CONFIGURED",
    "To get a response again, the client needs a payer with signMessage, such as the account of a key.",
  );
}

async function sendOnce(
  { transport }: PurchaseContext,
  request: HttpRequest,
): Promise<HttpResponse | SextantError> {
  try {
    const response = await transport.send(request);
    const { retryAfterMs, message, status, requestId } = toResponseError(response);
    // The service has not looked whether there is a response.
    if (status === 402 && retryAfterMs !== null) {
      return new SextantError("RATE_LIMITED", message, { status, retryAfterMs, requestId });
    }
    return response.status === 200 || response.status === 402 ? response : toResponseError(response);
  } catch (error) {
    if (error instanceof SextantError) return error;
    throw error;
  }
}

/** Null if the service offers no sign-in for the guard's network. Throws for one that is not for this request and now. */
function readChallenge(
  { headers }: HttpResponse,
  url: string,
  { guard, now }: PurchaseContext,
): Challenge | null {
  const header = headers.get("payment-required");
  if (header === null) return null;
  const extension = fieldsOf(fieldsOf(decodeHeader(header, "PAYMENT-REQUIRED").extensions)[SIGN_IN]);
  const chains = Array.isArray(extension.supportedChains) ? extension.supportedChains.map(fieldsOf) : [];
  if (!chains.some(({ chainId, type }) => chainId === guard.network && type === SIGN_IN_TYPE)) return null;
  const info = fieldsOf(extension.info);
  const { domain, uri, version, nonce, issuedAt } = info;
  const { host, origin, pathname } = new URL(url);
  if (domain !== host) throw rejected(`is for another domain than ${host}`);
  // Without the query, which may name a wallet.
  if (uri !== origin + pathname) throw rejected(`is for another URI than ${origin}${pathname}`);
  const isKnown = version === SIGN_IN_VERSION && Object.keys(info).every((name) => FIELDS.has(name));
  if (!isKnown || !matches(nonce, NONCE) || !matches(issuedAt, TIME)) {
    throw rejected("says more than who signs in where and when");
  }
  const isNow = Math.abs(Date.parse(issuedAt) - now()) <= CLOCK_TOLERANCE_MS;
  if (!isNow) throw rejected("is from another time than the clock of this machine shows");
  return { domain, uri, nonce, issuedAt };
}

/** Nothing of the service's own words is signed. */
async function prove(payer: SigningPayer, challenge: Challenge, network: string): Promise<string> {
  const { address } = payer;
  const message = formatSignInMessage({ ...challenge, address, chainId: network });
  const signature = await payer.signMessage({ message }).catch((cause) => {
    throw new SextantError("SIGNING_FAILED", "The account did not sign in.", { cause });
  });
  if (!KEY_SIGNATURE.test(signature)) {
    throw new SextantError(
      "NOT_CONFIGURED",
      "Services take a sign-in of a key, not of an account with code.",
    );
  }
  const stated = { version: SIGN_IN_VERSION, chainId: network, type: SIGN_IN_TYPE };
  return encodeHeader({ ...challenge, ...stated, address, signature });
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function rejected(problem: string): SextantError {
  return new SextantError("TERMS_REJECTED", `The challenge to sign in ${problem}; nothing was signed.`, {
    status: 402,
  });
}
