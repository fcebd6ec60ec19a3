// Changes of tables that readers use: they wait only briefly for a table lock, and retry.
import { retry } from "../../lib/retry.ts";
import type { Lock } from "./advisory-lock.ts";
import { SQLSTATE, sqlState } from "./errors.ts";
import type { Session } from "./session.ts";

type LockTimeoutOptions = {
  readonly statementTimeoutMs: number;
  readonly attemptsMax: number;
  readonly signal?: AbortSignal;
};

// Later reads queue behind a statement that waits for an exclusive lock, and they have five seconds. A running backup
// holds its locks for minutes or hours.
const LOCK_WAIT_MS_MAX = 2_000;
// Leaves the tables to readers between attempts.
const PAUSE_MS_MAX = 5_000;

/** Commits what `work` did; rolls back and retries while others use the tables. */
export function runWithLockTimeout<T>(
  lock: Lock,
  work: (session: Session) => Promise<T>,
  { statementTimeoutMs, attemptsMax, signal }: LockTimeoutOptions,
): Promise<T> {
  return retry(
    () =>
      lock.transaction(
        async (session) => {
          await session.query(`set local lock_timeout to ${LOCK_WAIT_MS_MAX}`);
          return work(session);
        },
        { statementTimeoutMs },
      ),
    {
      attemptsMax,
      delayMsBase: PAUSE_MS_MAX,
      delayMsMax: PAUSE_MS_MAX,
      isRetryable: (error) => sqlState(error) === SQLSTATE.lockNotAvailable,
      ...(signal ? { signal } : {}),
    },
  );
}
