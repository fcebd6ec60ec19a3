// Adds the proofs to a response: of each chain at its block, within a time of their own. What cannot be proven says why.
import type { Clock } from "../../lib/clock.ts";
import type { Hex } from "../../lib/hex.ts";
import type { PortfolioDiff } from "../../schema/portfolio/diff.ts";
import type { Exposure } from "../../schema/portfolio/exposure.ts";
import type { ResponseProofs } from "../../schema/portfolio/proofs.ts";
import type { PortfolioSnapshot } from "../../schema/portfolio/snapshot.ts";
import { runWithinBudget } from "../time-budgets.ts";
import type { PortfolioChain } from "../types.ts";
import { type CoveredValue, describeCoverage } from "./coverage.ts";
import { fitProofs, PROOF_CHARS_MAX, type ProvenChain } from "./fit-proofs.ts";
import { LayoutMemory } from "./layout-memory.ts";
import {
  listDiffFields,
  listExposureFields,
  listSnapshotFields,
  noncePath,
  type ProvableChain,
} from "./provable-fields.ts";
import {
  type ChainFailure,
  type ChainProofQuery,
  describeUnproven,
  proveChainOnNode,
} from "./prove-chain.ts";

/** A response before its proofs, the chains that it was read from, and the values that they cover. */
export type ProvableResponse = {
  readonly wallet: Hex;
  readonly chains: readonly ProvableChain[];
  readonly values: readonly CoveredValue[];
};

/** `nonces` by the paths of their claims. */
export type ProvenResponse = {
  readonly proofs: ResponseProofs;
  readonly nonces: ReadonlyMap<string, string>;
};

export type ProofOptions = {
  /** The request names the blocks: their state is read where it was found, and not where the newest one is. */
  readonly isPast: boolean;
  /** The time for all chains and sides together. */
  readonly budgetMs: number;
};

// A node without eth_getProof is not asked again for so long.
const UNSUPPORTED_MS = 10 * 60_000;

export class ResponseProver {
  readonly #chains: ReadonlyMap<string, PortfolioChain>;
  readonly #memory: LayoutMemory;
  readonly #clock: Clock;
  readonly #charsMax: number;
  /** Until when nodes are not asked. */
  readonly #unsupported = new Map<string, number>();

  constructor(chains: ReadonlyMap<string, PortfolioChain>, clock: Clock, charsMax: number = PROOF_CHARS_MAX) {
    this.#chains = chains;
    this.#clock = clock;
    this.#charsMax = charsMax;
    this.#memory = new LayoutMemory(clock);
  }

  /** Never rejects for what nodes do: then the response says that nothing is proven. */
  async prove(
    response: ProvableResponse,
    { isPast, budgetMs }: ProofOptions,
    signal: AbortSignal,
  ): Promise<ProvenResponse> {
    const { wallet, chains } = response;
    const at = { isPast, untilMs: this.#clock.nowMs() + budgetMs };
    const first = await Promise.all(
      chains.map(async (chain) => ({
        chain,
        proven: await this.#proveChain({ ...chain, wallet }, at, signal),
      })),
    );
    // One side of a difference shows where a token keeps what the other side says is zero.
    const proven = await Promise.all(
      first.map(async ({ chain, proven }) => {
        if (!this.#canProveMore(chain, proven)) return proven;
        const more = await this.#proveChain({ ...chain, wallet }, at, signal);
        return more.reason === null ? more : proven;
      }),
    );
    return this.#describe(response, proven);
  }

  /** Says of each chain that its time was over. */
  describeLate(response: ProvableResponse): ProvenResponse {
    const late = response.chains.map((chain) => {
      const chainId = this.#chains.get(chain.slug)?.chain.chainId ?? 0;
      return describeUnproven({ ...chain, chainId }, "late");
    });
    return this.#describe(response, late);
  }

  #describe({ values }: ProvableResponse, proven: readonly ProvenChain[]): ProvenResponse {
    const chains = fitProofs(proven, this.#charsMax);
    const proofs = { version: 1 as const, chains, coverage: describeCoverage(values, chains) };
    return { proofs, nonces: listNonces(proven, chains) };
  }

  #canProveMore({ slug, fields, side }: ProvableChain, { claims }: ProvenChain): boolean {
    const chainId = this.#chains.get(slug)?.chain.chainId;
    if (side === undefined || chainId === undefined) return false;
    return fields.some((field, index) => {
      if (field.kind !== "erc20" || claims[index]?.claim.reason !== "no_layout") return false;
      return this.#memory.findLayout({ chainId, token: field.token, of: "balance" }) !== null;
    });
  }

  async #proveChain(
    chain: ProvableChain & { readonly wallet: Hex },
    { isPast, untilMs }: { readonly isPast: boolean; readonly untilMs: number },
    signal: AbortSignal,
  ): Promise<ProvenChain> {
    const access = this.#chains.get(chain.slug);
    const { block } = chain;
    const chainId = access?.chain.chainId ?? 0;
    if (access?.tryNodes === undefined) return describeUnproven({ ...chain, chainId }, "no_proofs");
    if (block === null) return describeUnproven({ ...chain, chainId }, "block");
    const query: ChainProofQuery = { ...chain, chainId, block };
    let failure: ChainFailure = "no_proofs";
    const { tryNodes } = access;
    const outcome = await runWithinBudget(
      (stop) =>
        tryNodes(
          { number: block.number, isPast },
          async (node) => {
            const name = `${chain.slug} ${isPast} ${node.host} ${node.providerIndex}`;
            if (this.#clock.nowMs() < (this.#unsupported.get(name) ?? 0)) return null;
            const proven = await proveChainOnNode(node, query, this.#memory, stop);
            if (typeof proven !== "string") return proven;
            if (proven !== "unsupported") failure = proven;
            else this.#unsupported.set(name, this.#clock.nowMs() + UNSUPPORTED_MS);
            return null;
          },
          stop,
        ),
      untilMs - this.#clock.nowMs(),
      signal,
    );
    if ("value" in outcome && outcome.value !== null) return outcome.value;
    return describeUnproven(query, "failure" in outcome && outcome.failure === "late" ? "late" : failure);
  }
}

/** A claim that did not fit proves none. */
function listNonces(
  proven: readonly ProvenChain[],
  chains: ResponseProofs["chains"],
): ReadonlyMap<string, string> {
  const claimed = chains.flatMap(({ claims }) => claims.filter(({ kind }) => kind === "nonce"));
  const paths = new Set(claimed.map(({ path }) => path));
  const shown = proven.flatMap(({ claims }) =>
    claims.flatMap(({ claim: { path }, nonce }): [string, string][] =>
      nonce !== undefined && paths.has(path) ? [[path, nonce.toString()]] : [],
    ),
  );
  return new Map(shown);
}

/** Shows what only the proofs say. */
export function addNonces(snapshot: PortfolioSnapshot, nonces: ProvenResponse["nonces"]): PortfolioSnapshot {
  const accounts = snapshot.accounts.map((account, index) => ({
    ...account,
    nonce: nonces.get(noncePath(index)) ?? null,
  }));
  return { ...snapshot, accounts };
}

export function describeProvableSnapshot(snapshot: PortfolioSnapshot): ProvableResponse {
  const { address, tokens, positions } = snapshot;
  return {
    wallet: address,
    chains: listSnapshotFields(snapshot),
    values: [
      ...tokens.flatMap(({ spam, valueUsd }, index) =>
        spam ? [] : [{ path: `/tokens/${index}/rawBalance`, valueUsd }],
      ),
      ...positions.map(({ valueUsd }) => ({ path: null, valueUsd })),
    ],
  };
}

export function describeProvableExposure(exposure: Exposure): ProvableResponse {
  const { address, permissions } = exposure;
  return {
    wallet: address,
    chains: listExposureFields(exposure),
    values: permissions.map(({ valueAtRiskUsd: valueUsd }, index) => ({
      path: `/permissions/${index}/rawAllowance`,
      valueUsd,
    })),
  };
}

export function describeProvableDiff(diff: PortfolioDiff): ProvableResponse {
  const { address, tokens, positions } = diff;
  const sides = ["before", "after"] as const;
  return {
    wallet: address,
    chains: listDiffFields(diff),
    values: sides.flatMap((side) => [
      ...tokens.map((token, index) => ({
        path: `/tokens/${index}/${side}/rawBalance`,
        valueUsd: token[side]?.valueUsd ?? null,
      })),
      ...positions.flatMap(({ assets }) =>
        assets.map((asset) => ({ path: null, valueUsd: asset[side]?.valueUsd ?? null })),
      ),
    ]),
  };
}
