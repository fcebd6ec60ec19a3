// The payments of a journal, folded from its lines: what is open, what was spent, who was paid.
import { SextantError } from "../errors.ts";
import { ChannelBook } from "./channel-book.ts";
import type { JournalRecord, OutcomeRecord, SignedRecord } from "./records.ts";

/** `signed` is open: the signature may have left the process, and its outcome is not known. */
type PaymentState = "signed" | OutcomeRecord["type"];

export type PaymentEntry = SignedRecord & {
  state: PaymentState;
  transaction: string | null;
  code: string | null;
  /** When the outcome was learned, in Unix milliseconds. */
  endedAt: number | null;
};

/** The payments that count together against a limit. */
export type SpendScope = { readonly network: string; readonly asset: string };

/** Smallest units. */
export type Spent = { readonly hour: bigint; readonly day: bigint; readonly total: bigint };

const HOUR_MS = 3_600_000;
/** The time for which the service stores responses. */
export const DAY_MS = 24 * HOUR_MS;

type NamedPurchase = { readonly payer: string; readonly url: string; readonly purchase: string | null };

const keyOfName = ({ payer, url, purchase }: NamedPurchase) =>
  JSON.stringify([payer.toLowerCase(), new URL(url).origin, purchase]);

function standing(entry: PaymentEntry | undefined, nowMs: number): PaymentEntry | null {
  if (entry === undefined) return null;
  // Nothing brings it back: if it was charged, the next purchase by its channel learns that.
  if (entry.storedMs !== undefined && nowMs - entry.at >= entry.storedMs) return null;
  if (entry.state === "signed") return entry;
  // Another voucher for the same sum charges nothing more; another transfer could.
  if (entry.state === "rejected") return entry.voucher ? null : entry;
  const isRecent = nowMs - (entry.endedAt ?? entry.at) < DAY_MS;
  const isHeld = (entry.state === "conflict" || entry.state === "held") && isRecent;
  const isStored = entry.state === "paid" && entry.purchase !== null && nowMs - entry.at < DAY_MS;
  return isHeld || isStored ? entry : null;
}

export class PaymentBook {
  readonly channels = new ChannelBook();
  readonly #entries: PaymentEntry[] = [];
  readonly #byId = new Map<string, PaymentEntry>();
  /** The newest payment of each request, by what it is for and by what the caller gave. */
  readonly #byRequest = new Map<string, PaymentEntry>();
  /** The newest payment under each name that a payer gave at a service. */
  readonly #byName = new Map<string, PaymentEntry>();

  apply(record: JournalRecord): void {
    if (record.type === "channel") {
      this.channels.note(record);
      return;
    }
    if ("request" in record) {
      const open = { state: "signed", transaction: null, code: null, endedAt: null } as const;
      const entry: PaymentEntry = { ...record, ...open };
      this.channels.sign(entry);
      this.#entries.push(entry);
      this.#byId.set(entry.id, entry);
      this.#byRequest.set(entry.request, entry);
      if (entry.given) this.#byRequest.set(entry.given.request, entry);
      if (entry.purchase !== null) this.#byName.set(keyOfName(entry), entry);
      return;
    }
    const entry = this.#byId.get(record.id);
    if (entry === undefined) {
      throw new SextantError("JOURNAL_INVALID", "The journal has an outcome without its payment.");
    }
    // Two processes may finish the same payment. A paid payment stays paid, and a proven one stays proven.
    if (entry.state === "paid" || entry.state === "released") return;
    this.channels.end(entry, record);
    entry.state = record.type;
    entry.transaction = record.transaction;
    entry.code = record.code;
    entry.endedAt = record.at;
  }

  /**
   * The payment that stands for this request, so that no other is signed: it is open; or rejected, which only the
   * service claims; or it may have been charged, which its caller has known for less than a day; or it was paid under a
   * name, and the service still stores its response.
   */
  findReusable(request: string, nowMs: number): PaymentEntry | null {
    return standing(this.#byRequest.get(request), nowMs);
  }

  /** The newest payment for a request, whatever became of it. */
  findLast(request: string): PaymentEntry | null {
    return this.#byRequest.get(request) ?? null;
  }

  /** The payment that stands under a name, whatever its request. */
  findNamed(named: NamedPurchase, nowMs: number): PaymentEntry | null {
    return standing(this.#byName.get(keyOfName(named)), nowMs);
  }

  /**
   * Signed amounts in the last hour, in the last day, and in all. A rejection is only the service's claim, and a
   * service that lies could charge what it rejects: an amount is released when the chain shows that it was not charged.
   * A deposit counts instead of what is bought with it, until the chain shows that it was returned.
   */
  spent({ network, asset }: SpendScope, nowMs: number): Spent {
    const sums = { hour: 0n, day: 0n, total: 0n };
    const add = (amount: bigint, at: number) => {
      sums.total += amount;
      if (at > nowMs - DAY_MS) sums.day += amount;
      if (at > nowMs - HOUR_MS) sums.hour += amount;
    };
    for (const { amount, at } of this.channels.reserved({ network, asset })) add(amount, at);
    for (const entry of this.#entries) {
      const { requirements, at, voucher } = entry;
      // The deposit of its channel counts.
      if (voucher) continue;
      if (requirements.network !== network || requirements.asset !== asset) continue;
      if (entry.state === "released") continue;
      add(BigInt(requirements.amount), at);
    }
    return sums;
  }

  /** Who was paid first, in this token. */
  firstPayee({ network, asset }: SpendScope): string | null {
    const entry = this.#entries.find(
      ({ requirements }) => requirements.network === network && requirements.asset === asset,
    );
    return entry?.requirements.payTo ?? null;
  }

  get(id: string): PaymentEntry | null {
    return this.#byId.get(id) ?? null;
  }

  list(): readonly PaymentEntry[] {
    return this.#entries;
  }
}
