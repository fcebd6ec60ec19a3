// How names, addresses, hashes and times are shown.
import { createElement, type ViewElement } from "./elements.ts";

// Longer names are cut; the full text is in the tooltip.
const NAME_LENGTH_MAX = 40;
// Marks on one letter; a name with hundreds of them paints over its neighbours.
const MARKS = /(\p{M}{2})\p{M}+/gu;
// Controls, characters that change the direction of text or take no space, and letters that are blank.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;

/** Shows an invisible character as its number, so that no name can pass for another. */
export function revealName(text: string) {
  const reveal = (character: string) =>
    `⟨${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  return text.replace(UNSEEN, reveal).replace(MARKS, "$1");
}

export function truncateName(text: string) {
  const characters = [...revealName(text)];
  return characters.length > NAME_LENGTH_MAX
    ? `${characters.slice(0, NAME_LENGTH_MAX).join("")}…`
    : characters.join("");
}

/** A name that others chose: its direction does not reach the text around it. */
export function renderName(text: string) {
  return createElement("bdi", truncateName(text));
}

export function shortenHex(text: string) {
  return text.length > 14 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text;
}

export function renderHex(text: string) {
  return createElement("code", { title: text }, shortenHex(text));
}

/** The name of a chain never breaks. */
export function renderChain(name: string) {
  return createElement("span.chain", name);
}

/** The visitor's time zone if undefined. */
export function renderTime(iso: string, timeZone: string | undefined) {
  const time = new Date(iso);
  // English like the rest of the page, with the month as a word: 1/2 is two dates.
  const [date, clock] = [{ dateStyle: "medium" }, { timeStyle: "short" }].map((style) =>
    time.toLocaleString("en-GB", { ...style, timeZone } as Intl.DateTimeFormatOptions),
  );
  return createElement(
    "time",
    { datetime: iso, title: `${iso.replace("T", " ").slice(0, 19)} UTC` },
    createElement("span", `${date},`),
    " ",
    createElement("span", clock ?? ""),
  );
}

/** A transaction hash, as a link if the chain has an explorer. */
export function renderTransaction(hash: string, explorerTxUrl: string | null | undefined) {
  if (!explorerTxUrl || !/^0x[0-9a-fA-F]{64}$/.test(hash)) return renderHex(hash);
  const href = explorerTxUrl.replace("{hash}", hash);
  return createElement("a", { href, target: "_blank", rel: "noopener noreferrer" }, renderHex(hash));
}

/** A sentence with its long addresses and hashes shortened. */
export function shortenSentence(sentence: string): (string | ViewElement)[] {
  return sentence
    .split(/(0x[0-9a-f]{40,64}\b)/)
    .map((part, index) => (index % 2 === 1 ? renderHex(part) : revealName(part)));
}
