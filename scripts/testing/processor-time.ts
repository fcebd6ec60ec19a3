// Processor time of this process and of the child processes that have ended, from Linux's /proc.
import { readFileSync } from "node:fs";

// USER_HZ: Linux reports processor time to programs in hundredths of a second on every platform that Node supports.
const TICKS_PER_SECOND = 100;

/** Seconds of the children that have ended and of their own children; null on systems without /proc. */
function readChildSeconds(): number | null {
  if (process.platform !== "linux") return null;
  const stat = readFileSync("/proc/self/stat", "utf8");
  // The program's name stands in parentheses and may contain spaces: count the fields after it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [userTicks, systemTicks] = [fields[13], fields[14]];
  return (Number(userTicks) + Number(systemTicks)) / TICKS_PER_SECOND;
}

/** Seconds of this process and of its ended children; without /proc those of this process alone. */
export function readProcessorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (readChildSeconds() ?? 0);
}
