// Payers buy snapshots, retry with the same signature while the outcome is open, and check what they get.
import type { Hex } from "viem";
import type { PortfolioSnapshot } from "../../../src/schema/portfolio/snapshot.ts";
import type { ServiceResponse } from "../clients/connection.ts";
import {
  type E2ePurchase,
  findReceiptError,
  isTransientFailure,
  isUsed,
  presentPayment,
  signPurchase,
} from "../clients/purchase.ts";
import { drawInterval } from "../soak-profile.ts";
import type { E2eSystem } from "../system.ts";
import { sleepUntilStopped } from "../wait.ts";
import type { E2eActor } from "./intermittent-fault.ts";

const TRIES_MAX = 12;
// Who has paid does not give up; every outage of a run is shorter than these tries together.
const PAID_TRIES_MAX = 60;
const TRY_AGAIN_MS = 1_500;
/** Share of the signatures that come from an account without funds. */
const POOR_SHARE = 0.1;
// A signature is good for a minute; the gate takes none that expires within twelve seconds.
const SIGNED_MS_MAX = 45_000;
/** Shares of the signatures that a third party carries out, before they are sent and after a first try failed. */
const UNSEEN_SHARE = 0.05;
const FAILED_SHARE = 0.3;
// Share of the paid responses that are requested again, from another process.
const AGAIN_SHARE = 0.3;

export const createPayer =
  (index: number, purchases: E2ePurchase[]): E2eActor =>
  async (system, stop) => {
    const { services, protocol, market, pace, observations } = system;
    const random = system.random(`payer ${index}`);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    while (!stop.aborted) {
      await sleepUntilStopped(drawInterval(pace.payments, random), stop);
      const account = random() < POOR_SHARE ? protocol.poor : protocol.payers[index];
      if (!account) throw new Error(`there is no payer ${index}`);
      const purchase = await signPurchase(system, pick(services.portfolios), account, pick(market.wallets));
      if (purchase === null) continue;
      purchases.push(purchase);
      const isPoor = account === protocol.poor;
      // One for certain: a run goes on until there was one.
      const isDue = index === 0 && observations.counted("payments carried out by others") === 0;
      let isCarriedOut = !isPoor && (random() < UNSEEN_SHARE || isDue) && (await carryOut(system, purchase));
      const triesMax = () => (isCarriedOut ? PAID_TRIES_MAX : TRIES_MAX);
      for (
        let tries = 0;
        tries < triesMax() && !stop.aborted && purchase.finalResponse === null;
        tries += 1
      ) {
        const reply = await presentPayment(pick(services.portfolios), purchase);
        await checkResponse(system, purchase, reply, isPoor);
        if (purchase.finalResponse !== null) break;
        if (tries === 0 && !isPoor && random() < FAILED_SHARE)
          isCarriedOut = await carryOut(system, purchase);
        if (tries === TRIES_MAX - 1) isCarriedOut = await isUsed(system, purchase);
        await sleepUntilStopped(TRY_AGAIN_MS, stop);
      }
      if (purchase.finalResponse?.status !== 200 || random() >= AGAIN_SHARE) continue;
      const again = await presentPayment(pick(services.portfolios), purchase);
      if (again?.status === 200) observations.count("repeated responses");
    }
  };

/** Someone who has the signature sends it to the token: a facilitator, or one who sees the request. */
async function carryOut({ nodes, observations }: E2eSystem, purchase: E2ePurchase): Promise<boolean> {
  const isMined = await nodes.frontRunner.carryOut(purchase.transfer, purchase.nonce);
  if (isMined) observations.count("payments carried out by others");
  return isMined;
}

async function checkResponse(
  system: E2eSystem,
  purchase: E2ePurchase,
  reply: ServiceResponse | null,
  isPoor: boolean,
): Promise<void> {
  const { observations } = system;
  const { wallet, signedMs } = purchase;
  const ageMs = Date.now() - signedMs;
  if (reply === null) observations.count("payers without a response");
  else if (isTransientFailure(reply)) observations.count(`payers got ${reply.headers["x-error-code"]}`);
  else if (reply.status === 402 && isPoor) observations.count("payments rejected");
  else if (reply.status === 402 && ageMs > SIGNED_MS_MAX) observations.count("payments expired");
  else if (reply.status === 200 && !isPoor) {
    observations.count("payments");
    const objections = [
      await findReceiptError(system, purchase, reply),
      await findSnapshotError(system, wallet, reply.text),
    ];
    for (const objection of objections) if (objection) observations.recordViolation(objection);
  } else {
    const age = `${Math.round(ageMs / 1_000)} s after signing`;
    observations.recordViolation(`a payer got ${reply.status} ${age}: ${reply.text}`);
  }
}

/** Balances on that chain never change: the snapshot equals what the contracts report, to the last unit. */
async function findSnapshotError({ market }: E2eSystem, wallet: Hex, text: string): Promise<string | null> {
  const { address, tokens } = JSON.parse(text) as PortfolioSnapshot;
  const found = tokens.map(({ contract, rawBalance }): [string | null, bigint] => [
    contract,
    BigInt(rawBalance),
  ]);
  const shown = (pairs: Iterable<readonly [string | null, bigint]>) =>
    [...pairs].map(([contract, amount]) => `${contract ?? "coin"} ${amount}`).sort();
  const expected = shown(await market.holdings(wallet));
  // Tokens outside our list may be found too, as shares of a vault are.
  const missing = expected.filter((each) => !shown(found).includes(each));
  if (address === wallet && missing.length === 0) return null;
  return `the snapshot of ${wallet} lacks ${missing.join(", ")}: ${text.slice(0, 1_000)}`;
}
