// `sextant signing-key`: the first key, the next one, and the settings by which services read them.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { readConfig } from "../../config/read-config.ts";
import { signingSettings } from "../../config/service-settings.ts";
import { SigningKeys } from "../../http/signing/signing-keys.ts";
import { readSigningKeys } from "../signing-keys.ts";
import { signingKeyCommand } from "./signing-key.ts";

const folder = mkdtempSync(join(tmpdir(), "signing-key-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(options: Record<string, string>, environment: Record<string, string> = {}) {
  const printed: string[] = [];
  const stop = new AbortController().signal;
  const print = (text: string) => void printed.push(text);
  expect(await signingKeyCommand({ environment, options, log: silentLog, print, stop })).toBe(0);
  return printed.join("");
}

const read = (environment: Record<string, string>) =>
  readSigningKeys(readConfig(environment, signingSettings));
const now = () => Math.floor(Date.now() / 1_000);

describe("with a file", () => {
  const file = join(folder, "keys.json");

  it("writes a key that only its owner can read and that signs at once, then adds one for the next day", async () => {
    expect(await run({ file })).not.toContain('"d"');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const first = read({ SEXTANT_SIGNING_KEYS_FILE: file })?.at(now()).id;
    await run({}, { SEXTANT_SIGNING_KEYS_FILE: file });
    const keys = read({ SEXTANT_SIGNING_KEYS_FILE: file });
    expect(keys?.at(now()).id).toBe(first);
    expect(keys?.at(now() + 90_000).id).not.toBe(first);
    expect(JSON.stringify(keys?.describeDirectory())).toContain(first);
  });

  it("leaves a file alone that is not its own", async () => {
    const other = join(folder, "other.json");
    writeFileSync(other, "{}");
    await expect(run({ file: other })).rejects.toThrow("must have 1 to 100 keys");
    expect(readFileSync(other, "utf8")).toBe("{}");
  });
});

describe("the settings", () => {
  it("services read the printed set from their settings, and sign nothing without one", async () => {
    const text = await run({});
    expect(read({ SEXTANT_SIGNING_KEYS: text.trimEnd() })).toBeInstanceOf(SigningKeys);
    expect(read({})).toBeUndefined();
  });

  it("services reject both settings at once, a file that others can read, and a key of tomorrow", async () => {
    const file = join(folder, "open.json");
    const text = await run({});
    writeFileSync(file, text, { mode: 0o644 });
    expect(() => read({ SEXTANT_SIGNING_KEYS: "{}", SEXTANT_SIGNING_KEYS_FILE: file })).toThrow("not both");
    expect(() => read({ SEXTANT_SIGNING_KEYS_FILE: file })).toThrow("chmod 600");
    const late = text.replace(/"nbf":\d+/, `"nbf":${now() + 1_000}`);
    expect(() => read({ SEXTANT_SIGNING_KEYS: late })).toThrow("no key that is valid now");
  });
});
