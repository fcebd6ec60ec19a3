// Compares what the simulator measured with what the first run, without an override, announced in logs and payments.

import { TRANSFER_TOPIC } from "../../chain/logs/get-logs.ts";
import { topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import type { SimulationReason } from "../../schema/portfolio/simulation.ts";
import type { RawChange } from "./effects.ts";
import { DEPOSIT, WITHDRAWAL } from "./known-calls.ts";
import type { CallLog, Preview, PreviewRun } from "./preview.ts";
import type { SimulatedOutcome } from "./run-simulator.ts";
import { createReason } from "./verdict.ts";

type CrossCheck = {
  /** Null if nothing could be compared. */
  readonly agrees: boolean | null;
  readonly reasons: readonly SimulationReason[];
  readonly warnings: readonly string[];
};

type Measured = {
  /** The first transaction as a wallet sends it, if it could be run. */
  readonly realistic: PreviewRun | null;
  readonly wallet: Hex;
  readonly outcomes: readonly SimulatedOutcome[];
  readonly changes: readonly RawChange[];
  readonly isListed: (contract: Hex) => boolean;
};

export function crossCheck(preview: Preview | null, measured: Measured): CrossCheck {
  const { wallet, outcomes, changes } = measured;
  const count = preview === null ? 0 : Math.min(preview.exactCount, outcomes.length);
  const runs = (preview?.runs ?? []).slice(0, count).flatMap((run) => run ?? []);
  if (runs.length === 0) return { agrees: null, reasons: [], warnings: [] };
  const differs = runs.findIndex(({ success }, index) => success !== outcomes[index]?.success);
  if (differs >= 0) {
    const warning = "A run without the simulator at the wallet's address ended differently.";
    return { agrees: false, reasons: [], warnings: [warning] };
  }
  const [first] = runs;
  if (first && measured.realistic?.success && !movesAlike(wallet, first, measured.realistic)) {
    const warning = "A run at a real gas price, with as much gas as wallets send, moved other amounts.";
    return { agrees: false, reasons: [], warnings: [warning] };
  }
  // Later transactions start from a state that the first run did not have, so that sums mean nothing.
  if (runs.length < outcomes.length) return { agrees: null, reasons: [], warnings: [] };
  const moved = new Map(
    changes
      .filter(({ account }) => account === wallet)
      .map(({ contract, before, after }) => [contract, after - before] as const),
  );
  const paid = sumPayments(wallet, runs);
  const tokens = new Set([...moved.keys(), ...listMoved(wallet, runs)]);
  const compared = [...tokens].flatMap((contract) =>
    contract === null
      ? []
      : [{ contract, outcome: compareToken(contract, moved.get(contract) ?? 0n, runs, measured) }],
  );
  const isHidden = compared.some(({ outcome }) => outcome === "hidden") || paid !== (moved.get(null) ?? 0n);
  const reasons = compared
    .filter(({ outcome }) => outcome === "kept")
    .map(({ contract }) => createReason("token-keeps-part", { contract }));
  const warnings = isHidden
    ? ["A run without the simulator at the wallet's address moved other amounts."]
    : [];
  return { agrees: !isHidden, reasons, warnings };
}

/** Both runs are of one state, so that they differ only by what code makes of gas and its price. */
function movesAlike(wallet: Hex, one: PreviewRun, other: PreviewRun): boolean {
  const sumsOf = (run: PreviewRun) =>
    [null, ...new Set([...listMoved(wallet, [one]), ...listMoved(wallet, [other])])].map((token) =>
      token === null ? sumPayments(wallet, [run]) : sumMoves(wallet, token, run),
    );
  const [sums, others] = [sumsOf(one), sumsOf(other)];
  return sums.every((sum, index) => sum === others[index]);
}

function sumMoves(wallet: Hex, token: Hex, { logs }: PreviewRun): bigint {
  const moves = logs.filter(({ address }) => address === token).map((log) => findMove(wallet, log) ?? 0n);
  return moves.reduce((sum, amount) => sum + amount, 0n);
}

function sumPayments(wallet: Hex, runs: readonly PreviewRun[]): bigint {
  const all = runs.flatMap(({ payments }) => payments);
  return all.reduce(
    (sum, { from, to, value }) => sum + (to === wallet ? value : 0n) - (from === wallet ? value : 0n),
    0n,
  );
}

function listMoved(wallet: Hex, runs: readonly PreviewRun[]): readonly Hex[] {
  return runs.flatMap(({ logs }) =>
    logs.filter((log) => findMove(wallet, log) !== null).map(({ address }) => address),
  );
}

/** Reads what the wallet gains by a log; null for a log that says nothing about it. */
function findMove(wallet: Hex, { topics, data }: CallLog): bigint | null {
  if (topics[0] !== TRANSFER_TOPIC) return null;
  const [from, to] = [topicToAddress(topics[1]), topicToAddress(topics[2])];
  if ((from !== wallet && to !== wallet) || from === to) return null;
  // An item of ERC-721 counts as one.
  const amount = topics.length === 4 ? 1n : data.length === 66 ? BigInt(data) : 0n;
  return to === wallet ? amount : -amount;
}

/** Wrapped ether of the first kind announces deposits and withdrawals only. */
function findWrap(wallet: Hex, { topics, data }: CallLog): bigint {
  if (topicToAddress(topics[1]) !== wallet || data.length !== 66) return 0n;
  return topics[0] === DEPOSIT ? BigInt(data) : topics[0] === WITHDRAWAL ? -BigInt(data) : 0n;
}

// Tokens that rebase round, and lending tokens announce interest that accrued before.
const TOLERANCE_PERCENT = 10n;

/**
 * `hidden`: the wallet keeps or gets more here than without the simulator, or moves what was not announced at all. `kept`: a
 * token on no list moves another amount than it says.
 */
function compareToken(
  token: Hex,
  moved: bigint,
  runs: readonly PreviewRun[],
  { wallet, isListed }: Measured,
): "equal" | "hidden" | "kept" {
  const logs = runs.flatMap((run) => run.logs).filter(({ address }) => address === token);
  const moves = logs.flatMap((log) => findMove(wallet, log) ?? []);
  const announced = moves.reduce((sum, amount) => sum + amount, 0n);
  const wrapped = logs.reduce((sum, log) => sum + findWrap(wallet, log), announced);
  if (moved === announced || moved === wrapped) return "equal";
  if (announced === 0n && wrapped === 0n && moves.length === 0) return "hidden";
  const most = wrapped > announced ? wrapped : announced;
  const slack = ((most < 0n ? -most : most) * TOLERANCE_PERCENT) / 100n;
  if (moved > most + slack) return "hidden";
  return isListed(token) ? "equal" : "kept";
}
