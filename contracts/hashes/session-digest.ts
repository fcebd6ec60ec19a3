// The digest that a session key signs to act for a policy account.
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  hashMessage,
  keccak256,
  parseAbiParameters,
} from "viem";

const sessionParameters = parseAbiParameters("address, uint256, address, uint256, bytes32, uint256, uint256");

export type SessionCall = {
  readonly target: Address;
  readonly value: bigint;
  readonly data: Hex;
  readonly deadline: bigint;
  readonly nonce: bigint;
};

// The 32 bytes to sign as a personal message: signMessage({ message: { raw: sessionHash(…) } }).
export function sessionHash(call: SessionCall, chainId: bigint, account: Address): Hex {
  return keccak256(
    encodeAbiParameters(sessionParameters, [
      account,
      chainId,
      call.target,
      call.value,
      keccak256(call.data),
      call.deadline,
      call.nonce,
    ]),
  );
}

export function sessionDigest(call: SessionCall, chainId: bigint, account: Address): Hex {
  return hashMessage({ raw: sessionHash(call, chainId, account) });
}
