// Sends a paid request: a signed payment is stored until the response arrives, so that nothing is paid for twice.
import { buildPaymentHeader, buildTypedData, createAuthorization, decodeHeader } from "./payment.js";

/**
 * @typedef {{transaction: string, network: string, payer: string}} Receipt
 * @typedef {{body: import("./responses.d.ts").PaidBody, receipt: Receipt | null}} PaidResult
 * @typedef {import("./payment.js").Terms} Terms
 * @typedef {"price" | "wallet" | "signature" | "result"} Step
 * @typedef {(step: Step, text: string) => void} ProgressListener
 * @typedef {Error & {status: number}} Rejection
 * @typedef {{account(terms: Terms): Promise<string>, signTypedData(account: string, data: unknown): Promise<string>}} Payer
 */

// A settlement takes a few blocks; after this many attempts the visitor decides whether to continue.
const ATTEMPTS_MAX = 6;
const WAIT_SECONDS = 2;
const WAIT_SECONDS_MAX = 20;
// Unavailable, or the outcome is not known yet: retry with the same signature.
const RETRY_STATUSES = [429, 500, 502, 503, 504];

const paymentKey = (/** @type {string} */ url) => `sextant payment ${url}`;
const resultKey = (/** @type {string} */ url) => `sextant result ${url}`;

/** Whether a payment was signed for this URL and its response has not arrived. @param {string} url */
export function isPaymentPending(url) {
  return sessionStorage.getItem(paymentKey(url)) !== null;
}

/** The last response paid for in this tab. @param {string} url @returns {PaidResult | null} */
export function readStoredResult(url) {
  const text = sessionStorage.getItem(resultKey(url));
  return text === null ? null : JSON.parse(text);
}

/**
 * The address that the name in a request leads to; null for a request without a name. Nothing is paid by it.
 * @param {string} url
 * @returns {Promise<string | null>}
 */
export async function findNamedAddress(url) {
  const given = new URL(url, location.href);
  if (!given.searchParams.get("address")?.includes(".")) return null;
  const response = await fetch(url, { headers: { accept: "application/json" }, cache: "no-store" });
  if (!response.redirected) throw await createRejection(response);
  const target = new URL(response.url);
  const address = target.searchParams.get("address") ?? "";
  given.searchParams.set("address", address);
  // The address may change and nothing else.
  const [led, expected] = [target, given].map(
    (each) => each.origin + each.pathname + JSON.stringify([...each.searchParams]),
  );
  if (led !== expected) throw new Error("The service redirects to another request.");
  return address;
}

/**
 * @param {string} url
 * @param {Terms} shownTerms The terms that the page showed.
 * @param {Payer} payer
 * @param {ProgressListener} onProgress
 * @returns {Promise<PaidResult>}
 */
export async function requestPaidResult(url, shownTerms, payer, onProgress) {
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

/**
 * @param {Response} response
 * @param {Terms} shownTerms
 * @param {Payer} payer
 * @param {ProgressListener} onProgress
 */
async function signPayment(response, shownTerms, payer, onProgress) {
  const header = response.headers.get("payment-required");
  if (header === null) throw new Error("The service requires a payment but sent no terms.");
  const challenge = /** @type {import("./payment.js").Challenge} */ (decodeHeader(header));
  const matchesShown = (/** @type {Terms} */ terms) =>
    [terms.scheme, terms.network, terms.amount, terms.asset, terms.payTo].join() ===
    [shownTerms.scheme, shownTerms.network, shownTerms.amount, shownTerms.asset, shownTerms.payTo].join();
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

/** @param {string} url @param {string} payment @param {ProgressListener} onProgress @returns {Promise<PaidResult>} */
async function waitForResponse(url, payment, onProgress) {
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

/** @param {string} url @param {string | null} payment */
function sendRequest(url, payment) {
  /** @type {Record<string, string>} */
  const headers = { accept: "application/json" };
  if (payment !== null) headers["payment-signature"] = payment;
  return fetch(url, { headers, cache: "no-store", redirect: "error" });
}

/** @param {string} url @param {Response} response @returns {Promise<PaidResult>} */
async function readResult(url, response) {
  /** @type {PaidResult["body"]} */
  const body = await response.json();
  const header = response.headers.get("payment-response");
  const receipt = header === null ? null : /** @type {Receipt} */ (decodeHeader(header));
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

/** @param {Response} response @returns {Promise<Rejection>} */
async function createRejection(response) {
  return Object.assign(new Error(await readError(response)), { status: response.status });
}

/** @param {Response} response */
async function readError(response) {
  /** @type {{error?: unknown} | null} */
  const body = await response.json().catch(() => null);
  return typeof body?.error === "string"
    ? body.error
    : `The service responded with status ${response.status}.`;
}
