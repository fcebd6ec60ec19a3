// Examines a message that a wallet is asked to sign: read by its type, compared with the chain, and judged.
import type { Hex } from "../../../lib/hex.ts";
import type { SimulationReason } from "../../../schema/portfolio/simulation.ts";
import type { ChainSpenders } from "../../exposure/spenders.ts";
import type { PriceSourceGroups } from "../../prices/collect-prices.ts";
import type { PinnedChain } from "../../types.ts";
import type { MessageContent } from "./content.ts";
import { contractsOnChain } from "./contracts.ts";
import { type MessageState, readMessageState } from "./message-state.ts";
import { type MessageValues, readMessageValues } from "./message-values.ts";
import { readContent } from "./read-content.ts";
import { findMessageReasons } from "./rules.ts";
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
};

type MessageSources = {
  readonly spenders: Pick<ChainSpenders, "ofTokens" | "byAddress">;
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
  const state = await readMessageState({ at, wallet, verifyingContract, content }, signal);
  const values = await readMessageValues(at, state.metadata, priceSources, signal);
  const { usdOf } = values;
  const reasons = findMessageReasons({ typed, content, state, wallet, chain, contracts, spenders, usdOf });
  const isUsable = !reasons.some(({ code }) => UNUSABLE.has(code));
  const takeable = content === null ? [] : findTakeable(content, state, { wallet, isUsable });
  const vouchers = content === null ? [] : findClaimable(content, state, isUsable);
  return { typed, content, state, values, reasons, takeable, vouchers };
}

/** With these no contract accepts the signature, on this chain and now. */
const UNUSABLE: ReadonlySet<SimulationReason["code"]> = new Set([
  ...(["other-chain", "domain-mismatch", "signature-expired", "nonce-unusable", "other-signer"] as const),
]);
