// Changes of tables that readers use: they wait for running reads only briefly, and are tried again instead.
import { retry } from "../../lib/retry.ts";
import type { Lock } from "./advisory-lock.ts";
import { sqlState } from "./errors.ts";
import type { Session } from "./session.ts";

export type LockTimeoutOptions = {
  readonly statementTimeoutMs: number;
  readonly attemptsMax: number;
  readonly signal?: AbortSignal;
};

// Whoever waits for an exclusive lock makes every later read wait behind it: no longer than the five seconds that a
// read has. A backup that runs holds its locks for minutes or hours.
const LOCK_WAIT_MS_MAX = 2_000;
// Between attempts readers have the tables to themselves for a while.
const PAUSE_MS_MAX = 5_000;
const LOCK_NOT_AVAILABLE = "55P03";

/** Commits what `work` did, or leaves nothing and tries again while others use the tables. */
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
      isRetryable: (error) => sqlState(error) === LOCK_NOT_AVAILABLE,
      ...(signal ? { signal } : {}),
    },
  );
}
