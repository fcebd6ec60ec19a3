// Reads the chain for a signed message at one block: balances, allowances, nonces, domains, and who has code.
import {
  decodeAddress,
  decodeBoolean,
  decodeTokenAmount,
  decodeWord,
  type Words,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { findDelegate } from "../../account/kind.ts";
import { readEach, readGroups } from "../../contract-reads/read-groups.ts";
import { defineRead, joinReads, type Reads, toWords } from "../../contract-reads/reads.ts";
import { declareMetadata } from "../../tokens/erc20.ts";
import type { PinnedChain, TokenMetadata } from "../../types.ts";
import type { MessageContent, SignedAsset, SignedNonce, SignedVoucher } from "./content.ts";

/** Anyone may have deployed a token; a view behind two proxies stays below this. */
const VIEW_GAS_MAX = 200_000;
/** A message of more assets is read up to here, and says that the rest is unknown. */
const CLAIMS_MAX = 40;
const CODES_MAX = 12;
const TOKENS_MAX = 60;

const views = {
  balance: defineRead("function balanceOf(address)", decodeTokenAmount, VIEW_GAS_MAX),
  itemBalance: defineRead("function balanceOf(address, uint256)", decodeTokenAmount, VIEW_GAS_MAX),
  owner: defineRead("function ownerOf(uint256)", decodeAddress, VIEW_GAS_MAX),
  approved: defineRead("function getApproved(uint256)", decodeAddress, VIEW_GAS_MAX),
  operator: defineRead("function isApprovedForAll(address, address)", decodeBoolean, VIEW_GAS_MAX),
  allowance: defineRead("function allowance(address, address)", decodeWord, VIEW_GAS_MAX),
  domain: defineRead("function DOMAIN_SEPARATOR()", decodeHash, VIEW_GAS_MAX),
  ownDomain: defineRead("function domainSeparator()", decodeHash, VIEW_GAS_MAX),
  safeNonce: defineRead("function nonce()", decodeWord, VIEW_GAS_MAX),
  safeOwner: defineRead("function isOwner(address)", decodeBoolean, VIEW_GAS_MAX),
  counter: defineRead("function nonces(address)", decodeWord, VIEW_GAS_MAX),
  authorization: defineRead("function authorizationState(address, bytes32)", decodeBoolean, VIEW_GAS_MAX),
  bitmap: defineRead("function nonceBitmap(address, uint256)", decodeWord, VIEW_GAS_MAX),
  permit2Allowance: defineRead("function allowance(address, address, address)", toWords(3), VIEW_GAS_MAX),
  seaportCounter: defineRead("function getCounter(address)", decodeWord, VIEW_GAS_MAX),
  channel: defineRead("function channels(bytes32)", toWords(2), VIEW_GAS_MAX),
};

/** `ahead`: another signature must be used before. Null if the chain did not say it. */
type NonceState = "usable" | "used" | "ahead" | null;

/** An asset of an account, and the contract that would take it by an allowance; null if it needs none. */
export type MessageClaim = { readonly asset: SignedAsset; readonly owner: Hex; readonly via: Hex | null };

export type MessageState = {
  readonly timestamp: bigint;
  readonly balances: ReadonlyMap<string, bigint | null>;
  readonly allowances: ReadonlyMap<string, bigint | null>;
  readonly nonces: readonly NonceState[];
  /** Whether an account has code of its own; a delegated account is a person's, and has none. */
  readonly hasCode: ReadonlyMap<Hex, boolean | null>;
  readonly domainSeparator: Hex | null;
  /** Whether the wallet is among the signers of the account that would act; null if that is not known. */
  readonly isSigner: boolean | null;
  /** Balance and claimed total of each channel. */
  readonly channels: readonly (Words<2> | null)[];
  readonly metadata: ReadonlyMap<Hex, TokenMetadata>;
};

export function keyOfBalance({ asset, owner }: Pick<MessageClaim, "asset" | "owner">): string {
  return `${asset.contract ?? "native"} ${asset.tokenId ?? ""} ${owner}`;
}

export function keyOfAllowance({ asset, owner, via }: MessageClaim): string {
  return `${asset.contract ?? "native"} ${asset.tokenId ?? ""} ${owner} ${via ?? ""}`;
}

/** All that the message may take, each once: limited, so that a message of thousands costs no more. */
export function listClaims(
  content: Pick<MessageContent, "permissions" | "transfers" | "orders">,
  wallet: Hex,
): readonly MessageClaim[] {
  const claims = [
    ...content.permissions.map(({ asset, owner, via }) => ({ asset, owner: owner ?? wallet, via })),
    ...content.transfers.map(({ asset, from, via }) => ({ asset, owner: from ?? wallet, via })),
    ...content.orders.flatMap(({ gives, maker, via }) =>
      gives.map(({ asset }) => ({ asset, owner: maker, via })),
    ),
  ];
  return [...new Map(claims.map((claim) => [keyOfAllowance(claim), claim])).values()];
}

type MessageQuery = {
  readonly at: PinnedChain;
  readonly wallet: Hex;
  readonly verifyingContract: Hex | null;
  readonly content: MessageContent | null;
};

/** In one round trip for calls, and one for code. */
export async function readMessageState(query: MessageQuery, signal: AbortSignal): Promise<MessageState> {
  const { at, wallet, content, verifyingContract } = query;
  const claims = content === null ? [] : listClaims(content, wallet).slice(0, CLAIMS_MAX);
  const received = (content?.orders ?? []).flatMap(({ receives }) => receives ?? []);
  const coins = [...claims, ...received].flatMap(({ asset }) => (isCoin(asset) ? [asset.contract] : []));
  const tokens = [...new Set(coins)].slice(0, TOKENS_MAX);
  const account = content?.calls[0]?.account ?? null;
  const [read, metadata, native, hasCode] = await Promise.all([
    readGroups(at, signal, {
      balances: claims.map(declareBalance),
      allowances: claims.map(declareAllowance),
      nonces: (content?.nonces ?? []).slice(0, CLAIMS_MAX).map(declareNonce),
      domain:
        verifyingContract === null || content === null ? null : declareDomain(content, verifyingContract),
      isSigner: account === null || account === wallet ? null : views.safeOwner(account, [wallet]),
      channels: (content?.vouchers ?? []).map(({ channelId }) =>
        declareChannel(verifyingContract, channelId),
      ),
    }),
    readEach(at, signal, tokens, declareMetadata),
    readNativeBalances(at, claims, signal),
    readCodes(query, signal),
  ]);
  const balanceOf = (claim: MessageClaim, index: number) =>
    claim.asset.standard === "native" ? (native.get(claim.owner) ?? null) : (read.balances[index] ?? null);
  return {
    timestamp: BigInt(at.block.timestamp),
    balances: new Map(claims.map((claim, index) => [keyOfBalance(claim), balanceOf(claim, index)])),
    allowances: new Map(
      claims.map((claim, index) => [keyOfAllowance(claim), read.allowances[index] ?? null]),
    ),
    nonces: judgeNonces(content?.nonces ?? [], read.nonces),
    hasCode,
    domainSeparator: read.domain,
    isSigner: read.isSigner,
    channels: read.channels,
    metadata: new Map(metadata),
  };
}

function isCoin(asset: SignedAsset): asset is SignedAsset & { readonly contract: Hex } {
  return asset.standard === "erc20" && asset.contract !== null;
}

function declareBalance({
  asset: { standard, contract, tokenId },
  owner,
}: MessageClaim): Reads<bigint | null> | null {
  if (contract === null) return null;
  if (standard === "erc20" || (standard === "erc721" && tokenId === null))
    return views.balance(contract, [owner]);
  if (tokenId === null) return null;
  return standard === "erc721"
    ? views.owner(contract, [tokenId]).map((holder) => holder && (holder === owner ? 1n : 0n))
    : views.itemBalance(contract, [owner, tokenId]);
}

const ALL = 2n ** 256n - 1n;

function declareAllowance({ asset, owner, via }: MessageClaim): Reads<bigint | null> | null {
  const { standard, contract, tokenId } = asset;
  if (contract === null || via === null) return null;
  if (standard === "erc20") return views.allowance(contract, [owner, via]);
  const isSingle = standard === "erc721" && tokenId !== null;
  const approvals = {
    isOperator: views.operator(contract, [owner, via]),
    approved: isSingle ? views.approved(contract, [tokenId]) : null,
  };
  return joinReads(approvals).map(({ isOperator, approved }) => {
    if (isOperator || approved === via) return ALL;
    return isOperator === null ? null : 0n;
  });
}

/** The view of each kind of contract that returns the hash of its domain; the others have none. */
const DOMAIN_VIEWS: Readonly<Partial<Record<MessageContent["verifier"], typeof views.domain>>> = {
  token: views.domain,
  permit2: views.domain,
  account: views.ownDomain,
  cow: views.ownDomain,
};

function declareDomain({ verifier }: MessageContent, contract: Hex): Reads<Hex | null> | null {
  return DOMAIN_VIEWS[verifier]?.(contract) ?? null;
}

function declareChannel(contract: Hex | null, channelId: SignedVoucher["channelId"]) {
  return contract === null ? null : views.channel(contract, [channelId]);
}

type NonceResult = bigint | boolean | null;

const NONCE_BITS = 8n;
/** Permit2 returns amount, expiry and nonce. */
const PERMIT2_NONCE = 2;

function declareNonce(nonce: SignedNonce): Reads<NonceResult> {
  const { contract, owner } = nonce;
  switch (nonce.kind) {
    case "authorization":
      return views.authorization(contract, [owner, nonce.nonce]);
    case "bitmap":
      return views
        .bitmap(contract, [owner, nonce.nonce >> NONCE_BITS])
        .map((word) =>
          word === null ? null : ((word >> BigInt.asUintN(Number(NONCE_BITS), nonce.nonce)) & 1n) === 1n,
        );
    case "permit2-allowance":
      return views
        .permit2Allowance(contract, [owner, nonce.token, nonce.spender])
        .map((words) => words?.[PERMIT2_NONCE] ?? null);
    case "seaport-counter":
      return views.seaportCounter(contract, [owner]);
    case "safe":
      return views.safeNonce(contract);
    default:
      return views.counter(contract, [owner]);
  }
}

/** A batch counts up the nonce of a pair that occurs in it again. */
function judgeNonces(nonces: readonly SignedNonce[], results: readonly NonceResult[]): readonly NonceState[] {
  const seen = new Map<string, bigint>();
  return nonces.map((nonce, index) => {
    const result = results[index] ?? null;
    if (result === null) return null;
    if (typeof result === "boolean") return result ? "used" : "usable";
    if (!("expected" in nonce)) return null;
    let before = 0n;
    if (nonce.kind === "permit2-allowance") {
      const pair = `${nonce.token} ${nonce.spender}`;
      before = seen.get(pair) ?? 0n;
      seen.set(pair, before + 1n);
    }
    const next = result + before;
    if (next === nonce.expected) return "usable";
    return nonce.expected < next ? "used" : "ahead";
  });
}

async function readNativeBalances(at: PinnedChain, claims: readonly MessageClaim[], signal: AbortSignal) {
  const owners = [
    ...new Set(claims.filter(({ asset }) => asset.standard === "native").map(({ owner }) => owner)),
  ];
  const balances = await Promise.all(owners.map((owner) => at.nativeBalance(owner, signal)));
  return new Map(owners.map((owner, index) => [owner, balances[index] ?? null]));
}

/** The accounts that get power over something, and the contract that verifies the message. */
async function readCodes({ at, content, verifyingContract }: MessageQuery, signal: AbortSignal) {
  const accounts = [
    verifyingContract,
    ...(content?.permissions ?? []).map(({ spender }) => spender),
    ...(content?.transfers ?? []).flatMap(({ by, to }) => [by, to]),
    ...(content?.calls ?? []).map(({ to }) => to),
  ];
  const distinct = [...new Set(accounts)].filter((account) => account !== null).slice(0, CODES_MAX);
  const codes = await Promise.all(distinct.map((account) => at.code(account, signal)));
  return new Map(
    distinct.map((account, index) => {
      const code = codes[index] ?? "0x";
      return [account, code !== "0x" && findDelegate(code) === null] as const;
    }),
  );
}

function decodeHash(data: Hex | null): Hex | null {
  return decodeWord(data) === null ? null : data;
}
