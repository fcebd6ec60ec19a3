// How much the kernel holds for each connection because its client has not confirmed it. Node itself does not know.
import { readFileSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { descriptorOf } from "./connection-limit.ts";

/** Bytes by connection; connections without any are left out. */
export type SendQueues = ReadonlyMap<string, number>;

// The columns: number, local and remote address, state, bytes to send and to read, timer, retries, user, timeout, inode.
const LINE = /^ *\d+: \S+ \S+ \S\S (?!00000000)([0-9A-F]{8}):\S+ \S+ \S+ +\d+ +\d+ (\d+) /gm;
const FILES = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

/** Null if the system does not say it: only Linux does. Takes some milliseconds, of which the kernel needs most. */
export async function readSendQueues(): Promise<SendQueues | null> {
  const queues = new Map<string, number>();
  try {
    for (const file of FILES) {
      const text = await readFile(file, "latin1");
      for (const [, bytes = "", inode = ""] of text.matchAll(LINE))
        queues.set(inode, Number.parseInt(bytes, 16));
    }
  } catch {
    // A system without these files.
    return null;
  }
  return queues;
}

// The page size of Linux on every processor that Node has packages for; elsewhere it is a few times larger.
const PAGE_BYTES = 4_096;

/**
 * The bytes that all TCP connections of the machine hold in the kernel, read in a tenth of a millisecond; 0 if unknown.
 */
export function readTcpMemory(): number {
  try {
    return (
      Number(/^TCP: .* mem (\d+)/m.exec(readFileSync("/proc/self/net/sockstat", "latin1"))?.[1] ?? 0) *
      PAGE_BYTES
    );
  } catch {
    // A system without this file.
    return 0;
  }
}

/** The key of a connection in the queues; null for one that is closed, or if the system does not report it. */
export function findInode(socket: Socket): string | null {
  try {
    return /\d+/.exec(readlinkSync(`/proc/self/fd/${descriptorOf(socket)}`))?.[0] ?? null;
  } catch {
    // Closed, or a system without these files.
    return null;
  }
}
