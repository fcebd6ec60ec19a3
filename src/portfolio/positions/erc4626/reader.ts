// ERC-4626 vaults: shares valued as the assets they represent, as far as a protocol's own contract or a list vouches for them.

import type { Hex } from "../../../lib/hex.ts";
import { type ReadRoutine, readEach, runRoutines } from "../../contract-reads/read-groups.ts";
import type { PositionReader, ProtocolPosition } from "../../types.ts";
import { AAVE_STAKE_TOKENS } from "../aave-staking/reader.ts";
import { PositionRead, type PositionReadWithTokens } from "../position-read.ts";
import { type EulerAccounts, NO_ACCOUNTS, readEulerAccounts, readEulerOwner } from "./euler-accounts.ts";
import { readEulerPositions } from "./euler-positions.ts";
import { VAULT_REGISTRIES, type VaultRegistry } from "./registries.ts";
import {
  hasLure,
  resolveShares,
  type Shares,
  type SharesOutcome,
  shareOutPots,
  type VaultContext,
  vaultAsset,
} from "./resolve-shares.ts";
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
 * with what it holds and could pay; every other share stays a token without a value. After the first round trip, which is
 * made early, one for a vault that is listed or known by address, two for others, and as many for each further level.
 */
export function createErc4626Reader(registries: ReadonlyMap<number, VaultRegistry>): PositionReader {
  return {
    protocol: PROTOCOL,
    readsDebt: true,
    delegations: (chainId) => {
      const connector = registries.get(chainId)?.eulerConnector;
      return connector === undefined ? [] : [{ form: "euler", protocol: "euler", contract: connector }];
    },
    async prefetch({ at, contracts }, signal) {
      if (!registries.has(at.chain.chainId) && at.chain.tokens.size === 0) return;
      await readEach(at, signal, contracts.slice(0, PROBES_MAX), (contract) => vaultAsset(contract));
    },
    async read(query, signal) {
      const early = new PositionRead(query, signal);
      const { chain } = early.at;
      const registry = registries.get(chain.chainId) ?? NO_REGISTRY;
      // If nothing is listed and no registry vouches for a vault, none can count.
      if (registry === NO_REGISTRY && chain.tokens.size === 0) return early.toResult([]);
      const isEarly = "tokens" in query;
      const owner = isEarly ? readEulerOwner(early, registry) : undefined;
      const [run, eulerOwner] = await Promise.all([early.withTokens(), owner]);
      const candidates = sortListedFirst(run);
      const held = candidates.slice(0, PROBES_MAX);
      if (held.length < candidates.length)
        run.warn(
          `Only ${held.length} of ${candidates.length} tokens on ${run.chain} were checked for being vaults.`,
        );
      const context: VaultContext = {
        run,
        registry,
        debtors: new Set(),
        payableLeft: PAYABLE_MAX,
        payableSkipped: 0,
        pots: new VaultPots(),
      };
      const { outcomes, accounts } = await readVaults(context, held, eulerOwner);
      if (context.payableSkipped > 0)
        run.warn(
          `Only ${PAYABLE_MAX} vaults on ${run.chain} were asked what they could pay out; ${context.payableSkipped} more have no value.`,
        );
      const euler = await readEulerPositions(context, accounts);
      const vaults = collectOutcomes(context, held, outcomes, euler.pledged);
      return run.toResult([...vaults, ...euler.positions]);
    },
  };
}

export const erc4626Reader = createErc4626Reader(VAULT_REGISTRIES);

/** The vaults that the wallet holds and, in the same round trips, what it owes in Euler. */
async function readVaults(
  context: VaultContext,
  held: readonly Shares[],
  eulerOwner: Hex | null | undefined,
): Promise<{ outcomes: readonly SharesOutcome[]; accounts: EulerAccounts }> {
  const { run, registry } = context;
  let accounts = NO_ACCOUNTS;
  function* readAccounts(): ReadRoutine<null> {
    accounts = yield* readEulerAccounts(run, registry, eulerOwner, (debtors) => {
      context.debtors = new Set(debtors);
    });
    return null;
  }
  const routines = [readAccounts(), ...held.map((shares) => resolveShares(context, shares, run.wallet))];
  const results = await runRoutines<SharesOutcome | null>(run.at, routines, run.signal);
  return { outcomes: results.filter((outcome) => outcome !== null), accounts };
}

/** Anyone can send tokens, but not put them on a list. */
function sortListedFirst({ at, holdings }: PositionReadWithTokens): readonly Shares[] {
  // Aave's stakes have a reader of their own.
  const staked = new Set(AAVE_STAKE_TOKENS.get(at.chain.chainId)?.map(({ token }) => token));
  const contracts = holdings.filter(
    (holding): holding is Shares => holding.contract !== null && !staked.has(holding.contract),
  );
  const isListed = ({ contract }: Shares) => at.chain.tokens.has(contract);
  return [...contracts.filter(isListed), ...contracts.filter((shares) => !isListed(shares))];
}

/** `pledged` are shares that other positions show. */
function collectOutcomes(
  context: VaultContext,
  held: readonly Shares[],
  outcomes: readonly SharesOutcome[],
  pledged: ReadonlySet<Hex>,
): readonly ProtocolPosition[] {
  const { run } = context;
  const isPledged = ({ contract }: Shares) => pledged.has(contract);
  const isShown = (outcome: SharesOutcome, index: number) => {
    const shares = held[index];
    return shares !== undefined && !isPledged(shares) && !hasLure(context, shares, outcome);
  };
  return shareOutPots(context, outcomes, isShown).flatMap((outcome, index): ProtocolPosition[] => {
    const shares = held[index];
    if (!shares) return [];
    const { contract } = shares;
    const { asset, belief, isSelfReported } = outcome;
    if (!isPledged(shares)) run.warnings.push(...outcome.warnings);
    if (belief === null && outcome.isVaultOfListedAsset) run.unmarketedTokens.add(contract);
    if (belief === null || hasLure(context, shares, outcome)) return [];
    if (!run.at.chain.tokens.has(contract)) run.provenTokens.add(contract);
    if (asset === null || isPledged(shares)) return [];
    return [
      {
        protocol: PROTOCOL,
        kind: "vault",
        name: shares.name ?? shares.symbol ?? "Vault",
        contract,
        assets: [asset],
        receiptTokens: [contract],
        ...(isSelfReported && { selfReported: true }),
      },
    ];
  });
}
