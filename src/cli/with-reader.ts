// Reads the index for a command: for free, or by a channel if the settings name its deposit, within the limits of `wallet`.
import type { Sextant } from "@sextant/client/sextant";
import { clientSettings } from "../config/client-settings.ts";
import { readConfig } from "../config/read-config.ts";
import type { ClientContext } from "./command.ts";
import { openReader } from "./open-reader.ts";

const settings = { channelDeposit: clientSettings.channelDeposit };

/** Without a deposit nothing is loaded that pays. What was paid is reported next to the result. */
export async function withReader<T>(
  { environment, options, display }: Pick<ClientContext, "environment" | "options" | "display">,
  given: { readonly fetch?: typeof fetch },
  act: (sextant: Sextant) => Promise<T>,
): Promise<T> {
  if (readConfig(environment, settings).channelDeposit === null) return act(openReader(environment, given));
  const { openPayingReader } = await import("./paying-reader.ts");
  const reader = openPayingReader(environment, options, given);
  try {
    return await act(reader.sextant);
  } catch (error) {
    throw reader.explain(error);
  } finally {
    const paid = reader.describePaid();
    if (paid !== null) display.report(paid);
    await reader.close();
  }
}
