// The live feed: events as they happen, over one connection that exists only while the page is seen.
import type { Sentence, SentencePart } from "../../schema/sentence.ts";
import {
  formatNumber,
  formatSeconds,
  formatUnits,
  shorten,
  splitWords,
  UNNAMED_UNITS,
  visibleText,
} from "../format.ts";
import { addCopyButtons, showTimes } from "./elements.ts";

const SHOWN_MAX = 30;
const QUOTED_LENGTH_MAX = 400;
// As in components.ts: of so little of the coin only zeros would be seen.
const FEW_WEI = /^[1-9][0-9]{0,11}$/;
const NATIVE = `0x${"0".repeat(40)}`;

// The API is next to the explorer, also if both are below a path.
const base = location.pathname.replace(/\/explorer(?:\/.*)?$/, "");

let source: EventSource | null = null;

const list = document.querySelector("[data-feed]");
const state = document.querySelector("[data-feed-state]");
const indexed = document.querySelector("[data-live=indexed]");
/** The position of the page: it misses nothing between two connections, and learns what a reorg undid meanwhile. */
let cursor = list?.getAttribute("data-feed") ?? "";

/** Tokens with symbol and decimals, as the server knows them. */
const tokens = readMap<{ symbol: string; decimals: number }>("data-tokens");
/** The contracts of the protocol, by address. */
const contracts = readMap<string>("data-contracts");
/** The page of each kind of record. */
const pages = readMap<string>("data-pages");

function readMap<T>(name: string): ReadonlyMap<string, T> {
  return new Map(Object.entries(JSON.parse(list?.getAttribute(name) ?? "{}")));
}

function setState(text: string, tone: string) {
  if (state === null) return;
  state.textContent = text;
  state.className = `badge ${tone}`;
}

/** Text only: nothing of an event becomes markup. */
function element(tag: string, className: string, text: string) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** A link to the page of a record, if it has one. */
function link(kind: string, id: string, label: HTMLElement | string) {
  const pattern = pages.get(kind);
  const made = element(pattern === undefined ? "span" : "a", "record", "");
  if (pattern !== undefined) made.setAttribute("href", pattern.replace(":id", encodeURIComponent(id)));
  made.append(label);
  return made;
}

/** Shortens an address or hash; the zero address means none. */
function identifier(value: string) {
  if (/^0x0*$/.test(value)) return element("span", "soft", "none");
  return copied(element("code", "id", shorten(value)), value);
}

/** All of an address is in the title, and can be copied. */
function copied(made: HTMLElement, value: string) {
  made.title = value;
  made.dataset.copy = value;
  return made;
}

function address(value: string) {
  if (value === NATIVE) return identifier(value);
  const name = contracts.get(value) ?? tokens.get(value)?.symbol;
  const label = name === undefined ? identifier(value) : copied(element("span", "known", name), value);
  return link("account", value, label);
}

function token(value: string) {
  const known = tokens.get(value);
  if (known === undefined) return address(value);
  const symbol = element("span", "symbol", known.symbol);
  symbol.title = value;
  return value === NATIVE ? symbol : link("account", value, symbol);
}

function time(seconds: string) {
  const shown = formatSeconds(seconds);
  if (shown === null) return element("span", "", seconds);
  const made = element("time", "", shown.text);
  made.setAttribute("datetime", shown.iso);
  made.title = shown.text;
  return made;
}

/** With symbol and decimals if the token is known, otherwise in the smallest unit. */
function amount({ text, amount: units, token: of }: SentencePart & { readonly kind: "amount" }) {
  const known = tokens.get(of ?? "");
  const made = element("span", "amount", "");
  if (known !== undefined) {
    const isFew = of === NATIVE && FEW_WEI.test(units);
    const shown = formatUnits(units, isFew ? 0 : known.decimals).text;
    made.append(`${shown} `, isFew ? "wei" : token(of ?? ""));
  } else {
    const isNamed = of !== null && text !== units;
    const noun = of === null ? UNNAMED_UNITS : "units";
    made.append(`${formatUnits(units, null).text} ${noun}`, ...(isNamed ? [" of ", address(of)] : []));
  }
  return made;
}

function labelOf({ text, id }: SentencePart & { readonly kind: "record" }) {
  if (text === id) return identifier(id);
  return text === `#${id}` ? `#${formatNumber(id).text}` : text;
}

/** As the server shows it. */
function toNode(part: SentencePart): Node | string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "quoted":
      return element("bdi", "foreign", visibleText(part.text, QUOTED_LENGTH_MAX));
    case "address":
      return address(part.text);
    case "token":
      return token(part.text);
    case "hash":
      return identifier(part.text);
    case "time":
      return formatSeconds(part.text)?.text ?? part.text;
    case "record":
      return link(part.record, part.id, labelOf(part));
    case "amount":
      return amount(part);
  }
}

type FeedEvent = {
  readonly type: string;
  readonly parts: Sentence;
  readonly tx_hash: string;
  readonly block_number: string;
  readonly block_timestamp: string;
};

function toItem({ type, parts, tx_hash, block_number, block_timestamp }: FeedEvent) {
  const item = element("li", "new", "");
  item.dataset.block = block_number;
  const text = element("span", "feed-text", "");
  text.append(...parts.map(toNode));
  const place = element("span", "feed-place", "");
  const block = element("a", "block", formatNumber(block_number).text);
  block.setAttribute("href", `?block=${encodeURIComponent(block_number)}`);
  place.append(block, " · ", link("transaction", tx_hash, identifier(tx_hash)), " · ", time(block_timestamp));
  item.append(element("span", "feed-type", splitWords(type)), " ", text, " ", place);
  showTimes(item);
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
  if (indexed !== null) indexed.textContent = formatNumber(String(indexed_block)).text;
}

function open() {
  if (source !== null || list === null) return;
  source = new EventSource(`${base}/events?include=parts${cursor && `&from=${encodeURIComponent(cursor)}`}`);
  source.addEventListener("open", () => setState("Live", "good"));
  // A server that has as many streams as it may rejects this one for good.
  const isRejected = () => source?.readyState === EventSource.CLOSED;
  source.addEventListener("error", () =>
    isRejected() ? setState("Off", "plain") : setState("Connecting", "warn"),
  );
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
