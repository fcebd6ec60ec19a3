// Sentences of the API for people: tokens by symbol, amounts with decimals, and the ends of long ids at a terminal.
import type { SentencePart, WatchedEvent } from "@sextant/client/sextant";
import { formatNumber, formatUnits, UNNAMED_UNITS } from "../../explorer/format.ts";
import type { TokenAmounts } from "./amounts.ts";
import type { Display } from "./display.ts";
import { fitText, SHORT_HEX, shortenText, toPlainText, widthOf } from "./plain-text.ts";
import { formatTime } from "./time.ts";

const LONG_HEX = /0x[0-9a-f]{16,}/g;
// Shorter numbers stay whole in the explorer too.
const LONG_NUMBER = /\d{25,}/g;

type ShownEvent = Pick<WatchedEvent["event"], "block_number" | "block_timestamp" | "description" | "parts">;
type Form = Pick<Display, "columns" | "style">;

export async function formatSentence(
  parts: readonly SentencePart[],
  display: Form,
  amounts: TokenAmounts,
): Promise<string> {
  return (await Promise.all(parts.map((part) => formatPart(part, display, amounts)))).join("");
}

/** Time, block and sentence of an event; further lines begin below the sentence. */
export async function formatEvent(
  { block_number, block_timestamp, description, parts }: ShownEvent,
  display: Form,
  amounts: TokenAmounts,
): Promise<string> {
  const where = `${formatTime(block_timestamp)}  ${toPlainText(block_number)}`;
  const sentence = await formatSentence(parts ?? [{ kind: "text", text: description }], display, amounts);
  const column = widthOf(where) + 2;
  const lines = fitText(sentence, display.columns, column);
  return `${display.style("dim", where)}  ${lines.join(`\n${" ".repeat(column)}`)}\n`;
}

/** Files and programs get whole addresses, hashes and ids. */
async function formatPart(part: SentencePart, display: Form, amounts: TokenAmounts): Promise<string> {
  const { kind } = part;
  const text = toPlainText(part.text);
  const short = display.columns === null ? text : shortenIds(text);
  if (kind === "record") return display.style("bold", short);
  if (kind === "amount") {
    const unnamed = part.token === null && `${formatUnits(part.amount, null).text} ${UNNAMED_UNITS}`;
    return display.style("bold", unnamed || ((await amounts.format(part.amount, part.token)) ?? short));
  }
  if (kind === "time") return formatTime(text);
  if (kind !== "address" && kind !== "token" && kind !== "hash") return text;
  const symbol = kind === "token" && display.columns !== null ? await amounts.symbol(part.text) : null;
  return display.style("dim", symbol ?? short);
}

function shortenIds(text: string): string {
  return text
    .replace(LONG_HEX, (hex) => shortenText(hex, SHORT_HEX))
    .replace(LONG_NUMBER, (digits) => formatNumber(digits).text);
}
