// Allowances of the spenders that a request names: of tokens that matter, zero included, because that is what it asks.
import type { Hex } from "../../lib/hex.ts";
import type { SpenderAllowance } from "../../schema/portfolio/exposure.ts";
import { type ChainConfig, type Delegation, type Holding, isListed } from "../types.ts";
import { formatUnixSeconds } from "../valuation/usd.ts";
import { PERMIT2 } from "./revocations.ts";
import { keyOf, type PermissionRead, type ScannedPermissions, trustedRead } from "./scan-permissions.ts";

// With ten spenders 400 words of storage, which one response can prove.
const TOKENS_MAX = 20;

type AskedReads = {
  readonly reads: readonly PermissionRead[];
  /** Listed tokens that are held, beyond the limit. */
  readonly omittedCount: number;
};

type AskedSources = {
  readonly chain: ChainConfig;
  /** The most valuable first. */
  readonly holdings: readonly Holding[];
  readonly delegations: readonly Delegation[];
  readonly spenders: readonly Hex[];
};

export function listAskedReads({ chain, holdings, delegations, spenders }: AskedSources): AskedReads {
  if (spenders.length === 0) return { reads: [], omittedCount: 0 };
  // A Comet has operators in place of allowances.
  const comets = new Set(delegations.filter(({ form }) => form === "comet").map(({ contract }) => contract));
  const held = holdings.flatMap(({ contract }) =>
    contract !== null && isListed(chain, { contract }) && !comets.has(contract) ? [contract] : [],
  );
  const tokens = [...new Set([...held, ...chain.stablecoins])].slice(0, TOKENS_MAX);
  const reads = tokens.flatMap((token) =>
    spenders.flatMap((spender) => [
      trustedRead("erc20-allowance", token, spender),
      ...(spender === PERMIT2 ? [] : [trustedRead("permit2-allowance", token, spender)]),
    ]),
  );
  return { reads, omittedCount: held.filter((token) => !tokens.includes(token)).length };
}

export type AskedAllowance = Omit<SpenderAllowance, "chain" | "chainId">;

export function describeAskedAllowances(
  reads: readonly PermissionRead[],
  { found, failed }: ScannedPermissions,
): readonly AskedAllowance[] {
  const live = new Map(found.map((each) => [keyOf(each), each]));
  const unread = new Set(failed.map(keyOf));
  return reads.map((read): AskedAllowance => {
    const { contract, spender } = read;
    const { value = 0n, extra = 0n } = live.get(keyOf(read)) ?? {};
    const kind = read.kind === "permit2-allowance" ? read.kind : "erc20-allowance";
    return {
      ...{ kind, contract, spender },
      rawAllowance: unread.has(keyOf(read)) ? null : value.toString(),
      expiresAt: kind === "permit2-allowance" && value > 0n ? formatUnixSeconds(Number(extra)) : null,
    };
  });
}
