// Whether the wallet could send on the tokens on no list that it gets: tried in the same simulation, after the transactions.
import { TRANSFER_TOPIC } from "../../chain/logs/get-logs.ts";
import { createSignatureCodec } from "../../lib/abi/codec.ts";
import { topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { CallLog, Preview } from "./preview.ts";
import type { WalletCall } from "./request.ts";
import type { SimulatorResult } from "./run-simulator.ts";
import type { Watched } from "./watch-list.ts";

/** A token that the wallet got, sent back to where it came from: a pool, if it was bought. */
type Resale = { readonly token: Hex; readonly to: Hex; readonly amount: bigint };

// A purchase is of one token; the others come with it unasked.
const RESALES_MAX = 3;
/** Made up, so that it holds nothing: for tokens that were made for the wallet. */
const NEWCOMER: Hex = "0x5e87a9705ca99e12c0de1e970000000000005a1e";
const ZERO: Hex = `0x${"0".repeat(40)}`;

const transfer = createSignatureCodec("function transfer(address,uint256)");

export function listResales(
  wallet: Hex,
  preview: Preview | null,
  tokens: ReadonlyMap<Hex, unknown>,
): readonly Resale[] {
  const logs = (preview?.runs ?? []).flatMap((run) => run?.logs ?? []);
  const found = logs.flatMap((log) => readIncome(wallet, log)).filter(({ token }) => !tokens.has(token));
  return [...new Map(found.map((resale) => [resale.token, resale])).values()].slice(0, RESALES_MAX);
}

function readIncome(wallet: Hex, { address: token, topics, data }: CallLog): readonly Resale[] {
  const [event, ...parties] = topics;
  const [from, to] = parties.map(topicToAddress);
  const isIncome = event === TRANSFER_TOPIC && to === wallet && topics.length === 3 && data.length === 66;
  const amount = isIncome ? BigInt(data) : 0n;
  return amount === 0n || !from ? [] : [{ token, to: from === ZERO ? NEWCOMER : from, amount }];
}

export function callResales(resales: readonly Resale[]): readonly WalletCall[] {
  return resales.map(({ token, to, amount }) => ({
    ...{ to: token, value: 0n },
    data: transfer.encodeCall([to, amount]),
  }));
}

/** The balance of the wallet and of the receiver of each. */
export function watchResales(wallet: Hex, resales: readonly Resale[]): readonly Watched[] {
  return resales.flatMap(({ token, to }) =>
    [wallet, to].map((account) => ({ kind: "balance", token, account }) as const),
  );
}

export type ResaleFindings = { readonly unsellable: readonly Hex[]; readonly taxed: readonly Hex[] };

/** Compares the ends of the simulation without and with the resales. */
export function judgeResales(
  resales: readonly Resale[],
  callCount: number,
  plain: SimulatorResult,
  resold: SimulatorResult,
): ResaleFindings {
  const outcomes = resales.map(({ token, amount }, index) => {
    const [own, other] = [2 * index, 2 * index + 1].map((at) => {
      const [before, after] = [plain, resold].map(({ after: end }) => end.words[at]?.[0] ?? 0n);
      return (after ?? 0n) - (before ?? 0n);
    });
    const isMade = resold.outcomes[callCount + index]?.success === true && (own ?? 0n) < 0n;
    return { token, isMade, isWhole: (other ?? 0n) >= amount };
  });
  return {
    unsellable: outcomes.filter(({ isMade }) => !isMade).map(({ token }) => token),
    taxed: outcomes.filter(({ isMade, isWhole }) => isMade && !isWhole).map(({ token }) => token),
  };
}
