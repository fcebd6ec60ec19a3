// The key that signs the responses of a local run, in the folder of the run.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { addSigningKey } from "../http/signing/add-signing-key.ts";
import { SigningKeys } from "../http/signing/signing-keys.ts";
import { systemClock } from "../lib/clock.ts";

/** A new key for each run, as its chains are new. */
export async function makeSigningKeys(folder: string): Promise<SigningKeys> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, "signing-keys.json");
  const text = addSigningKey(null, file, Math.floor(systemClock.nowMs() / 1_000));
  await writeFile(file, text, { mode: 0o600 });
  return SigningKeys.parse(text, file);
}
