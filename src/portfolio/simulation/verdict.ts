// The weight and the text of each reason, and the verdict that follows from the reasons of a simulation.
import type { ReasonCode, Simulation, SimulationReason } from "../../schema/portfolio/simulation.ts";
import { MESSAGE_REASONS, type ReasonText } from "./messages/reasons.ts";

/** Every reason once. What is unknown is a caution, so that `allow` means that nothing was left open. */
const RULES: Readonly<Record<ReasonCode, ReasonText>> = {
  reverts: { severity: "block", text: "The transaction fails." },
  "override-detected": {
    severity: "block",
    text: "The contract acts differently when the wallet seems to have code: it recognizes a simulation.",
  },
  "code-changed": { severity: "block", text: "The code that runs there was replaced a few blocks ago." },
  "cannot-pay-gas": { severity: "block", text: "The wallet has too little of the native coin for the fee." },
  "lookalike-receiver": {
    severity: "block",
    text: "The receiver looks like an address that the wallet has used, but is another one.",
  },
  "lookalike-contract": {
    severity: "block",
    text: "The contract looks like a known one, but is another one.",
  },
  "delegate-change": {
    severity: "block",
    text: "Another contract gets control of the whole account.",
  },
  "operator-for-all": {
    severity: "block",
    text: "Someone unknown may move every token of the collection, or every position in the protocol.",
  },
  "unlimited-approval": {
    severity: "block",
    text: "Someone unknown may take all of the token, or the item, at any time.",
  },
  "spender-without-code": {
    severity: "block",
    text: "The permission goes to an account without code: a person may take the token.",
  },
  "unknown-spender": { severity: "caution", text: "The spender is on none of our lists." },
  "empties-balance": {
    severity: "caution",
    text: "Almost all that the wallet has of something leaves it, and nothing comes in.",
  },
  "nothing-in-return": {
    severity: "caution",
    text: "Something leaves the wallet for nothing: by a call that is not a transfer, or to where it is lost.",
  },
  "token-keeps-part": {
    severity: "caution",
    text: "Balances change by another amount than the token announces: it takes a fee, or lies.",
  },
  "cannot-be-sold": { severity: "block", text: "The wallet cannot transfer the token that it gets." },
  "value-lost": { severity: "caution", text: "What comes in is worth much less than what leaves." },
  "value-unknown": {
    severity: "caution",
    text: "Something that comes in or leaves has no known price, so that the two cannot be compared.",
  },
  "calls-itself": {
    severity: "caution",
    text: "The account calls its own code, by which it can be changed.",
  },
  "unknown-code": { severity: "caution", text: "The called contract is on none of our lists." },
  "unknown-token": { severity: "caution", text: "The wallet gets a token that is on no list." },
  "unknown-function": { severity: "caution", text: "The called function is not one that we know." },
  "unknown-domain": { severity: "caution", text: "The message is for a contract that we do not know." },
  "unknown-receiver": {
    severity: "caution",
    text: "Something goes to an account that the wallet did not name.",
  },
  "no-expiry": { severity: "caution", text: "The permission does not expire." },
  "not-cross-checked": {
    severity: "caution",
    text: "No second way confirmed the result, and the code may recognize a simulation.",
  },
  "not-simulated": { severity: "caution", text: "The node did not run it, so that its effects are unknown." },
  ...MESSAGE_REASONS,
};

/** The subject of a reason; null if it has none. */
type Subject = Partial<Pick<SimulationReason, "transaction" | "contract" | "account">>;

export function createReason(code: ReasonCode, subject: Subject = {}): SimulationReason {
  return { code, ...RULES[code], transaction: null, contract: null, account: null, ...subject };
}

/** The worst reason decides. Each is listed once, blocking ones first. */
export function decideVerdict(found: readonly SimulationReason[]): Pick<Simulation, "verdict" | "reasons"> {
  const distinct = [...new Map(found.map((each) => [JSON.stringify(each), each])).values()];
  const rank = Object.keys(RULES);
  const weightOf = ({ severity, code }: SimulationReason) =>
    (severity === "block" ? 0 : rank.length) + rank.indexOf(code);
  const reasons = distinct.sort((a, b) => weightOf(a) - weightOf(b));
  return { verdict: reasons[0]?.severity ?? "allow", reasons };
}
