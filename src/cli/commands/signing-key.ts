// `sextant signing-key`: makes a key that signs responses, or the next one of a set.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { addSigningKey } from "../../http/signing/add-signing-key.ts";
import { systemClock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import { type RunCommand, readStringOption } from "../command.ts";

export const signingKeyCommand: RunCommand = async ({ environment, options, print }) => {
  const file = readStringOption(options, "file") ?? environment.SEXTANT_SIGNING_KEYS_FILE;
  const now = Math.floor(systemClock.nowMs() / 1_000);
  if (file === undefined || file === "") {
    // On one line, as a variable has it.
    print(`${JSON.stringify(JSON.parse(addSigningKey(null, "the new key", now)))}\n`);
    return 0;
  }
  const known = readIfThere(file);
  const text = addSigningKey(known, file, now);
  // Replaced by renaming: a service that starts meanwhile reads one set or the other.
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
  renameSync(temporary, file);
  print(
    known === null
      ? `${file} has a key that signs from now on. Set SEXTANT_SIGNING_KEYS_FILE to it for all services.\n`
      : `${file} has one more key, which signs from tomorrow on. Restart all services with it today.\n`,
  );
  return 0;
};

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw new Fault("CONFIG_INVALID", `${file} cannot be read.`, { cause });
  }
}
