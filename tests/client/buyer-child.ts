// A process that buys snapshots, all at once, and kills itself at a phase of one of them if its task says so.
import { setTimeout as sleep } from "node:timers/promises";
import { privateKeyToAccount } from "viem/accounts";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { SextantError } from "../../packages/client/errors.ts";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import type { Journal } from "../../packages/client/journal/journal.ts";
import type { ChannelOptions } from "../../packages/client/payments/channel-options.ts";
import type { GuardOptions } from "../../packages/client/payments/guard.ts";

/** The step at which a process ends by SIGKILL. At `after-settlement` the parent kills it. */
export type KillPhase =
  | "before-signing"
  | "after-journal"
  | "after-sending"
  | "after-settlement"
  | "before-body";

export type BuyerTask = {
  readonly portfolio: string;
  readonly privateKey: `0x${string}`;
  readonly journal: string;
  readonly guard: GuardOptions;
  readonly channel?: Omit<ChannelOptions, "deposit"> & { readonly deposit: string };
  readonly purchases: readonly { readonly address: string; readonly name: string | null }[];
  /** How long the account takes to sign. */
  readonly signMs?: number;
  readonly kill: KillPhase | null;
  /** The first purchase that comes to this phase, or the second, and so on. */
  readonly killAt: number;
};

/** One line on the standard output. */
export type BuyerLine =
  | { readonly bought: string; readonly address: string; readonly transaction: string | null }
  | { readonly failed: string; readonly code: string; readonly charged: string };

const task = JSON.parse(process.env.BUYER_TASK ?? "") as BuyerTask;
const account = privateKeyToAccount(task.privateKey);
let comings = 0;

function killAt(phase: KillPhase): void {
  if (task.kill !== phase) return;
  comings += 1;
  if (comings === task.killAt) process.kill(process.pid, "SIGKILL");
}

function say(line: BuyerLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function withKills(journal: Journal): Journal {
  return {
    read: () => journal.read(),
    exclusive: (act) =>
      journal.exclusive((book, append) =>
        act(book, async (record, options) => {
          await append(record, options);
          if (record.type === "signed" || record.type === "voucher") killAt("after-journal");
        }),
      ),
  };
}

const killingFetch: typeof fetch = async (input, init) => {
  const isPaid = new Headers(init?.headers).has("payment-signature");
  const response = fetch(input, init);
  const isStruck = isPaid && task.kill === "after-sending";
  const struck = isStruck ? sleep(Math.random() * 60).then(() => killAt("after-sending")) : null;
  const received = await response;
  // A response that is faster must not be used before.
  await struck;
  if (isPaid) killAt("before-body");
  return received;
};

const sextant = createSextant({
  portfolio: task.portfolio,
  payer: {
    address: account.address,
    async signTypedData(data) {
      killAt("before-signing");
      await sleep(task.signMs ?? 0);
      return account.signTypedData(data);
    },
  },
  guard: task.guard,
  ...(task.channel === undefined ? {} : { channel: task.channel }),
  journal: withKills(openFileJournal(task.journal)),
  fetch: killingFetch,
});

async function purchase({ address, name }: BuyerTask["purchases"][number]): Promise<void> {
  try {
    const { data, receipt } = await sextant.getPortfolio(
      { address },
      name === null ? {} : { purchase: name },
    );
    say({ bought: name ?? address, address: data.address, transaction: receipt?.transaction ?? null });
  } catch (error) {
    if (!(error instanceof SextantError)) throw error;
    say({ failed: name ?? address, code: error.code, charged: error.charged });
  }
}

await Promise.all(task.purchases.map(purchase));
