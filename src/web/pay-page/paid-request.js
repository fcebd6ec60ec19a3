// Buying one answer: a signed payment is kept until the answer is here, so that nothing is ever paid for twice.
import { newAuthorization, paymentHeader, readHeader, typedData } from "./payment.js";

/**
 * @typedef {{contract: string | null, symbol: string | null, name: string | null, balance: string | null, priceUsd: string | null, valueUsd: string | null}} Amount
 * @typedef {Amount & {chain: string, rawBalance: string, spam: boolean, priceSource: string | null}} Token
 * @typedef {{chain: string, protocol: string, kind: string, name: string, assets: (Amount & {rawBalance: string})[], valueUsd: string | null}} Position
 * @typedef {{chain: string | null, hash: string | null, from: string | null, to: string | null, timestamp: string | null}} Activity
 * @typedef {{chain: string, tokenCount: number, totalValueUsd: string | null}} ChainSum
 * @typedef {{totalValueUsd: string | null, stablecoinValueUsd: string | null, tokenCount: number, pricedTokenCount: number, unpricedTokenCount: number, chains: ChainSum[], warnings: string[]}} Summary
 * @typedef {{address: string, timestamp: string, provider: string, summary: Summary, tokens: Token[], positions: Position[], recentActivity: Activity[]}} Snapshot
 * @typedef {{transaction: string, network: string, payer: string}} Receipt
 * @typedef {{snapshot: Snapshot, receipt: Receipt | null}} Bought
 * @typedef {import("./payment.js").Terms} Terms
 * @typedef {{account(terms: Terms): Promise<string>, sign(account: string, data: unknown): Promise<string>}} Payer
 */

// A settlement takes a block or a few; who waits longer than this is asked whether to go on.
const TRIES_MAX = 6;
const WAIT_SECONDS = 2;
const WAIT_SECONDS_MAX = 20;
// These mean: not now, or nobody knows yet. The same signature is asked with again.
const LATER = [429, 500, 502, 503, 504];

const paymentKey = (/** @type {string} */ url) => `sextant payment ${url}`;
const answerKey = (/** @type {string} */ url) => `sextant answer ${url}`;

/** Whether a payment was signed for this and its answer has not come yet. @param {string} url */
export function isPending(url) {
  return sessionStorage.getItem(paymentKey(url)) !== null;
}

/** The last answer that was bought in this tab. @param {string} url @returns {Bought | null} */
export function lastBought(url) {
  const text = sessionStorage.getItem(answerKey(url));
  return text === null ? null : JSON.parse(text);
}

/**
 * @param {string} url
 * @param {Terms} shown What the page said it would cost.
 * @param {Payer} payer
 * @param {(text: string) => void} tell
 * @returns {Promise<Bought>}
 */
export async function buy(url, shown, payer, tell) {
  let payment = sessionStorage.getItem(paymentKey(url));
  if (payment === null) {
    tell("Asking what it costs …");
    const first = await ask(url, null);
    if (first.status === 200) return arrived(url, first);
    if (first.status !== 402) throw new Error(await sentence(first));
    payment = await signed(first, shown, payer, tell);
    sessionStorage.setItem(paymentKey(url), payment);
  }
  tell("Paid for by your signature. Waiting for the answer …");
  return delivered(url, payment, tell);
}

/**
 * @param {Response} challenged
 * @param {Terms} shown
 * @param {Payer} payer
 * @param {(text: string) => void} tell
 */
async function signed(challenged, shown, payer, tell) {
  const header = challenged.headers.get("payment-required");
  if (header === null) throw new Error("The service asked for a payment without saying which.");
  const challenge = /** @type {import("./payment.js").Challenge} */ (readHeader(header));
  const same = (/** @type {Terms} */ terms) =>
    [terms.scheme, terms.network, terms.amount, terms.asset, terms.payTo].join() ===
    [shown.scheme, shown.network, shown.amount, shown.asset, shown.payTo].join();
  const terms = challenge.accepts.find(same);
  if (!terms)
    throw new Error("The price has changed since this page was opened. Reload it to see the new one.");
  tell("Your wallet asks for an account …");
  const account = await payer.account(terms);
  tell("Your wallet asks for your signature …");
  const authorization = newAuthorization(terms, account, Date.now());
  const signature = await payer.sign(account, typedData(terms, authorization));
  return paymentHeader(challenge, terms, authorization, signature);
}

/** @param {string} url @param {string} payment @param {(text: string) => void} tell @returns {Promise<Bought>} */
async function delivered(url, payment, tell) {
  let reason = "";
  for (let attempt = 1; attempt <= TRIES_MAX; attempt += 1) {
    const answer = await ask(url, payment).catch(() => null);
    if (answer?.status === 200) return arrived(url, answer);
    if (answer && !LATER.includes(answer.status)) {
      // Refused for good, hence not charged: another attempt needs another signature.
      sessionStorage.removeItem(paymentKey(url));
      throw new Error(await sentence(answer));
    }
    reason = answer ? await sentence(answer) : "The service could not be reached.";
    if (attempt === TRIES_MAX) break;
    const asked = Number(answer?.headers.get("retry-after") ?? WAIT_SECONDS) || WAIT_SECONDS;
    const seconds = Math.min(asked, WAIT_SECONDS_MAX);
    tell(`${reason} Asking again with the same payment in ${seconds} s …`);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
  throw new Error(`${reason} Your payment is kept in this tab: trying again uses it and costs nothing more.`);
}

/** @param {string} url @param {string | null} payment */
function ask(url, payment) {
  /** @type {Record<string, string>} */
  const headers = { accept: "application/json" };
  if (payment !== null) headers["payment-signature"] = payment;
  return fetch(url, { headers, cache: "no-store", redirect: "error" });
}

/** @param {string} url @param {Response} answer @returns {Promise<Bought>} */
async function arrived(url, answer) {
  /** @type {Snapshot} */
  const snapshot = await answer.json();
  const header = answer.headers.get("payment-response");
  const receipt = header === null ? null : /** @type {Receipt} */ (readHeader(header));
  const bought = { snapshot, receipt };
  sessionStorage.removeItem(paymentKey(url));
  try {
    sessionStorage.setItem(answerKey(url), JSON.stringify(bought));
  } catch {
    // A tab without room for it shows the answer all the same; it is only not there after a reload.
    sessionStorage.removeItem(answerKey(url));
  }
  return bought;
}

/** @param {Response} answer */
async function sentence(answer) {
  /** @type {{error?: unknown} | null} */
  const body = await answer.json().catch(() => null);
  return typeof body?.error === "string" ? body.error : `The service answered ${answer.status}.`;
}
