// Opens the client of a command that pays for reads of the index: the payer, the journal and the limits of `wallet`.
import { SextantError } from "@sextant/client/errors";
import type { PaymentReceipt, Sextant } from "@sextant/client/sextant";
import type { Environment } from "../config/read-config.ts";
import { openClient } from "./client-settings.ts";
import type { CommandOptions } from "./command.ts";
import { formatReceipts } from "./display/receipt.ts";
import { nameMax, readMax } from "./payment-limit.ts";

type PayingReader = {
  readonly sextant: Sextant;
  /** Names the limit that was given on the command line. */
  explain(error: unknown): unknown;
  /** Null if nothing was paid. */
  describePaid(): string | null;
  close(): Promise<void>;
};

export function openPayingReader(
  environment: Environment,
  options: CommandOptions,
  given: { readonly fetch?: typeof fetch },
): PayingReader {
  const max = readMax(options);
  const paid: PaymentReceipt[] = [];
  const onPaid = (receipt: PaymentReceipt) => void paid.push(receipt);
  const client = openClient(environment, { needs: ["api"], max, onPaid, ...given });
  return {
    sextant: client.sextant,
    explain: (error) => (error instanceof SextantError ? nameMax(error, max, client.guard) : error),
    describePaid: () => formatReceipts(paid),
    close: client.close,
  };
}
