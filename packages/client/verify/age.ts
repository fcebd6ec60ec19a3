// Says in words when something was made, and how long ago.

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;
/** Blocks may be this much ahead of a clock that is right. */
const AHEAD_SECONDS = 30;

function describeAge(seconds: number): string {
  if (seconds < -AHEAD_SECONDS) return "later than your clock";
  const age = Math.max(0, seconds);
  const [unit, length] = UNITS.find(([, each]) => age >= 2 * each) ?? ["second", 1];
  const count = Math.floor(age / length);
  return `${count} ${unit}${count === 1 ? "" : "s"} old`;
}

/** Seconds from the time to now; negative if the clock is behind. */
export function ageOf(seconds: number, nowMs: number): number {
  return Math.floor(nowMs / 1000) - seconds;
}

/** `time` as formatTime() writes it. */
export function describeTime(time: string | null, ageSeconds: number): string {
  return `of ${time ?? "no date"}, ${describeAge(ageSeconds)}`;
}
