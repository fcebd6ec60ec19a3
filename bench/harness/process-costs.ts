// Processor time and peak memory of a process and the processes that it started, from Linux's /proc.
import { readFileSync } from "node:fs";

// The unit of /proc, on every Linux.
const TICKS_PER_SECOND = 100;
// A child that ends between two reads of /proc makes the sum unknown; the next attempt finds it with its parent.
const ATTEMPTS = 5;

/** Processor time since the start, ended children included; null if the system does not show it. */
export function readTreeCpuMs(pid: number): number | null {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      return (sumTicks(String(pid)) * 1_000) / TICKS_PER_SECOND;
    } catch {
      // Another system, or a process that ended between two reads.
    }
  }
  return null;
}

/** The most memory that the process has had at a time; null if the system does not show it. */
export function readPeakBytes(pid: number): number | null {
  const peak = readOrNull(`/proc/${pid}/status`)?.match(/^VmHWM:\s+(\d+) kB/m)?.[1];
  return peak === undefined ? null : Number(peak) * 1_024;
}

/** The process that started it; null if the system does not show it. */
export function readParentPid(pid: number): number | null {
  const stat = readOrNull(`/proc/${pid}/stat`);
  return stat === null ? null : Number(fieldsAfterName(stat)[1]);
}

function sumTicks(pid: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const running = children.reduce((sum, child) => sum + sumTicks(child), 0);
  // Four numbers: its own user and system time, and those of its ended children.
  const times = fieldsAfterName(readFileSync(`/proc/${pid}/stat`, "utf8")).slice(11, 15);
  return times.reduce((sum, ticks) => sum + Number(ticks), running);
}

/** The name of the program is in brackets and may have spaces; after it come the state and numbers. */
function fieldsAfterName(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
