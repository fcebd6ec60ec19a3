// Exit codes by kind of failure, and the sentences that a failed command ends with.
import { SextantError } from "@sextant/client/errors";
import { FAULTS, type Fault, toFault } from "../lib/fault.ts";

/** For --help and docs/client.md. Codes from 64 follow sysexits(3), as for the services. */
export const EXIT_CODES = {
  0: "done",
  1: "the result is no: not allowed, different, or not done",
  2: "there is no such record",
  3: "a limit or pin of the guard forbids the payment; nothing was signed",
  4: "the payment or the purchase failed; nothing was charged",
  5: "it is not known whether the payment was charged; the same command sends the same signature until it is over",
  6: "charged once, and the response was lost; the same command gets it",
  64: "the command line is invalid",
  65: "a value is invalid",
  69: "a service cannot be reached or is busy",
  70: "a defect, or a response that makes no sense",
  74: "the result could not be written",
  78: "a setting is missing or invalid",
  130: "interrupted",
} as const;

export type ExitCode = keyof typeof EXIT_CODES;

export const INTERRUPTED = 130 satisfies ExitCode;
const NOT_WRITTEN = 74 satisfies ExitCode;

/** Such as on a full disk. */
export class OutputError extends Error {
  override readonly name = "OutputError";

  constructor(cause: Error) {
    super(`The result could not be written: ${cause.message}.`, { cause });
  }
}

type Failure = {
  /** Lines for people, without what could steer a terminal. */
  readonly sentences: readonly string[];
  readonly exit: number;
};

const OTHER_CODES: Readonly<Partial<Record<SextantError["code"], ExitCode>>> = {
  NOT_FOUND: 2,
  ROUTE_UNKNOWN: 2,
  TERMS_REJECTED: 3,
  LIMIT_EXCEEDED: 3,
  PAYMENT_REQUIRED: 4,
  SIGNING_FAILED: 4,
  UNREACHABLE: 69,
  NOT_CONFIGURED: 78,
  JOURNAL_UNAVAILABLE: 78,
  JOURNAL_INVALID: 78,
  ABORTED: INTERRUPTED,
};

/** Sentences and exit code of anything thrown. */
export function describeFailure(thrown: unknown, showsStack: boolean): Failure {
  if (thrown instanceof OutputError) return { sentences: [thrown.message], exit: NOT_WRITTEN };
  if (!(thrown instanceof SextantError)) return describeFault(toFault(thrown), showsStack);
  const sentence = nameSettings(thrown.message);
  const money = describeMoney(thrown);
  return { sentences: money === null ? [sentence] : [sentence, money], exit: exitOf(thrown) };
}

function describeFault(fault: Fault, showsStack: boolean): Failure {
  const hint =
    fault.code === "INTERNAL" && !showsStack ? ["run it again with --debug to see the cause."] : [];
  return { sentences: [...fault.message.split("\n"), ...hint], exit: fault.exit };
}

export function exitOf({ code, charged, payment }: SextantError): number {
  if (charged === "unknown") return 5;
  if (charged === "once") return 6;
  if (payment !== null) return 4;
  const other = OTHER_CODES[code];
  if (other !== undefined) return other;
  return Object.hasOwn(FAULTS, code) ? FAULTS[code as keyof typeof FAULTS].exit : 70;
}

/** The outcome for the money, if a signature was made. */
function describeMoney({ charged, payment, retry }: SextantError): string | null {
  if (payment === null) return null;
  if (charged === "once")
    return "The payment was charged once. Run the same command again to get the response.";
  if (charged === "no") {
    return retry === "never"
      ? "Nothing was charged."
      : "Nothing was charged. Run the same command again to retry.";
  }
  if (retry !== "same-signature") {
    const next = retry === "never" ? "" : " The same command makes a new payment.";
    return `It is not known whether the payment was charged. It counts as spent; \`payments list\` shows it.${next}`;
  }
  return "It is not known whether the payment was charged. Run the same command again, or `payments recover`: the same signature is sent, so it is charged at most once.";
}

/** The client names its options; people set variables and write arguments. */
function nameSettings(message: string): string {
  const named = message.replace(/\bname a new purchase\b/, "$& (--purchase)");
  return named.replace(/\bguard\.([a-z]+(?:[A-Z][a-z]+)*)/g, (_, option: string) => {
    return `SEXTANT_GUARD_${option.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
  });
}
