// The calldata that ends each kind of permission; the wallet itself must send it.
import { createSignatureCodec, type FunctionCodec } from "../../lib/abi/codec.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Revocation } from "../../schema/portfolio/exposure.ts";

/** The same address on every chain. */
export const PERMIT2: Hex = "0x000000000022d473030f116ddee9f6b43ac78ba3";
const ZERO_ADDRESS: Hex = "0x0000000000000000000000000000000000000000";

/** The prefix that all accounts of an owner in Euler share: all bytes but the last. */
export function toAccountPrefix(wallet: Hex): Hex {
  return wallet.slice(0, -2) as Hex;
}

/** Declares a call of the wallet to a contract; `last` follow the arguments that are given with each call. */
function revokeBy<Args extends readonly unknown[] = readonly [holder: Hex]>(
  signature: string,
  description: string,
  ...last: readonly unknown[]
) {
  const codec = createSignatureCodec(`function ${signature}`) as FunctionCodec;
  return (wallet: Hex, to: Hex, ...args: Args): Revocation => {
    const data = codec.encodeCall([...args, ...last]);
    return { type: "call", from: wallet, to, data, value: "0", description };
  };
}

/** Declares a call of an account to itself. */
function revokeInside<Args extends readonly unknown[]>(...declaration: Parameters<typeof revokeBy>) {
  const revoke = revokeBy<Args>(...declaration);
  return (account: Hex, ...args: Args) => revoke(account, account, ...args);
}

const lockdown = revokeBy<[approvals: readonly { token: Hex; spender: Hex }[]]>(
  "lockdown((address token, address spender)[])",
  "Sets the allowance of the spender in Permit2 to zero.",
);
const approveNft = revokeBy<[Hex, tokenId: bigint]>(
  "approve(address, uint256)",
  "Clears the approval of the NFT.",
);
const setEulerOperator = revokeBy<[prefix: Hex, operator: Hex]>(
  "setOperator(bytes19, address, uint256)",
  "Takes all accounts of the wallet away from the operator.",
  0n,
);
const removeOwner = revokeInside<[previous: Hex, owner: Hex, threshold: bigint]>(
  "removeOwner(address, address, uint256)",
  "Removes the owner; a transaction of the Safe.",
);

export const revocations = {
  "erc20-allowance": revokeBy("approve(address, uint256)", "Sets the allowance of the spender to zero.", 0n),
  "permit2-allowance": (wallet: Hex, token: Hex, spender: Hex) =>
    lockdown(wallet, PERMIT2, [{ token, spender }]),
  "token-operator": revokeBy("revokeOperator(address)", "Takes the token away from the operator."),
  "nft-operator": revokeBy(
    "setApprovalForAll(address, bool)",
    "Takes the collection away from the operator.",
    false,
  ),
  nft: (wallet: Hex, collection: Hex, tokenId: bigint) =>
    approveNft(wallet, collection, ZERO_ADDRESS, tokenId),
  "borrow-delegation": revokeBy(
    "approveDelegation(address, uint256)",
    "Sets to zero what the delegate may borrow against the collateral.",
    0n,
  ),
  comet: revokeBy("allow(address, bool)", "Takes the market away from the manager.", false),
  morpho: revokeBy(
    "setAuthorization(address, bool)",
    "Takes all markets away from the authorized account.",
    false,
  ),
  venus: revokeBy("updateDelegate(address, bool)", "Takes the pool away from the delegate.", false),
  euler: (wallet: Hex, connector: Hex, operator: Hex) =>
    setEulerOperator(wallet, connector, toAccountPrefix(wallet), operator),
  delegate: (chainId: number): Revocation => ({
    type: "authorization",
    authorization: { chainId, address: ZERO_ADDRESS },
    description:
      "Sign this EIP-7702 authorization and send it in a transaction of type 4: the account then runs no code. Its nonce is the account's transaction count, plus one when the account itself sends the transaction.",
  }),
  safeModule: revokeInside<[previous: Hex, module: Hex]>(
    "disableModule(address, address)",
    "Disables the module; a transaction of the Safe.",
  ),
  moduleAllowance: revokeBy<[delegate: Hex, token: Hex]>(
    "deleteAllowance(address, address)",
    "Deletes the limit within which the delegate may spend; a transaction of the Safe.",
  ),
  safeOwner: (safe: Hex, previous: Hex, owner: Hex, threshold: number): Revocation => ({
    ...removeOwner(safe, previous, owner, BigInt(threshold)),
    description: `Removes the owner and leaves a threshold of ${threshold}; a transaction of the Safe.`,
  }),
  guard: revokeInside<[]>("setGuard(address)", "Removes the guard; a transaction of the Safe.", ZERO_ADDRESS),
  "fallback-handler": revokeInside<[]>(
    "setFallbackHandler(address)",
    "Removes the fallback handler; a transaction of the Safe.",
    ZERO_ADDRESS,
  ),
  sessionKey: revokeInside<[key: Hex]>(
    "setSessionKey(address, uint48, bool)",
    "Switches the session key off; a call of the account to itself.",
    0,
    false,
  ),
  guardian: revokeInside<[]>(
    "setGuardian(address)",
    "Removes the guardian; a call of the account to itself.",
    ZERO_ADDRESS,
  ),
  ownerAtIndex: revokeInside<[index: bigint, owner: Hex]>(
    "removeOwnerAtIndex(uint256, bytes)",
    "Removes the owner; a call of the account to itself.",
  ),
};
