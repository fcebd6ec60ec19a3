// Reads many permissions live: by the scanner contract where a node takes state overrides, by Multicall3 elsewhere.
import {
  allowanceScannerAbi as abi,
  allowanceScannerRuntimeBytecode as code,
} from "@sextant/contracts/generated/allowance-scanner";
import { createFunctionCodec, createSignatureCodec, type FunctionCodec } from "../../lib/abi/codec.ts";
import { splitIntoChunks } from "../../lib/chunks.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import { readBySplitMulticall } from "../split-multicall.ts";
import type { PinnedChain } from "../types.ts";
import { PERMIT2, toAccountPrefix } from "./revocations.ts";

/** Views that are asked for each holder of a permission. */
const PAIR_VIEWS = {
  "erc20-allowance": "function allowance(address, address) view returns (uint256)",
  "nft-operator": "function isApprovedForAll(address, address) view returns (bool)",
  "borrow-delegation": "function borrowAllowance(address, address) view returns (uint256)",
  comet: "function isAllowed(address, address) view returns (bool)",
  morpho: "function isAuthorized(address, address) view returns (bool)",
  venus: "function approvedDelegates(address, address) view returns (bool)",
} as const;

/** Views that say whether more must be read, of a protocol that the wallet uses or of a token; the wallet takes the place of the holder. */
const ACCOUNT_VIEWS = {
  "aave-account": "function getUserConfiguration(address) view returns (uint256)",
  "nft-balance": "function balanceOf(address) view returns (uint256)",
  "euler-owner": "function getAccountOwner(address) view returns (address)",
  "morpho-signatures": "function nonce(address) view returns (uint256)",
  // Every holder is an operator of itself: a token that says so is an ERC-777.
  erc777: "function isOperatorFor(address, address) view returns (bool)",
} as const;

/** A pair that may be a permission. */
export type PermissionRead = {
  readonly kind: keyof typeof PAIR_VIEWS | keyof typeof ACCOUNT_VIEWS | "permit2-allowance" | "euler";
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
/** All reads of one contract in one call: dozens of spenders, or a few dozen of them for a token of a stranger. */
const TRUSTED_GAS_MAX = 5_000_000;
const STRANGE_GAS_MAX = 300_000;
// Each call reads hundreds of pairs; only an endless row of gas burners comes near this.
const CALLS_MAX = 50;

const scan = createFunctionCodec(abi, "scan");
const codecs = new Map<string, FunctionCodec>(
  Object.entries({ ...PAIR_VIEWS, ...ACCOUNT_VIEWS }).map(([kind, signature]) => [
    kind,
    createSignatureCodec<string>(signature) as FunctionCodec,
  ]),
);
const eulerOperator = createSignatureCodec("function getOperator(bytes19, address) view returns (uint256)");
const permit2Allowance = createSignatureCodec(
  "function allowance(address, address, address) view returns (uint160, uint48, uint48)",
);

/** Reads are distinct; those of one contract should be neighbours. */
export async function scanPermissions(
  at: PinnedChain,
  owner: Hex,
  reads: readonly PermissionRead[],
  signal: AbortSignal,
): Promise<ScannedPermissions> {
  const parts = await Promise.all(
    splitIntoChunks(reads, PAIRS_PER_CALL_MAX).map(
      async (part) =>
        (await scanByOverride(at, owner, part, signal)) ?? (await scanByMulticall(at, owner, part, signal)),
    ),
  );
  return {
    found: parts.flatMap(({ found }) => found),
    failed: parts.flatMap(({ failed }) => failed),
  };
}

/** Null when the node does not support state overrides. */
async function scanByOverride(
  at: PinnedChain,
  owner: Hex,
  reads: readonly PermissionRead[],
  signal: AbortSignal,
): Promise<ScannedPermissions | null> {
  const found: FoundPermission[] = [];
  const failed: PermissionRead[] = [];
  let remaining = reads;
  for (let calls = 0; remaining.length > 0; calls += 1) {
    if (calls === CALLS_MAX) return { found, failed: [...failed, ...remaining] };
    const data = scan.encodeCall([encodeRequest(owner, remaining)]);
    const returnData = await at.callWithOverride({ code, data }, signal);
    if (returnData === null) return null;
    const result = decodeScan(returnData, remaining);
    if (result.next === 0) return null;
    found.push(...result.found);
    failed.push(...result.failed);
    remaining = remaining.slice(result.next);
  }
  return { found, failed };
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

/** The last word of the calldata is the spender. */
const SPENDER_DIGITS = 64;

function encodeQuery(owner: Hex, read: PermissionRead): { target: Hex; gasMax: bigint; prefix: Hex } {
  const { to, data } = encodeRead(owner, read);
  const isTrusted = read.trusted || to === PERMIT2;
  return {
    target: to,
    gasMax: BigInt(isTrusted ? TRUSTED_GAS_MAX : STRANGE_GAS_MAX),
    prefix: data.slice(0, -SPENDER_DIGITS) as Hex,
  };
}

function encodeRead(owner: Hex, { kind, contract, spender }: PermissionRead): { to: Hex; data: Hex } {
  if (kind === "permit2-allowance") {
    return { to: PERMIT2, data: permit2Allowance.encodeCall([owner, contract, spender]) };
  }
  if (kind === "euler") {
    return { to: contract, data: eulerOperator.encodeCall([toAccountPrefix(owner), spender]) };
  }
  const args = kind in ACCOUNT_VIEWS && kind !== "erc777" ? [spender] : [owner, spender];
  return { to: contract, data: codecs.get(kind)?.encodeCall(args) ?? "0x" };
}

/** Whether it only says that more must be read. */
export function isAccountRead({ kind }: Pick<PermissionRead, "kind">): boolean {
  return kind in ACCOUNT_VIEWS;
}

function decodeScan(returnData: Hex, reads: readonly PermissionRead[]) {
  const [findings, failed, next] = decodeResult(returnData);
  const readAt = (index: bigint): PermissionRead => {
    const read = index < next ? reads[Number(index)] : undefined;
    if (read === undefined) throw invalidScan();
    return read;
  };
  if (next > BigInt(reads.length)) throw invalidScan();
  return {
    found: findings.map(({ index, value, extra }): FoundPermission => ({ ...readAt(index), value, extra })),
    failed: failed.map(readAt),
    next: Number(next),
  };
}

function decodeResult(data: Hex) {
  try {
    return scan.decodeResult(data);
  } catch (cause) {
    throw invalidScan(cause);
  }
}

function invalidScan(cause?: unknown): Fault {
  return new Fault("NODE_UNAVAILABLE", "A node returned invalid data for a scan of permissions.", { cause });
}

const WORD_DIGITS = 64;

async function scanByMulticall(
  at: PinnedChain,
  owner: Hex,
  reads: readonly PermissionRead[],
  signal: AbortSignal,
): Promise<ScannedPermissions> {
  const calls = reads.map((read) => encodeRead(owner, read));
  const results = await readBySplitMulticall(at, { calls, gasPerCall: GAS_PER_READ }, signal);
  const wordAt = (result: Hex, index: number) => {
    const digits = result.slice(2 + index * WORD_DIGITS, 2 + (index + 1) * WORD_DIGITS);
    return digits.length === WORD_DIGITS ? BigInt(`0x${digits}`) : 0n;
  };
  const read = reads.map((one, i) => ({ one, result: results[i] ?? null }));
  return {
    found: read
      .flatMap(({ one, result }) =>
        result === null ? [] : [{ ...one, value: wordAt(result, 0), extra: wordAt(result, 1) }],
      )
      .filter(({ value }) => value !== 0n),
    failed: read.filter(({ result }) => result === null).map(({ one }) => one),
  };
}
