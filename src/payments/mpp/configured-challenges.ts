// Challenges as the settings have them: whether the key is secret enough, and whether clients reach us encrypted.

import type { channelSettings, gasSettings, paywallSettings } from "../../config/payment-settings.ts";
import type { portfolioSettings } from "../../config/portfolio-settings.ts";
import type { Config } from "../../config/read-config.ts";
import { Fault } from "../../lib/fault.ts";
import { ChallengeIssuer } from "./challenges.ts";

type ChallengeConfiguration = Config<
  Pick<
    typeof paywallSettings & typeof channelSettings & typeof gasSettings & typeof portfolioSettings,
    "mppKey" | "channelKey" | "channelOldKeys" | "facilitatorPrivateKey" | "portfolioPublicUrl"
  >
>;

// 32 random bytes practically never have fewer different ones; examples and placeholders repeat a few.
const DIFFERENT_BYTES_MIN = 16;

/**
 * Null if only x402 is taken. Rejects a key that others may know or that does other things: any holder of it can issue
 * challenges in our name. Rejects a public URL without TLS, which the protocol forbids.
 */
export function openChallengeIssuer(config: ChallengeConfiguration): ChallengeIssuer | null {
  const { mppKey, channelKey, channelOldKeys, facilitatorPrivateKey, portfolioPublicUrl } = config;
  if (mppKey === null) return null;
  const key = mppKey.reveal().toLowerCase();
  const accountKeys = [facilitatorPrivateKey, channelKey, ...channelOldKeys];
  const problem = accountKeys.some((other) => other?.reveal().toLowerCase() === key)
    ? "the key of an account"
    : new Set(key.slice(2).match(/../g)).size < DIFFERENT_BYTES_MIN
      ? "not random"
      : null;
  if (problem !== null) {
    throw new Fault(
      "CONFIG_INVALID",
      `PAYMENT_MPP_KEY must be 32 random bytes of its own, such as 0x$(openssl rand -hex 32); it is ${problem}.`,
    );
  }
  if (/^http:\/\/(?!localhost|127\.|\[::1\])/.test(portfolioPublicUrl ?? "")) {
    throw new Fault(
      "CONFIG_INVALID",
      "PAYMENT_MPP_KEY needs a PORTFOLIO_PUBLIC_URL that begins with https://.",
    );
  }
  return new ChallengeIssuer(mppKey);
}
