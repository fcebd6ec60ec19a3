// Messages that tokens themselves verify: permits (EIP-2612, DAI, NFTs) and signed transfers (EIP-3009).
import type { Hex } from "../../../lib/hex.ts";
import {
  coinOf,
  createContent,
  type MessageContent,
  type SignedAsset,
  type SignedPermission,
  untilOf,
} from "./content.ts";
import type { Struct } from "./struct.ts";

const UINT256_MAX = 2n ** 256n - 1n;

type TokenReader = (message: Struct, token: Hex) => MessageContent;

function allowanceOf(token: Hex, owner: Hex, spender: Hex, amount: bigint): SignedPermission {
  const asset = coinOf(token);
  return { kind: "erc20-allowance", asset, owner, spender, amount, expiresAt: null, via: null };
}

const readPermit: TokenReader = (message, token) => {
  const owner = message.address("owner");
  return createContent("permit", "token", {
    signer: owner,
    usableUntil: untilOf(message.uint("deadline")),
    nonces: [{ kind: "counter", contract: token, owner, expected: message.uint("nonce") }],
    permissions: [allowanceOf(token, owner, message.address("spender"), message.uint("value"))],
  });
};

/** The permit of DAI gives all or nothing, and an expiry of zero never comes. */
const readDaiPermit: TokenReader = (message, token) => {
  const owner = message.address("holder");
  const expiry = message.uint("expiry");
  const amount = message.flag("allowed") ? UINT256_MAX : 0n;
  return createContent("dai-permit", "token", {
    signer: owner,
    usableUntil: expiry === 0n ? null : untilOf(expiry),
    nonces: [{ kind: "dai-counter", contract: token, owner, expected: message.uint("nonce") }],
    permissions: [allowanceOf(token, owner, message.address("spender"), amount)],
  });
};

function readNft(standard: string, message: Struct, collection: Hex, tokenId: bigint | null, spender: Hex) {
  const asset: SignedAsset = { standard: "erc721", contract: collection, tokenId };
  const permission = {
    ...({ kind: "nft-approval", asset, owner: null, spender } as const),
    ...{ amount: tokenId === null ? UINT256_MAX : 1n, expiresAt: null, via: null },
  };
  return createContent(standard, "token", {
    usableUntil: untilOf(message.uint("deadline")),
    permissions: [permission],
  });
}

const readNftPermit: TokenReader = (message, collection) =>
  readNft("nft-permit", message, collection, message.uint("tokenId"), message.address("spender"));

const readNftPermitForAll: TokenReader = (message, collection) => {
  const content = readNft("nft-permit-for-all", message, collection, null, message.address("operator"));
  return message.flag("approved") ? content : { ...content, permissions: [] };
};

/** Valid after the one second and before the other, both left out. */
function readAuthorization(standard: string, isForReceiver: boolean): TokenReader {
  return (message, token) => {
    const from = message.address("from");
    const to = message.address("to");
    const [after, before] = [message.uint("validAfter"), message.uint("validBefore")];
    const transfer = {
      ...{ asset: coinOf(token), from, to, by: isForReceiver ? to : null },
      ...{ amount: message.uint("value"), isExact: true, via: null },
    };
    return createContent(standard, "token", {
      signer: from,
      usableFrom: after + 1n,
      usableUntil: before === 0n ? 0n : untilOf(before - 1n),
      nonces: [{ kind: "authorization", contract: token, owner: from, nonce: message.bytes("nonce") }],
      transfers: [transfer],
    });
  };
}

const readCancellation: TokenReader = (message, token) => {
  const owner = message.address("authorizer");
  return createContent("cancel-authorization", "token", {
    signer: owner,
    nonces: [{ kind: "authorization", contract: token, owner, nonce: message.bytes("nonce") }],
  });
};

const AUTHORIZATION =
  "(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)";

/** Readers by the type as it is hashed; the token is the contract that verifies the message. */
export const TOKEN_MESSAGES: Readonly<Record<string, TokenReader>> = {
  "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)": readPermit,
  "Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)": readDaiPermit,
  "Permit(address spender,uint256 tokenId,uint256 nonce,uint256 deadline)": readNftPermit,
  "PermitForAll(address operator,bool approved,uint256 nonce,uint256 deadline)": readNftPermitForAll,
  [`TransferWithAuthorization${AUTHORIZATION}`]: readAuthorization("transfer-with-authorization", false),
  [`ReceiveWithAuthorization${AUTHORIZATION}`]: readAuthorization("receive-with-authorization", true),
  "CancelAuthorization(address authorizer,bytes32 nonce)": readCancellation,
};
