// The whole run: the production shape comes up, everything happens at once for a while, and then all must be well.
import { setMaxListeners } from "node:events";
import type { Actor } from "./actors/actor.ts";
import { databaseRestarts } from "./actors/database-restarts.ts";
import { absurdFees } from "./actors/excessive-fees.ts";
import { freezes } from "./actors/freezes.ts";
import { frontRunner } from "./actors/front-runner.ts";
import { kills } from "./actors/kills.ts";
import { laggingNode } from "./actors/lagging-node.ts";
import { lyingFacilitator } from "./actors/lying-facilitator.ts";
import { nodeTrouble } from "./actors/node-faults.ts";
import { omittingNode } from "./actors/omitting-node.ts";
import { payer } from "./actors/payers.ts";
import { reader } from "./actors/readers.ts";
import { reorgs } from "./actors/reorgs.ts";
import { economy } from "./actors/simulator.ts";
import { type Written, writer } from "./actors/writers.ts";
import { writes } from "./checks/acknowledged-writes.ts";
import { audit } from "./checks/audit.ts";
import type { Check } from "./checks/check.ts";
import { cleanIndex } from "./checks/clean-index.ts";
import { gas } from "./checks/gas.ts";
import { ledger, letPaymentsEnd } from "./checks/ledger.ts";
import { model } from "./checks/reference-model.ts";
import { heads } from "./checks/reported-blocks.ts";
import { level } from "./checks/synced.ts";
import { createSessions } from "./clients/api-session.ts";
import { createPastAnswers } from "./clients/past-responses.ts";
import type { Purchase } from "./clients/purchase.ts";
import type { Observations } from "./observations.ts";
import { LIES } from "./services/lying-facilitator.ts";
import type { Pace } from "./soak-profile.ts";
import { openRiver, type River } from "./system.ts";
import { pause } from "./wait.ts";

export type CheckResult = { readonly name: string; readonly ok: boolean; readonly said: string };

export type RiverResult = {
  readonly seed: number;
  readonly seconds: number;
  readonly reorgs: number;
  readonly observations: Observations;
  readonly checks: readonly CheckResult[];
  readonly ok: boolean;
};

export type RiverOptions = {
  readonly seed: number;
  readonly pace: Pace;
  /** Ends everything early; the run rejects then. */
  readonly signal?: AbortSignal;
  /** Told what is being done. */
  readonly tell?: (what: string) => void;
  /** Told once a second how far it has come. */
  readonly progress?: (river: River, leftMs: number) => void;
};

const PROGRESS_MS = 1_000;

/** What happens in every run worth the name. */
export const EXPECTED: readonly string[] = [
  "lists read",
  "past read",
  "documents written",
  "payments",
  "kills",
  "database restarts",
  "RPC faults",
  "responses from behind",
  "responses with logs omitted",
  "absurd fees named",
  "payments front-run",
  ...LIES.map((lie) => `lies: ${lie}`),
];

export async function runRiver(options: RiverOptions): Promise<RiverResult> {
  const { seed, pace, signal = new AbortController().signal, tell = () => undefined } = options;
  const startedMs = Date.now();
  tell(`seed ${seed}: starting the chains, the database and the services`);
  const river = await openRiver(seed, pace);
  try {
    const { observations, branches } = river;
    signal.throwIfAborted();
    const sessions = createSessions(river);
    const past = createPastAnswers();
    const written: Written[] = [];
    const purchases: Purchase[] = [];
    const many = (count: number, actor: (index: number) => Actor) =>
      Array.from({ length: count }, (_, index) => actor(index));
    tell(`everything at once for ${Math.round(pace.troubleMs / 1_000)} s`);
    await play(river, options, [
      economy,
      reorgs,
      kills,
      freezes,
      databaseRestarts,
      nodeTrouble,
      laggingNode,
      omittingNode,
      absurdFees,
      frontRunner,
      lyingFacilitator,
      ...many(pace.readers, (index) => reader(`reader ${index}`, { sessions, past })),
      ...many(pace.writers, (index) => writer(`writer ${index}`, { sessions, written })),
      ...many(pace.payers, (index) => payer(index, purchases)),
    ]);
    signal.throwIfAborted();
    await letPaymentsEnd(river);
    const checks: CheckResult[] = [];
    const wanted = [
      level,
      ledger(purchases),
      gas,
      cleanIndex,
      audit,
      model(past),
      writes(written),
      heads(sessions),
    ];
    for (const check of wanted) {
      signal.throwIfAborted();
      tell(check.name);
      checks.push(await carryOut(check, river));
    }
    checks.push(await carryOut(politeEnd, river));
    const ok = checks.every((each) => each.ok) && observations.wrongCount === 0;
    const seconds = Math.round((Date.now() - startedMs) / 1_000);
    return { seed, seconds, reorgs: branches.reorgs, observations, checks, ok };
  } finally {
    await river.close();
  }
}

/** All of them at once, until the time is over or one of them can not go on. */
async function play(
  river: River,
  { pace, signal, progress }: RiverOptions,
  actors: readonly Actor[],
): Promise<void> {
  const over = new AbortController();
  const stop = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
  // Everybody listens to it, and none of them is a leak.
  setMaxListeners(0, stop);
  const endMs = Date.now() + pace.troubleMs;
  const telling = setInterval(() => progress?.(river, Math.max(0, endMs - Date.now())), PROGRESS_MS);
  const playing = actors.map((actor) =>
    actor(river, stop).catch((error: unknown) => {
      river.observations.wrong(error instanceof Error ? String(error.stack) : String(error));
      over.abort();
    }),
  );
  await pause(pace.troubleMs, stop);
  // A machine that is busy with other things gets some more time: a run in which nothing happened proves nothing.
  const lateMs = endMs + 3 * pace.troubleMs;
  while (
    !stop.aborted &&
    Date.now() < lateMs &&
    EXPECTED.some((kind) => river.observations.counted(kind) === 0)
  ) {
    await pause(PROGRESS_MS, stop);
  }
  over.abort();
  await Promise.all(playing);
  clearInterval(telling);
}

async function carryOut(check: Check, river: River): Promise<CheckResult> {
  const { name } = check;
  const before = river.observations.wrongCount;
  try {
    const said = await check.run(river);
    return { name, said, ok: river.observations.wrongCount === before };
  } catch (error) {
    return { name, said: error instanceof Error ? error.message : String(error), ok: false };
  }
}

const politeEnd: Check = {
  name: "services leave when asked",
  async run({ services }) {
    const codes = await Promise.all(services.all.map((each) => each.end("SIGTERM")));
    const bad = services.all.filter((_, index) => codes[index] !== 0);
    if (bad.length > 0) throw new Error(`${bad.map(({ name }) => name).join(", ")} did not`);
    return `${codes.length} processes, exit 0`;
  },
};
