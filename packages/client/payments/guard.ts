// The guard: which payments may be signed at all, and how much in an hour, in a day and in total.
import { SextantError } from "../errors.ts";
import type { PaymentBook } from "../journal/payment-book.ts";
import { type Amount, formatUnits, toUnits } from "./amount.ts";
import type { PaymentTerms } from "./terms.ts";

/** On by default; what is not given has the default. Limits count everything in the journal, whichever process signed. */
export interface GuardOptions {
  /** The only network that is paid on, such as `eip155:8453`; default: Base. */
  readonly network?: `eip155:${number}`;
  /** The only token that is paid with; default: USDC on Base and on Base Sepolia. */
  readonly asset?: `0x${string}`;
  /** Decimals of the token; default: 6. */
  readonly decimals?: number;
  /**
   * Who may be paid: addresses, or `"first"` for the payee of the first payment in the journal and no other after it.
   * Default: no one.
   */
  readonly payees?: readonly `0x${string}`[] | "first";
  /** The only origin that signatures are sent to; default: those of the portfolio service and of the indexing API. */
  readonly origin?: string;
  /** Default: "0.05". */
  readonly perPayment?: Amount;
  /** Default: "1". */
  readonly perHour?: Amount;
  /** Default: "5". */
  readonly perDay?: Amount;
  /** Limit of the whole journal. Default: "50". */
  readonly total?: Amount;
  /** Limit of what this client itself signs for: transfers, and vouchers of channels without their deposits. Default: none. */
  readonly perClient?: Amount;
  /** The longest time for which a signature is valid. Default: 300. */
  readonly windowSecondsMax?: number;
  /**
   * URL of a node of the network. With it `payments.recover()` frees the amounts of expired signatures that the chain
   * shows unused; without one they count as spent, because a rejection is only the claim of the service.
   */
  readonly node?: string;
}

export type Guard = {
  readonly network: string;
  readonly asset: string;
  readonly decimals: number;
  readonly limits: SpendLimits;
  readonly node: string | null;
  /** Throws unless signatures may be sent there. */
  assertOrigin(url: string): void;
  /** The first of the terms that may be signed; throws what is wrong with the nearest. */
  choose(terms: readonly PaymentTerms[], book: PaymentBook): PaymentTerms;
  /** Throws if the payment would exceed a limit. Call it under the lock that also covers the record. */
  assertWithinLimits(terms: PaymentTerms, book: PaymentBook, nowMs: number): void;
  /** Throws if this client would sign for more than `perClient`. Call it under that lock too, and then `count`. */
  assertWithinClient(signing: Signing): void;
  /** Counts what this client signs for. None of it is taken back: the service may charge what it says it does not. */
  count(signing: Signing): void;
};

/** A transfer of an amount, or a voucher for the sum that follows what its channel was charged. */
export type Signing =
  | { readonly kind: "transfer"; readonly amount: bigint }
  | {
      readonly kind: "voucher";
      readonly channel: string;
      readonly charged: bigint;
      readonly cumulative: bigint;
    };

type SpendLimits = {
  readonly perPayment: bigint;
  readonly perHour: bigint;
  readonly perDay: bigint;
  readonly total: bigint;
};

const BASE = "eip155:8453";
/** USDC, as Circle lists it. */
const USDC: Readonly<Record<string, string>> = {
  [BASE]: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
  "eip155:84532": "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
};
const DECIMALS = 6;
// Five snapshots at the usual price each: enough to begin with, little enough to lose.
const LIMITS = { perPayment: "0.05", perHour: "1", perDay: "5", total: "50" } as const;
// A minute is usual. A signature that is valid for long can be charged long after it was forgotten.
const WINDOW_SECONDS_MAX = 300;
// They are sent back with the signature, in a header of at most 16 KiB with all others. Ours have a few hundred bytes.
const TERMS_BYTES_MAX = 6_000;
const NETWORK = /^eip155:[1-9][0-9]{0,15}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
// No token has more, and text with more digits would be a mistake.
const DECIMALS_MAX = 36;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** `services`: the URLs that signatures are sent to if the options name no origin. */
export function createGuard(options: GuardOptions, services: readonly string[]): Guard {
  const network = options.network ?? BASE;
  if (!NETWORK.test(network)) throw misconfigured("guard.network must be like eip155:8453.");
  const asset = (options.asset ?? USDC[network] ?? "").toLowerCase();
  if (asset === "") throw misconfigured(`Name the token of ${network} in guard.asset.`);
  const { decimals = DECIMALS, windowSecondsMax = WINDOW_SECONDS_MAX, node = null } = options;
  const payees = normalizePayees(options.payees ?? []);
  const sources = options.origin === undefined ? services : [options.origin];
  // A value that no comparison is true for would switch a rule off.
  if (!ADDRESS.test(asset)) throw misconfigured("guard.asset must be an address.");
  if (!isCount(decimals, 0, DECIMALS_MAX))
    throw misconfigured("guard.decimals must be a small whole number.");
  if (!isCount(windowSecondsMax, 1)) throw misconfigured("guard.windowSecondsMax must be a whole number.");
  if (!sources.every((each) => URL.canParse(each))) throw misconfigured("guard.origin must be a URL.");
  if (node !== null && !URL.canParse(node)) throw misconfigured("guard.node must be a URL.");
  const units = (name: keyof SpendLimits) =>
    toUnits(options[name] ?? LIMITS[name], decimals, `guard.${name}`);
  const limits: SpendLimits = {
    perPayment: units("perPayment"),
    perHour: units("perHour"),
    perDay: units("perDay"),
    total: units("total"),
  };
  const perClient =
    options.perClient === undefined ? null : toUnits(options.perClient, decimals, "guard.perClient");
  const own = new ClientSum();
  const origins = [...new Set(sources.map((each) => new URL(each).origin))];
  const rules: Rules = { network, asset, decimals, limits, payees, windowSecondsMax };
  return {
    network,
    asset,
    decimals,
    limits,
    node,
    assertOrigin: (url) => assertOrigin(new URL(url), origins),
    choose: (terms, book) => choose(rules, terms, book),
    assertWithinLimits: (terms, book, nowMs) => assertWithinLimits(rules, terms, book, nowMs),
    assertWithinClient(signing) {
      const more = own.increaseBy(signing);
      if (perClient === null || own.signed + more <= perClient) return;
      throw exceeded(more, own.signed, { name: "perClient", most: perClient, decimals });
    },
    count: (signing) => own.add(signing),
  };
}

/** Sums that one client has signed for: each part of the sum of a channel once, however many vouchers are for it. */
class ClientSum {
  signed = 0n;
  /** The largest sum of each channel that is counted. */
  readonly #counted = new Map<string, bigint>();

  increaseBy(signing: Signing): bigint {
    if (signing.kind === "transfer") return signing.amount;
    const { channel, charged, cumulative } = signing;
    const counted = this.#counted.get(channel) ?? 0n;
    const from = counted > charged ? counted : charged;
    return cumulative > from ? cumulative - from : 0n;
  }

  add(signing: Signing): void {
    const more = this.increaseBy(signing);
    this.signed += more;
    if (signing.kind === "voucher" && more > 0n) this.#counted.set(signing.channel, signing.cumulative);
  }
}

type Rules = {
  readonly network: string;
  readonly asset: string;
  readonly decimals: number;
  readonly limits: SpendLimits;
  readonly payees: readonly string[] | "first";
  readonly windowSecondsMax: number;
};

function normalizePayees(payees: readonly string[] | "first"): readonly string[] | "first" {
  if (payees === "first") return payees;
  const addresses = Array.isArray(payees) ? payees.map((each) => String(each).toLowerCase()) : [""];
  if (addresses.every((each) => ADDRESS.test(each))) return addresses;
  throw misconfigured('guard.payees must be addresses, or "first".');
}

function isCount(value: number, min: number, max = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

function assertOrigin(url: URL, origins: readonly string[]): void {
  if (!origins.includes(url.origin)) {
    const allowed = origins.join(" and ") || "services that createSextant is given";
    throw rejected(`signatures are only sent to ${allowed}, not to ${url.origin}`);
  }
  if (url.protocol === "https:" || LOOPBACK.test(url.hostname)) return;
  throw rejected(`${url.origin} is not encrypted, and signatures are only sent over https`);
}

function choose(rules: Rules, terms: readonly PaymentTerms[], book: PaymentBook): PaymentTerms {
  const problems: string[] = [];
  for (const each of terms) {
    const problem = findProblem(rules, each, book);
    if (problem === null) return each;
    problems.push(problem);
  }
  throw rejected(problems[0] ?? "the service names no way to pay");
}

function findProblem(rules: Rules, terms: PaymentTerms, book: PaymentBook): string | null {
  const { network, asset, payTo, amount, maxTimeoutSeconds } = terms;
  const format = (units: bigint) => formatUnits(units, rules.decimals);
  if (network !== rules.network) return `the service wants to be paid on ${network}, not on ${rules.network}`;
  if (asset !== rules.asset) return `the service wants the token ${asset}, not ${rules.asset}`;
  if (!isAllowedPayee(rules, payTo, book)) {
    return `the payee ${payTo} is new; if it is the right one, add it to guard.payees`;
  }
  if (amount > rules.limits.perPayment) {
    return `the price ${format(amount)} is above guard.perPayment ${format(rules.limits.perPayment)}`;
  }
  if (!isShort(terms)) return `the terms have more than ${TERMS_BYTES_MAX} bytes, or nest too deeply`;
  if (maxTimeoutSeconds < 1) return "the terms have expired";
  if (maxTimeoutSeconds > rules.windowSecondsMax) {
    return `the signature would be valid for ${maxTimeoutSeconds} seconds, more than guard.windowSecondsMax ${rules.windowSecondsMax}`;
  }
  return null;
}

/** False also for what nests too deeply to be written again: the signature would be made and never sent. */
function isShort(terms: PaymentTerms): boolean {
  try {
    const text = JSON.stringify(terms, (_, value) => (typeof value === "bigint" ? value.toString() : value));
    return new TextEncoder().encode(text).length <= TERMS_BYTES_MAX;
  } catch {
    return false;
  }
}

function isAllowedPayee({ payees, network, asset }: Rules, payTo: string, book: PaymentBook): boolean {
  if (payees !== "first") return payees.includes(payTo);
  const first = book.firstPayee({ network, asset });
  return first === null || first === payTo;
}

function assertWithinLimits(rules: Rules, terms: PaymentTerms, book: PaymentBook, nowMs: number): void {
  const spent = book.spent(rules, nowMs);
  const checks = [
    ["perHour", spent.hour],
    ["perDay", spent.day],
    ["total", spent.total],
  ] as const;
  for (const [name, already] of checks) {
    const limit = rules.limits[name];
    if (already + terms.amount <= limit) continue;
    throw exceeded(terms.amount, already, { name, most: limit, decimals: rules.decimals });
  }
}

function exceeded(
  amount: bigint,
  already: bigint,
  limit: { readonly name: string; readonly most: bigint; readonly decimals: number },
): SextantError {
  const [price, used, most] = [amount, already, limit.most].map((each) => formatUnits(each, limit.decimals));
  return new SextantError(
    "LIMIT_EXCEEDED",
    `The amount ${price} and ${used} already spent or reserved exceed guard.${limit.name} ${most}; nothing was signed.`,
  );
}

function misconfigured(problem: string): SextantError {
  return new SextantError("NOT_CONFIGURED", problem);
}

function rejected(problem: string): SextantError {
  return new SextantError("TERMS_REJECTED", `Not signed: ${problem}.`);
}
