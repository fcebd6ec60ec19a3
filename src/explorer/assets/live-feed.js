// The live feed: events as they happen, over one connection that exists only while the page is seen.
import { addCopyButtons, showLocalTimes } from "./page.js";

const SHOWN_MAX = 30;
const TEXT_LENGTH_MAX = 400;
const ADDRESS_OR_HASH = /0x[0-9a-f]{40}(?:[0-9a-f]{24})?(?![0-9a-f…])/g;
// As in foreign-text.ts.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}\u115f\u1160\u3164\uffa0]/gu;

/** @type {EventSource | null} */
let source = null;

const list = document.querySelector("[data-feed]");
const state = document.querySelector("[data-feed-state]");
const indexed = document.querySelector("[data-live=indexed]");
/** Where the page is: it misses nothing between two connections, and learns what a reorg undid meanwhile. */
let cursor = list?.getAttribute("data-feed") ?? "";
/** Types of events whose sentences quote strangers. */
const quoting = (list?.getAttribute("data-quoting") ?? "").split(" ");

/** @param {string} text @param {string} tone */
function setState(text, tone) {
  if (state === null) return;
  state.textContent = text;
  state.className = `badge ${tone}`;
}

/** @param {string} text */
function toWords(text) {
  const words = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {string} digits */
function groupDigits(digits) {
  return digits.replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
}

/** @param {string} hex */
function shorten(hex) {
  return `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

/** @param {string} character */
function escapeHidden(character) {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/**
 * Text only: nothing of an event becomes markup.
 * @param {string} tag @param {string} className @param {string} text
 */
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/**
 * As the server shows it: of limited length, hidden characters visible, addresses and hashes by their ends unless the
 * sentence quotes a stranger.
 * @param {{type: string, description: string}} event
 */
function toText({ type, description }) {
  const isQuoting = quoting.includes(type);
  const characters = [...description.slice(0, 2 * TEXT_LENGTH_MAX)];
  const isCut = characters.length > TEXT_LENGTH_MAX || description.length > 2 * TEXT_LENGTH_MAX;
  const text = `${characters.slice(0, TEXT_LENGTH_MAX).join("")}${isCut ? "…" : ""}`;
  const short = isQuoting ? text : text.replace(ADDRESS_OR_HASH, shorten);
  return short.replace(HIDDEN, escapeHidden);
}

/** @param {{type: string, description: string, tx_hash: string, block_number: string, block_timestamp: string}} event */
function toItem(event) {
  const item = element("li", "new", "");
  item.dataset.block = event.block_number;
  const text = element("span", "feed-text", "");
  text.append(element("bdi", "foreign", toText(event)));
  const place = element("span", "feed-place", "");
  const block = element("a", "block", groupDigits(event.block_number));
  block.setAttribute("href", `?block=${encodeURIComponent(event.block_number)}`);
  const hash = element("code", "id", shorten(event.tx_hash));
  hash.dataset.copy = event.tx_hash;
  const time = document.createElement("time");
  const date = new Date(Number(event.block_timestamp) * 1_000);
  time.dateTime = date.toISOString();
  time.title = `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
  place.append(block, " · ", hash, " · ", time);
  item.append(element("span", "feed-type", toWords(event.type)), " ", text, " ", place);
  showLocalTimes(item);
  addCopyButtons(item);
  return item;
}

/** @param {MessageEvent<string>} message */
function onEvent(message) {
  if (list === null) return;
  cursor = message.lastEventId;
  const event = JSON.parse(message.data);
  list.prepend(toItem(event));
  while (list.children.length > SHOWN_MAX) list.lastElementChild?.remove();
}

/**
 * A reorg: what came after the block did not happen.
 * @param {MessageEvent<string>} message
 */
function onUndo(message) {
  cursor = message.lastEventId;
  const { block_number } = JSON.parse(message.data);
  for (const item of list?.querySelectorAll("li[data-block]") ?? []) {
    const block = item.getAttribute("data-block") ?? "0";
    if (BigInt(block) > BigInt(block_number)) item.remove();
  }
}

/** @param {MessageEvent<string>} message */
function onProgress(message) {
  cursor = message.lastEventId;
  const { indexed_block } = JSON.parse(message.data);
  if (indexed !== null) indexed.textContent = groupDigits(String(indexed_block));
}

function open() {
  if (source !== null || list === null) return;
  source = new EventSource(`/events${cursor && `?from=${encodeURIComponent(cursor)}`}`);
  source.addEventListener("open", () => setState("Live", "good"));
  source.addEventListener("error", () => setState("Connecting", "warn"));
  source.addEventListener("message", onEvent);
  source.addEventListener("undo", onUndo);
  source.addEventListener("progress", onProgress);
}

/** A browser has six connections to a server; a page that is not seen takes none. */
function close() {
  source?.close();
  source = null;
  setState("Paused", "plain");
}

document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
addEventListener("pagehide", close);
addEventListener("pageshow", open);
open();
