// Renders what every bought result has: its title, its receipt and the figure that sums it up; and what views know about chains.
import type { PortfolioSnapshot } from "../../schema/portfolio/snapshot.ts";
import { createElement, renderAmount, renderFacts, type ViewElement } from "./elements.ts";
import type { Receipt } from "./payment.ts";
import { renderHex, renderTime, renderTransaction } from "./texts.ts";

/** The fields of every paid response; each side of a difference has a time of its own. */
export type PaidBody = { readonly address: string; readonly timestamp?: string };

type AddedKey = "name" | "accounts" | "health" | "gas";
/** A snapshot that the tab may have kept from an older service, which did not sell these keys. */
export type KeptSnapshot = Omit<PortfolioSnapshot, AddedKey> & Partial<Pick<PortfolioSnapshot, AddedKey>>;

export type KnownChain = { slug: string; name: string; explorerTxUrl: string | null };
export type ViewContext = {
  nameOf(slug: string): string;
  explorerOf(slug: string): string | null;
  timeZone: string | undefined;
};

/** The visitor's time zone if undefined. */
export function createViewContext(chains: readonly KnownChain[], timeZone?: string): ViewContext {
  const find = (slug: string) => chains.find((chain) => chain.slug === slug);
  return {
    nameOf: (slug) => find(slug)?.name ?? slug,
    explorerOf: (slug) => find(slug)?.explorerTxUrl ?? null,
    timeZone,
  };
}

/** `about` says what is known about the address. */
export function renderTitle(
  title: string,
  { address, timestamp }: PaidBody,
  about: (string | ViewElement)[],
  { timeZone }: ViewContext,
) {
  return createElement(
    "div.title", // Focused when it appears, so that a screen reader and the keyboard go on from here.
    createElement("h2", { id: "result-title", tabindex: "-1" }, title),
    createElement("p", createElement("code", address)),
    about.length === 0 ? null : createElement("p.labels", ...about),
    timestamp === undefined ? null : createElement("p.soft", renderTime(timestamp, timeZone)),
  );
}

export function renderReceipt(
  { transaction, payer }: Receipt,
  { priceUsd, paymentChain }: { priceUsd: string; paymentChain: KnownChain },
) {
  return createElement(
    "section.receipt",
    { "aria-label": "Receipt" },
    createElement("h3", `Paid $${priceUsd}`),
    renderFacts([
      ["Transaction", renderTransaction(String(transaction), paymentChain.explorerTxUrl)],
      ["On", paymentChain.name],
      ["From", payer ? renderHex(String(payer)) : "unknown"],
    ]),
  );
}

// More would not fit a phone in the largest size.
const LARGE_LENGTH_MAX = 13;

/** The figure that sums the result up. */
export function renderTotalAmount(text: string) {
  const look = text.length > LARGE_LENGTH_MAX ? "total long" : "total";
  return createElement("p", { class: look, id: "total" }, renderAmount(text));
}
