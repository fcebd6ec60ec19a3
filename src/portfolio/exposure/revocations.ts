// The calldata that ends each kind of permission; the wallet itself must send it.
import { createSignatureCodec } from "../../lib/abi/codec.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Revocation } from "../../schema/portfolio/exposure.ts";

/** The same address on every chain. */
export const PERMIT2: Hex = "0x000000000022d473030f116ddee9f6b43ac78ba3";
const ZERO_ADDRESS: Hex = "0x0000000000000000000000000000000000000000";

const codecs = {
  approve: createSignatureCodec("function approve(address spender, uint256 amount)"),
  revokeOperator: createSignatureCodec("function revokeOperator(address operator)"),
  setApprovalForAll: createSignatureCodec("function setApprovalForAll(address operator, bool approved)"),
  lockdown: createSignatureCodec("function lockdown((address token, address spender)[] approvals)"),
  disableModule: createSignatureCodec("function disableModule(address prevModule, address module)"),
  removeOwner: createSignatureCodec(
    "function removeOwner(address prevOwner, address owner, uint256 threshold)",
  ),
  setGuard: createSignatureCodec("function setGuard(address guard)"),
  setFallbackHandler: createSignatureCodec("function setFallbackHandler(address handler)"),
  setSessionKey: createSignatureCodec("function setSessionKey(address key, uint48 expiresAt, bool active)"),
  setGuardian: createSignatureCodec("function setGuardian(address guardian)"),
  deleteAllowance: createSignatureCodec("function deleteAllowance(address delegate, address token)"),
  removeOwnerAtIndex: createSignatureCodec("function removeOwnerAtIndex(uint256 index, bytes owner)"),
  approveDelegation: createSignatureCodec("function approveDelegation(address delegatee, uint256 amount)"),
  allow: createSignatureCodec("function allow(address manager, bool isAllowed)"),
  setAuthorization: createSignatureCodec("function setAuthorization(address authorized, bool isAuthorized)"),
  updateDelegate: createSignatureCodec("function updateDelegate(address delegate, bool approved)"),
  setOperator: createSignatureCodec(
    "function setOperator(bytes19 addressPrefix, address operator, uint256 operatorBitField)",
  ),
};

/** The prefix that all accounts of an owner in Euler share: all bytes but the last. */
export function toAccountPrefix(wallet: Hex): Hex {
  return wallet.slice(0, -2) as Hex;
}

function call(wallet: Hex, to: Hex, data: Hex, description: string): Revocation {
  return { type: "call", from: wallet, to, data, value: "0", description };
}

export const revocations = {
  erc20: (wallet: Hex, token: Hex, spender: Hex) =>
    call(
      wallet,
      token,
      codecs.approve.encodeCall([spender, 0n]),
      "Sets the allowance of the spender to zero.",
    ),
  permit2: (wallet: Hex, token: Hex, spender: Hex) =>
    call(
      wallet,
      PERMIT2,
      codecs.lockdown.encodeCall([[{ token, spender }]]),
      "Sets the allowance of the spender in Permit2 to zero.",
    ),
  tokenOperator: (wallet: Hex, token: Hex, operator: Hex) =>
    call(
      wallet,
      token,
      codecs.revokeOperator.encodeCall([operator]),
      "Takes the token away from the operator.",
    ),
  operator: (wallet: Hex, collection: Hex, operator: Hex) =>
    call(
      wallet,
      collection,
      codecs.setApprovalForAll.encodeCall([operator, false]),
      "Takes the collection away from the operator.",
    ),
  nft: (wallet: Hex, collection: Hex, tokenId: bigint) =>
    call(
      wallet,
      collection,
      codecs.approve.encodeCall([ZERO_ADDRESS, tokenId]),
      "Clears the approval of the NFT.",
    ),
  debt: (wallet: Hex, debtToken: Hex, delegate: Hex) =>
    call(
      wallet,
      debtToken,
      codecs.approveDelegation.encodeCall([delegate, 0n]),
      "Sets to zero what the delegate may borrow against the collateral.",
    ),
  comet: (wallet: Hex, comet: Hex, manager: Hex) =>
    call(wallet, comet, codecs.allow.encodeCall([manager, false]), "Takes the market away from the manager."),
  morpho: (wallet: Hex, morpho: Hex, authorized: Hex) =>
    call(
      wallet,
      morpho,
      codecs.setAuthorization.encodeCall([authorized, false]),
      "Takes all markets away from the authorized account.",
    ),
  venus: (wallet: Hex, comptroller: Hex, delegate: Hex) =>
    call(
      wallet,
      comptroller,
      codecs.updateDelegate.encodeCall([delegate, false]),
      "Takes the pool away from the delegate.",
    ),
  euler: (wallet: Hex, connector: Hex, operator: Hex) =>
    call(
      wallet,
      connector,
      codecs.setOperator.encodeCall([toAccountPrefix(wallet), operator, 0n]),
      "Takes all accounts of the wallet away from the operator.",
    ),
  delegate: (chainId: number): Revocation => ({
    type: "authorization",
    authorization: { chainId, address: ZERO_ADDRESS },
    description:
      "Sign this EIP-7702 authorization and send it in a transaction of type 4: the account then runs no code. Its nonce is the account's transaction count, plus one when the account itself sends the transaction.",
  }),
  safeModule: (safe: Hex, previous: Hex, module: Hex) =>
    call(
      safe,
      safe,
      codecs.disableModule.encodeCall([previous, module]),
      "Disables the module; a transaction of the Safe.",
    ),
  moduleAllowance: (safe: Hex, module: Hex, delegate: Hex, token: Hex) =>
    call(
      safe,
      module,
      codecs.deleteAllowance.encodeCall([delegate, token]),
      "Deletes the limit within which the delegate may spend; a transaction of the Safe.",
    ),
  safeOwner: (safe: Hex, previous: Hex, owner: Hex, threshold: number) =>
    call(
      safe,
      safe,
      codecs.removeOwner.encodeCall([previous, owner, BigInt(threshold)]),
      `Removes the owner and leaves a threshold of ${threshold}; a transaction of the Safe.`,
    ),
  safeGuard: (safe: Hex) =>
    call(
      safe,
      safe,
      codecs.setGuard.encodeCall([ZERO_ADDRESS]),
      "Removes the guard; a transaction of the Safe.",
    ),
  safeFallbackHandler: (safe: Hex) =>
    call(
      safe,
      safe,
      codecs.setFallbackHandler.encodeCall([ZERO_ADDRESS]),
      "Removes the fallback handler; a transaction of the Safe.",
    ),
  sessionKey: (account: Hex, key: Hex) =>
    call(
      account,
      account,
      codecs.setSessionKey.encodeCall([key, 0, false]),
      "Switches the session key off; a call of the account to itself.",
    ),
  guardian: (account: Hex) =>
    call(
      account,
      account,
      codecs.setGuardian.encodeCall([ZERO_ADDRESS]),
      "Removes the guardian; a call of the account to itself.",
    ),
  ownerAtIndex: (account: Hex, index: number, owner: Hex) =>
    call(
      account,
      account,
      codecs.removeOwnerAtIndex.encodeCall([BigInt(index), owner]),
      "Removes the owner; a call of the account to itself.",
    ),
};
