// One purchase: find or reserve its row, then wait for whoever acts on it, or act.
import type { EndpointAnswer } from "../schema/endpoint.ts";
import { refusalSentence, verifyPayment } from "./facilitator/facilitator.ts";
import { delivered } from "./kept-answer.ts";
import { keepLease } from "./lease.ts";
import type { LedgerRow } from "./ledger-row.ts";
import { challenge, type Offer, requirementsOf } from "./offer.ts";
import type { PaidWork } from "./paid-work.ts";
import { objectionTo, type Payment, payloadOf } from "./payment.ts";
import { refusal } from "./refusal.ts";
import { fingerprint, type Resource } from "./resource.ts";
import { EXPIRED, type Settlement, type SettleResult } from "./settlement.ts";
import { createWorkshop, type WorkshopOptions } from "./workshop.ts";

export type PurchaseOptions = WorkshopOptions & { readonly offer: Offer; readonly settlement: Settlement };

export type Wanted = { readonly resource: Resource; readonly payment: Payment; readonly owner: string };

export type Purchase = (wanted: Wanted, work: PaidWork) => Promise<EndpointAnswer>;

const POLL_MS_MIN = 20;
const POLL_MS_MAX = 400;
const LOST = "The payment was undone by the chain and can not be repeated; sign a new one.";

export function createPurchase(options: PurchaseOptions): Purchase {
  const { offer, ledger, facilitator, settlement, clock, limits, count } = options;
  const workshop = createWorkshop(options);
  const terms = requirementsOf(offer);

  return async (wanted, work) => {
    const { resource, payment, owner } = wanted;
    const key = { network: offer.network, asset: offer.asset, payer: payment.from, nonce: payment.nonce };
    const print = fingerprint(resource);
    const until = clock.nowMs() + limits.waitMs;
    let first: LedgerRow | null = null;
    let pauseMs = POLL_MS_MIN;

    const refused = (sentence: string) => {
      count("refused");
      return challenge(offer, resource, sentence);
    };
    const conflict = (sentence: string) => {
      count("conflict");
      return refusal("PAYMENT_CONFLICT", sentence);
    };
    const pending = (sentence: string) => {
      count("pending");
      return refusal("PAYMENT_PENDING", sentence, limits.retryAfterSeconds);
    };
    const answered = async (row: LedgerRow, result: SettleResult, outcome: "settled" | "replayed") => {
      if (result.kind === "refused") return refused(result.sentence);
      if (result.kind === "unknown") {
        return pending("The payment is under way; send the same signature again to get the answer.");
      }
      const answer = await ledger.answerOf(row);
      if (answer === null) return conflict("The payment has been used, and its answer is no longer kept.");
      count(outcome);
      return delivered(row, answer, result.transaction);
    };
    /** Acts as the owner, for as long as it takes. */
    const held = async (act: () => Promise<EndpointAnswer>) => {
      const lease = keepLease(options, key, owner);
      try {
        return await act();
      } finally {
        await lease.stop();
      }
    };
    const limited = async () => {
      if ((await ledger.failuresOf(payment.from)) < limits.failuresMax) return null;
      count("limited");
      const seconds = Math.ceil(limits.failureWindowMs / 1_000);
      return refusal(
        "RATE_LIMITED",
        "Too many requests of this payer have failed; nothing was charged.",
        seconds,
      );
    };
    const begun = async (start: () => Promise<boolean>) => {
      const objection = objectionTo(payment, offer, {
        nowMs: clock.nowMs(),
        settleMs: limits.settleMarginMs,
      });
      if (objection !== null) return refused(objection);
      const late = await limited();
      if (late !== null) return late;
      if (!(await start())) return null;
      return held(async () => {
        const made = await workshop({ key, owner, payment, payload: payloadOf(payment, terms), terms }, work);
        if ("answer" in made) return made.answer;
        if ("refused" in made) return refused(made.refused);
        const row = await ledger.find(key);
        if (row === null) return pending("The payment was taken over; send the same signature again.");
        return answered(row, await settlement.send(row, owner), "settled");
      });
    };

    /** Another authorization under an identifier that is taken: the same purchase, if it is really its payer who asks. */
    const again = async (twin: LedgerRow) => {
      if (twin.fingerprint !== print) return conflict("The payment identifier belongs to another request.");
      if (twin.state !== "settled") return null;
      const verdict = await verifyPayment(facilitator, payloadOf(payment, terms), terms);
      if (verdict.kind === "refused") return refused(refusalSentence(verdict.reason));
      if (verdict.kind === "trouble") return workshop.unavailable(verdict.cause);
      return answered(twin, { kind: "settled", transaction: twin.transaction ?? "" }, "replayed");
    };

    /** What can be done about a row at this moment; null to look again in a while. */
    const step = async (): Promise<EndpointAnswer | null> => {
      const row = await ledger.find(key);
      if (row === null) {
        const done = await begun(() =>
          ledger.reserve(
            { key, payment, fingerprint: print, payload: payloadOf(payment, terms), terms },
            owner,
          ),
        );
        if (done !== null || payment.paymentId === null) return done;
        const twin = await ledger.findById(key, payment.paymentId);
        return twin === null || twin.nonce === key.nonce ? null : again(twin);
      }
      first ??= row;
      if (row.digest !== payment.digest) {
        // Nobody has checked yet whose it is; a forged one is gone in a moment, or when whoever was to check it has died.
        if (!row.verified) {
          if (!row.leased) await ledger.discard(key);
          return null;
        }
        return conflict("Another payment with the same nonce has been taken.");
      }
      if (row.fingerprint !== print) return conflict("The payment belongs to another request.");
      // Once it is carried out, everybody can read the signature on the chain; the identifier stays between us.
      if (row.paymentId !== null && row.paymentId !== payment.paymentId) {
        return conflict("The payment was named by an identifier and must come with it again.");
      }
      if (row.state === "settled" && row.transaction !== null) {
        return answered(row, { kind: "settled", transaction: row.transaction }, "replayed");
      }
      if (row.state === "lost") return refused(LOST);
      if (row.state === "expired") return refused(EXPIRED);
      if (row.leased) return null;
      // Whoever waited shares the outcome; ten that waited together must not try ten times.
      if (row.attempts > first.attempts || row.failures > first.failures) return shared(row);
      if (row.state === "settling" || row.state === "refused") {
        const late = row.state === "refused" ? await limited() : null;
        if (late !== null) return late;
        if (!(await ledger.take(key, owner, row.state, "settling"))) return null;
        return held(async () => answered(row, await settlement.resume(row, owner), "replayed"));
      }
      return begun(() => ledger.take(key, owner, row.state, "reserved"));
    };
    const shared = (row: LedgerRow) => {
      if (row.state === "refused") return refused(refusalSentence(row.reason ?? "unknown"));
      return pending("The request did not succeed and may be sent again with the same signature.");
    };

    for (;;) {
      const done = await step();
      if (done !== null) return done;
      if (clock.nowMs() >= until)
        return pending("The payment is being worked on; send the same signature again.");
      await clock.sleep(pauseMs);
      pauseMs = Math.min(POLL_MS_MAX, pauseMs * 2);
    }
  };
}
