// Writes what was bought into a file, with its signature and receipt, so that anyone can check it later.
import { writeFile } from "node:fs/promises";
import type { PaidExchange } from "@sextant/client/payments/exchange";
import { systemClock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import { formatMoment } from "../lib/moment.ts";

const KEYS_PATH = "/.well-known/http-message-signatures-directory";
const KEYS_MS_MAX = 5_000;
// A hundred keys, as many as a service lists.
const KEYS_LENGTH_MAX = 65_536;

/** Before anything is paid: throws if the file cannot be written. */
export async function assertWritable(file: string): Promise<void> {
  await write(file, "", "a");
}

export async function saveExchange(file: string, exchange: PaidExchange): Promise<void> {
  const saved = {
    format: "sextant-answer",
    version: 1,
    savedAt: formatMoment(Math.floor(systemClock.nowMs() / 1_000)),
    ...exchange,
    keys: await readKeys(exchange.request.url),
  };
  await write(file, `${JSON.stringify(saved, null, 2)}\n`, "w");
}

async function write(file: string, text: string, flag: "a" | "w"): Promise<void> {
  try {
    await writeFile(file, text, { flag });
  } catch (cause) {
    throw new Fault("USAGE_INVALID", "--save names a file that cannot be written.", { cause });
  }
}

/** The keys that the service lists now; null if it lists none. A reader of the file should compare them with others. */
async function readKeys(url: string): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(KEYS_MS_MAX);
    const response = await fetch(new URL(KEYS_PATH, url), { signal, redirect: "error" });
    if (!response.ok || Number(response.headers.get("content-length")) > KEYS_LENGTH_MAX) return null;
    const text = await response.text();
    return text.length > KEYS_LENGTH_MAX ? null : (JSON.parse(text) as unknown);
  } catch {
    // The response is worth saving without them.
    return null;
  }
}
