// Examines a message that a wallet is asked to sign: read by its type, compared with the chain, and judged.
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { SimulationReason } from "../../../schema/portfolio/simulation.ts";
import type { PriceSourceGroups } from "../../prices/collect-prices.ts";
import type { PinnedChain } from "../../types.ts";
import { findAlike } from "../known-accounts.ts";
import { createReason } from "../verdict.ts";
import type { MessageContent } from "./content.ts";
import { contractsOnChain } from "./contracts.ts";
import { type MessageState, readMessageState } from "./message-state.ts";
import { type MessageValues, readMessageValues } from "./message-values.ts";
import { readContent } from "./read-content.ts";
import { findMessageReasons, type MessageSpenders } from "./rules.ts";
import { type ClaimableVoucher, findClaimable, findTakeable, type Takeable } from "./takeable.ts";
import type { TypedMessage } from "./typed-data.ts";

export type MessageFindings = {
  readonly typed: TypedMessage;
  readonly content: MessageContent | null;
  readonly state: MessageState;
  readonly values: MessageValues;
  readonly takeable: readonly Takeable[];
  readonly vouchers: readonly ClaimableVoucher[];
  readonly reasons: readonly SimulationReason[];
  /** Among accounts that get something, the address that each looks like. */
  readonly lookalikes: ReadonlyMap<Hex, Hex>;
  /** False if recent transfers of the wallet could not be searched. */
  readonly isSearched: boolean;
};

type MessageSources = {
  readonly spenders: MessageSpenders;
  readonly priceSources: PriceSourceGroups;
};

/** Rejects only if a node fails. */
export async function examineMessage(
  { at, wallet }: { readonly at: PinnedChain; readonly wallet: Hex },
  typed: TypedMessage,
  { spenders, priceSources }: MessageSources,
  signal: AbortSignal,
): Promise<MessageFindings> {
  const { chain } = at;
  const contracts = contractsOnChain(chain.chainId);
  const { verifyingContract } = typed.domain;
  const content = readContent(typed, { wallet, contracts });
  const suspects = listSuspects(content, wallet);
  const [state, past] = await Promise.all([
    readMessageState({ at, wallet, verifyingContract, content }, signal),
    suspects.length === 0 ? [] : readPastTransfers(at, wallet, signal),
  ]);
  const values = await readMessageValues(at, state.metadata, priceSources, signal);
  const { usdOf } = values;
  const lookalikes = findAlike(suspects, { wallet, chain, spenders, transfers: past ?? [] });
  const reasons = [
    ...[...lookalikes.keys()].map((account) => createReason("lookalike-receiver", { account })),
    ...findMessageReasons({ typed, content, state, wallet, chain, contracts, spenders, usdOf }),
  ];
  const isUsable = !reasons.some(({ code }) => UNUSABLE.has(code));
  const takeable = content === null ? [] : findTakeable(content, state, { wallet, isUsable });
  const vouchers = content === null ? [] : findClaimable(content, state, isUsable);
  return {
    typed,
    content,
    state,
    values,
    reasons,
    takeable,
    vouchers,
    lookalikes,
    isSearched: past !== null,
  };
}

/** Accounts besides the wallet that get something, or may take it. */
function listSuspects(content: MessageContent | null, wallet: Hex): readonly Hex[] {
  const { permissions = [], transfers = [], orders = [] } = content ?? {};
  const accounts = [
    ...permissions.map(({ spender }) => spender),
    ...transfers.flatMap(({ by, to }) => [by, to]),
    ...orders.flatMap(({ receives }) => (receives ?? []).map(({ recipient }) => recipient)),
  ];
  return [...new Set(accounts)].filter((account) => account !== null).filter((account) => account !== wallet);
}

/** As far back as public nodes search. */
const SEARCHED_BLOCKS = 10_000;

/** Recent transfers of the wallet; null if they could not be searched. */
async function readPastTransfers(at: PinnedChain, wallet: Hex, signal: AbortSignal) {
  const toBlock = at.block.number;
  const range = { wallet, fromBlock: Math.max(0, toBlock - SEARCHED_BLOCKS), toBlock };
  try {
    const sides = await Promise.all([
      at.transfers({ ...range, side: "from" }, signal),
      at.transfers({ ...range, side: "to" }, signal),
    ]);
    return sides.flat().flatMap(({ contract, from, to, amount }) => {
      const data: Hex = amount === 0n ? "0x" : "0x01";
      return contract === null ? [] : [{ from, to, log: { address: contract, data } }];
    });
  } catch (error) {
    if (!(error instanceof Fault) || signal.aborted) throw error;
    return null;
  }
}

/** With these no contract accepts the signature, on this chain and now. */
const UNUSABLE: ReadonlySet<SimulationReason["code"]> = new Set([
  ...(["other-chain", "domain-mismatch", "signature-expired", "nonce-unusable", "other-signer"] as const),
]);
