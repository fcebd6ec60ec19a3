// Reads many permissions live, each with limited gas: anyone may have deployed a token.
import {
  allowanceScannerAbi as abi,
  allowanceScannerRuntimeBytecode as code,
} from "@sextant/contracts/generated/allowance-scanner";
import { createFunctionCodec, createSignatureCodec, type FunctionCodec } from "../../lib/abi/codec.ts";
import { decodeFirstWord } from "../../lib/abi/return-data.ts";
import type { Hex } from "../../lib/hex.ts";
import { scanContracts } from "../contract-reads/scan-contracts.ts";
import type { PinnedChain } from "../types.ts";
import { PERMIT2, toAccountPrefix } from "./revocations.ts";

/** Views that are asked for each holder of a permission, which is their last argument. */
const PAIR_VIEWS = {
  "erc20-allowance": "function allowance(address, address)",
  "permit2-allowance": "function allowance(address, address, address)",
  "nft-operator": "function isApprovedForAll(address, address)",
  "borrow-delegation": "function borrowAllowance(address, address)",
  comet: "function isAllowed(address, address)",
  morpho: "function isAuthorized(address, address)",
  venus: "function approvedDelegates(address, address)",
  euler: "function getOperator(bytes19, address)",
} as const;

/** Views that say whether more must be read, of a protocol that the wallet uses or of a token; the wallet takes the place of the holder. */
const ACCOUNT_VIEWS = {
  "aave-account": "function getUserConfiguration(address)",
  "nft-balance": "function balanceOf(address)",
  "euler-owner": "function getAccountOwner(address)",
  "morpho-signatures": "function nonce(address)",
  // Every holder is an operator of itself: a token that says so is an ERC-777.
  erc777: "function isOperatorFor(address, address)",
} as const;

export type PairKind = keyof typeof PAIR_VIEWS;

/** A pair that may be a permission. */
export type PermissionRead = {
  readonly kind: PairKind | keyof typeof ACCOUNT_VIEWS;
  /** The token, the collection, or the contract of a protocol. */
  readonly contract: Hex;
  readonly spender: Hex;
  /** A list has the contract, so that it gets more gas. Permit2 is always trusted. */
  readonly trusted: boolean;
};

export type FoundPermission = PermissionRead & {
  /** The allowance; 1 for an operator, or a bit for each account (Euler). Never 0. */
  readonly value: bigint;
  /** The second word of what Permit2 returns: the last second of the allowance. */
  readonly extra: bigint;
};

export type ScannedPermissions = {
  readonly found: readonly FoundPermission[];
  readonly failed: readonly PermissionRead[];
};

/**
 * A first read of an ordinary token takes up to 15,000, each further one 5,000: 10 million in all, and room for more.
 * Enough for the pairs of a wallet with few tokens and for those of the protocols together.
 */
const PAIRS_PER_CALL_MAX = 1_600;
/** An allowance behind two proxies takes 20,000. */
const GAS_PER_READ = 100_000;
/** All reads of one contract in one call: dozens of spenders, or a few dozen of them for an unlisted token. */
const TRUSTED_GAS_MAX = 5_000_000;
const STRANGE_GAS_MAX = 300_000;

const scan = createFunctionCodec(abi, "scan");
const codecs = new Map<string, FunctionCodec>(
  Object.entries({ ...PAIR_VIEWS, ...ACCOUNT_VIEWS }).map(([kind, signature]) => [
    kind,
    createSignatureCodec<string>(signature) as FunctionCodec,
  ]),
);

/** Reads are distinct; those of one contract should be neighbours. */
export async function scanPermissions(
  at: PinnedChain,
  owner: Hex,
  reads: readonly PermissionRead[],
  signal: AbortSignal,
): Promise<ScannedPermissions> {
  const { found, failed } = await scanContracts<PermissionRead, Pick<FoundPermission, "value" | "extra">>(
    at,
    {
      items: reads,
      itemsPerCall: PAIRS_PER_CALL_MAX,
      callsMax: 50,
      code,
      encode: (part) => scan.encodeCall([encodeRequest(owner, part)]),
      decode: scan.decodeResult,
      callOf: (read) => encodeRead(owner, read),
      decodeOne: (returnData) => {
        const value = decodeFirstWord(returnData) ?? 0n;
        return value === 0n ? null : { value, extra: decodeSecondWord(returnData) };
      },
      gasPerItem: GAS_PER_READ,
      title: "a scan of permissions",
    },
    signal,
  );
  return { found: found.map(([read, { value, extra }]) => ({ ...read, value, extra })), failed };
}

/** Zero if the return data ends before it. */
function decodeSecondWord(returnData: Hex): bigint {
  return decodeFirstWord(`0x${returnData.slice(2 + WORD_DIGITS)}`) ?? 0n;
}

function encodeRequest(owner: Hex, reads: readonly PermissionRead[]) {
  const queries = new Map<string, { target: Hex; gasMax: bigint; prefix: Hex; position: number }>();
  const spenders = new Map<Hex, number>();
  let pairs = "0x";
  for (const read of reads) {
    const key = `${read.kind} ${read.contract}`;
    const known = queries.get(key);
    const query = known ?? { ...encodeQuery(owner, read), position: queries.size };
    if (!known) queries.set(key, query);
    const spender = spenders.get(read.spender) ?? spenders.size;
    spenders.set(read.spender, spender);
    pairs += query.position.toString(16).padStart(4, "0") + spender.toString(16).padStart(4, "0");
  }
  return {
    queries: [...queries.values()].map(({ target, gasMax, prefix }) => ({ target, gasMax, prefix })),
    spenders: [...spenders.keys()],
    pairs: pairs as Hex,
    gasPerRead: BigInt(GAS_PER_READ),
  };
}

const WORD_DIGITS = 64;

function encodeQuery(owner: Hex, read: PermissionRead): { target: Hex; gasMax: bigint; prefix: Hex } {
  const { to, data } = encodeRead(owner, read);
  const isTrusted = read.trusted || to === PERMIT2;
  return {
    target: to,
    gasMax: BigInt(isTrusted ? TRUSTED_GAS_MAX : STRANGE_GAS_MAX),
    // The last word of the calldata is the spender.
    prefix: data.slice(0, -WORD_DIGITS) as Hex,
  };
}

function encodeRead(owner: Hex, read: PermissionRead): { to: Hex; data: Hex } {
  const to = read.kind === "permit2-allowance" ? PERMIT2 : read.contract;
  return { to, data: codecs.get(read.kind)?.encodeCall(listArguments(owner, read)) ?? "0x" };
}

function listArguments(owner: Hex, { kind, contract, spender }: PermissionRead): readonly Hex[] {
  if (kind === "permit2-allowance") return [owner, contract, spender];
  if (kind === "euler") return [toAccountPrefix(owner), spender];
  return kind in ACCOUNT_VIEWS && kind !== "erc777" ? [spender] : [owner, spender];
}

/** Whether it only says that more must be read. */
export function isAccountRead({ kind }: Pick<PermissionRead, "kind">): boolean {
  return kind in ACCOUNT_VIEWS;
}

/** A read of a contract of our data. */
export function trustedRead(kind: PermissionRead["kind"], contract: Hex, spender: Hex): PermissionRead {
  return { kind, contract, spender, trusted: true };
}

export function keyOf({ kind, contract, spender }: Omit<PermissionRead, "trusted">): string {
  return `${kind} ${contract} ${spender}`;
}

export function distinctReads<T extends Omit<PermissionRead, "trusted">>(reads: readonly T[]): readonly T[] {
  return [...new Map(reads.map((read) => [keyOf(read), read])).values()];
}
