// The whole story: everybody buys at once while everything fails, then the faults stop, and the money is counted.
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../support/fast-clock.ts";
import { type MoneyStage, openMoneyStage } from "./chaos-stage.ts";
import { createKiller } from "./kill-processes.ts";
import { type Bought, buy, type Manner } from "./payer.ts";
import { type Finding, judge } from "./verify-payments.ts";

export type MoneyOptions = {
  readonly databaseUrl: string;
  readonly payers: number;
  readonly payments: number;
  readonly seed: number;
  readonly tell: (line: string) => void;
};

export type MoneyReport = {
  readonly findings: readonly Finding[];
  readonly numbers: Readonly<Record<string, number | string>>;
};

const MANNERS: readonly Manner[] = ["patient", "patient", "hasty", "leaving", "forging", "greedy"];
// Out of all purchases: the last ones show that everything works again.
const FAULTY_SHARE = 0.7;
// A lease and a settlement of a process that died, and one sweep after another for everything that was sold.
const SWEEP_MS_MAX = 240_000;

export async function runMoney(options: MoneyOptions): Promise<MoneyReport> {
  const { payers, payments, seed, tell } = options;
  const startedMs = Date.now();
  const faultySettles = Math.floor(payers * payments * FAULTY_SHARE);
  const killer = createKiller({ random: seededRandom(seed + 1), faultySettles, payers });
  const { onSettle } = killer;
  const stage = await openMoneyStage({ ...options, random: seededRandom(seed), faultySettles, onSettle });
  try {
    killer.victims.push(...stage.sellers, stage.facilitator);
    tell(`${payers} payers × ${payments}, seed ${seed}: the stage stands after ${Date.now() - startedMs} ms`);
    const boughtMs = Date.now();
    const bought = (await Promise.all(stage.paid.payers.map((_, i) => buyer(stage, options, i)))).flat();
    await killer.done();
    tell(`${bought.length} purchases ended after ${Date.now() - boughtMs} ms`);
    const sweptMs = Date.now();
    await settleDown(stage);
    tell(`everything is swept after ${Date.now() - sweptMs} ms`);
    const { findings, counts } = await judge(stage, bought);
    const kills = [...stage.sellers, stage.facilitator].map((each) => each.kills);
    const faults = [...stage.way.settleFaults].map(([fault, count]) => `${fault} ${count}`).sort();
    const numbers = { ...counts, kills: kills.join(" + "), "faults of settlements": faults.join(", ") };
    return { findings, numbers: { ...numbers, seconds: Math.round((Date.now() - startedMs) / 1_000) } };
  } finally {
    await stage.close();
  }
}

async function buyer(stage: MoneyStage, { payments, seed }: MoneyOptions, index: number): Promise<Bought[]> {
  const random = seededRandom(seed * 1_000_003 + index);
  const choice = <T>(from: readonly T[]): T => {
    const chosen = from[Math.floor(random() * from.length)];
    if (chosen === undefined) throw new Error("there is nothing to choose from");
    return chosen;
  };
  const account = stage.paid.payers[index];
  if (!account) throw new Error(`there is no payer ${index}`);
  const bought: Bought[] = [];
  for (let i = 0; i < payments; i += 1) {
    const wallet = choice(stage.wallets);
    const paths = ["", "&spam=exclude"].map((more) => `/portfolio?address=${wallet}&chains=base${more}`);
    const [path = "", otherPath = ""] = random() < 0.5 ? paths : paths.reverse();
    bought.push(
      await buy({
        account,
        asset: stage.paid.asset,
        network: `eip155:${stage.paid.chain.chainId}`,
        path,
        otherPath,
        manner: choice(MANNERS),
        random,
        sellers: () => stage.sellers.flatMap(({ url }) => url ?? []),
      }),
    );
  }
  return bought;
}

async function settleDown({ paid, way, database }: MoneyStage): Promise<void> {
  await until("nobody acts", database, "owner is not null and lease_until > now() and state <> 'settled'");
  await way.drained();
  await paid.letExpire();
  await until("all is swept", database, "state = 'settling' or state = 'settled' and not final");
}

async function until(what: string, database: MoneyStage["database"], isOpen: string): Promise<void> {
  const end = Date.now() + SWEEP_MS_MAX;
  for (;;) {
    const { rows } = await database.query<{ n: string }>(
      `select count(*)::text as n from payments where ${isOpen}`,
    );
    if (rows[0]?.n === "0") return;
    if (Date.now() > end)
      throw new Error(`it did not come to pass that ${what}: ${rows[0]?.n} payments are open`);
    await sleep(250);
  }
}
