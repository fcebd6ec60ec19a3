// Session keys of accounts and what they executed. PolicyAccount → session_keys, session_executions.
import { policyAccountAbi as abi } from "@sextant/contracts/generated/policy-account";
import { upsert } from "../../schema/change.ts";
import { address, bool, uint63, uint256 } from "../../schema/column.ts";
import { defineDomain } from "../../schema/domain.ts";
import { addressPart, amountPart, sentence, timePart } from "../../schema/sentence.ts";
import { defineTable, ZERO_ADDRESS } from "../../schema/table.ts";

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
          ? sentence`Account ${addressPart(account)} gave session key ${addressPart(args.sessionKey)} access until ${timePart(args.expiresAt)}`
          : sentence`Account ${addressPart(account)} withdrew session key ${addressPart(args.sessionKey)}`,
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
        sentence`Session key ${addressPart(args.sessionKey)} called ${addressPart(args.target)} for account ${addressPart(account)} with value ${amountPart(args.value, ZERO_ADDRESS)}`,
    },
  },
});
