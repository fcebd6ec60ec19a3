// Finds the price of a request: its terms as the service states them, and whether the guard would sign.
import { SextantError } from "../errors.ts";
import { locateWallet } from "../http/named-wallet.ts";
import { sendRepeatedly } from "../http/repeat.ts";
import { formatUnits } from "./amount.ts";
import type { PurchaseContext } from "./standing.ts";
import { type PaymentTerms, parsePaymentRequired } from "./terms.ts";

/** Null instead of terms if the service asks for no payment. */
export interface Quote {
  /** The request that would be paid for; a wallet's name is replaced by its address. */
  readonly url: string;
  /** In the token, as decimal text. */
  readonly price: string;
  /** Smallest units. */
  readonly amount: bigint;
  readonly network: string | null;
  readonly asset: string | null;
  /** The name of the token, as the service states it. */
  readonly assetName: string | null;
  readonly payTo: string | null;
  /** Why the guard would not sign this; null if it would. */
  readonly problem: string | null;
}

export async function quotePrice(
  context: PurchaseContext,
  given: string,
  signal?: AbortSignal | undefined,
): Promise<Quote> {
  const { transport, attemptsMax } = context;
  const url = await locateWallet(context, { method: "GET", url: given, signal });
  const request = { method: "GET", url, signal };
  const response = await sendRepeatedly(transport, request, { attemptsMax, accepted: [200, 402] });
  if (response.status === 200) {
    const terms = { network: null, asset: null, assetName: null, payTo: null };
    return { url, price: "0", amount: 0n, ...terms, problem: null };
  }
  const offered = parsePaymentRequired(response.headers.get("payment-required"), {
    channels: context.channels !== null,
  });
  const { terms, problem } = await judge(context, offered, url);
  const { network, asset, tokenName: assetName, payTo, amount } = terms;
  const price = formatUnits(amount, context.guard.decimals);
  return { url, price, amount, network, asset, assetName, payTo, problem };
}

async function judge(
  { guard, journal, now }: PurchaseContext,
  offered: readonly PaymentTerms[],
  url: string,
) {
  const [first] = offered;
  if (first === undefined) throw new SextantError("TERMS_REJECTED", "The service names no way to pay.");
  const book = await journal.read();
  try {
    guard.assertOrigin(url);
    const terms = guard.choose(offered, book);
    guard.assertWithinClient({ kind: "transfer", amount: terms.amount });
    guard.assertWithinLimits(terms, book, now());
    return { terms, problem: null };
  } catch (error) {
    if (!(error instanceof SextantError)) throw error;
    return { terms: first, problem: error.message };
  }
}
