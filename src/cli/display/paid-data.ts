// Snapshots, exposures and differences for people: sums first, then tables, then what to know.
import type { ExposureOverview } from "@sextant/client/generated/records";
import type { Exposure, PortfolioDiff, PortfolioSnapshot } from "@sextant/client/sextant";
import { parseMoment } from "../../lib/moment.ts";
import type { Display } from "./display.ts";
import { fitText, shortenText, toPlainText, widthOf } from "./plain-text.ts";
import { formatDollars, formatTokenAmount, formatUnitPrice } from "./receipt.ts";
import { formatValue } from "./record.ts";
import { formatSection, type TableField } from "./table.ts";
import { formatTime } from "./time.ts";

const WARNING_LENGTH_MAX = 400;
const FACT_INDENT = 12;
// The service lists the most at risk first; --json has all of them.
const REVOCATIONS_MAX = 10;

export const textField = <T>(title: string, cell: TableField<T>["cell"]): TableField<T> => ({ title, cell });
export const amountField = <T>(title: string, cell: TableField<T>["cell"]): TableField<T> => ({
  title,
  cell,
  align: "right",
});
export const moneyField = <T>(title: string, value: (record: T) => string | null): TableField<T> => ({
  title,
  cell: (record) => formatDollars(value(record)),
  align: "right",
  isWhole: true,
});

/** Names and values before the tables. */
export function formatFacts(facts: Readonly<Record<string, string>>, display: Display): string[] {
  return Object.entries(facts).flatMap(([name, fact]) => {
    const [first = "", ...others] = fitText(fact, display.columns, FACT_INDENT);
    const blanks = " ".repeat(FACT_INDENT - widthOf(name));
    return [
      `${display.style("dim", name)}${blanks}${first}`,
      ...others.map((line) => " ".repeat(FACT_INDENT) + line),
    ];
  });
}

function formatNote(note: string, display: Display, indent = 2): string[] {
  const blanks = " ".repeat(indent);
  const lines = fitText(toPlainText(note), display.columns, indent + 2);
  return lines.map((line, index) => `${blanks}${index === 0 ? "" : "  "}${line}`);
}

export function formatWarnings(warnings: readonly string[], display: Display): string[] {
  if (warnings.length === 0) return [];
  const lines = warnings.flatMap((each) =>
    formatNote(shortenText(toPlainText(each), WARNING_LENGTH_MAX), display),
  );
  return ["", display.style("bold", "What to know"), ...lines];
}

type Element<List extends readonly unknown[]> = List[number];

const CHAINS: readonly TableField<Element<PortfolioSnapshot["summary"]["chains"]>>[] = [
  textField("chain", ({ chain }) => chain),
  amountField("tokens", ({ tokenCount }) => String(tokenCount)),
  amountField("priced", ({ pricedTokenCount }) => String(pricedTokenCount)),
  moneyField("worth", ({ totalValueUsd }) => totalValueUsd),
];

const TOKENS: readonly TableField<Element<PortfolioSnapshot["tokens"]>>[] = [
  textField("token", ({ symbol, contract }) => symbol ?? contract ?? "?"),
  textField("chain", ({ chain }) => chain),
  amountField("balance", ({ balance, rawBalance, symbol }) =>
    balance === null ? `${rawBalance} units` : formatTokenAmount(balance, symbol),
  ),
  amountField("price", ({ priceUsd }) => formatUnitPrice(priceUsd)),
  moneyField("worth", ({ valueUsd }) => valueUsd),
  textField("", ({ spam }) => (spam ? "spam" : "")),
];

const POSITIONS: readonly TableField<Element<PortfolioSnapshot["positions"]>>[] = [
  textField("position", ({ name }) => name),
  textField("chain", ({ chain }) => chain),
  textField("kind", ({ kind }) => kind),
  textField("assets", ({ assets }) =>
    assets.map(({ balance, symbol }) => formatTokenAmount(balance, symbol)).join(", "),
  ),
  moneyField("worth", ({ valueUsd }) => valueUsd),
];

const LOANS: readonly TableField<Element<PortfolioSnapshot["health"]>>[] = [
  textField("loan", ({ name }) => name),
  textField("chain", ({ chain }) => chain),
  moneyField("collateral", ({ collateralUsd }) => collateralUsd),
  moneyField("owed", ({ debtUsd }) => debtUsd),
  amountField("health factor", ({ healthFactor }) => (healthFactor === null ? "–" : cutFactor(healthFactor))),
  amountField("may lose", ({ distanceToLiquidation: part }) => (part === null ? "–" : cutPercent(part))),
  textField("", ({ liquidatable }) => (liquidatable ? "can be liquidated now" : "")),
];

const ACTIVITY: readonly TableField<Element<PortfolioSnapshot["recentActivity"]>>[] = [
  { ...textField("when", ({ timestamp }) => formatTime(timestamp ?? "?")), isWhole: true },
  textField("chain", ({ chain }) => chain ?? "?"),
  textField("transaction", ({ hash }) => hash ?? "?"),
];

/** The time that --at named: the blocks of a chain that stood still may be older. */
export function formatAsked(at: string | undefined, nowMs: number, display: Display): readonly string[] {
  if (at === undefined) return [];
  // Only an age needs the clock. The service has accepted a date, and that of this machine may be behind.
  const isAge = /^\d+[mhdw]$/.test(at);
  const time = isAge && formatTime(String(parseMoment(at, "--at", nowMs)));
  return formatFacts({ "Asked for": time ? `${time} UTC, ${at} ago` : toPlainText(at) }, display);
}

export function formatSnapshot(snapshot: PortfolioSnapshot, display: Display): readonly string[] {
  const { address, provider, summary } = snapshot;
  const worth = display.style("bold", formatDollars(summary.totalValueUsd));
  // Accounts with a debt, and those whose debt is unknown.
  const loans = snapshot.health.filter(({ debtUsd, loanToValue }) => debtUsd !== "0" && loanToValue !== "0");
  const facts = {
    Wallet: formatValue(address),
    Worth: `${worth}   stablecoins ${formatDollars(summary.stablecoinValueUsd)}`,
    Taken: `${formatSide(snapshot)} by ${formatValue(provider)}`,
  };
  return [
    ...formatFacts(facts, display),
    ...formatSection("Chains", CHAINS, summary.chains, display),
    ...formatSection("Tokens", TOKENS, snapshot.tokens, display),
    ...formatSection("Positions", POSITIONS, snapshot.positions, display),
    ...formatSection("Loans", LOANS, loans, display),
    ...formatSection("Activity", ACTIVITY, snapshot.recentActivity, display),
    ...formatWarnings(summary.warnings, display),
  ];
}

/** Cut, not rounded: rounded up, a loan would look safer than it is. */
function cutFactor(factor: string): string {
  return /^-?\d+(?:\.\d{1,2})?/.exec(factor)?.[0] ?? factor;
}

/** A part of one as a percentage with one decimal, cut too. */
function cutPercent(part: string): string {
  const [, whole, fraction = ""] = /^(\d+)\.?(\d*)$/.exec(part) ?? [];
  if (whole === undefined) return part;
  const digits = fraction.padEnd(3, "0");
  return `${BigInt(whole + digits.slice(0, 2))}.${digits.charAt(2)} %`;
}

type Permission = Element<Exposure["permissions"]>;
type AtRisk = Pick<Exposure["summary"], "valueAtRiskUsd" | "partial">;

const atRisk: TableField<AtRisk> = { title: "at risk", cell: formatRisk, align: "right", isWhole: true };

export const RISK_CHAINS: readonly TableField<
  AtRisk & Pick<Element<Exposure["summary"]["chains"]>, "chain" | "permissionCount">
>[] = [
  textField("chain", ({ chain }) => chain),
  amountField("permissions", ({ permissionCount }) => String(permissionCount)),
  atRisk,
];

const PERMISSIONS: readonly TableField<Element<Exposure["permissions"]>>[] = [
  textField("spender", ({ spenderName, spender }) => spenderName ?? spender),
  textField("token", nameSubject),
  textField("chain", ({ chain }) => chain),
  amountField("allowance", formatAllowance),
  atRisk,
  textField("reasons", ({ reasons }) => reasons.join(", ")),
  textField("kind", ({ kind }) => kind),
];

const ASKED: readonly TableField<Element<NonNullable<Exposure["allowances"]>>>[] = [
  textField("spender", ({ spender }) => spender),
  amountField("smallest units", ({ rawAllowance }) => rawAllowance ?? "unknown"),
  textField("chain", ({ chain }) => chain),
  textField("kind", ({ kind }) => kind),
  textField("token", ({ contract }) => contract),
];

export function formatExposure(exposure: Exposure, display: Display): readonly string[] {
  const { address, timestamp, provider, summary } = exposure;
  const { permissionCount, unlimitedCount, unknownSpenderCount } = summary;
  const permissions = permissionCount === 1 ? "1 permission" : `${permissionCount} permissions`;
  const counts = `${permissions}, ${unlimitedCount} unlimited, ${unknownSpenderCount} of unknown spenders`;
  const counting = permissionCount > 1 ? "; a token that several can take counts once" : "";
  const facts = {
    Wallet: formatValue(address),
    "At risk": `${display.style("bold", formatRisk(summary))}   ${formatValue(counts)}${counting}`,
    Taken: `${formatSide({ timestamp, blocks: blocksOf(summary) })} by ${formatValue(provider)}`,
  };
  return [
    ...formatFacts(facts, display),
    ...formatSection("Chains", RISK_CHAINS, summary.chains, display),
    // Unknown values first, then the most at risk, as the service lists them.
    ...formatSection("Permissions", PERMISSIONS, exposure.permissions, display),
    ...formatSection("Allowances of the spenders asked for", ASKED, exposure.allowances ?? [], display),
    ...formatRevocations(exposure.permissions, display),
    ...formatWarnings(summary.warnings, display),
  ];
}

/** Names the token or protocol of a permission. */
function nameSubject({ symbol, protocol, contract }: Permission): string {
  return symbol ?? (protocol === null ? contract : nameProtocol(protocol));
}

/** `morpho-blue` is Morpho Blue, `aave-v3` Aave v3. */
function nameProtocol(slug: string): string {
  return slug.replace(/(^|-)(v\d|\w)/g, (_, dash: string, start: string) => {
    return `${dash && " "}${start.length > 1 ? start : start.toUpperCase()}`;
  });
}

/** Whole calls, to be copied into a wallet. */
function formatRevocations(permissions: readonly Permission[], display: Display): string[] {
  const revocable = permissions.filter(({ revoke }) => revoke !== null);
  if (revocable.length === 0) return [];
  const left = revocable.length - REVOCATIONS_MAX;
  return [
    "",
    display.style("bold", "How to revoke: send each from the wallet itself"),
    ...revocable.slice(0, REVOCATIONS_MAX).flatMap((permission) => formatRevocation(permission, display)),
    ...(left > 0 ? [`  ${left} more with --json`] : []),
  ];
}

function formatRevocation(permission: Permission, display: Display): string[] {
  const { revoke, spender, spenderName, chain } = permission;
  if (revoke === null) return [];
  const title = `${nameSubject(permission)} on ${chain}, ${spenderName ?? spender}: ${revoke.description}`;
  const call =
    revoke.type === "call"
      ? [`to    ${revoke.to}`, `data  ${revoke.data}`]
      : [
          `sign  an EIP-7702 authorization of chain ${revoke.authorization.chainId} for ${revoke.authorization.address}`,
        ];
  return [...formatNote(title, display), ...call.flatMap((line) => formatNote(line, display, 4))];
}

/** A minimum if something has no known value. */
export function formatRisk({ valueAtRiskUsd, partial }: AtRisk): string {
  const risk = formatDollars(valueAtRiskUsd);
  return partial && valueAtRiskUsd !== null ? `at least ${risk}` : risk;
}

/** A dash if the permission has no amount, as for a delegate or an operator of a collection. */
function formatAllowance(permission: Permission): string {
  const { unlimited, allowance, rawAllowance } = permission;
  if (unlimited) return "unlimited";
  if (allowance !== null) return formatTokenAmount(allowance, permission.symbol);
  return rawAllowance === null ? "–" : `${rawAllowance} units`;
}

/** Each change split into quantity and price. */
export const CHANGE: readonly TableField<
  Pick<PortfolioDiff["total"], "changeUsd" | "quantityUsd" | "priceUsd">
>[] = [
  moneyField("change", ({ changeUsd }) => changeUsd),
  moneyField("by quantity", ({ quantityUsd }) => quantityUsd),
  moneyField("by price", ({ priceUsd }) => priceUsd),
];

const CHANGED_CHAINS: readonly TableField<Element<PortfolioDiff["chains"]>>[] = [
  textField("chain", ({ chain }) => chain),
  moneyField("before", ({ beforeUsd }) => beforeUsd),
  moneyField("after", ({ afterUsd }) => afterUsd),
  ...CHANGE,
  moneyField("other", ({ otherUsd }) => otherUsd),
];

const CHANGED_TOKENS: readonly TableField<Element<PortfolioDiff["tokens"]>>[] = [
  textField("token", ({ after, before, contract }) => (after ?? before)?.symbol ?? contract ?? "native coin"),
  textField("chain", ({ chain }) => chain),
  ...CHANGE,
  textField("", ({ after, before }) => ((after ?? before)?.spam === true ? "spam" : "")),
];

const CHANGED_POSITIONS: readonly TableField<Element<PortfolioDiff["positions"]>>[] = [
  textField("position", ({ name }) => name),
  textField("chain", ({ chain }) => chain),
  textField("kind", ({ kind }) => kind),
  ...CHANGE,
];

export function formatDiff(diff: PortfolioDiff, display: Display): readonly string[] {
  const { address, from, to, total, unknownCount } = diff;
  const unknown = unknownCount === 0 ? "" : `   ${unknownCount} changes of unknown value`;
  const facts = {
    Wallet: formatValue(address),
    From: `${formatSide(from)}   ${formatDollars(total.beforeUsd)}`,
    To: `${formatSide(to)}   ${formatDollars(total.afterUsd)}`,
    Change: `${display.style("bold", formatDollars(total.changeUsd))}${unknown}`,
  };
  return [
    ...formatFacts(facts, display),
    ...formatSection("Chains", CHANGED_CHAINS, diff.chains, display),
    ...formatSection("Tokens", CHANGED_TOKENS, diff.tokens, display),
    ...formatSection("Positions", CHANGED_POSITIONS, diff.positions, display),
    ...formatWarnings([...new Set([...from.warnings, ...to.warnings])], display),
  ];
}

type ChainBlock = { readonly chain: string; readonly number: number | string };

/** The blocks of an exposure; chains that could not be read have none. */
export const blocksOf = ({ chains }: Pick<Exposure["summary"], "chains"> | ExposureOverview) =>
  chains.flatMap(({ chain, blockNumber: number }) => (number === null ? [] : [{ chain, number }]));

export function formatSide({
  timestamp,
  blocks,
}: {
  readonly timestamp: string;
  readonly blocks: readonly ChainBlock[];
}): string {
  const places = blocks.map(({ chain, number }) => `${chain}:${number}`).join(", ");
  const time = `${formatTime(timestamp)} UTC`;
  return places === "" ? time : toPlainText(`${time} at ${places}`);
}
