// A difference for people: the total, then each change split into quantity and price.
import type { PortfolioDiff } from "@sextant/client/sextant";
import type { Display } from "./display.ts";
import { formatDollars, formatLabel, formatWarnings } from "./receipt.ts";
import { formatValue } from "./record.ts";
import { formatSection, type TableColumn } from "./table.ts";

type ValueChange = Pick<PortfolioDiff["total"], "changeUsd" | "quantityUsd" | "priceUsd">;

const text = (title: string): TableColumn => ({ title });
const money = (title: string): TableColumn => ({ title, align: "right", isWhole: true });
const CHANGE = [money("change"), money("by quantity"), money("by price")];

export function formatDiff(diff: PortfolioDiff, display: Display): readonly string[] {
  const { address, from, to, total, unknownCount } = diff;
  const label = (name: string) => formatLabel(name, display);
  const change = display.style("bold", formatDollars(total.changeUsd));
  const unknown = unknownCount === 0 ? "" : `   ${unknownCount} changes of unknown value`;
  return [
    `${label("Wallet")}  ${formatValue(address)}`,
    `${label("From")}  ${formatSide(from)}   ${formatDollars(total.beforeUsd)}`,
    `${label("To")}  ${formatSide(to)}   ${formatDollars(total.afterUsd)}`,
    `${label("Change")}  ${change}${unknown}`,
    ...formatChains(diff, display),
    ...formatTokens(diff, display),
    ...formatPositions(diff, display),
    ...formatWarnings([...new Set([...from.warnings, ...to.warnings])], display),
  ];
}

function formatSide({ timestamp, blocks }: PortfolioDiff["from"]): string {
  const places = blocks.map(({ chain, number }) => `${chain}:${number}`).join(",");
  return formatValue(places === "" ? timestamp : `${timestamp} at ${places}`);
}

const changeOf = ({ changeUsd, quantityUsd, priceUsd }: ValueChange): readonly string[] =>
  [changeUsd, quantityUsd, priceUsd].map(formatDollars);

function formatChains({ chains }: PortfolioDiff, display: Display): string[] {
  const columns = [text("chain"), money("before"), money("after"), ...CHANGE, money("other")];
  const rows = chains.map((each) => [
    each.chain,
    formatDollars(each.beforeUsd),
    formatDollars(each.afterUsd),
    ...changeOf(each),
    formatDollars(each.otherUsd),
  ]);
  return formatSection("Chains", columns, rows, display);
}

function formatTokens({ tokens }: PortfolioDiff, display: Display): string[] {
  const rows = tokens.map((token) => {
    const figures = token.after ?? token.before;
    const name = figures?.symbol ?? token.contract ?? "native coin";
    return [name, token.chain, ...changeOf(token), figures?.spam === true ? "spam" : ""];
  });
  return formatSection("Tokens", [text("token"), text("chain"), ...CHANGE, text("")], rows, display);
}

function formatPositions({ positions }: PortfolioDiff, display: Display): string[] {
  const columns = [text("position"), text("chain"), text("kind"), ...CHANGE];
  const rows = positions.map((each) => [each.name, each.chain, each.kind, ...changeOf(each)]);
  return formatSection("Positions", columns, rows, display);
}
