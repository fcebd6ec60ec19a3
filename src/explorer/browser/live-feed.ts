// The live feed: events as they happen, over one connection that exists only while the page is seen.
import {
  findOfferedIntent,
  type SentencePart,
  splitSentence,
  type TokensOfIntent,
} from "../sentence-parts.ts";
import { addCopyButtons, showLocalTimes } from "./elements.ts";

const SHOWN_MAX = 30;
const TEXT_LENGTH_MAX = 400;
// As in format.ts.
const FRACTION_DIGITS_MAX = 6;
// As in components.ts: of so little of the coin only zeros would be seen.
const FEW_WEI = /^[1-9][0-9]{0,11}$/;
const NATIVE = `0x${"0".repeat(40)}`;
// Intents whose tokens are being read. A burst of bids must not become a burst of requests.
const READS_MAX = 4;
// As in foreign-text.ts.
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}\u115f\u1160\u2800\u3164\uffa0\u{1d159}]/gu;

// The API is beside the explorer, also where both are below a path.
const base = location.pathname.replace(/\/explorer(?:\/.*)?$/, "");

let source: EventSource | null = null;

const list = document.querySelector("[data-feed]");
const state = document.querySelector("[data-feed-state]");
const indexed = document.querySelector("[data-live=indexed]");
/** Where the page is: it misses nothing between two connections, and learns what a reorg undid meanwhile. */
let cursor = list?.getAttribute("data-feed") ?? "";
/** Types of events whose sentences quote strangers. */
const quoting = (list?.getAttribute("data-quoting") ?? "").split(" ");

/** Tokens with symbol and decimals, as the server knows them. */
const tokens: Readonly<Record<string, { symbol: string; decimals: number }>> = JSON.parse(
  list?.getAttribute("data-tokens") ?? "{}",
);
let reads = 0;

function setState(text: string, tone: string) {
  if (state === null) return;
  state.textContent = text;
  state.className = `badge ${tone}`;
}

function toWords(text: string) {
  const words = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function groupDigits(digits: string) {
  return digits.replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
}

function shorten(hex: string) {
  return `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

function escapeHidden(character: string) {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Text only: nothing of an event becomes markup. */
function element(tag: string, className: string, text: string) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function showHidden(text: string) {
  return text.replace(HIDDEN, escapeHidden);
}

/** Symbol and decimals where the token is known; null where it is not. */
function formatAmount(units: string, token: string) {
  const known = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
  if (known === undefined) return null;
  if (token === NATIVE && FEW_WEI.test(units)) return `${groupDigits(units)} wei`;
  const digits = units.padStart(known.decimals + 1, "0");
  const whole = digits.slice(0, digits.length - known.decimals).replace(/^0+(?=[0-9])/, "");
  const fraction = digits.slice(digits.length - known.decimals).replace(/0+$/, "");
  const shown = fraction.slice(0, FRACTION_DIGITS_MAX);
  const more = fraction.length > shown.length ? "…" : "";
  return `${groupDigits(whole)}${shown && `.${shown}`}${more} ${known.symbol}`;
}

function toPartText(part: SentencePart) {
  if (part.kind === "text") return showHidden(part.text);
  if (part.kind === "amount") {
    const named = part.named ? ` of ${shorten(part.token)}` : "";
    return formatAmount(part.units, part.token) ?? `${part.units}${named}`;
  }
  if (part.id === NATIVE && !part.isToken) return "none";
  return (Object.hasOwn(tokens, part.id) ? tokens[part.id]?.symbol : undefined) ?? shorten(part.id);
}

/**
 * As the server shows it: of limited length, hidden characters visible, amounts as people read them, addresses and
 * hashes by their ends; nothing of it where the sentence quotes a stranger.
 */
function toText({ type, description }: { type: string; description: string }, intent: TokensOfIntent | null) {
  const characters = [...description.slice(0, 2 * TEXT_LENGTH_MAX)];
  const isCut = characters.length > TEXT_LENGTH_MAX || description.length > 2 * TEXT_LENGTH_MAX;
  const text = `${characters.slice(0, TEXT_LENGTH_MAX).join("")}${isCut ? "…" : ""}`;
  if (quoting.includes(type)) return showHidden(text);
  return splitSentence(text, intent).map(toPartText).join("");
}

/** Bids and fills name the intent alone: its tokens are read, and the sentence is written again with them. */
async function addTokens(text: Element, event: { type: string; description: string }) {
  const id = findOfferedIntent(event);
  if (id === null || reads >= READS_MAX) return;
  reads += 1;
  try {
    const response = await fetch(`${base}/intents/${encodeURIComponent(id)}`);
    if (response.ok) text.textContent = toText(event, await response.json());
  } catch {
    // The sentence stays as it is, in the smallest unit.
  } finally {
    reads -= 1;
  }
}

function toItem(event: {
  type: string;
  description: string;
  tx_hash: string;
  block_number: string;
  block_timestamp: string;
}) {
  const item = element("li", "new", "");
  item.dataset.block = event.block_number;
  const text = element("span", "feed-text", "");
  const shown = element("bdi", "foreign", toText(event, null));
  text.append(shown);
  void addTokens(shown, event);
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

function onEvent(message: MessageEvent<string>) {
  if (list === null) return;
  cursor = message.lastEventId;
  const event = JSON.parse(message.data);
  list.prepend(toItem(event));
  while (list.children.length > SHOWN_MAX) list.lastElementChild?.remove();
}

/** A reorg: what came after the block did not happen. */
function onUndo(message: MessageEvent<string>) {
  cursor = message.lastEventId;
  const { block_number } = JSON.parse(message.data);
  for (const item of list?.querySelectorAll("li[data-block]") ?? []) {
    const block = item.getAttribute("data-block") ?? "0";
    if (BigInt(block) > BigInt(block_number)) item.remove();
  }
}

function onProgress(message: MessageEvent<string>) {
  cursor = message.lastEventId;
  const { indexed_block } = JSON.parse(message.data);
  if (indexed !== null) indexed.textContent = groupDigits(String(indexed_block));
}

function open() {
  if (source !== null || list === null) return;
  source = new EventSource(`${base}/events${cursor && `?from=${encodeURIComponent(cursor)}`}`);
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
