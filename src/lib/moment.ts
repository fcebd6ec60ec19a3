// A point in time as people write it: how long ago, a day, or a time of it.
import { Fault } from "./fault.ts";

/** Loose, so that a mistyped date gets an error about dates: an age, or what begins like a date. */
export const MOMENT_PATTERN = "^(\\d{1,6}[mhdw]$|\\d{4}-)";

const MOMENT = new RegExp(MOMENT_PATTERN);
const AGE = /^(\d{1,6})([mhdw])$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
// RFC 3339 allows a space for the T, and lower case.
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

const DAY_SECONDS = 86_400;
const SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: DAY_SECONDS, w: 604_800 };

export function isMoment(text: string): boolean {
  return MOMENT.test(text);
}

/** In whole seconds since 1970; rejects with INPUT_INVALID for other texts, and for the future. */
export function parseMoment(text: string, name: string, nowMs: number): number {
  const [, count = "", unit = ""] = AGE.exec(text) ?? [];
  const seconds =
    unit === "" ? parseDate(text) : Math.floor(nowMs / 1_000) - Number(count) * (SECONDS[unit] ?? 0);
  if (seconds === null) {
    throw new Fault(
      "INPUT_INVALID",
      `${name} must be a time such as 7d (also m, h and w), ${exampleDay(nowMs)} (its first second in UTC) or ${exampleDay(nowMs)}T12:00Z.`,
    );
  }
  if (seconds * 1_000 > nowMs) {
    throw new Fault("INPUT_INVALID", `${name} is in the future: it is ${formatMoment(nowMs / 1_000)} now.`);
  }
  return seconds;
}

/** Yesterday: a chain that runs on this machine has no earlier date that is sure to work. */
export function exampleDay(nowMs = Date.now()): string {
  return formatMoment(nowMs / 1_000 - DAY_SECONDS).slice(0, 10);
}

function parseDate(text: string): number | null {
  if (!DAY.test(text) && !TIME.test(text)) return null;
  const ms = Date.parse(text.toUpperCase().replace(" ", "T"));
  // Date.parse reads February 30 as a day in March.
  const isDay = new Date(`${text.slice(0, 10)}T00:00Z`).toJSON()?.startsWith(text.slice(0, 10)) === true;
  return Number.isNaN(ms) || !isDay ? null : Math.floor(ms / 1_000);
}

/** As it can be sent again. */
export function formatMoment(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace(/\.\d{3}Z$/, "Z");
}
