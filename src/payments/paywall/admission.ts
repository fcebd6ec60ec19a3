// Whether a verified payment may be worked for: by the other payments of its payer, its balance, and what it paid before.
import type { EndpointResponse } from "../../schema/endpoint.ts";
import { findSignatureRejection } from "../facilitator/payer-checks.ts";
import type { OpenPayment } from "../ledger/ledger.ts";
import { readChain } from "../settlement/settle.ts";
import type { Flow } from "./flow-states.ts";
import type { GateLimits } from "./limits.ts";

/** Before a payment is verified or looked up. Null if its client, or its payer, may cost us another rejection. */
export async function findCheckLimit(flow: Flow): Promise<EndpointResponse | null> {
  const { services, key, payload, terms, unpaid, respond } = flow;
  if (unpaid.hasAny) return null;
  const waitMs = unpaid.takeRejection();
  if (waitMs === 0) return null;
  // Behind an address that many share. The signature is checked without a node: anyone can name a payer.
  const isSigned = (await findSignatureRejection(payload, terms)) === null;
  if (!isSigned) return respond.tooManyUnpaid(waitMs);
  // Rejected payments do not use up what first purchases need. A payment that is worth nothing costs a run.
  const earlyMs = (await services.ledger.hasPaid(key)) ? unpaid.takeForPayer(key.payer) : unpaid.takeRun();
  return earlyMs === 0 ? null : respond.tooManyUnpaid(earlyMs);
}

/** How many payments a payer may have in progress: at least half of all its work is paid for, whatever it does. */
function atOnceOf(settled: number, { activePerPayerMax }: GateLimits): number {
  return Math.min(1 + settled, activePerPayerMax);
}

/**
 * Why a payment that is marked as verified must wait; null if it may be worked for. A payer with one payment at a time
 * who has paid before costs no statement and no call: verification has shown that the balance covers the payment.
 */
export async function findAdmissionLimit(
  flow: Flow,
  { settled, others }: { readonly settled: number; readonly others: number },
): Promise<EndpointResponse | null> {
  const { services, key, payment, unpaid, respond } = flow;
  if (settled > 0 && others === 0) return null;
  // The statement that marks does not see what other processes mark while it runs. With our own mark committed,
  // processes that admit at the same moment see one another.
  const open = await services.ledger.findOpenPayments(key);
  const atOnce = atOnceOf(settled, services.limits);
  if (open.length >= atOnce) return respond.tooManyActive(atOnce);
  if (settled === 0) {
    const waitMs = unpaid.takeRun();
    return waitMs === 0 ? null : respond.tooManyUnpaid(waitMs);
  }
  try {
    return (await coversAll(flow, open)) ? null : respond.balanceTooLow(payment.value);
  } catch (error) {
    return respond.facilitatorUnavailable(error);
  }
}

/** Whether the payer's balance covers this payment and all of its others that may still be charged. */
async function coversAll({ services, key, payment }: Flow, open: readonly OpenPayment[]): Promise<boolean> {
  const wanted = { asset: key.asset, from: key.payer };
  const needed = (others: readonly OpenPayment[]) =>
    others.reduce((sum, { amount }) => sum + amount, payment.value);
  return readChain(services, "Reading a balance", async (lookup, signal) => {
    if ((await lookup.readBalance(wanted, "latest", signal)) >= needed(open)) return true;
    // Some may be mined and not recorded yet: their money has left the balance as of the same block.
    const transfers = open.map(({ nonce, amount, validBefore }) => ({
      ...wanted,
      to: payment.to,
      value: amount,
      nonce,
      validBefore,
      sinceSeconds: 0,
    }));
    const { at, used } = await lookup.readAuthorizationStates(transfers, signal);
    const balance = await lookup.readBalance(wanted, at, signal);
    return balance >= needed(open.filter((_, each) => !used[each]));
  });
}
