// The response to an exposure request: its schema, and the types that follow from it.
import {
  listOf,
  nullable,
  type Schema,
  schemaOf,
  type TypeOf,
  titledRecord,
  wordOf,
} from "../json-schema.ts";
import { responseProofs } from "./proofs.ts";
import {
  addressText,
  amountText,
  bytesText,
  caip2,
  chainSlug,
  count,
  decimals,
  failedChains,
  flag,
  foreignTextOrNull,
  text,
  textOrNull,
  timeText,
  uintText,
} from "./values.ts";

const revokingCall = titledRecord("RevokingCall", {
  type: { const: "call" },
  from: addressText,
  to: addressText,
  data: bytesText,
  value: { const: "0" },
  description: text,
});

const revokingAuthorization = titledRecord("RevokingAuthorization", {
  type: { const: "authorization" },
  authorization: titledRecord("Authorization", {
    chainId: { type: "integer", minimum: 1 },
    address: addressText,
  }),
  description: text,
});

const revoke: Schema<Revocation | null> = schemaOf({
  description:
    "The call or authorization that ends the permission; null if nothing does. A call must come from the wallet itself, for a Safe or a smart account through its own transaction. An authorization is signed by the wallet (EIP-7702).",
  oneOf: [revokingCall, revokingAuthorization, { type: "null" }],
});

const permission = titledRecord("ExposurePermission", {
  chain: chainSlug,
  chainId: caip2,
  kind: wordOf([
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
  ]),
  contract: {
    ...addressText,
    description:
      "The token, the collection, the debt token or the contract of a protocol, or the wallet itself; the zero address for the native coin in a module of a Safe.",
  },
  protocol: {
    ...textOrNull,
    description: "The protocol in which the holder can act on positions; null for every other permission.",
  },
  symbol: {
    ...foreignTextOrNull,
    description: "The symbol of the token; for a debt token the symbol of the asset that can be borrowed.",
  },
  name: foreignTextOrNull,
  decimals,
  spender: { ...addressText, description: "Who has the permission." },
  spenderName: {
    ...textOrNull,
    description: "The name in the list of known spenders; null when the list does not have it.",
  },
  spenderProtocol: textOrNull,
  via: { ...nullable(addressText), description: "Permit2, or the module of a Safe, for an allowance in it." },
  rawAllowance: {
    ...nullable(uintText),
    description: "The allowance in the smallest unit; null if the permission has no amount.",
  },
  allowance: { ...nullable(amountText), description: "Exact; null when the decimals are unknown." },
  unlimited: { ...flag, description: "The allowance is more than any balance can be." },
  tokenId: { ...nullable(uintText), description: "The id of one NFT." },
  expiresAt: { ...nullable(timeText), description: "Null when it does not expire." },
  rawBalance: { ...nullable(uintText), description: "The balance of the token; null when unknown." },
  balance: nullable(amountText),
  priceUsd: { ...nullable(amountText), description: "The price of one whole unit; null when unknown." },
  valueAtRiskUsd: {
    ...nullable(amountText),
    description:
      'The smaller of allowance and balance times the price, rounded half up to 6 decimals; for an allowance in Permit2 also no more than Permit2 may take. Receipt tokens are worth their position. For permissions inside protocols what the positions are worth, less what is owed; for a delegate of debt what it can borrow. All tokens and positions of the chain for full control. "0" if nothing is held, null if it is unknown, as for NFTs that are not positions.',
  },
  partial: {
    ...flag,
    description: "Something of it has no known value: at least `valueAtRiskUsd` can be taken.",
  },
  reasons: listOf(
    wordOf([
      "unlimited",
      "unknown spender",
      "unverified delegate",
      "unverified code",
      "full control",
      "spam token",
    ]),
  ),
  revoke,
});

/** Also of a spender that has none: zero is what a caller wants to know, and can be proven. */
const spenderAllowance = titledRecord("SpenderAllowance", {
  chain: chainSlug,
  chainId: caip2,
  kind: wordOf(["erc20-allowance", "permit2-allowance"]),
  contract: { ...addressText, description: "The token." },
  spender: addressText,
  rawAllowance: {
    ...nullable(uintText),
    description: 'In the smallest unit; "0" if the spender may take nothing, null if it could not be read.',
  },
  expiresAt: {
    ...nullable(timeText),
    description: "The end of an allowance in Permit2, also of one that is over; null without one.",
  },
});

const counts = {
  permissionCount: count,
  unlimitedCount: count,
  unknownSpenderCount: count,
  valueAtRiskUsd: {
    ...nullable(amountText),
    description:
      "The most that all of them can take together: of each token that is not spam the smaller of its balance and the sum of its ERC-20 allowances; of each account in a protocol no more than it is worth; all tokens and positions of a chain if anything but an owner has full control. NFTs that are not positions are not part of it.",
  },
  partial: {
    ...flag,
    description:
      "Something of it has no known value: at least `valueAtRiskUsd` can be taken, or an unknown amount if that is null.",
  },
};

export const exposureSchema = titledRecord(
  "Exposure",
  {
    address: addressText,
    timestamp: timeText,
    chains: listOf(text),
    summary: titledRecord("ExposureSummary", {
      ...counts,
      spenderListVersion: text,
      chains: listOf(
        titledRecord("ChainExposure", {
          chain: chainSlug,
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
      description: "Permissions of unknown value first, then by value at risk.",
    }),
    provider: text,
  },
  {
    failedChains,
    allowances: listOf(spenderAllowance, {
      description:
        "Only with `spenders`: what each of them may take of the listed tokens that are held, the most valuable first, and of stablecoins; of at most 20 tokens of a chain.",
    }),
    proofs: responseProofs,
  },
);

export type SpenderAllowance = TypeOf<typeof spenderAllowance>;
/**
 * The act that ends a permission: a call that the wallet must make, or an authorization (EIP-7702) that it must sign.
 */
export type Revocation = TypeOf<typeof revokingCall> | TypeOf<typeof revokingAuthorization>;
export type ExposurePermission = TypeOf<typeof permission>;
export type PermissionKind = ExposurePermission["kind"];
export type PermissionReason = ExposurePermission["reasons"][number];
export type Exposure = TypeOf<typeof exposureSchema>;
