// Words and units for the numbers that the protocol's records have, for pages and for terminals.
import { formatUnits } from "./format.ts";

const RAILS = ["Transfer", "Swap", "Facilitator", "x402"] as const;
/** The subjects of trust signals, by number. */
export const SIGNAL_SUBJECTS = ["merchant", "service", "facilitator", "agent"] as const;
/** The kinds of trust signals, by number. */
export const SIGNAL_KINDS = ["verification", "risk", "compliance", "fulfillment"] as const;

/** How it is paid; a number that the protocol does not name stays one. */
export function railName(rail: unknown): string {
  return RAILS[Number(rail)] ?? `Rail ${String(rail)}`;
}

export function kindName(kind: number): string {
  const word = SIGNAL_KINDS[kind];
  return word === undefined ? `Kind ${kind}` : word.charAt(0).toUpperCase() + word.slice(1);
}

/** Hundredths of a percent; null for other text. */
export function formatBasisPoints(value: string): string | null {
  return /^[0-9]{1,20}$/.test(value) ? `${formatUnits(value, 2).text} %` : null;
}

// The contract takes 0 for no limit.
const describeLimit = (value: string) => (value === "0" ? "no limit" : null);

const NUMBERS: Readonly<Record<string, (value: string) => string | null>> = {
  kind: (value) => kindName(Number(value)),
  max_per_day: describeLimit,
  max_per_payment: describeLimit,
  payment_rail: railName,
  protocol_fee_bps: formatBasisPoints,
  slippage_bps: formatBasisPoints,
  subject_type: (value) => SIGNAL_SUBJECTS[Number(value)] ?? null,
};

/** The words of a field; null if its number says enough. */
export function describeNumber(field: string, value: string): string | null {
  return /^[0-9]+$/.test(value) && Object.hasOwn(NUMBERS, field) ? (NUMBERS[field]?.(value) ?? null) : null;
}
