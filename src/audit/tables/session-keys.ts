// Session keys must be what their account says of them, if it is one; what they did must be what was logged.
import { policyAccountAbi as abi } from "@sextant/contracts/generated/policy-account";
import { sessionExecutions, sessionKeys } from "../../protocol/domains/session-keys.ts";
import { born, tableAudit, view } from "./define-audit.ts";

const account = { contract: "PolicyAccount", abi, account: "account" } as const;

export const sessionKeysAudit = tableAudit(sessionKeys, {
  births: [
    born(
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
    view(sessionKeys, account, "sessionKeys", {
      args: ({ session_key }) => [session_key],
      columns: {
        expires_at: ([expiresAt]) => BigInt(expiresAt),
        active: ([, active]) => active,
      },
    }),
  ],
});

export const sessionExecutionsAudit = tableAudit(sessionExecutions, {
  births: [
    born(
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
