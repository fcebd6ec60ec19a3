// Session keys of accounts and what they executed. PolicyAccount → session_keys, session_executions.
import { policyAccountAbi as abi } from "@sextant/contracts/generated/policy-account";
import { upsert } from "../../schema/change.ts";
import { address, bool, uint63, uint256 } from "../../schema/column.ts";
import { defineDomain } from "../../schema/domain.ts";
import { defineTable } from "../../schema/table.ts";

export const sessionKeys = defineTable(
  "session_keys",
  { account: address, session_key: address, expires_at: uint63, active: bool },
  { key: ["account", "session_key"] },
);

export const sessionExecutions = defineTable(
  "session_executions",
  { account: address, session_key: address, nonce: uint256, target: address, value: uint256 },
  { key: ["account", "session_key", "nonce"] },
);

// Anyone can deploy an account, or a contract that imitates one: its events concern only itself, and repeating them must
// not stop the index. Hence upsert, never insert.
export const sessionKeysDomain = defineDomain({
  contract: "PolicyAccount",
  abi,
  anyEmitter: true,
  tables: [sessionKeys, sessionExecutions],
  events: {
    SessionKeyUpdated: {
      fold: ({ args, address: account }) => [
        upsert(sessionKeys, {
          account,
          session_key: args.sessionKey,
          expires_at: BigInt(args.expiresAt),
          active: args.active,
        }),
      ],
      explain: ({ args, address: account }) =>
        args.active
          ? `Account ${account} gave session key ${args.sessionKey} access until ${args.expiresAt}`
          : `Account ${account} withdrew session key ${args.sessionKey}`,
    },
    SessionKeyExecuted: {
      fold: ({ args, address: account }) => [
        upsert(sessionExecutions, {
          account,
          session_key: args.sessionKey,
          nonce: args.nonce,
          target: args.target,
          value: args.value,
        }),
      ],
      explain: ({ args, address: account }) =>
        `Session key ${args.sessionKey} called ${args.target} for account ${account} with value ${args.value}`,
    },
  },
});
