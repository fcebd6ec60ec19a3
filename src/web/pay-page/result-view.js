// Renders what every bought result has: its title, its receipt and the figure that sums it up; and what views know about chains.
import { createElement, renderAmount, renderFacts } from "./elements.js";
import { renderHex, renderTime, renderTransaction } from "./texts.js";

/**
 * @typedef {{slug: string, name: string, explorerTxUrl: string | null}} KnownChain
 * @typedef {{nameOf(slug: string): string, explorerOf(slug: string): string | null, timeZone: string | undefined}} ViewContext
 */

/** @param {readonly KnownChain[]} chains @param {string} [timeZone] The visitor's when undefined. @returns {ViewContext} */
export function createViewContext(chains, timeZone) {
  const find = (/** @type {string} */ slug) => chains.find((chain) => chain.slug === slug);
  return {
    nameOf: (slug) => find(slug)?.name ?? slug,
    explorerOf: (slug) => find(slug)?.explorerTxUrl ?? null,
    timeZone,
  };
}

/**
 * @param {string} title
 * @param {import("./responses.d.ts").PaidBody} body
 * @param {(string | import("./elements.js").ViewElement)[]} about What is known about the address.
 * @param {ViewContext} context
 */
export function renderTitle(title, { address, timestamp }, about, { timeZone }) {
  return createElement(
    "div",
    { class: "title" },
    // Focused when it appears, so that a screen reader and the keyboard go on from here.
    createElement("h2", { id: "result-title", tabindex: "-1" }, title),
    createElement("p", {}, createElement("code", {}, address)),
    about.length === 0 ? null : createElement("p", { class: "labels" }, ...about),
    timestamp === undefined ? null : createElement("p", { class: "soft" }, renderTime(timestamp, timeZone)),
  );
}

/** @param {import("./paid-request.js").Receipt} receipt @param {{priceUsd: string, paymentChain: KnownChain}} offer */
export function renderReceipt({ transaction, payer }, { priceUsd, paymentChain }) {
  return createElement(
    "section",
    { class: "receipt", "aria-label": "Receipt" },
    createElement("h3", {}, `Paid $${priceUsd}`),
    renderFacts([
      ["Transaction", renderTransaction(String(transaction), paymentChain.explorerTxUrl)],
      ["On", paymentChain.name],
      ["From", payer ? renderHex(String(payer)) : "unknown"],
    ]),
  );
}

// More would not fit a phone in the largest size.
const LARGE_LENGTH_MAX = 13;

/** The figure that sums the result up. @param {string} text */
export function renderTotalAmount(text) {
  const look = text.length > LARGE_LENGTH_MAX ? "total long" : "total";
  return createElement("p", { class: look, id: "total" }, renderAmount(text));
}
