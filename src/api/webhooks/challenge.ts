// A receiver proves that it wants messages by returning a challenge, before anything about its webhook is stored.
import { randomBytes } from "node:crypto";
import { createRateLimiter } from "../../http/security/request-guard.ts";
import type { Clock } from "../../lib/clock.ts";
import { createFairLimit } from "../../lib/concurrency-limit.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { createChallengeMessage } from "./messages.ts";
import type { Webhook } from "./rows.ts";
import type { SendWebhook } from "./send.ts";

type Registration = {
  readonly webhook: Pick<Webhook, "id" | "url" | "allowPrivate" | "keys">;
  readonly host: string;
  readonly owner: Hex;
  readonly client: string;
};

/** Throws a Fault unless the receiver returns the challenge. */
export type ProveReceiver = (registration: Registration) => Promise<void>;

// Receivers that fail per minute. An owner may be correcting a mistake; a client may have several owners; a host that
// never asked for a request gets two a second at most. Only thirty owners, each with something on chain, could use up
// those of a host.
const FAILED_PER_MINUTE = { client: 10, owner: 4, host: 120 } as const;

// A receiver may take 15 seconds, and the request of its owner waits for it.
const AT_ONCE = { runningMax: 32, runningPerKeyMax: 2, waitingMax: 64, waitingPerKeyMax: 4 };

// Enough that it is never guessed.
const CHALLENGE_BYTES = 32;

export function createReceiverProof({
  send,
  clock,
}: {
  readonly send: SendWebhook;
  readonly clock: Clock;
}): ProveReceiver {
  const slots = createFairLimit(AT_ONCE);
  const limiterOf = (perMinute: number) => createRateLimiter({ perMinute, clock });
  const limiters = {
    client: limiterOf(FAILED_PER_MINUTE.client),
    owner: limiterOf(FAILED_PER_MINUTE.owner),
    host: limiterOf(FAILED_PER_MINUTE.host),
  };

  /** Counts the receiver as failed; the returned function takes this back. */
  function count({ client, owner, host }: Registration): () => void {
    const taken: (() => void)[] = [];
    const keys = { client, owner, host: hostNameOf(host) };
    for (const kind of ["client", "owner", "host"] as const) {
      const earlyMs = limiters[kind].take(keys[kind]);
      if (earlyMs > 0) {
        for (const giveBack of taken) giveBack();
        throw createTooManyFault(kind, earlyMs);
      }
      taken.push(() => limiters[kind].release(keys[kind], 1, 0));
    }
    return () => {
      for (const giveBack of taken) giveBack();
    };
  }

  return async (registration) => {
    const giveBack = count(registration);
    const { webhook, host, client } = registration;
    const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
    const message = createChallengeMessage(webhook, challenge, clock.nowMs());
    let isSent = false;
    const attempt = await slots
      .run(client, () => {
        isSent = true;
        return send(webhook, message);
      })
      .catch((error: unknown) => {
        // No slot was free: the receiver got no request that it could have failed.
        if (!isSent) giveBack();
        throw error;
      });
    if (!attempt.isDelivered) throw createUnprovenFault(host, attempt.error);
    if (!hasChallenge(attempt.text, challenge))
      throw createUnprovenFault(host, `status ${attempt.status} without the challenge`);
    giveBack();
  };
}

/** The text itself, or JSON with it. A server that only repeats requests has it somewhere deeper. */
function hasChallenge(text: string, challenge: string): boolean {
  if (text.trim() === challenge) return true;
  try {
    return (JSON.parse(text) as { challenge?: unknown } | null)?.challenge === challenge;
  } catch {
    // Text that is not JSON.
    return false;
  }
}

/** Ports are many, and all of them are one server's. */
export function hostNameOf(host: string): string {
  return host.replace(/:[0-9]+$/, "");
}

function createUnprovenFault(host: string, problem: string): Fault {
  return new Fault(
    "CONFLICT",
    `The receiver at ${host} did not prove itself: ${problem}. It must respond 2xx with the challenge of a webhook.challenge message (docs/events.md); then register again.`,
  );
}

function createTooManyFault(kind: keyof typeof FAILED_PER_MINUTE, earlyMs: number): Fault {
  return new Fault(
    "RATE_LIMITED",
    `At most ${FAILED_PER_MINUTE[kind]} receivers per ${kind} and minute may fail to prove themselves.`,
    { retryAfterSeconds: Math.ceil(earlyMs / 1_000) },
  );
}
