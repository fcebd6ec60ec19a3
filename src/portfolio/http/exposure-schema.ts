// The response to an exposure request as JSON Schema 2020-12.

import { FOREIGN_TEXT } from "../../lib/foreign-text.ts";
import { closedObject, type JsonSchema, nullable } from "../../schema/json-schema.ts";
import { addFailedChainsKey } from "./failed-chains-schema.ts";

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const textOrNull = { type: ["string", "null"] };
const listOf = (items: JsonSchema, more: JsonSchema = {}) => ({ type: "array", items, ...more });
const record = (title: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  title,
  ...closedObject(properties),
});

const address = { type: "string", pattern: "^0x[0-9a-f]{40}$" };
const bytes = { type: "string", pattern: "^0x([0-9a-f]{2})*$" };
const time = { type: "string", format: "date-time" };
const amount = { type: "string", pattern: "^(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" };
const raw = { type: "string", pattern: "^(0|[1-9][0-9]*)$" };
const chain = { ...text, description: "The chain's slug.", examples: ["base"] };

const revoke = {
  description:
    "What ends the permission; null where nothing does. A call must come from the wallet itself, for a Safe or a smart account through its own transaction. An authorization is signed by the wallet (EIP-7702).",
  oneOf: [
    record("RevokingCall", {
      type: { const: "call" },
      from: address,
      to: address,
      data: bytes,
      value: { const: "0" },
      description: text,
    }),
    record("RevokingAuthorization", {
      type: { const: "authorization" },
      authorization: record("Authorization", { chainId: { type: "integer", minimum: 1 }, address }),
      description: text,
    }),
    { type: "null" },
  ],
};

const permission = record("ExposurePermission", {
  chain,
  chainId: { type: "string", pattern: "^eip155:[1-9][0-9]*$", description: "CAIP-2." },
  kind: {
    type: "string",
    enum: [
      "erc20-allowance",
      "permit2-allowance",
      "token-operator",
      "nft-operator",
      "nft-approval",
      "borrow-delegation",
      "position-operator",
      "delegate",
      "owner",
      "module",
      "module-allowance",
      "guard",
      "fallback-handler",
      "session-key",
      "guardian",
      "entry-point",
      "account-code",
    ],
  },
  contract: {
    ...address,
    description:
      "The token, the collection, the debt token or the contract of a protocol, or the wallet itself; the zero address for the native coin in a module of a Safe.",
  },
  protocol: {
    ...textOrNull,
    description: "The protocol in which the holder can act on positions; null for every other permission.",
  },
  symbol: {
    ...textOrNull,
    [FOREIGN_TEXT]: true,
    description: "Of the token; of a debt token that of what can be borrowed.",
  },
  name: { ...textOrNull, [FOREIGN_TEXT]: true },
  decimals: nullable({ type: "integer", minimum: 0, maximum: 255 }),
  spender: { ...address, description: "Who has the permission." },
  spenderName: { ...textOrNull, description: "By the list of known spenders; null when it is not in it." },
  spenderProtocol: textOrNull,
  via: { ...nullable(address), description: "Permit2, or the module of a Safe, for an allowance in it." },
  rawAllowance: { ...nullable(raw), description: "In the smallest unit; null where it is no amount." },
  allowance: { ...nullable(amount), description: "Exact; null when the decimals are unknown." },
  unlimited: { type: "boolean", description: "The allowance is more than any balance can be." },
  tokenId: { ...nullable(raw), description: "Of one NFT." },
  expiresAt: { ...nullable(time), description: "Null when it does not expire." },
  rawBalance: { ...nullable(raw), description: "Of the token; null when unknown." },
  balance: nullable(amount),
  priceUsd: { ...nullable(amount), description: "Of one whole unit; null when unknown." },
  valueAtRiskUsd: {
    ...nullable(amount),
    description:
      'The smaller of allowance and balance times the price, rounded half up to 6 decimals; for an allowance in Permit2 also no more than Permit2 may take. Receipt tokens are worth their position. For permissions inside protocols what the positions are worth, less what is owed; for a delegate of debt what it can borrow. All tokens and positions of the chain for full control. "0" where nothing is held, null where it is unknown, as for NFTs that are not positions.',
  },
  partial: {
    type: "boolean",
    description: "Something of it has no known value: at least `valueAtRiskUsd` can be taken.",
  },
  reasons: listOf({
    type: "string",
    enum: [
      "unlimited",
      "unknown spender",
      "unverified delegate",
      "unverified code",
      "full control",
      "spam token",
    ],
  }),
  revoke,
});

const counts = {
  permissionCount: count,
  unlimitedCount: count,
  unknownSpenderCount: count,
  valueAtRiskUsd: {
    ...nullable(amount),
    description:
      "The most that all of them can take together: of each token that is not spam the smaller of its balance and the sum of its ERC-20 allowances; of each account in a protocol no more than it is worth; all tokens and positions of a chain where something but an owner has full control. NFTs that are not positions are not part of it.",
  },
  partial: {
    type: "boolean",
    description:
      "Something of it has no known value: at least `valueAtRiskUsd` can be taken, or an unknown amount where that is null.",
  },
};

const exposureShape = record("Exposure", {
  address,
  timestamp: time,
  chains: listOf(text),
  summary: record("ExposureSummary", {
    ...counts,
    spenderListVersion: text,
    chains: listOf(
      record("ChainExposure", {
        chain,
        blockNumber: { ...nullable(count), description: "Null for a chain that could not be read." },
        searchedFromBlock: {
          ...nullable(count),
          description: "The oldest block searched for approvals; null when they could not be searched.",
        },
        ...counts,
      }),
    ),
    warnings: listOf(text),
  }),
  permissions: listOf(permission, {
    maxItems: 500,
    description: "What is unknown first, then most at risk.",
  }),
  provider: text,
});

export const exposureSchema: JsonSchema = addFailedChainsKey(exposureShape);
