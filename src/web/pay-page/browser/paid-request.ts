// Sends a paid request: a signed payment is stored until the response arrives, so that nothing is paid for twice.
import { isTimeOf } from "../form-query.ts";
import {
  buildPaymentHeader,
  buildTypedData,
  type Challenge,
  createAuthorization,
  decodeHeader,
  type Receipt,
  type Terms,
} from "../payment.ts";
import type { PaidBody } from "../result-view.ts";

export type PaidResult<Body extends PaidBody> = { body: Body; receipt: Receipt | null };
export type Step = "price" | "wallet" | "signature" | "result";
type ProgressListener = (step: Step, text: string) => void;
type Rejection = Error & { status: number };
/** The terms that the page shows; a request may cost any of the amounts. */
type ShownTerms = Pick<Terms, "scheme" | "network" | "asset" | "payTo"> & { amounts: string[] };
export type Payer = {
  account(terms: Terms): Promise<string>;
  signTypedData(account: string, data: unknown): Promise<string>;
};

// A settlement takes a few blocks; after this many attempts the visitor decides whether to continue.
const ATTEMPTS_MAX = 6;
const WAIT_SECONDS = 2;
const WAIT_SECONDS_MAX = 20;
// Unavailable, or the outcome is not known yet: retry with the same signature.
const RETRY_STATUSES = [429, 500, 502, 503, 504];

const paymentKey = (url: string) => `sextant payment ${url}`;
const resultKey = (url: string) => `sextant result ${url}`;

/** Whether a payment was signed for this URL and its response has not arrived. */
export function isPaymentPending(url: string) {
  return sessionStorage.getItem(paymentKey(url)) !== null;
}

/** The last response paid for in this tab. */
export function readStoredResult<Body extends PaidBody>(url: string): PaidResult<Body> | null {
  const text = sessionStorage.getItem(resultKey(url));
  return text === null ? null : JSON.parse(text);
}

/**
 * The request by address and blocks that a name or times in this one lead to; itself without them. Nothing is paid by it.
 */
export async function findLedRequest(url: string): Promise<URL> {
  const given = new URL(url, location.href);
  const isLed = ([name, value]: readonly [string, string]) =>
    name === "address" ? value.includes(".") : isTimeOf(name, value);
  if (![...given.searchParams].some(isLed)) return given;
  const response = await fetch(url, { headers: { accept: "application/json" }, cache: "no-store" });
  if (!response.redirected || RETRY_STATUSES.includes(response.status) || response.status === 400)
    throw await createRejection(response);
  const target = new URL(response.url);
  // The address and the blocks may change and nothing else.
  const expected = [...given.searchParams].map((pair) => {
    const name = pair[0] === "at" ? "block" : pair[0];
    return [name, isLed(pair) ? target.searchParams.get(name) : pair[1]];
  });
  const isSame =
    target.origin + target.pathname === given.origin + given.pathname &&
    JSON.stringify([...target.searchParams]) === JSON.stringify(expected);
  if (!isSame) throw new Error("The service redirects to another request.");
  return target;
}

export async function requestPaidResult<Body extends PaidBody>(
  url: string,
  shownTerms: ShownTerms,
  payer: Payer,
  onProgress: ProgressListener,
): Promise<PaidResult<Body>> {
  let payment = sessionStorage.getItem(paymentKey(url));
  if (payment === null) {
    onProgress("price", "Requesting the price …");
    const first = await sendRequest(url, null);
    if (first.status === 200) return readResult(url, first);
    if (first.status !== 402) throw await createRejection(first);
    payment = await signPayment(first, shownTerms, payer, onProgress);
    sessionStorage.setItem(paymentKey(url), payment);
  }
  onProgress("result", "Payment signed. Reading the wallet, which takes a few seconds …");
  return waitForResponse(url, payment, onProgress);
}

async function signPayment(
  response: Response,
  shownTerms: ShownTerms,
  payer: Payer,
  onProgress: ProgressListener,
) {
  const header = response.headers.get("payment-required");
  if (header === null) throw new Error("The service requires a payment but sent no terms.");
  const challenge = decodeHeader(header) as Challenge;
  const matchesShown = (terms: Terms) =>
    shownTerms.amounts.includes(terms.amount) &&
    [terms.scheme, terms.network, terms.asset, terms.payTo].join() ===
      [shownTerms.scheme, shownTerms.network, shownTerms.asset, shownTerms.payTo].join();
  const terms = challenge.accepts.find(matchesShown);
  if (!terms)
    throw new Error("The price has changed since this page was opened. Reload it to see the new one.");
  onProgress("wallet", "Choose an account in your wallet …");
  const account = await payer.account(terms);
  onProgress("signature", "Sign the payment in your wallet …");
  const authorization = createAuthorization(terms, account, Date.now());
  const signature = await payer.signTypedData(account, buildTypedData(terms, authorization));
  return buildPaymentHeader(challenge, terms, authorization, signature);
}

async function waitForResponse<Body extends PaidBody>(
  url: string,
  payment: string,
  onProgress: ProgressListener,
): Promise<PaidResult<Body>> {
  let reason = "";
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const response = await sendRequest(url, payment).catch(() => null);
    if (response?.status === 200) return readResult(url, response);
    if (response && !RETRY_STATUSES.includes(response.status)) {
      // A final rejection is not charged: another attempt needs another signature.
      sessionStorage.removeItem(paymentKey(url));
      throw await createRejection(response);
    }
    reason = response ? await readError(response) : "The service could not be reached.";
    if (attempt === ATTEMPTS_MAX) break;
    const retryAfter = Number(response?.headers.get("retry-after") ?? WAIT_SECONDS) || WAIT_SECONDS;
    const seconds = Math.min(retryAfter, WAIT_SECONDS_MAX);
    onProgress("result", `${reason} Retrying with the same payment in ${seconds} s …`);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
  throw new Error(reason);
}

function sendRequest(url: string, payment: string | null) {
  const headers: Record<string, string> = { accept: "application/json" };
  if (payment !== null) headers["payment-signature"] = payment;
  return fetch(url, { headers, cache: "no-store", redirect: "error" });
}

async function readResult<Body extends PaidBody>(url: string, response: Response): Promise<PaidResult<Body>> {
  const body: Body = await response.json();
  const header = response.headers.get("payment-response");
  const receipt = header === null ? null : (decodeHeader(header) as Receipt);
  const paid = { body, receipt };
  sessionStorage.removeItem(paymentKey(url));
  try {
    sessionStorage.setItem(resultKey(url), JSON.stringify(paid));
  } catch {
    // Without space in the tab the response is shown all the same; only a reload loses it.
    sessionStorage.removeItem(resultKey(url));
  }
  return paid;
}

async function createRejection(response: Response): Promise<Rejection> {
  return Object.assign(new Error(await readError(response)), { status: response.status });
}

async function readError(response: Response) {
  const body: { error?: unknown } | null = await response.json().catch(() => null);
  return typeof body?.error === "string"
    ? body.error
    : `The service responded with status ${response.status}.`;
}
