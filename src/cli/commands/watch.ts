// `sextant watch --type IntentSubmitted`: prints events as they happen, and continues from where it stopped.

import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import type { Sextant, SextantError, WatchFilter, WatchItem, WatchOptions } from "@sextant/client/sextant";
import { Fault } from "../../lib/fault.ts";
import { findOperation, readArguments } from "../api-operations.ts";
import { type ClientContext, type RunClientCommand, readStringOption } from "../command.ts";
import { TokenAmounts } from "../display/amounts.ts";
import type { Display } from "../display/display.ts";
import { hangText, toPlainJson, toPlainText } from "../display/plain-text.ts";
import { formatEvent } from "../display/sentence.ts";
import { withReader } from "../with-reader.ts";

export const watchCommand: RunClientCommand = (context) =>
  withReader(context, {}, (sextant) => printEvents(context, sextant));

async function printEvents(context: ClientContext, sextant: Sextant): Promise<number> {
  const { options, display, print, stop } = context;
  const { filter, watching } = readWatchOptions(context);
  const file = openCursorFile(readStringOption(options, "cursor-file") ?? null);
  const stored = file.read();
  const amounts = new TokenAmounts(sextant, stop);
  const from = stored ?? watching.from;
  let done = display.progress("Waiting for events");
  try {
    // People read the parts of a sentence, and no rows; programs get what they ask for.
    const included = options.json === true ? {} : { include: "parts" as const };
    const items = sextant.watch(filter, {
      ...watching,
      ...included,
      ...(from === undefined ? {} : { from }),
    });
    for await (const item of items) {
      const line = options.json === true ? formatJson(item) : await formatLine(item, display, amounts);
      if (line !== null) {
        done();
        await print(line);
      }
      // Events that the reader did not take are printed again by the next run.
      if (stop.aborted) return 0;
      file.write(item.cursor);
      if (line !== null) done = display.progress("Waiting for events");
    }
    return 0;
  } catch (error) {
    // Ends by Ctrl-C, or by a reader such as `head` that has seen enough.
    if (stop.aborted) return 0;
    throw error;
  } finally {
    done();
  }
}

/** Filter, start and finality from the options; connections that are lost are reported. */
export function readWatchOptions({ filters, display, stop }: ClientContext): {
  readonly filter: WatchFilter;
  readonly watching: WatchOptions;
} {
  const { from, finality, include, ...filter } = readArguments(findOperation("readEvents"), filters);
  const onRetry = ({ message }: SextantError, waitMs: number) => {
    display.report(`${toPlainText(message)} Connecting again in ${(waitMs / 1_000).toFixed(1)} s.`);
  };
  const watching: WatchOptions = {
    signal: stop,
    onRetry,
    ...(from === undefined ? {} : { from }),
    ...(include === undefined ? {} : { include: include as NonNullable<WatchOptions["include"]> }),
    ...(finality === undefined ? {} : { finality: finality as NonNullable<WatchOptions["finality"]> }),
  };
  return { filter, watching };
}

/** As the lines of the API: one key that says what it is. */
function formatJson(item: WatchItem): string {
  if (item.kind === "event") return `${toPlainJson({ event: item.event })}\n`;
  const line = item.kind === "undo" ? { undo: item.undo } : { progress: item.progress };
  return `${toPlainJson(line)}\n`;
}

/** Null for what only programs need. */
async function formatLine(item: WatchItem, display: Display, amounts: TokenAmounts): Promise<string | null> {
  if (item.kind === "progress") return null;
  if (item.kind === "undo") {
    const { block_number } = item.undo;
    const text = `undo: a reorg removed every event after block ${toPlainText(block_number)}`;
    return `${hangText(display.style("red", text), display.columns).join("\n")}\n`;
  }
  return formatEvent(item.event, display, amounts);
}

type CursorFile = {
  /** Null if no cursor is stored yet. */
  read(): string | null;
  write(cursor: string): void;
};

const CURSOR = /^[A-Za-z0-9_-]{1,1024}$/;
// A cursor and a line break; more is another file, which must not be written over.
const BYTES_MAX = 1_100;

/** Without a path nothing is kept. */
function openCursorFile(path: string | null): CursorFile {
  if (path === null) return { read: () => null, write: () => undefined };
  return {
    read: () => readCursor(path),
    write(cursor) {
      // Replaces the file by renaming: a process that is killed leaves the old one or the new one.
      const temporary = `${path}.${process.pid}`;
      try {
        writeFileSync(temporary, `${cursor}\n`);
        renameSync(temporary, path);
      } catch (cause) {
        throw new Fault("CONFIG_INVALID", `${path} cannot be written.`, { cause });
      }
    },
  };
}

function readCursor(path: string): string | null {
  let text: string;
  try {
    text = statSync(path).size > BYTES_MAX ? "" : readFileSync(path, "utf8").trim();
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw new Fault("CONFIG_INVALID", `${path} cannot be read.`, { cause });
  }
  if (CURSOR.test(text)) return text;
  throw new Fault("CONFIG_INVALID", `${path} has no cursor; name another file, or delete it to begin again.`);
}
