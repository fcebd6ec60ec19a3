// The whole run: the production shape comes up, everything happens at once for a while, and then all must be well.
import { setMaxListeners } from "node:events";
import type { Hex } from "viem";
import { databaseRestarts } from "./actors/database-restarts.ts";
import { excessiveFees } from "./actors/excessive-fees.ts";
import { createMoneyMover, worthlessPayments } from "./actors/freeloaders.ts";
import { frontRunner } from "./actors/front-runner.ts";
import type { E2eActor } from "./actors/intermittent-fault.ts";
import { processFreezes, processKills } from "./actors/kills.ts";
import { laggingNode } from "./actors/lagging-node.ts";
import { lyingFacilitator } from "./actors/lying-facilitator.ts";
import { nodeFaults } from "./actors/node-faults.ts";
import { omittingNode } from "./actors/omitting-node.ts";
import { createPayer } from "./actors/payers.ts";
import { createReader } from "./actors/readers.ts";
import { chainReorgs } from "./actors/reorgs.ts";
import { simulatorTraffic } from "./actors/simulator.ts";
import { type AcknowledgedWrite, createWriter } from "./actors/writers.ts";
import { acknowledgedWritesCheck, auditCheck, type E2eCheck, reportedBlocksCheck } from "./checks/check.ts";
import { cleanIndexCheck } from "./checks/clean-index.ts";
import { gasCheck } from "./checks/gas.ts";
import { ledgerCheck, waitForOpenPayments } from "./checks/ledger.ts";
import { referenceModelCheck } from "./checks/reference-model.ts";
import { confirmedHistoryCheck, syncedCheck } from "./checks/synced.ts";
import { unpaidWorkCheck } from "./checks/unpaid-work.ts";
import { createApiSessions } from "./clients/api-session.ts";
import { createPastResponses } from "./clients/past-responses.ts";
import type { E2ePurchase } from "./clients/purchase.ts";
import type { Observations } from "./observations.ts";
import { FACILITATOR_LIES } from "./services/lying-facilitator.ts";
import type { SoakProfile } from "./soak-profile.ts";
import { type E2eSystem, openE2eSystem } from "./system.ts";
import { sleepUntilStopped } from "./wait.ts";

type CheckResult = { readonly name: string; readonly ok: boolean; readonly message: string };

export type SoakResult = {
  readonly seed: number;
  readonly seconds: number;
  readonly reorgs: number;
  readonly observations: Observations;
  readonly checks: readonly CheckResult[];
  readonly ok: boolean;
};

type SoakOptions = {
  readonly seed: number;
  readonly pace: SoakProfile;
  /** Ends everything early; the run rejects then. */
  readonly signal?: AbortSignal;
  /** Called with each phase of the run. */
  readonly log?: (what: string) => void;
  /** Called once a second. */
  readonly progress?: (system: E2eSystem, leftMs: number) => void;
};

const PROGRESS_MS = 1_000;

/** Events that every meaningful run has. */
export const REQUIRED_OBSERVATIONS: readonly string[] = [
  "lists read",
  "past read",
  "documents written",
  "payments",
  "kills",
  "database restarts",
  "RPC faults",
  "lagging responses",
  "responses with logs omitted",
  "excessive fees suggested",
  "payments front-run",
  "payments carried out by others",
  "requests over money that moves on",
  "worthless payments rejected",
  "worthless payments limited",
  ...FACILITATOR_LIES.map((lie) => `lies: ${lie}`),
];

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { seed, pace, signal = new AbortController().signal, log = () => undefined } = options;
  const startedMs = Date.now();
  log(`seed ${seed}: starting the chains, the database and the services`);
  const system = await openE2eSystem(seed, pace);
  try {
    const { observations, branches } = system;
    signal.throwIfAborted();
    const sessions = createApiSessions(system);
    const past = createPastResponses();
    const written: AcknowledgedWrite[] = [];
    const purchases: E2ePurchase[] = [];
    const movers: Hex[] = [];
    const many = (count: number, actor: (index: number) => E2eActor) =>
      Array.from({ length: count }, (_, index) => actor(index));
    log(`everything at once for ${Math.round(pace.troubleMs / 1_000)} s`);
    await runActors(system, options, [
      simulatorTraffic,
      chainReorgs,
      processKills,
      processFreezes,
      databaseRestarts,
      nodeFaults,
      laggingNode,
      omittingNode,
      excessiveFees,
      frontRunner,
      lyingFacilitator,
      createMoneyMover(purchases, movers),
      worthlessPayments,
      ...many(pace.readers, (index) => createReader(`reader ${index}`, { sessions, past })),
      ...many(pace.writers, (index) => createWriter(`writer ${index}`, { sessions, written })),
      ...many(pace.payers, (index) => createPayer(index, purchases)),
    ]);
    signal.throwIfAborted();
    await waitForOpenPayments(system);
    const checks: CheckResult[] = [];
    const wanted = [
      syncedCheck,
      confirmedHistoryCheck,
      ledgerCheck(purchases),
      unpaidWorkCheck(movers),
      gasCheck,
      cleanIndexCheck,
      auditCheck,
      referenceModelCheck(past),
      acknowledgedWritesCheck(written),
      reportedBlocksCheck(sessions),
    ];
    for (const check of wanted) {
      signal.throwIfAborted();
      log(check.name);
      checks.push(await runCheck(check, system));
    }
    checks.push(await runCheck(gracefulShutdown, system));
    const ok = checks.every((each) => each.ok) && observations.violationCount === 0;
    const seconds = Math.round((Date.now() - startedMs) / 1_000);
    return { seed, seconds, reorgs: branches.reorgs, observations, checks, ok };
  } finally {
    await system.close();
  }
}

/** Runs all actors at once, until the time is over or one of them fails. */
async function runActors(
  system: E2eSystem,
  { pace, signal, progress }: SoakOptions,
  actors: readonly E2eActor[],
): Promise<void> {
  const over = new AbortController();
  const stop = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
  // Every actor listens to it, and none of them is a leak.
  setMaxListeners(0, stop);
  const endMs = Date.now() + pace.troubleMs;
  const progressTimer = setInterval(() => progress?.(system, Math.max(0, endMs - Date.now())), PROGRESS_MS);
  const playing = actors.map((actor) =>
    actor(system, stop).catch((error: unknown) => {
      system.observations.recordViolation(error instanceof Error ? String(error.stack) : String(error));
      over.abort();
    }),
  );
  await sleepUntilStopped(pace.troubleMs, stop);
  // A machine that is busy with other things gets some more time: a run in which nothing happened proves nothing.
  const lateMs = endMs + 3 * pace.troubleMs;
  while (
    !stop.aborted &&
    Date.now() < lateMs &&
    REQUIRED_OBSERVATIONS.some((kind) => system.observations.counted(kind) === 0)
  ) {
    await sleepUntilStopped(PROGRESS_MS, stop);
  }
  over.abort();
  await Promise.all(playing);
  clearInterval(progressTimer);
}

async function runCheck(check: E2eCheck, system: E2eSystem): Promise<CheckResult> {
  const { name } = check;
  const before = system.observations.violationCount;
  try {
    const message = await check.run(system);
    return { name, message, ok: system.observations.violationCount === before };
  } catch (error) {
    return { name, message: error instanceof Error ? error.message : String(error), ok: false };
  }
}

const gracefulShutdown: E2eCheck = {
  name: "services shut down on SIGTERM",
  async run({ services }) {
    const codes = await Promise.all(services.all.map((each) => each.end("SIGTERM")));
    const bad = services.all.filter((_, index) => codes[index] !== 0);
    if (bad.length > 0) throw new Error(`${bad.map(({ name }) => name).join(", ")} did not`);
    return `${codes.length} processes, exit 0`;
  },
};
