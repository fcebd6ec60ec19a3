// The file in which a command keeps how far it is, so that the next run goes on there.
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { Fault } from "../lib/fault.ts";

type CursorFile = {
  /** Null if no cursor is stored yet. */
  read(): string | null;
  write(cursor: string): void;
};

const CURSOR = /^[A-Za-z0-9_-]{1,1024}$/;
// A cursor and a line break; more is another file, which must not be written over.
const BYTES_MAX = 1_100;

/** Without a path nothing is kept. */
export function openCursorFile(path: string | null): CursorFile {
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
