// Times for people: to the second, in UTC, and the same everywhere.
import { toPlainText } from "./plain-text.ts";

/** From the milliseconds of a clock, the seconds of a block as text, or ISO 8601; other text stays as it is. */
export function formatTime(value: number | string): string {
  // Beyond this a date cannot be shown.
  const isSeconds = typeof value === "string" && /^\d{1,12}$/.test(value);
  const date = new Date(isSeconds ? Number(value) * 1_000 : value);
  if (Number.isNaN(date.getTime())) return toPlainText(String(value));
  return date.toISOString().slice(0, 19).replace("T", " ");
}
