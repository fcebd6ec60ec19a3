// Weighs each reason that only a message to sign can have, and says it in a sentence.
import type { MessageReasonCode, SimulationReason } from "../../../schema/portfolio/simulation.ts";

export type ReasonText = { readonly severity: SimulationReason["severity"]; readonly text: string };

export const MESSAGE_REASONS: Readonly<Record<MessageReasonCode, ReasonText>> = {
  "other-chain": { severity: "block", text: "The message is for another chain than the request." },
  "domain-mismatch": {
    severity: "block",
    text: "The contract verifies messages of another domain: the signature is useless there, or meant for elsewhere.",
  },
  "delegate-call": {
    severity: "block",
    text: "The account would run code of another contract as its own, which may take all that it has.",
  },
  "given-away": {
    severity: "block",
    text: "The order gives something away, and nothing of value comes back to its maker.",
  },
  "account-call": {
    severity: "caution",
    text: "The signature makes an account call a contract, and the call was not run.",
  },
  "account-pays": {
    severity: "caution",
    text: "The account also pays the sender of the transaction, at a rate that the message names.",
  },
  "order-runs-code": {
    severity: "caution",
    text: "Code that is not part of the message decides what the order pays, or runs with it.",
  },
  "rate-unknown": {
    severity: "caution",
    text: "The values of what the order gives and receives were not compared.",
  },
  "above-deposit": {
    severity: "caution",
    text: "The voucher is for more than the channel has, so that it covers later deposits too.",
  },
  "unlisted-token": { severity: "caution", text: "The token is on no list." },
  "unknown-message": {
    severity: "caution",
    text: "The meaning of the message, or of a part of it, is not known.",
  },
  "unsigned-fields": {
    severity: "caution",
    text: "The message shows values that the signature does not cover.",
  },
  "unverified-domain": {
    severity: "caution",
    text: "The contract does not say which messages it verifies, or does not exist.",
  },
  "no-chain-id": {
    severity: "caution",
    text: "The signature is not bound to one chain: it may work on others, too.",
  },
  "other-signer": {
    severity: "caution",
    text: "Another account than the wallet must sign the message.",
  },
  "far-deadline": {
    severity: "caution",
    text: "The signature can be used for a long time, or without end.",
  },
  "long-permission": { severity: "caution", text: "The permission lasts longer than a month." },
  "signature-expired": { severity: "caution", text: "The signature can no longer be used." },
  "nonce-unusable": {
    severity: "caution",
    text: "The nonce of the message is used or cancelled, or not the next one.",
  },
  "unread-state": {
    severity: "caution",
    text: "A balance, an allowance or a nonce that matters could not be read.",
  },
};
