// Finds the reasons against signing transactions, from what they change and from the code that they call.
import { divide } from "../../lib/decimal.ts";
import type { Hex } from "../../lib/hex.ts";
import type { SimulationReason } from "../../schema/portfolio/simulation.ts";
import { isListed } from "../types.ts";
import {
  type EffectContext,
  isUnlimited,
  listReceived,
  type RawChange,
  type RawEffects,
  type RawPermission,
  valueInUsd,
} from "./effects.ts";
import { findFunction, listAddresses, readArgument } from "./known-calls.ts";
import { type PreviewRun, TRANSACTION_GAS_MAX } from "./preview.ts";
import type { WalletCall } from "./request.ts";
import type { SimulatedOutcome } from "./run-simulator.ts";
import { createReason } from "./verdict.ts";

type TargetFacts = {
  readonly address: Hex;
  readonly code: Hex;
  /** Code or implementation differed a few blocks ago; null if that is unknown. */
  readonly changed: boolean | null;
};

type Evidence = {
  readonly context: EffectContext;
  readonly calls: readonly WalletCall[];
  readonly outcomes: readonly SimulatedOutcome[];
  readonly effects: RawEffects;
  readonly targets: readonly TargetFacts[];
  /** The first run of each transaction that started from the state which it meets. */
  readonly runs: readonly (PreviewRun | null)[];
  /** Null if nothing confirmed the result. */
  readonly agrees: boolean | null;
  /** Items moved that are not counted, or more changed than was read. */
  readonly isPartial: boolean;
  /** An address that the wallet has used, by one that looks like it. */
  readonly lookalikes: ReadonlyMap<Hex, Hex>;
  /** Tokens that the wallet got, and could not send on; and those of which less arrived. */
  readonly unsellable: readonly Hex[];
  readonly taxed: readonly Hex[];
};

type Reasons = readonly SimulationReason[];

export function findReasons(evidence: Evidence): Reasons {
  return [
    ...judgeOutcomes(evidence),
    ...judgeTargets(evidence),
    ...evidence.effects.permissions.flatMap((each) => judgePermission(evidence, each)),
    ...judgeMovements(evidence),
    ...judgeReceivers(evidence),
    ...judgeIncome(evidence),
    ...evidence.unsellable.map((contract) => createReason("cannot-be-sold", { contract })),
    ...evidence.taxed.map((contract) => createReason("token-keeps-part", { contract })),
    ...judgeCompleteness(evidence),
  ];
}

function judgeOutcomes({ outcomes, calls }: Evidence): Reasons {
  return outcomes.flatMap(({ success, gasGiven, gasUsed }, transaction) => {
    if (success) return [];
    // It used all that others before it had left, which is less than it has by itself.
    const isStarved = gasGiven < BigInt(TRANSACTION_GAS_MAX) && gasUsed * 64n >= gasGiven * 63n;
    return [
      createReason(isStarved ? "not-simulated" : "reverts", {
        transaction,
        contract: calls[transaction]?.to ?? null,
      }),
    ];
  });
}

function isKnown({ context: { chain, spenders } }: Evidence, address: Hex): boolean {
  return spenders.byAddress.has(address) || isListed(chain, { contract: address });
}

function judgeTargets(evidence: Evidence): Reasons {
  const factsOf = new Map(evidence.targets.map((each) => [each.address, each]));
  return evidence.calls.flatMap((call, transaction) => {
    const { code = "0x", changed = null } = factsOf.get(call.to) ?? {};
    const subject = { transaction, contract: call.to };
    const hasCode = code !== "0x";
    // Without code the data does nothing: a call that was meant for another address, or another chain.
    if (!hasCode) return call.data === "0x" ? [] : [createReason("unknown-code", subject)];
    if (call.to === evidence.context.wallet) return [createReason("calls-itself", subject)];
    return [
      ...(changed ? [createReason("code-changed", subject)] : []),
      ...(isKnown(evidence, call.to) ? [] : [createReason("unknown-code", subject)]),
      ...(isObscure(evidence, transaction) ? [createReason("unknown-function", subject)] : []),
    ];
  });
}

/** A token does not tell what a function of its own does; a router that we list is trusted with its own, if they show. */
function isObscure(evidence: Evidence, transaction: number): boolean {
  const { calls, effects, context, runs } = evidence;
  const call = calls[transaction];
  if (call === undefined || call.data === "0x" || findFunction(call) !== null) return false;
  if (isToken(evidence, call.to)) return true;
  const changesNothing =
    effects.permissions.length === 0 && effects.changes.every(({ account }) => account !== context.wallet);
  const run = runs[transaction] ?? null;
  return changesNothing || (run !== null && !isNamedIn(run, context.wallet));
}

function isNamedIn({ logs, payments }: PreviewRun, wallet: Hex): boolean {
  return (
    payments.some(({ from, to }) => from === wallet || to === wallet) ||
    logs.some(({ topics }) => topics.some((topic) => topic.endsWith(wallet.slice(2))))
  );
}

function isToken({ context: { chain, spenders } }: Evidence, address: Hex): boolean {
  return isListed(chain, { contract: address }) && !spenders.byAddress.has(address);
}

function judgePermission(evidence: Evidence, permission: RawPermission): Reasons {
  const { context } = evidence;
  const { kind, token, spender, before, after } = permission;
  // An amount in Permit2 counts again from its new date, and a word of operators may have a bit for each account.
  const isAmount = kind === "allowance" || kind === "borrow";
  const grows = after > (isAmount ? (before ?? 0n) : 0n);
  if (!grows || spender === context.wallet) return [];
  const subject = { contract: token, account: spender };
  const look = evidence.lookalikes.get(spender);
  if (look !== undefined) return [createReason("lookalike-contract", subject)];
  if (context.codes.get(spender) === "0x") return [createReason("spender-without-code", subject)];
  if (isMeantFor(context, kind, spender)) return [];
  if (kind === "operator" || kind === "position") return [createReason("operator-for-all", subject)];
  return [
    createReason(
      kind === "item" || isUnlimited(permission) ? "unlimited-approval" : "unknown-spender",
      subject,
    ),
  ];
}

/** A known contract may hand on whatever it may take, if it is not one that wallets give this kind of permission. */
function isMeantFor({ spenders }: EffectContext, kind: RawPermission["kind"], spender: Hex): boolean {
  const { ofTokens, ofPermit2, ofCollections, ofPositions } = spenders;
  const meant = {
    ...{ allowance: ofTokens, permit2: ofPermit2, operator: ofCollections, item: ofCollections },
    ...{ position: ofPositions, borrow: ofPositions },
  };
  return meant[kind].includes(spender);
}

// Zero, precompiles, and what coins are burned at: no key signs for them.
const KEYLESS = /^0x0{36}/;

/** A contract of our lists takes payments by its own functions only: what it is sent stays there, or is anyone's. */
function isPlainPayment(evidence: Evidence, call: WalletCall): boolean {
  const receiver = call.data === "0x" ? call.to : readReceiver(call);
  return receiver !== null && !isKnown(evidence, receiver) && !KEYLESS.test(receiver);
}

// The rest would hardly pay for a transaction.
const ALMOST_ALL_PERCENT = 95n;

function judgeMovements(evidence: Evidence): Reasons {
  const { context, calls, effects } = evidence;
  const own = effects.changes.filter(({ account }) => account === context.wallet);
  const leaving = own.filter(({ before, after }) => after < before);
  if (leaving.length === 0 || leaving.length < own.length) return [];
  const emptied = leaving.filter(
    ({ before, after }) => (before - after) * 100n >= before * ALMOST_ALL_PERCENT,
  );
  return [
    ...emptied.map(({ contract }) => createReason("empties-balance", { contract })),
    ...(calls.every((call) => isPlainPayment(evidence, call)) ? [] : [createReason("nothing-in-return")]),
  ];
}

/** A payment names its receiver; what a contract sends elsewhere by itself is not named. */
function judgeReceivers({ context, calls, effects, lookalikes }: Evidence): Reasons {
  const named = new Set(
    calls.flatMap((call) => [call.to, ...listAddresses(call), readReceiver(call) ?? call.to]),
  );
  return listReceived(context.wallet, effects.changes).flatMap(({ account, contract }) => {
    const subject = { contract, account };
    if (lookalikes.has(account)) return [createReason("lookalike-receiver", subject)];
    const hasCode = (context.codes.get(account) ?? "0x") !== "0x";
    return hasCode || named.has(account) ? [] : [createReason("unknown-receiver", subject)];
  });
}

function readReceiver(call: WalletCall): Hex | null {
  return readArgument(call, findFunction(call)?.receiver);
}

// Fees and slippage of a swap stay far below.
const LOSS_PERCENT_MAX = 10n;
const USD_SCALE = 6;

function judgeIncome({ context, effects }: Evidence): Reasons {
  const own = effects.changes.filter(({ account }) => account === context.wallet);
  const coming = own.filter(({ before, after }) => after > before);
  const unlisted = coming.filter(({ contract }) => !isListed(context.chain, { contract }));
  const [income, expense] = [coming, own.filter(({ before, after }) => after < before)].map((side) =>
    sumUnits(context, side),
  );
  const isLoss =
    coming.length > 0 &&
    income != null &&
    expense != null &&
    (expense - income) * 100n > expense * LOSS_PERCENT_MAX;
  const isTrade = coming.length > 0 && coming.length < own.length;
  return [
    ...unlisted.map(({ contract }) => createReason("unknown-token", { contract })),
    ...(isTrade && (income === null || expense === null) ? [createReason("value-unknown")] : []),
    ...(isLoss ? [createReason("value-lost")] : []),
  ];
}

/** In millionths of a dollar; null if anything has no price. */
function sumUnits(context: EffectContext, changes: readonly RawChange[]): bigint | null {
  const values = changes.map(({ contract, before, after }) =>
    valueInUsd(context, contract, after > before ? after - before : before - after),
  );
  if (values.some((value) => value === null)) return null;
  return values.reduce(
    (sum, value) =>
      sum + divide((value?.units ?? 0n) * 10n ** BigInt(USD_SCALE), 10n ** BigInt(value?.scale ?? 0), "down"),
    0n,
  );
}

function judgeCompleteness(evidence: Evidence): Reasons {
  const { agrees, isPartial, effects, calls } = evidence;
  const unchecked = agrees === null && calls.some((call) => runsOtherCode(evidence, call));
  return [
    ...(agrees === false ? [createReason("override-detected")] : []),
    ...(unchecked ? [createReason("not-cross-checked")] : []),
    ...(isPartial ? [createReason("not-simulated")] : []),
    ...effects.lost.map(({ token }) => createReason("not-simulated", { contract: token })),
  ];
}

// Their functions run code that their own lists name; routers and marketplaces run what a caller chooses.
const SELF_CONTAINED: ReadonlySet<string> = new Set(["lending-pool", "permit2", "staking", "vault"]);

/** Code that nothing vouches for may run, and may recognize a simulation. */
function runsOtherCode(evidence: Evidence, call: WalletCall): boolean {
  if (!hasCode(evidence, call.to) || (isToken(evidence, call.to) && findFunction(call) !== null))
    return false;
  const spender = evidence.context.spenders.byAddress.get(call.to);
  return !isKnown(evidence, call.to) || (spender !== undefined && !SELF_CONTAINED.has(spender.kind));
}

function hasCode({ targets }: Evidence, address: Hex): boolean {
  return targets.some((each) => each.address === address && each.code !== "0x");
}
