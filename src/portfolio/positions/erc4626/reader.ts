// ERC-4626 vaults: shares valued as the assets they represent, as far as a protocol's own contract or a list vouches for them.

import type { Hex } from "../../../lib/hex.ts";
import { type ReadRoutine, runRoutines } from "../../contract-reads/read-routines.ts";
import type {
  Holding,
  PositionQuery,
  PositionReader,
  PositionResult,
  ProtocolPosition,
} from "../../types.ts";
import { AAVE_STAKE_TOKENS } from "../aave-staking/reader.ts";
import { type EulerAccounts, NO_ACCOUNTS, readEulerAccounts } from "./euler-accounts.ts";
import { hasLure, readEulerPositions } from "./euler-positions.ts";
import { VAULT_REGISTRIES, type VaultRegistry } from "./markets.ts";
import { resolveShares, type Shares, type SharesOutcome, type VaultContext } from "./resolve-shares.ts";
import { shareOutPots } from "./share-out-pots.ts";
import { VaultPots } from "./vault-pots.ts";

const PROTOCOL = "erc-4626";
/** More tokens than real wallets hold; a warning states how many were left out. */
const PROBES_MAX = 1_000;
/** Each takes up to 8 million gas, and anyone can send shares of a vault that anyone can create. */
const PAYABLE_MAX = 40;
const NO_REGISTRY: VaultRegistry = { proofs: [], vaults: new Set() };

/**
 * Any contract can return USDC from `asset()` and a fortune from `convertToAssets()`, a listed one too. So a vault is
 * believed only when we know its address or a known registry says that it is its own. One that only a list has counts
 * with what it holds and could pay; every other share stays a token without a value. Two round trips for a vault known
 * by address, one more for each proof and each further level.
 */
export function createErc4626Reader(registries: ReadonlyMap<number, VaultRegistry>): PositionReader {
  return {
    protocol: PROTOCOL,
    readsDebt: true,
    delegations: (chainId) => {
      const connector = registries.get(chainId)?.eulerConnector;
      return connector === undefined ? [] : [{ form: "euler", protocol: "euler", contract: connector }];
    },
    async read(query, signal) {
      const { at } = query;
      const registry = registries.get(at.chain.chainId) ?? NO_REGISTRY;
      // If nothing is listed and no registry vouches for a vault, none can count.
      if (registry === NO_REGISTRY && at.chain.tokens.size === 0) return { positions: [], warnings: [] };
      const candidates = sortListedFirst(query);
      const held = candidates.slice(0, PROBES_MAX);
      const context: VaultContext = {
        ...{ query, registry, debtors: new Set(), payableLeft: PAYABLE_MAX, payableSkipped: 0 },
        pots: new VaultPots(),
      };
      const { outcomes, accounts } = await readVaults(context, held, signal);
      const euler = await readEulerPositions(context, accounts, signal);
      const warnings = [
        ...describeSkipped(query, candidates.length, held.length),
        ...describeUnasked(context),
        ...euler.warnings,
      ];
      const vaults = collectOutcomes(context, held, outcomes, euler.pledged);
      return {
        ...vaults,
        positions: [...vaults.positions, ...euler.positions],
        ...(euler.hasUnreadDebt ? { hasUnreadDebt: true } : {}),
        warnings: [...warnings, ...vaults.warnings],
      };
    },
  };
}

export const erc4626Reader = createErc4626Reader(VAULT_REGISTRIES);

/** The vaults that the wallet holds and, in the same round trips, what it owes in Euler. */
async function readVaults(
  context: VaultContext,
  held: readonly Shares[],
  signal: AbortSignal,
): Promise<{ outcomes: readonly SharesOutcome[]; accounts: EulerAccounts }> {
  const { query, registry } = context;
  let accounts = NO_ACCOUNTS;
  function* readAccounts(): ReadRoutine<null> {
    accounts = yield* readEulerAccounts(query, registry, (debtors) => {
      context.debtors = new Set(debtors);
    });
    return null;
  }
  const routines = [readAccounts(), ...held.map((shares) => resolveShares(context, shares, query.wallet))];
  const results = await runRoutines<SharesOutcome | null>(query.at, routines, signal);
  return { outcomes: results.filter((outcome) => outcome !== null), accounts };
}

/** Anyone can send tokens, but not put them on a list. */
function sortListedFirst({ at, holdings }: PositionQuery): readonly Shares[] {
  // Aave's stakes have a reader of their own.
  const staked = new Set(AAVE_STAKE_TOKENS.get(at.chain.chainId)?.map(({ token }) => token));
  const contracts = holdings.filter(
    (holding): holding is Shares => holding.contract !== null && !staked.has(holding.contract),
  );
  const isListed = ({ contract }: Shares) => at.chain.tokens.has(contract);
  return [...contracts.filter(isListed), ...contracts.filter((shares) => !isListed(shares))];
}

function describeSkipped({ at }: PositionQuery, tokens: number, probed: number): readonly string[] {
  if (tokens <= probed) return [];
  return [`Only ${probed} of ${tokens} tokens on ${at.chain.name} were checked for being vaults.`];
}

function describeUnasked({ query, payableSkipped }: VaultContext): readonly string[] {
  if (payableSkipped === 0) return [];
  return [
    `Only ${PAYABLE_MAX} vaults on ${query.at.chain.name} were asked what they could pay out; ${payableSkipped} more have no value.`,
  ];
}

/** `pledged` are shares that other positions show. */
function collectOutcomes(
  context: VaultContext,
  held: readonly Shares[],
  outcomes: readonly SharesOutcome[],
  pledged: ReadonlySet<Hex>,
): PositionResult {
  const { tokens } = context.query.at.chain;
  const warnings: string[] = [];
  const positions: ProtocolPosition[] = [];
  const provenTokens = new Set<Hex>();
  const unmarketedTokens = new Set<Hex>();
  const isShown = (outcome: SharesOutcome, index: number) => {
    const shares = held[index];
    return shares !== undefined && !pledged.has(shares.contract) && !hasLure(context, shares, outcome);
  };
  for (const [index, outcome] of shareOutPots(context, outcomes, isShown).entries()) {
    const shares = held[index];
    if (!shares) continue;
    const isShownElsewhere = pledged.has(shares.contract);
    if (!isShownElsewhere) warnings.push(...outcome.warnings);
    if (outcome.belief === null) {
      if (outcome.isVaultOfListedAsset) unmarketedTokens.add(shares.contract);
      continue;
    }
    if (hasLure(context, shares, outcome)) continue;
    if (!tokens.has(shares.contract)) provenTokens.add(shares.contract);
    if (outcome.asset !== null && !isShownElsewhere)
      positions.push(createPosition(shares, outcome.asset, outcome.isSelfReported));
  }
  return {
    positions,
    ...(provenTokens.size > 0 ? { provenTokens } : {}),
    ...(unmarketedTokens.size > 0 ? { unmarketedTokens } : {}),
    warnings,
  };
}

function createPosition(shares: Shares, asset: Holding, isSelfReported: boolean): ProtocolPosition {
  return {
    protocol: PROTOCOL,
    kind: "vault",
    name: shares.name ?? shares.symbol ?? "Vault",
    contract: shares.contract,
    assets: [asset],
    receiptTokens: [shares.contract],
    ...(isSelfReported ? { selfReported: true } : {}),
  };
}
