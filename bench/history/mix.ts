// The actions of a history and how often they happen: counts of actions, which the generator spends until none is left.

export const ACTION_NAMES = [
  "registerAgent",
  "updateAgent",
  "revokeAgent",
  "submitIntent",
  "submitBid",
  "selectBid",
  "fillIntent",
  "cancelIntent",
  "setSpendLimit",
  "setTargetAllowed",
  "setFunctionAllowed",
  "setUseFunctionAllowlist",
  "setGuardian",
  "setAccountFrozen",
  "setPaymentPolicy",
  "recordSpend",
  "recordSignedPayment",
  "setSessionKey",
  "executeWithSessionKey",
  "submitAttestation",
  "revokeAttestation",
  "registerSolver",
  "updateSolver",
  "addBond",
  "registerAttestor",
  "updateAttestor",
  "registerMerchant",
  "updateMerchant",
  "registerService",
  "updateService",
  "registerFacilitator",
  "updateFacilitator",
  "commitQuote",
  "recordReceipt",
  "recordFulfillment",
  "openDispute",
  "resolveDispute",
  "recordTrustSignal",
  "executeSettlement",
] as const;

export type ActionName = (typeof ACTION_NAMES)[number];

/** How often each action is to happen; what is left out never does. */
export type ActionMix = Readonly<Partial<Record<ActionName, number>>>;

/** A busy protocol, in parts of about a thousand: intents and payments are most of it, registrations are rare. */
export const BUSY_MIX: ActionMix = {
  registerAgent: 60,
  updateAgent: 15,
  revokeAgent: 3,
  submitIntent: 110,
  submitBid: 220,
  selectBid: 85,
  fillIntent: 75,
  cancelIntent: 12,
  setSpendLimit: 12,
  setTargetAllowed: 12,
  setFunctionAllowed: 8,
  setUseFunctionAllowlist: 4,
  setGuardian: 3,
  setAccountFrozen: 2,
  setPaymentPolicy: 10,
  recordSpend: 30,
  recordSignedPayment: 25,
  setSessionKey: 12,
  executeWithSessionKey: 20,
  submitAttestation: 50,
  revokeAttestation: 4,
  registerSolver: 2,
  updateSolver: 1,
  addBond: 2,
  registerAttestor: 1,
  updateAttestor: 1,
  registerMerchant: 4,
  updateMerchant: 2,
  registerService: 6,
  updateService: 3,
  registerFacilitator: 1,
  updateFacilitator: 1,
  commitQuote: 80,
  recordReceipt: 65,
  recordFulfillment: 45,
  openDispute: 5,
  resolveDispute: 4,
  recordTrustSignal: 20,
  executeSettlement: 20,
};

// A fill says two things at once: the fill and its proof. Other actions with more than one event are counted low, so as
// not to end early.
const EVENTS_OF: ActionMix = { fillIntent: 2 };

/** The same mix, large enough for so many events. */
export function actionMixOf(events: number, mix: ActionMix = BUSY_MIX): ActionMix {
  const eventsOfMix = ACTION_NAMES.reduce((sum, name) => sum + (mix[name] ?? 0) * (EVENTS_OF[name] ?? 1), 0);
  return Object.fromEntries(
    ACTION_NAMES.map((name) => [name, Math.ceil(((mix[name] ?? 0) * events) / eventsOfMix)]),
  );
}
