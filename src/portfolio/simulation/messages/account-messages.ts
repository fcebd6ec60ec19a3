// Messages that make an account act: transactions of a Safe, user operations of ERC-4337, calls that others send for a wallet.
import type { Hex } from "../../../lib/hex.ts";
import { createContent, type MessageContent, type SignedCall, untilOf } from "./content.ts";
import type { Struct } from "./struct.ts";

type AccountReader = (message: Struct, verifyingContract: Hex) => MessageContent;

const readSafeTransaction: AccountReader = (message, safe) => {
  const call: SignedCall = {
    account: safe,
    to: message.address("to"),
    value: message.uint("value"),
    data: message.bytes("data"),
    isDelegateCall: message.uint("operation") !== 0n,
    hasRefund: message.uint("gasPrice") > 0n,
  };
  return createContent("safe-transaction", "account", {
    nonces: [{ kind: "safe", contract: safe, owner: safe, expected: message.uint("nonce") }],
    calls: [call],
  });
};

/** The account itself decides what its call data means. */
function describeOperation(
  standard: string,
  verifier: "entry-point" | "account",
  account: Hex,
  message: Struct,
) {
  const call: SignedCall = {
    ...{ account, to: account, value: 0n, data: message.bytes("callData") },
    ...{ isDelegateCall: false, hasRefund: message.bytes("paymasterAndData") === "0x" },
  };
  return createContent(standard, verifier, { signer: account, calls: [call] });
}

const readUserOperation: AccountReader = (message) =>
  describeOperation("user-operation", "entry-point", message.address("sender"), message);

const readSafeOperation: AccountReader = (message) => {
  const until = message.uint("validUntil");
  const content = describeOperation("safe-operation", "account", message.address("safe"), message);
  // The signer is an owner; the message names the Safe. Zero stands for no end.
  return { ...content, signer: null, usableUntil: until === 0n ? null : untilOf(until) };
};

const readMetaTransaction: AccountReader = (message, contract) => {
  const from = message.address("from");
  const call = { account: from, to: contract, value: 0n, data: message.bytes("functionSignature") };
  return createContent("meta-transaction", "token", {
    signer: from,
    calls: [{ ...call, isDelegateCall: false, hasRefund: false }],
  });
};

const readVoucher: AccountReader = (message) =>
  createContent("x402-voucher", "x402-channels", {
    vouchers: [{ channelId: message.bytes("channelId"), total: message.uint("maxClaimableAmount") }],
  });

/** The Safe says that this text is its own, whatever a contract then makes of it. */
const readSafeMessage: AccountReader = () =>
  createContent("safe-message", "account", { hasUnknownPart: true });

export const ACCOUNT_MESSAGES: Readonly<Record<string, AccountReader>> = {
  "SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)":
    readSafeTransaction,
  "SafeMessage(bytes message)": readSafeMessage,
  "PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)":
    readUserOperation,
  "SafeOp(address safe,uint256 nonce,bytes initCode,bytes callData,uint128 verificationGasLimit,uint128 callGasLimit,uint256 preVerificationGas,uint128 maxPriorityFeePerGas,uint128 maxFeePerGas,bytes paymasterAndData,uint48 validAfter,uint48 validUntil,address entryPoint)":
    readSafeOperation,
  "MetaTransaction(uint256 nonce,address from,bytes functionSignature)": readMetaTransaction,
  "Voucher(bytes32 channelId,uint128 maxClaimableAmount)": readVoucher,
};
