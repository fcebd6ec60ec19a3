// Renders an exposure: what can be taken at a glance, control of the account, permissions by asset, and how it was read.
import type { Exposure, ExposurePermission } from "../../schema/portfolio/exposure.ts";
import { computeShare, formatQuantity, formatUsd, toMillionths } from "./amounts.ts";
import {
  createElement,
  renderAmount,
  renderCard,
  renderFacts,
  renderShareBar,
  type ViewElement,
} from "./elements.ts";
import { renderNotes, renderWarnings, sortNotes } from "./notes.ts";
import { groupByAsset, isControl, REASONS, renderAssets, renderControls } from "./permission-list.ts";
import { renderTotalAmount, type ViewContext } from "./result-view.ts";
import { renderChain, renderName, shortenHex } from "./texts.ts";

export function renderExposure(exposure: Exposure, context: ViewContext): ViewElement[] {
  const { permissions, summary } = exposure;
  const { notes, warnings } = sortNotes(summary.warnings);
  const { controls, positions, tokens, collections, idle, spam } = sortPermissions(permissions);
  const parts = [
    createElement("div.two", renderGlance(exposure, context), renderChains(exposure, context)),
    warnings.length === 0 ? null : renderWarnings(warnings),
    controls.length === 0 ? null : renderCard("Who controls the account", renderControls(controls, context)),
    renderAssetCard("Positions that others can take", positions, context),
    renderAssetCard("Tokens that others can take", tokens, context),
    renderAssetCard("Collections that others can take", collections, context),
    renderFolded("More permissions", idle, spam, context),
    renderNotes(exposure, notes, context, [["List of known spenders", summary.spenderListVersion]]),
    permissions.length === 0 ? null : renderMeanings(permissions),
  ];
  return parts.filter((part) => part !== null);
}

function sortPermissions(permissions: readonly ExposurePermission[]) {
  const controls = permissions.filter(isControl);
  const others = permissions.filter((permission) => !isControl(permission));
  const isSpam = ({ reasons }: ExposurePermission) => reasons.includes("spam token");
  const isIdle = ({ rawBalance }: ExposurePermission) => rawBalance !== null && /^0+$/.test(rawBalance);
  const isItem = ({ kind }: ExposurePermission) => kind.startsWith("nft-");
  const isPosition = ({ protocol }: ExposurePermission) => protocol !== null;
  const counted = others.filter((permission) => !isSpam(permission));
  const live = counted.filter((permission) => !isIdle(permission));
  return {
    controls,
    spam: others.filter(isSpam),
    idle: counted.filter(isIdle),
    positions: live.filter(isPosition),
    tokens: live.filter((permission) => !isItem(permission) && !isPosition(permission)),
    collections: live.filter((permission) => isItem(permission) && !isPosition(permission)),
  };
}

function renderGlance(exposure: Exposure, { nameOf }: ViewContext) {
  const { summary, chains, permissions } = exposure;
  const { permissionCount, valueAtRiskUsd, partial } = summary;
  const places = listWords(chains.map(nameOf));
  if (permissionCount === 0) {
    return createElement(
      "section.card.glance.calm",
      createElement("h3", "Can be taken by others"),
      renderTotalAmount("Nothing"),
      createElement("p", `No permission over this wallet was found on ${places}.`),
      createElement("p.soft", "Compare the address with the one you meant, and see below what was searched."),
    );
  }
  const isSafe = !partial && valueAtRiskUsd !== null && toMillionths(valueAtRiskUsd) === 0n;
  return createElement(
    "section",
    { class: `card glance ${isSafe ? "calm" : "alarm"}` },
    createElement("h3", "Can be taken by others"),
    renderTotalAmount(valueAtRiskUsd === null ? "Unknown" : formatUsd(valueAtRiskUsd)),
    partial && valueAtRiskUsd !== null
      ? createElement("p.soft", "At least: something of it has no known value.")
      : null,
    createElement("p", describeCounts(exposure)),
    renderWorst(permissions),
  );
}

function describeCounts({ summary, permissions }: Exposure) {
  const { permissionCount, unlimitedCount, unknownSpenderCount } = summary;
  const holders = new Set(permissions.map(({ spender }) => spender)).size;
  const parts = [
    unlimitedCount === 0 ? null : `${unlimitedCount} without a limit`,
    unknownSpenderCount === 0 ? null : `${unknownSpenderCount} for a spender that is not on our list`,
  ].filter((part) => part !== null);
  const count = `${countOf(permissionCount, "permission")} for ${countOf(holders, "holder")}`;
  return parts.length === 0 ? `${count}.` : `${count}: ${listWords(parts)}.`;
}

/** The permission with the most at risk; those of unknown value come before it. */
function renderWorst(permissions: readonly ExposurePermission[]) {
  const worst = permissions.find(({ valueAtRiskUsd }) => valueAtRiskUsd !== null);
  if (!worst || toMillionths(worst.valueAtRiskUsd) === 0n) return null;
  const { spenderName, spender, valueAtRiskUsd, symbol, contract, unlimited, allowance, balance } = worst;
  const holder =
    spenderName === null
      ? createElement("strong", "An unknown spender, ", shortenHex(spender))
      : createElement("strong", renderName(spenderName));
  const isAll = unlimited || toMillionths(allowance) >= toMillionths(balance);
  const amount = formatQuantity(isAll ? balance : allowance);
  const what = isControl(worst)
    ? ["everything on this chain"]
    : worst.protocol !== null
      ? ["positions in ", renderName(worst.protocol)]
      : [isAll ? `all ${amount} ` : `${amount} `, renderName(symbol ?? shortenHex(contract))];
  return createElement(
    "p.worst",
    "The largest: ",
    holder,
    " can take ",
    ...what,
    ", worth ",
    renderAmount(`${formatUsd(valueAtRiskUsd)}.`),
  );
}

function renderChains({ summary }: Exposure, { nameOf }: ViewContext) {
  const whole = summary.chains.reduce((sum, { valueAtRiskUsd }) => sum + toMillionths(valueAtRiskUsd), 0n);
  const rows = summary.chains.map(({ chain, valueAtRiskUsd, permissionCount }) =>
    createElement(
      "li",
      renderChain(nameOf(chain)),
      renderShareBar(whole === 0n ? 0 : computeShare(toMillionths(valueAtRiskUsd), whole), "owed"),
      createElement(
        "span.value",
        renderAmount(valueAtRiskUsd === null ? "unknown" : formatUsd(valueAtRiskUsd)),
        createElement("small", countOf(permissionCount, "permission")),
      ),
    ),
  );
  const searched = summary.chains.map(({ chain, blockNumber, searchedFromBlock }) => [
    nameOf(chain),
    searchedFromBlock === null
      ? `block ${blockNumber}; approvals could not be searched`
      : `blocks ${searchedFromBlock} to ${blockNumber}`,
  ]);
  return renderCard(
    "By chain",
    createElement("ul.shares.first", ...rows),
    createElement("h4.searched", "Searched for approvals"),
    renderFacts(searched),
  );
}

function renderAssetCard(title: string, permissions: readonly ExposurePermission[], context: ViewContext) {
  if (permissions.length === 0) return null;
  return renderCard(title, ...renderAssets(groupByAsset(permissions), context));
}

function renderFolded(
  title: string,
  idle: readonly ExposurePermission[],
  spam: readonly ExposurePermission[],
  context: ViewContext,
) {
  if (idle.length === 0 && spam.length === 0) return null;
  return renderCard(
    title,
    idle.length === 0
      ? null
      : createElement(
          "details.more.first",
          createElement(
            "summary",
            `${countOf(idle.length, "permission")} over what the wallet does not hold now`,
          ),
          createElement("p.soft", "They become a risk when such a token arrives."),
          ...renderAssets(groupByAsset(idle), context),
        ),
    spam.length === 0
      ? null
      : createElement(
          "details.more.spam",
          createElement(
            "summary",
            `${countOf(spam.length, "permission")} over tokens marked as spam, not counted`,
          ),
          createElement(
            "p.soft",
            "Do not visit addresses in their names; a transaction to end these is seldom worth its gas.",
          ),
          ...renderAssets(groupByAsset(spam), context),
        ),
  );
}

function renderMeanings(permissions: readonly ExposurePermission[]) {
  const used: ReadonlySet<string> = new Set(permissions.flatMap(({ reasons }) => reasons));
  const rows = [...REASONS]
    .filter(([reason]) => used.has(reason))
    .map(([, { label, meaning }]) => [label, meaning]);
  return rows.length === 0 ? null : renderCard("What the labels mean", renderFacts(rows));
}

function countOf(count: number, noun: string) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function listWords(words: string[]) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
