// `--max`: the limit of what one run of a command pays, in all and for one payment.
import type { SextantError } from "@sextant/client/errors";
import type { GuardOptions } from "@sextant/client/sextant";
import { usdAmount } from "../config/setting-kinds.ts";
import { Fault } from "../lib/fault.ts";
import { type CommandOptions, readStringOption } from "./command.ts";

export function readMax(options: CommandOptions): string | null {
  const text = readStringOption(options, "max");
  if (text === undefined) return null;
  try {
    return usdAmount.parse(text);
  } catch (cause) {
    throw new Fault("USAGE_INVALID", `--max must be ${usdAmount.allowed}, not "${text}".`, { cause });
  }
}

/** The limit is that of the command line, not of the setting. */
export function nameMax(error: SextantError, max: string | null, { perPayment }: GuardOptions): SextantError {
  if (max === null) return error;
  error.message = error.message.replace("guard.perClient", "--max");
  if (perPayment === max) error.message = error.message.replace("guard.perPayment", "--max");
  return error;
}
