// A process that buys snapshots in order, and kills itself at a phase of the last one if its task says so.
import { privateKeyToAccount } from "viem/accounts";
import { createSextant } from "../../packages/client/create-sextant.ts";
import { openFileJournal } from "../../packages/client/journal/file-journal.ts";
import type { Journal } from "../../packages/client/journal/journal.ts";
import type { GuardOptions } from "../../packages/client/payments/guard.ts";

/** Where a process ends by SIGKILL. `after-settlement` is the parent's to do. */
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
  readonly purchases: readonly { readonly address: string; readonly name: string | null }[];
  /** All at once instead of one after another; failures are reported and not thrown. */
  readonly parallel?: boolean;
  /** Of the last purchase. */
  readonly kill: KillPhase | null;
};

/** One line on the standard output. */
export type BuyerLine =
  | { readonly bought: string; readonly address: string; readonly transaction: string | null }
  | { readonly failed: string; readonly code: string; readonly charged: string };

const task = JSON.parse(process.argv[2] ?? "") as BuyerTask;
const account = privateKeyToAccount(task.privateKey);
let isLast = false;

function killAt(phase: KillPhase): void {
  if (isLast && task.kill === phase) process.kill(process.pid, "SIGKILL");
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
          if (record.type === "signed") killAt("after-journal");
        }),
      ),
  };
}

const killingFetch: typeof fetch = async (input, init) => {
  const isPaid = new Headers(init?.headers).has("payment-signature");
  const response = fetch(input, init);
  if (isPaid && isLast && task.kill === "after-sending")
    setTimeout(() => killAt("after-sending"), Math.random() * 60);
  const received = await response;
  if (isPaid) killAt("before-body");
  return received;
};

const sextant = createSextant({
  portfolio: task.portfolio,
  payer: {
    address: account.address,
    signTypedData(data) {
      killAt("before-signing");
      return account.signTypedData(data);
    },
  },
  guard: task.guard,
  journal: withKills(openFileJournal(task.journal)),
  fetch: killingFetch,
});

async function purchase({ address, name }: BuyerTask["purchases"][number]): Promise<void> {
  const { data, receipt } = await sextant.getPortfolio({ address }, name === null ? {} : { purchase: name });
  say({ bought: name ?? address, address: data.address, transaction: receipt?.transaction ?? null });
}

if (task.parallel) {
  await Promise.all(
    task.purchases.map((each) =>
      purchase(each).catch((error) =>
        say({ failed: each.address, code: error.code, charged: error.charged }),
      ),
    ),
  );
} else {
  for (const [index, each] of task.purchases.entries()) {
    isLast = index === task.purchases.length - 1;
    await purchase(each);
  }
}
