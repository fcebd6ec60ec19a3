// What nobody waits for: unknown outcomes are looked up, settled ones watched until they are final, old ones let go.

import { randomUUID } from "node:crypto";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import type { Rows } from "../schema/record-store.ts";
import { sql } from "../schema/statement.ts";
import { evidenceOf } from "./evidence.ts";
import { NONCE_USED } from "./facilitator/facilitator.ts";
import { keepLease } from "./lease.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerRow } from "./ledger-row.ts";
import type { GateLimits } from "./limits.ts";
import { letGo } from "./retention.ts";
import type { Settlement } from "./settlement.ts";
import type { SettlementChain } from "./settlement-chain.ts";

export type Swept = {
  /** Payments found to have happened although nobody had told us. */
  readonly found: number;
  /** Payments that are now final. */
  readonly final: number;
  /** Payments that the chain had forgotten and that were sent again. */
  readonly repeated: number;
};

export type SweepOptions = {
  readonly store: Rows;
  readonly ledger: Ledger;
  readonly settlement: Settlement;
  readonly chain: SettlementChain;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: GateLimits;
};

// A nonce that is gone stays gone; every other refused transfer may still be carried out by somebody.
const UNKNOWN = sql`(state = 'settling' or (state = 'refused' and reason is distinct from ${NONCE_USED}))`;
const NOT_FINAL = sql`state = 'settled' and not final`;

export function createSweep(options: SweepOptions): (signal?: AbortSignal) => Promise<Swept> {
  const { store, ledger, settlement, chain, clock, log, limits } = options;

  /**
   * Nobody is charged here who has not had an answer: a client that went away has not, so its transfer is only looked
   * for. One that was settled before has, so its transfer is sent again.
   */
  async function finish(row: LedgerRow, owner: string): Promise<"found" | "repeated" | null> {
    if (!(await ledger.take(row, owner, row.state, row.state))) return null;
    const result = row.wasSettled ? await settlement.resume(row, owner) : await settlement.look(row, owner);
    if (result === null) await ledger.leaveUnknown(row, owner, null);
    return result?.kind === "settled" ? (row.wasSettled ? "repeated" : "found") : null;
  }

  async function watch(
    row: LedgerRow,
    owner: string,
    finalBlock: number,
  ): Promise<"final" | "repeated" | null> {
    if (!(await ledger.take(row, owner, "settled", "settled"))) return null;
    const evidence = await evidenceOf(row, { chain, clock, ms: limits.chainMs });
    if (evidence.kind === "transferred") {
      const final = evidence.blockNumber <= finalBlock;
      await ledger.confirm(row, owner, { ...evidence, final });
      return final ? "final" : null;
    }
    log.warn(
      { payer: row.payer, nonce: row.nonce, transaction: row.transaction },
      "A settled payment is not on chain",
    );
    if (!(await ledger.beginSettling(row, owner))) return null;
    return (await settlement.resume({ ...row, state: "settling" }, owner)).kind === "settled"
      ? "repeated"
      : null;
  }

  /** A row that fails must not keep the others from being looked at. */
  async function guarded<T>(row: LedgerRow, act: (owner: string) => Promise<T | null>): Promise<T | null> {
    const owner = randomUUID();
    const lease = keepLease({ ledger, log, limits }, row, owner);
    try {
      return await act(owner);
    } catch (err) {
      log.warn({ err, payer: row.payer, nonce: row.nonce }, "A payment could not be swept");
      await ledger.giveUp(row, owner).catch(() => undefined);
      return null;
    } finally {
      await lease.stop();
    }
  }

  const once = async (signal?: AbortSignal) => {
    const done = { found: 0, final: 0, repeated: 0 };
    const note = (what: keyof typeof done | null) => {
      if (what !== null) done[what] += 1;
    };
    for (const row of await ledger.idle(UNKNOWN, limits.sweepRows)) {
      if (signal?.aborted) return done;
      note(await guarded(row, (owner) => finish(row, owner)));
    }
    const watched = await ledger.idle(NOT_FINAL, limits.sweepRows);
    const finalBlock = watched.length > 0 ? (await chain.finalized(signal)).number : 0;
    for (const row of watched) {
      if (signal?.aborted) return done;
      note(await guarded(row, (owner) => watch(row, owner, finalBlock)));
    }
    await letGo(store, limits);
    return done;
  };
  // A sweep that takes longer than the time between two is not started a second time.
  let running: Promise<Swept> | null = null;
  return (signal) => {
    running ??= once(signal).finally(() => {
      running = null;
    });
    return running;
  };
}
