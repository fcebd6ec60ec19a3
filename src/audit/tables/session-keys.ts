// Session keys must be what their account says of them, if it is one; what they did must be what was logged.
import { policyAccountAbi as abi } from "@sextant/contracts/generated/policy-account";
import { sessionExecutions, sessionKeys } from "../../protocol/domains/session-keys.ts";
import { createdBy, defineTableAudit, viewCheck } from "./define-audit.ts";

const account = { contract: "PolicyAccount", abi, addressColumn: "account" } as const;

export const sessionKeysAudit = defineTableAudit(sessionKeys, {
  births: [
    createdBy(
      sessionKeys,
      account,
      "SessionKeyUpdated",
      ({ args, address }) => ({
        account: address,
        session_key: args.sessionKey,
        expires_at: BigInt(args.expiresAt),
        active: args.active,
      }),
      { topics: 1 },
    ),
  ],
  views: [
    viewCheck(sessionKeys, account, "sessionKeys", {
      args: ({ session_key }) => [session_key],
      columns: {
        expires_at: ([expiresAt]) => BigInt(expiresAt),
        active: ([, active]) => active,
      },
    }),
  ],
});

export const sessionExecutionsAudit = defineTableAudit(sessionExecutions, {
  births: [
    createdBy(
      sessionExecutions,
      account,
      "SessionKeyExecuted",
      ({ args, address }) => ({
        account: address,
        session_key: args.sessionKey,
        nonce: args.nonce,
        target: args.target,
        value: args.value,
      }),
      { topics: 1, words: [1] },
    ),
  ],
});
