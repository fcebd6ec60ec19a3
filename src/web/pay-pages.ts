// The pay pages: what each says, and the module that it runs.
import type { Offering } from "./offering.ts";

export type PayPageField = {
  /** The key of the query. */
  readonly name: string;
  readonly label: string;
  readonly required: boolean;
  /** `{day}` in it stands for a day that can be tried. */
  readonly hint: string;
};

export type PayPage = {
  /** The paid route whose page browsers get. */
  readonly path: string;
  /** In the navigation. */
  readonly label: string;
  readonly heading: string;
  /** On the button that leads to it. */
  readonly choice: string;
  /** The name of what is bought. */
  readonly noun: string;
  readonly gets: readonly string[];
  /** The text fields of the form, besides the wallet. */
  readonly fields: readonly PayPageField[];
  /** The module that the browser runs. */
  readonly script: URL;
};

const WHEN_HINT =
  "An age (7d, 12h), a date in UTC ({day} or {day}T12:00Z), or a block: its number if one chain is chosen, otherwise chain:number for each.";
const WHEN_FIELD = { name: "at", label: "When; now if empty", required: false, hint: WHEN_HINT };

export const PAY_PAGES: readonly PayPage[] = [
  {
    path: "/portfolio",
    label: "Snapshot",
    heading: "What is in this wallet?",
    choice: "See what is in it",
    noun: "Snapshot",
    gets: [
      "Every known token of the wallet on the chains you choose, read at one block per chain",
      "Prices from on-chain oracles first, with the source of each price",
      "Lending, vaults, staking and liquidity positions; debts subtracted, nothing counted twice",
      "How far each loan is from liquidation, the kind of account, and whether it has gas on each chain",
      "Spam marked and left out of the total, recent activity, and warnings about anything unknown",
    ],
    fields: [WHEN_FIELD],
    script: new URL("./pay-page/browser/snapshot-page.ts", import.meta.url),
  },
  {
    path: "/exposure",
    label: "Exposure",
    heading: "What can be taken from this wallet?",
    choice: "See what can be taken",
    noun: "Exposure",
    gets: [
      "Every live permission that is found: allowances, Permit2, operators of collections, delegates, owners, modules, session keys",
      "For each: who holds it, how much can be taken, and what that is worth now",
      "The call that ends it, to copy or to send from your wallet",
      "Read from the state of the chain at one block, never from events alone; what was searched is stated",
    ],
    fields: [WHEN_FIELD],
    script: new URL("./pay-page/browser/exposure-page.ts", import.meta.url),
  },
  {
    path: "/portfolio/diff",
    label: "Changes",
    heading: "What changed in this wallet?",
    choice: "See what changed",
    noun: "Difference",
    gets: [
      "The wallet at two blocks of each chain, and the change in its value",
      "Every token and position that changed, with the change split into quantity and price",
      "Both sides read by the same sources, so that only the chain differs",
      "What could not be known on a side, counted and never guessed",
    ],
    fields: [
      {
        name: "from",
        label: "From when",
        required: true,
        hint: `${WHEN_HINT} Or the snapshotId of an earlier purchase.`,
      },
      {
        name: "to",
        label: "To when; now if empty",
        required: false,
        hint: "In the same form. Blocks written as chain:number name the chains to read.",
      },
    ],
    script: new URL("./pay-page/browser/diff-page.ts", import.meta.url),
  },
];

/** Null if browsers get what programs get. */
export function findPayPage(path: string): PayPage | null {
  return PAY_PAGES.find((page) => page.path === path) ?? null;
}

/** The pages of the routes on offer. */
export function listPayPages({ routes }: Offering): readonly PayPage[] {
  return PAY_PAGES.filter(({ path }) => routes.some((route) => route.path === path));
}
