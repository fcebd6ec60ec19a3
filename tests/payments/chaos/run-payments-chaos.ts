// All payers buy at once while everything fails, then the faults stop, and the money is counted.
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../support/seeded-random.ts";
import { type ChaosStage, openChaosStage } from "./chaos-stage.ts";
import { createProcessKiller } from "./kill-processes.ts";
import { buyOnce, type PayerBehaviour, type PurchaseRecord } from "./payer.ts";
import { type InvariantResult, verifyPayments } from "./verify-payments.ts";

// Prints what the money test found: green if a rule holds, red if it does not.

// More examples of the same would not say more.
const EXAMPLES_MAX = 5;

export function formatChaosReport({ findings, numbers }: PaymentsChaosReport): string {
  const lines = findings.flatMap(({ rule, checked, violations: broken }) => {
    const mark = broken.length === 0 ? "\u001b[32mholds \u001b[0m" : "\u001b[31mbroken\u001b[0m";
    const count = broken.length === 0 ? `${checked}` : `${broken.length} of ${checked}`;
    const examples = broken.slice(0, EXAMPLES_MAX).map((each) => `           ${each}`);
    return [`  ${mark} ${rule} (${count})`, ...examples];
  });
  const facts = Object.entries(numbers).map(([name, value]) => `  ${name.padEnd(32)} ${value}`);
  return `${[...lines, "", ...facts].join("\n")}\n`;
}

type PaymentsChaosOptions = {
  readonly databaseUrl: string;
  readonly payers: number;
  readonly payments: number;
  readonly facilitators: number;
  readonly seed: number;
  readonly log: (line: string) => void;
};

type PaymentsChaosReport = {
  readonly findings: readonly InvariantResult[];
  readonly numbers: Readonly<Record<string, number | string>>;
};

const BEHAVIOURS: readonly PayerBehaviour[] = ["patient", "patient", "hasty", "leaving", "forging", "greedy"];
// Out of all purchases: the last ones show that everything works again.
const FAULTY_SHARE = 0.7;
// A lease and a settlement of a process that died, and one reconciliation after another for everything that was sold.
const SWEEP_MS_MAX = 240_000;

export async function runPaymentsChaos(options: PaymentsChaosOptions): Promise<PaymentsChaosReport> {
  const { payers, payments, seed, log } = options;
  const startedMs = Date.now();
  const faultySettles = Math.floor(payers * payments * FAULTY_SHARE);
  const killer = createProcessKiller({ random: seededRandom(seed + 1), faultySettles, payers });
  const { onSettle } = killer;
  const stage = await openChaosStage({ ...options, random: seededRandom(seed), faultySettles, onSettle });
  try {
    killer.victims.push(...victimsOf(stage));
    log(`${payers} payers × ${payments}, seed ${seed}: the stage is up after ${Date.now() - startedMs} ms`);
    const boughtMs = Date.now();
    const bought = (await Promise.all(stage.paid.payers.map((_, i) => buyer(stage, options, i)))).flat();
    await killer.done();
    log(`${bought.length} purchases ended after ${Date.now() - boughtMs} ms`);
    const reconciledMs = Date.now();
    await settleDown(stage);
    log(`everything is reconciled after ${Date.now() - reconciledMs} ms`);
    const { findings, counts } = await verifyPayments(stage, bought);
    const kills = victimsOf(stage).map((each) => each.kills);
    const faults = [...stage.facilitatorProxy.settleFaults]
      .map(([fault, count]) => `${fault} ${count}`)
      .sort();
    const numbers = { ...counts, kills: kills.join(" + "), "faults of settlements": faults.join(", ") };
    return { findings, numbers: { ...numbers, seconds: Math.round((Date.now() - startedMs) / 1_000) } };
  } finally {
    await stage.close();
  }
}

/** With several facilitators these die first. */
function victimsOf({ portfolios, facilitators }: ChaosStage) {
  return facilitators.length > 1 ? [...facilitators, ...portfolios] : [...portfolios, ...facilitators];
}

async function buyer(
  stage: ChaosStage,
  { payments, seed }: PaymentsChaosOptions,
  index: number,
): Promise<PurchaseRecord[]> {
  const random = seededRandom(seed * 1_000_003 + index);
  const choice = <T>(from: readonly T[]): T => {
    const chosen = from[Math.floor(random() * from.length)];
    if (chosen === undefined) throw new Error("there is nothing to choose from");
    return chosen;
  };
  const account = stage.paid.payers[index];
  if (!account) throw new Error(`there is no payer ${index}`);
  const bought: PurchaseRecord[] = [];
  for (let i = 0; i < payments; i += 1) {
    const wallet = choice(stage.wallets);
    const paths = ["", "&spam=exclude"].map((more) => `/portfolio?address=${wallet}&chains=base${more}`);
    const [path = "", otherPath = ""] = random() < 0.5 ? paths : paths.reverse();
    bought.push(
      await buyOnce({
        account,
        asset: stage.paid.asset,
        network: `eip155:${stage.paid.chain.chainId}`,
        path,
        otherPath,
        behaviour: choice(BEHAVIOURS),
        random,
        serviceUrls: () => stage.portfolios.flatMap(({ url }) => url ?? []),
      }),
    );
  }
  return bought;
}

/** Waits until no payment is open: expired, or final on chain. */
export async function settleDown({ paid, facilitatorProxy: way, database }: ChaosStage): Promise<void> {
  await until(
    "no lease is live",
    database,
    "owner is not null and lease_until > now() and state <> 'settled'",
  );
  await way.drained();
  await paid.expireAll();
  await until("all is reconciled", database, "state = 'settling' or state = 'settled' and not final");
}

async function until(what: string, database: ChaosStage["database"], isOpen: string): Promise<void> {
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
