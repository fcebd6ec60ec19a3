// Values as people read them: numbers, amounts and times exact, identifiers short, and what others wrote isolated.
import { formatAmount } from "../lib/decimal.ts";
import { type Html, html } from "../lib/html.ts";

// The length that stays legible in a column; the rest is in the title.
const FRACTION_DIGITS_MAX = 6;
const WHOLE_DIGITS_MAX = 24;
const EDGE_DIGITS = 9;

export type ShownNumber = {
  readonly text: string;
  /** All digits, if the text leaves some out; null if it has all. */
  readonly exact: string | null;
};

/** Plain decimal text with separators between thousands. */
export function formatNumber(value: string): ShownNumber {
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(value);
  if (!match) return { text: value, exact: null };
  const [, minus = "", whole = "", fraction = ""] = match;
  const isLong = whole.length > WHOLE_DIGITS_MAX;
  const isCut = fraction.length > FRACTION_DIGITS_MAX;
  const integer = isLong
    ? `${group(whole.slice(0, EDGE_DIGITS))}…${group(whole.slice(-EDGE_DIGITS))}`
    : group(whole);
  const decimals = isLong ? "" : fraction.slice(0, FRACTION_DIGITS_MAX);
  const text = `${minus}${integer}${decimals && `.${decimals}`}${isCut && !isLong ? "…" : ""}`;
  return { text, exact: isLong || isCut ? value : null };
}

function group(digits: string): string {
  return digits.replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
}

/** Units of a token as an amount, or as they are if the decimals are unknown. */
export function formatUnits(units: string, decimals: number | null): ShownNumber {
  if (decimals === null || !/^-?[0-9]+$/.test(units)) return formatNumber(units);
  return formatNumber(formatAmount(BigInt(units), decimals));
}

/** Follows an amount that the contract records without a token. */
export const UNNAMED_UNITS = "units (no token named)";

type UnitsOfToken = { readonly units: bigint; readonly decimals: number };

// Beyond these, a price says no more to people.
const PRICE_DIGITS = 6;
const PRICE_SCALE = 36;

/** How much of one token is given for one of the other, cut after six digits; null for nothing of the other. */
export function formatExchangeRate(given: UnitsOfToken, forOne: UnitsOfToken): string | null {
  const whole = forOne.units * 10n ** BigInt(given.decimals);
  if (whole <= 0n) return null;
  const part = given.units * 10n ** BigInt(forOne.decimals + PRICE_SCALE);
  const [integer = "0", fraction = ""] = formatAmount(part / whole, PRICE_SCALE).split(".");
  const zeros = integer === "0" ? (/^0*/.exec(fraction)?.[0].length ?? 0) : -integer.length;
  const shown = fraction.slice(0, Math.max(0, zeros + PRICE_DIGITS)).replace(/0+$/, "");
  return `${group(integer)}${shown && `.${shown}`}`;
}

const SUFFIXES = ["", "k", "M", "B", "T"] as const;

/** Three digits and a suffix, cut and never rounded up: for axes, because the table next to them is exact. */
export function formatCompact(value: string): string {
  const match = /^([0-9]+)(?:\.([0-9]+))?$/.exec(value);
  if (!match) return value;
  const [, whole = "", fraction = ""] = match;
  const power = Math.floor((whole.length - 1) / 3);
  const suffix = SUFFIXES[power];
  const head = whole.slice(0, whole.length - 3 * power);
  const rest = (whole.slice(head.length) + fraction).slice(0, whole === "0" ? 6 : 3 - head.length);
  const decimals = rest.replace(/0+$/, "");
  const digits = decimals === "" ? head : `${head}.${decimals}`;
  return suffix === undefined ? `${digits}e${3 * power}` : `${digits}${suffix}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** A day, or an hour of it, in UTC, as short as an axis needs it. */
export function formatTick(seconds: number, interval: "day" | "hour"): string {
  const date = new Date(seconds * 1_000);
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  return interval === "day" ? day : `${day} ${String(date.getUTCHours()).padStart(2, "0")}:00`;
}

// A deadline is any number that a contract takes; a Date ends in the year 275760.
const SECONDS_MAX = 8_640_000_000_000n;

export type ShownTime = { readonly iso: string; readonly text: string };

/** Unix seconds as UTC; null if they are beyond what a calendar has. */
export function formatSeconds(seconds: string): ShownTime | null {
  if (!/^[0-9]{1,16}$/.test(seconds) || BigInt(seconds) > SECONDS_MAX) return null;
  return toShownTime(new Date(Number(seconds) * 1_000));
}

/** A time of the API as UTC; null for anything else. */
export function formatIsoTime(value: string): ShownTime | null {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? null : toShownTime(date);
}

function toShownTime(date: Date): ShownTime {
  const iso = date.toISOString();
  return { iso, text: `${iso.slice(0, -5).replace("T", " ")} UTC` };
}

// Each unit from twice its length on: "90 s ago" is more exact than "1 min ago".
const DISTANCES = [
  [63_072_000, 31_536_000, "years"],
  [5_184_000, 2_592_000, "months"],
  [172_800, 86_400, "days"],
  [7_200, 3_600, "h"],
  [120, 60, "min"],
] as const;

/** A length of time in one unit: `59 s`, `5 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(Math.abs(milliseconds) / 1_000);
  const [, size, unit] = DISTANCES.find(([least]) => seconds >= least) ?? [0, 1, "s"];
  return `${formatNumber(String(Math.floor(seconds / size))).text} ${unit}`;
}

/** How far a time is from now, in one unit: `5 min ago`, `in 3 days`. */
export function formatDistance(milliseconds: number): string {
  const text = formatDuration(milliseconds);
  return milliseconds > 0 ? `in ${text}` : `${text} ago`;
}

/** How far a time is from the block that a page shows, in other words than from now: `5 min earlier`, `3 days later`. */
export function formatDistanceFromBlock(milliseconds: number): string {
  if (milliseconds === 0) return "at this block";
  return `${formatDuration(milliseconds)} ${milliseconds > 0 ? "later" : "earlier"}`;
}

/** An address or hash by its ends. */
export function shorten(hex: string): string {
  return hex.length > 14 ? `${hex.slice(0, 8)}…${hex.slice(-6)}` : hex;
}

/** `SWAP_EXACT_IN` as `Swap exact in`, `IntentFilled` as `Intent filled`; the name of a standard, `EIP712`, stays. */
export function splitWords(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .replace(/(?!\bEIP\d)\b\w+/g, (word) => word.toLowerCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A part of a whole in percent, also above 100; null if the whole is nothing. */
export function formatPercent(part: bigint, whole: bigint): string | null {
  return whole <= 0n ? null : `${formatUnits(((part * 1_000n) / whole).toString(), 1).text} %`;
}

/** How much of the whole, in hundredths of a percent; 0 if the whole is nothing. */
export function shareOf(part: bigint, whole: bigint): number {
  if (whole <= 0n || part <= 0n) return 0;
  return Number(part >= whole ? 10_000n : (part * 10_000n) / whole);
}

// Everything that reorders, hides or breaks text: controls, marks of direction, characters without width, tags.
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}\u115f\u1160\u2800\u3164\uffa0\u{1d159}]/u;
// Scripts with letters that look like Latin ones.
const LOOKALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;
const LATIN = /\p{Script=Latin}/u;

// A page stays small whatever a record says; the API has all of it.
const LENGTH_MAX = 400;
// Each takes some 70 characters of markup. A text with more of them is an attack on its reader, and nothing to read.
const HIDDEN_MAX = 24;

/** Third-party text, set apart from ours: it neither reorders the text around it nor hides what it contains. */
export function renderForeignText(value: string, lengthMax = LENGTH_MAX): Html {
  const characters = [...value.slice(0, 2 * lengthMax)];
  const fitting = cutAfterHidden(characters.slice(0, lengthMax));
  const shown = fitting.map(showCharacter);
  const isCut = fitting.length < characters.length || value.length > 2 * lengthMax;
  const mixed = LATIN.test(value) && LOOKALIKE.test(value);
  return html`<bdi class="foreign">${shown}${isCut && "…"}</bdi>${mixed && html` <span class="badge warn" title="Letters of several alphabets that look alike">mixed alphabets</span>`}`;
}

/** The characters up to the last hidden one that is shown. */
function cutAfterHidden(characters: readonly string[]): readonly string[] {
  let hidden = 0;
  const end = characters.findIndex((each) => HIDDEN.test(each) && ++hidden > HIDDEN_MAX);
  return end === -1 ? characters : characters.slice(0, end);
}

function showCharacter(character: string): Html | string {
  if (!HIDDEN.test(character)) return character;
  const code = codeOf(character);
  return html`<span class="escape" title="Hidden character U+${code.toUpperCase()}">\\u{${code}}</span>`;
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
}

// As long as a heading stays legible.
const TITLE_LENGTH_MAX = 80;

/** Third-party text without markup, such as for a title. */
export function visibleText(value: string, lengthMax = TITLE_LENGTH_MAX): string {
  const characters = [...value.slice(0, 2 * lengthMax)];
  const shown = characters
    .slice(0, lengthMax)
    .map((each) => (HIDDEN.test(each) ? `\\u{${codeOf(each)}}` : each));
  return `${shown.join("")}${characters.length > lengthMax || value.length > 2 * lengthMax ? "…" : ""}`;
}

/** A longer third-party text, or a part of one: without isolation, for a block of its own. */
export function foreignCharacters(value: string): Html {
  return HIDDEN.test(value) ? html`${[...value].map(showCharacter)}` : html`${value}`;
}

const REL = "noopener noreferrer nofollow ugc";

/** A third-party URI: a link if it leads to a website, otherwise text. Nothing is ever loaded from it. */
export function foreignUri(value: string): Html {
  const url = toWebUrl(value);
  if (url === null) return renderForeignText(value);
  return html`<a href="${url}" rel="${REL}">${renderForeignText(value)}</a>`;
}

/** Null unless the text is plainly an address on the web: no other scheme, no credentials, nothing hidden. */
function toWebUrl(value: string): string | null {
  if (!/^https?:\/\/[^\s"'<>\\^`{|}]+$/i.test(value) || HIDDEN.test(value)) return null;
  try {
    const url = new URL(value);
    const isPlain = url.username === "" && url.password === "";
    return isPlain && /^https?:$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const RAILS = ["Transfer", "Swap", "Facilitator", "x402"] as const;
/** The subjects of trust signals, by number. */
export const SIGNAL_SUBJECTS = ["merchant", "service", "facilitator", "agent"] as const;
/** The kinds of trust signals, by number. */
export const SIGNAL_KINDS = ["verification", "risk", "compliance", "fulfillment"] as const;

/** How it is paid; a number that the protocol does not name stays one. */
export function railName(rail: unknown): string {
  return RAILS[Number(rail)] ?? `Rail ${String(rail)}`;
}

export function kindName(kind: number): string {
  const word = SIGNAL_KINDS[kind];
  return word === undefined ? `Kind ${kind}` : word.charAt(0).toUpperCase() + word.slice(1);
}

/** Hundredths of a percent; null for other text. */
export function formatBasisPoints(value: string): string | null {
  return /^[0-9]{1,20}$/.test(value) ? `${formatUnits(value, 2).text} %` : null;
}

// The contract takes 0 for no limit.
const describeLimit = (value: string) => (value === "0" ? "no limit" : null);

const NUMBERS: Readonly<Record<string, (value: string) => string | null>> = {
  kind: (value) => kindName(Number(value)),
  max_per_day: describeLimit,
  max_per_payment: describeLimit,
  payment_rail: railName,
  protocol_fee_bps: formatBasisPoints,
  slippage_bps: formatBasisPoints,
  subject_type: (value) => SIGNAL_SUBJECTS[Number(value)] ?? null,
};

/** The words of a field; null if its number says enough. */
export function describeNumber(field: string, value: string): string | null {
  return /^[0-9]+$/.test(value) && Object.hasOwn(NUMBERS, field) ? (NUMBERS[field]?.(value) ?? null) : null;
}
