// The request and the response of a simulation: what transactions, or a signature, would do to a wallet; schemas and their types.
import {
  closedObject,
  listOf,
  nullable,
  schemaOf,
  type TypeOf,
  titledRecord,
  wordOf,
} from "../json-schema.ts";
import {
  addressText,
  amountText,
  assetContract,
  bytesText,
  caip2,
  chainSlug,
  count,
  decimals,
  flag,
  foreignTextOrNull,
  hashText,
  text,
  textOrNull,
  timeText,
  uintText,
  usdText,
} from "./values.ts";

/** More are not one decision: a wallet that signs ten at once reads none of them. */
export const TRANSACTIONS_MAX = 10;
/** Nodes take up to 128 KiB in one transaction; in hexadecimal that is more than the body of a request may have. */
export const CALL_DATA_BYTES_MAX = 96 * 1_024;

const anyAddress = { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" } as const;

const requestedTransaction = closedObject(
  { to: anyAddress },
  {
    value: {
      type: "string",
      pattern: "^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$",
      description: "Wei as decimal text, or in hexadecimal as wallets send it; nothing if absent.",
    },
    data: {
      type: "string",
      pattern: "^0x([0-9a-fA-F]{2})*$",
      maxLength: 2 + 2 * CALL_DATA_BYTES_MAX,
      description: "The call data; empty if absent.",
    },
  },
);

const typedData = {
  ...closedObject({
    domain: { type: "object" },
    types: { type: "object" },
    primaryType: text,
    message: { type: "object" },
  }),
  description: "EIP-712 typed data, as eth_signTypedData_v4 takes it.",
} as const;

export const simulationRequestSchema = closedObject(
  { wallet: { ...anyAddress, description: "The account that would sign." }, chain: chainSlug },
  {
    transactions: listOf(requestedTransaction, {
      minItems: 1,
      maxItems: TRANSACTIONS_MAX,
      description: "What the wallet would send, in this order. Exactly one of `transactions` and `message`.",
    }),
    message: typedData,
    block: {
      type: "integer",
      minimum: 0,
      description: "The block whose state counts; the newest if absent.",
    },
  },
);

const verdict = wordOf(["allow", "caution", "block"]);

/** Reasons that only a message to sign can have. */
const MESSAGE_REASON_CODES = [
  "other-chain",
  "domain-mismatch",
  "delegate-call",
  "given-away",
  "account-call",
  "account-pays",
  "order-runs-code",
  "rate-unknown",
  "above-deposit",
  "unlisted-token",
  "unknown-message",
  "unsigned-fields",
  "unverified-domain",
  "no-chain-id",
  "other-signer",
  "far-deadline",
  "long-permission",
  "signature-expired",
  "nonce-unusable",
  "unread-state",
] as const;

/** In the order in which a reader should see them; `src/portfolio/simulation/verdict.ts` says what each weighs. */
const REASON_CODES = [
  "reverts",
  "override-detected",
  "code-changed",
  "cannot-pay-gas",
  "lookalike-receiver",
  "lookalike-contract",
  "delegate-change",
  "operator-for-all",
  "unlimited-approval",
  "spender-without-code",
  "unknown-spender",
  "empties-balance",
  "nothing-in-return",
  "token-keeps-part",
  "cannot-be-sold",
  "value-lost",
  "value-unknown",
  "calls-itself",
  "unknown-code",
  "unknown-token",
  "unknown-function",
  "unknown-domain",
  "unknown-receiver",
  "no-expiry",
  "not-cross-checked",
  "not-simulated",
  ...MESSAGE_REASON_CODES,
] as const;

const reason = titledRecord("SimulationReason", {
  code: wordOf(REASON_CODES),
  severity: wordOf(["block", "caution"]),
  text: { ...text, description: "The reason in a sentence, without words that a contract chose." },
  transaction: { ...nullable(count), description: "The transaction by its position; null for all of them." },
  contract: nullable(addressText),
  account: { ...nullable(addressText), description: "The spender, operator, delegate or receiver." },
});

const revert = titledRecord("SimulatedRevert", {
  reason: {
    ...foreignTextOrNull,
    description:
      "What the contract says, cut to 200 characters; null if it says nothing that can be decoded.",
  },
  data: { ...bytesText, description: "The first 1,024 bytes of what it reverted with." },
});

const simulatedTransaction = titledRecord("SimulatedTransaction", {
  to: addressText,
  rawValue: uintText,
  function: {
    ...textOrNull,
    description: "The called function, if its selector is one that we know; null otherwise.",
  },
  success: flag,
  revert: nullable(revert),
  gasUsed: {
    ...nullable(uintText),
    description: "Gas with the base cost of the transaction, before refunds; null if it did not run.",
  },
});

const asset = {
  contract: assetContract,
  symbol: foreignTextOrNull,
  decimals,
  listed: { ...flag, description: "A token list has it, or it is the native coin." },
};

const signedUint = schemaOf<string>({ type: "string", pattern: "^-?(0|[1-9][0-9]*)$" });

const balanceChange = titledRecord("BalanceChange", {
  account: addressText,
  role: {
    ...wordOf(["wallet", "target", "other"]),
    description: "Whose balance it is: the wallet's, a contract's that it calls, or another account's.",
  },
  ...asset,
  rawBefore: uintText,
  rawAfter: uintText,
  rawChange: signedUint,
  change: {
    ...nullable(schemaOf<string>({ type: "string", pattern: "^-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" })),
    description: "Exact; null if the decimals are unknown.",
  },
  priceUsd: nullable(amountText),
  priceSource: textOrNull,
  valueUsd: { ...nullable(usdText), description: "The change in dollars; null if the price is unknown." },
});

const permissionChange = titledRecord("PermissionChange", {
  kind: wordOf([
    ...(["erc20-allowance", "permit2-allowance", "token-operator", "nft-operator", "nft-approval"] as const),
    ...(["borrow-delegation", "position-operator", "delegate", "owner", "module"] as const),
    ...(["signed-transfer", "order"] as const),
  ]),
  contract: {
    ...addressText,
    description: "The token, the collection, the contract of a protocol, or the wallet itself.",
  },
  symbol: foreignTextOrNull,
  decimals,
  spender: addressText,
  spenderName: { ...textOrNull, description: "The name in the list of known spenders." },
  spenderHasCode: nullable(flag),
  via: { ...nullable(addressText), description: "Permit2, for an allowance in it." },
  tokenId: nullable(uintText),
  rawBefore: { ...nullable(uintText), description: "Null if it is not an amount, or unknown." },
  rawAfter: { ...nullable(uintText), description: "Likewise; for an operator 1 and 0." },
  unlimited: { ...flag, description: "Afterwards more than any balance can be." },
  expiresAt: { ...nullable(timeText), description: "Null if it does not expire." },
  rawBalance: { ...nullable(uintText), description: "What the wallet holds of it afterwards." },
  valueAtRiskUsd: {
    ...nullable(amountText),
    description: "What can be taken at the balances afterwards; null if it is unknown.",
  },
});

const receiver = titledRecord("SimulatedReceiver", {
  account: addressText,
  name: { ...textOrNull, description: "The name in our lists." },
  hasCode: nullable(flag),
  ...asset,
  rawAmount: { ...uintText, description: "What its balance grows by." },
  lookalikeOf: {
    ...nullable(addressText),
    description: "An address that the wallet has used, and that begins and ends alike.",
  },
});

const targetCode = titledRecord("TargetCode", {
  address: addressText,
  name: { ...textOrNull, description: "The name in our lists; null if no list has it." },
  listedAs: nullable(wordOf(["token", "spender"])),
  codeBytes: { ...nullable(count), description: "0 for an account without code." },
  delegate: { ...nullable(addressText), description: "The EIP-7702 delegate of the account." },
  implementation: { ...nullable(addressText), description: "What a proxy of ERC-1967 runs." },
  unchangedSinceBlock: {
    ...nullable(count),
    description: "An earlier block with the same code and implementation; null if none was compared.",
  },
  changed: {
    ...nullable(flag),
    description: "Code or implementation differed at the earlier block; null if none could be read.",
  },
});

const signedAsset = { ...asset, tokenId: { ...nullable(uintText), description: "The id of one item." } };

const takeable = titledRecord("TakeableAmount", {
  owner: addressText,
  ...signedAsset,
  rawAmountMax: { ...uintText, description: "The most that the message names." },
  rawAmount: {
    ...nullable(uintText),
    description: "What can be taken at the balances and allowances of the block; null if it is unknown.",
  },
  amount: nullable(amountText),
  valueUsd: nullable(amountText),
});

const orderReceipt = titledRecord("OrderReceipt", {
  recipient: addressText,
  ...signedAsset,
  rawAmountMin: { ...uintText, description: "The least that the order pays." },
  amountMin: nullable(amountText),
});

const signedCall = titledRecord("SignedCall", {
  account: { ...addressText, description: "The account that makes the call." },
  to: addressText,
  rawValue: uintText,
  data: bytesText,
  delegateCall: { ...flag, description: "It runs the other contract's code as its own." },
  paysSender: { ...flag, description: "It pays the sender of the transaction." },
});

const signedVoucher = titledRecord("SignedVoucher", {
  channelId: hashText,
  rawTotal: { ...uintText, description: "All that may be claimed of the channel in total." },
  rawBalance: { ...nullable(uintText), description: "What is deposited; null if it is unknown." },
  rawClaimed: nullable(uintText),
  rawAmount: { ...nullable(uintText), description: "What can be claimed with the voucher now." },
});

const signedMessage = titledRecord("SimulatedMessage", {
  standard: {
    ...textOrNull,
    description: "What the message is, such as `permit` or `permit2-batch`; null if its meaning is unknown.",
  },
  primaryType: { ...foreignTextOrNull, description: "As the message names it." },
  domainName: foreignTextOrNull,
  verifyingContract: nullable(addressText),
  signer: { ...nullable(addressText), description: "Who must sign it; null if the message does not say." },
  usableFrom: nullable(timeText),
  expiresAt: { ...nullable(timeText), description: "The last second of the signature; null if it has none." },
  takeable: listOf(takeable, { description: "What others can take with the signature, by asset and owner." }),
  receives: listOf(orderReceipt, { description: "What orders pay at least, and to whom." }),
  calls: listOf(signedCall, {
    description: "Calls that the signature makes an account make; they were not run.",
  }),
  vouchers: listOf(signedVoucher, { description: "Claims on what a payment channel has." }),
  hash: { ...nullable(hashText), description: "The EIP-712 hash that would be signed." },
});

export const simulationSchema = titledRecord("Simulation", {
  wallet: addressText,
  chain: chainSlug,
  chainId: caip2,
  block: titledRecord("SimulationBlock", { number: count, hash: hashText, timestamp: timeText }),
  verdict: {
    ...verdict,
    description:
      "`block`: do not sign. `caution`: something is unknown or unusual; `reasons` says what. `allow`: neither was found.",
  },
  reasons: listOf(reason, { description: "Those of `block` first. Empty for `allow`." }),
  success: { ...nullable(flag), description: "Whether every transaction succeeds; null for a message." },
  transactions: listOf(simulatedTransaction, { maxItems: TRANSACTIONS_MAX }),
  message: { ...nullable(signedMessage), description: "Null for transactions." },
  gas: titledRecord("SimulatedGas", {
    used: nullable(uintText),
    gasPriceWei: { ...nullable(uintText), description: "The base fee of the block and a usual tip." },
    feeWei: { ...nullable(uintText), description: "Without what a rollup adds for data." },
    feeUsd: nullable(amountText),
  }),
  balanceChanges: listOf(balanceChange, { description: "Those of the wallet first." }),
  permissionChanges: listOf(permissionChange, { description: "What others may do afterwards." }),
  receivers: listOf(receiver),
  targets: listOf(targetCode, { description: "The code at what is called." }),
  value: titledRecord("SimulatedValue", {
    inUsd: { ...nullable(amountText), description: "What the wallet gets; null if none of it has a price." },
    outUsd: { ...nullable(amountText), description: "What leaves it, without the fee." },
    partial: { ...flag, description: "Something that moved has no known price." },
  }),
  crossCheck: titledRecord("SimulationCrossCheck", {
    method: nullable(wordOf(["eth_simulateV1", "debug_traceCall"])),
    agrees: { ...nullable(flag), description: "Null if no second way could be run." },
  }),
  warnings: listOf(text),
});

export type SimulationRequest = TypeOf<typeof simulationRequestSchema>;
export type BalanceChange = TypeOf<typeof balanceChange>;
export type PermissionChange = TypeOf<typeof permissionChange>;
export type Simulation = TypeOf<typeof simulationSchema>;
export type SimulationReason = TypeOf<typeof reason>;
export type ReasonCode = SimulationReason["code"];
export type MessageReasonCode = (typeof MESSAGE_REASON_CODES)[number];
