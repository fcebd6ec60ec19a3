// The signing keys of a service, from its settings.
import type { Config } from "../config/read-config.ts";
import type { signingSettings } from "../config/service-settings.ts";
import { SigningKeys } from "../http/signing/signing-keys.ts";
import { systemClock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import { readOwnerFile } from "./owner-file.ts";

// A hundred keys.
const FILE_BYTES_MAX = 65_536;

/** Undefined without keys: nothing is signed. */
export function readSigningKeys({
  signingKeys,
  signingKeysFile,
}: Config<typeof signingSettings>): SigningKeys | undefined {
  if (signingKeys !== null && signingKeysFile !== null) {
    throw new Fault("CONFIG_INVALID", "Set SEXTANT_SIGNING_KEYS or SEXTANT_SIGNING_KEYS_FILE, not both.");
  }
  if (signingKeys !== null) return parseKeys(signingKeys.reveal(), "SEXTANT_SIGNING_KEYS");
  if (signingKeysFile === null) return undefined;
  const variable = "SEXTANT_SIGNING_KEYS_FILE";
  return parseKeys(readOwnerFile(signingKeysFile, variable, FILE_BYTES_MAX), variable);
}

function parseKeys(text: string, variable: string): SigningKeys {
  const keys = SigningKeys.parse(text, variable);
  const now = Math.floor(systemClock.nowMs() / 1_000);
  if (keys.at(now).seconds === now) return keys;
  throw new Fault("CONFIG_INVALID", `${variable} has no key that is valid now.`);
}
