// The transitions of a payment in the ledger: a table that the statements use and that docs/payments.md draws.

/** The values of the column `state`; docs/payments.md describes each. */
export const PAYMENT_STATES = [
  // Being verified and worked for; nothing is charged.
  "reserved",
  // The response is stored; the transfer was sent or will be.
  "settling",
  // Paid.
  "settled",
  // The handler failed; nothing was charged.
  "released",
  // The facilitator rejected the transfer; with the reason NONCE_USED the chain did, for good.
  "refused",
  // The transfer did not happen and never will.
  "expired",
  // The transfer happened, a reorg removed it, and it cannot be repeated.
  "lost",
] as const;

export type PaymentState = (typeof PAYMENT_STATES)[number];

/** `absent` means that there is no row, `final` a settled row whose block no reorg can remove. */
export type LedgerState = "absent" | PaymentState | "final";

export type LedgerTransition = {
  readonly changes: readonly (readonly [from: LedgerState, to: LedgerState])[];
  /** owner: only the holder of the lease; free: only without a live lease; new: only without a row. */
  readonly requires: "owner" | "free" | "owner or free" | "new";
  readonly lease: "takes" | "keeps" | "frees";
};

const stays = <S extends LedgerState>(...states: readonly S[]) =>
  states.map((state) => [state, state] as const);
const leadsTo = <To extends LedgerState, From extends LedgerState>(to: To, ...states: readonly From[]) =>
  states.map((from) => [from, to] as const);

/** Frees the lease of its owner, who is the only one to make the transition. */
const ENDS = { requires: "owner", lease: "frees" } as const;

/** One entry per function of the ledger that changes rows. */
export const LEDGER_TRANSITIONS = {
  open: { changes: leadsTo("reserved", "absent"), requires: "new", lease: "takes" },
  reclaim: {
    changes: [...leadsTo("reserved", "reserved", "released"), ...leadsTo("settling", "settling", "refused")],
    requires: "free",
    lease: "takes",
  },
  admit: { changes: stays("reserved"), requires: "owner", lease: "keeps" },
  deleteReservation: {
    changes: [...leadsTo("absent", "reserved"), ...leadsTo("released", "reserved")],
    ...ENDS,
  },
  deleteUnverified: { changes: leadsTo("absent", "reserved"), requires: "free", lease: "frees" },
  recordJobFailure: { changes: leadsTo("released", "reserved"), ...ENDS },
  storeResponse: { changes: leadsTo("settling", "reserved"), requires: "owner", lease: "keeps" },
  acquire: {
    changes: [...stays("settling", "refused", "settled"), ...leadsTo("settling", "refused")],
    requires: "free",
    lease: "takes",
  },
  startSettling: { changes: leadsTo("settling", "settling", "settled"), requires: "owner", lease: "keeps" },
  recordSettled: { changes: leadsTo("settled", "settling", "refused"), ...ENDS },
  recordUnknownOutcome: { changes: stays("settling", "refused"), ...ENDS },
  recordRejected: { changes: leadsTo("refused", "settling", "refused"), ...ENDS },
  recordExpired: { changes: leadsTo("expired", "settling", "refused"), ...ENDS },
  recordLost: { changes: leadsTo("lost", "settling", "refused"), ...ENDS },
  recordBlock: { changes: [...stays("settled"), ...leadsTo("final", "settled")], ...ENDS },
  markFinal: { changes: leadsTo("final", "settled"), requires: "free", lease: "frees" },
  markReplaced: {
    changes: stays("reserved", "released", "settling", "refused"),
    requires: "owner or free",
    lease: "frees",
  },
  releaseIdentifier: {
    changes: stays("reserved", "released", "refused", "expired", "lost"),
    requires: "free",
    lease: "frees",
  },
  prune: {
    changes: leadsTo("absent", "reserved", "released", "refused", "expired"),
    requires: "free",
    lease: "frees",
  },
} as const satisfies Record<string, LedgerTransition>;

export type LedgerTransitionName = keyof typeof LEDGER_TRANSITIONS;

/** Guards transitions whose states the caller names. */
export function assertTransition(name: LedgerTransitionName, from: LedgerState, to: LedgerState): void {
  const { changes }: LedgerTransition = LEDGER_TRANSITIONS[name];
  if (changes.some((change) => change[0] === from && change[1] === to)) return;
  throw new Error(`${name} does not lead from ${from} to ${to}`);
}

/** The values of the column `state` that a transition starts from. */
export function persistedStatesBefore({ changes }: LedgerTransition): readonly PaymentState[] {
  return [...new Set(changes.flatMap(([from]) => (from === "absent" || from === "final" ? [] : [from])))];
}
