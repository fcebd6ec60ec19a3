// The EIP-712 typed data of authorizations by EIP-3009: payers sign it, and services that are paid verify it.

const AUTHORIZATION_FIELDS = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;

const TRANSFER_TYPES = { TransferWithAuthorization: AUTHORIZATION_FIELDS } as const;
const RECEIVE_TYPES = { ReceiveWithAuthorization: AUTHORIZATION_FIELDS } as const;

/** A token by the names that it has in signatures. */
export interface SignedToken<Address extends string> {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly address: Address;
}

/** A transfer that anyone may carry out. */
export function transferTypedData<Address extends string, Message>(
  token: SignedToken<Address>,
  message: Message,
) {
  const primaryType = "TransferWithAuthorization";
  return { domain: domainOf(token), primaryType, types: TRANSFER_TYPES, message } as const;
}

/** A transfer that only its receiver may carry out. */
export function receiveTypedData<Address extends string, Message>(
  token: SignedToken<Address>,
  message: Message,
) {
  const primaryType = "ReceiveWithAuthorization";
  return { domain: domainOf(token), primaryType, types: RECEIVE_TYPES, message } as const;
}

function domainOf<Address extends string>({ name, version, chainId, address }: SignedToken<Address>) {
  return { name, version, chainId, verifyingContract: address };
}
