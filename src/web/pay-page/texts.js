// How names, addresses, hashes and times are shown.
import { createElement } from "./elements.js";

/** @typedef {import("./elements.js").ViewElement} ViewElement */

// Longer names are cut; the full text is in the tooltip.
const NAME_LENGTH_MAX = 40;
// Marks on one letter; a name with hundreds of them paints over its neighbours.
const MARKS = /(\p{M}{2})\p{M}+/gu;
// Controls, characters that change the direction of text or take no space, and letters that are blank.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;

/** What is not seen becomes its number, so that no name can pass for another. @param {string} text */
export function revealName(text) {
  const reveal = (/** @type {string} */ character) =>
    `⟨${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  return text.replace(UNSEEN, reveal).replace(MARKS, "$1");
}

/** @param {string} text */
export function truncateName(text) {
  const characters = [...revealName(text)];
  return characters.length > NAME_LENGTH_MAX
    ? `${characters.slice(0, NAME_LENGTH_MAX).join("")}…`
    : characters.join("");
}

/** A name that others chose: its direction does not reach the text around it. @param {string} text */
export function renderName(text) {
  return createElement("bdi", {}, truncateName(text));
}

/** @param {string} text */
export function shortenHex(text) {
  return text.length > 14 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text;
}

/** @param {string} text */
export function renderHex(text) {
  return createElement("code", { title: text }, shortenHex(text));
}

/** @param {string} name The name of a chain, which never breaks. */
export function renderChain(name) {
  return createElement("span", { class: "chain" }, name);
}

/**
 * @param {string} iso
 * @param {string | undefined} timeZone The visitor's when undefined.
 */
export function renderTime(iso, timeZone) {
  const time = new Date(iso);
  // English like the rest of the page, with the month as a word: 1/2 is two dates.
  const [date, clock] = [{ dateStyle: "medium" }, { timeStyle: "short" }].map((style) =>
    time.toLocaleString("en-GB", /** @type {Intl.DateTimeFormatOptions} */ ({ ...style, timeZone })),
  );
  return createElement(
    "time",
    { datetime: iso, title: `${iso.replace("T", " ").slice(0, 19)} UTC` },
    createElement("span", {}, `${date},`),
    " ",
    createElement("span", {}, clock ?? ""),
  );
}

/** A transaction hash, as a link if the chain has an explorer. @param {string} hash @param {string | null | undefined} explorerTxUrl */
export function renderTransaction(hash, explorerTxUrl) {
  if (!explorerTxUrl || !/^0x[0-9a-fA-F]{64}$/.test(hash)) return renderHex(hash);
  const href = explorerTxUrl.replace("{hash}", hash);
  return createElement("a", { href, target: "_blank", rel: "noopener noreferrer" }, renderHex(hash));
}

/** A sentence with its long addresses and hashes shortened. @param {string} sentence @returns {(string | ViewElement)[]} */
export function shortenSentence(sentence) {
  return sentence
    .split(/(0x[0-9a-f]{40,64}\b)/)
    .map((part, index) => (index % 2 === 1 ? renderHex(part) : revealName(part)));
}
