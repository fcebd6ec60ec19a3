// Renders the positions: grouped by protocol and chain, each group with its net value and what is owed of it.
import type { PortfolioPosition } from "../../schema/portfolio/snapshot.ts";
import {
  computeShare,
  formatQuantity,
  formatUsd,
  fromMillionths,
  sumMillionths,
  toMillionths,
} from "./amounts.ts";
import {
  createElement,
  renderAmount,
  renderCard,
  renderNumberCell,
  renderShareBar,
  renderTable,
} from "./elements.ts";
import type { ViewContext } from "./result-view.ts";
import { renderChain, renderName, revealName } from "./texts.ts";

const POSITION_COLUMNS = [
  { name: "Position" },
  { name: "Assets", look: "number wide" },
  { name: "Value", look: "number" },
];

export function renderPositions(positions: readonly PortfolioPosition[], context: ViewContext) {
  if (positions.length === 0) {
    const text = "None in the lending, vault, staking and liquidity protocols that are read.";
    return renderCard("Positions", createElement("p.soft", text));
  }
  const groups = new Map();
  for (const position of positions) {
    const key = `${position.protocol} ${position.chain}`;
    groups.set(key, [...(groups.get(key) ?? []), position]);
  }
  const head = { look: "positions", caption: "Positions by protocol", columns: POSITION_COLUMNS };
  return renderCard(
    "Positions",
    renderTable(head, ...[...groups.values()].map((group) => renderGroup(group, context))),
  );
}

/** The group has at least one, all of the same protocol and chain. */
function renderGroup(group: readonly PortfolioPosition[], { nameOf }: ViewContext) {
  const [first] = group;
  const values = group.map(({ valueUsd }) => valueUsd);
  const net = values.includes(null) ? null : sumMillionths(values);
  return createElement(
    "tbody",
    createElement(
      "tr.group",
      createElement(
        "th",
        { scope: "rowgroup" },
        createElement("strong", renderName(formatProtocol(first?.protocol ?? "?"))),
        " ",
        renderChain(nameOf(first?.chain ?? "?")),
        renderDebt(values),
      ),
      createElement("td.wide"),
      renderNumberCell(
        net === null ? createElement("span.soft", "unknown") : formatUsd(fromMillionths(net)),
        net === null ? "A part has no known price" : fromMillionths(net),
      ),
    ),
    ...group.map(renderPosition),
  );
}

/**
 * The owed part of what is supplied, if both are known. How near that is to liquidation is not: each market has
 * limits of its own.
 */
function renderDebt(values: (string | null)[]) {
  if (values.includes(null)) return null;
  const held = sumMillionths(values.filter((value) => toMillionths(value) > 0n));
  const owed = -sumMillionths(values.filter((value) => toMillionths(value) < 0n));
  if (held === 0n || owed === 0n) return null;
  const share = computeShare(owed, held);
  return createElement(
    "small.debt",
    { title: "Over all markets of the protocol; each has a liquidation limit of its own." },
    `Owes ${share} % of what it holds there`,
    renderShareBar(share, "owed"),
  );
}

function renderPosition({ name, kind, assets, valueUsd, partial }: PortfolioPosition) {
  const quantities = (look: string) =>
    assets.map((asset) =>
      createElement(
        "span",
        { class: look, title: asset.balance ?? asset.rawBalance },
        renderAmount(formatQuantity(asset.balance)),
        " ",
        renderName(asset.symbol ?? "?"),
      ),
    );
  return createElement(
    "tr",
    createElement(
      "th",
      { scope: "row", title: revealName(name) },
      createElement("span", { class: `tag ${kind === "borrowed" ? "bad" : ""}`.trim() }, kind),
      " ",
      renderName(name),
      createElement("small.narrow", ...quantities("line")),
    ),
    createElement("td.number.wide", ...quantities("line")),
    renderNumberCell(
      valueUsd === null ? createElement("span.soft", "no price") : formatUsd(valueUsd),
      valueUsd ?? "no price",
      valueUsd?.startsWith("-") ? "negative" : "",
      partial ? createElement("small", { title: "An asset has no known price" }, "in part") : null,
    ),
  );
}

const PROTOCOL_NAMES = new Map([
  ["erc-4626", "ERC-4626 vaults"],
  ["ether-fi", "ether.fi"],
]);

/** `aave-v3` is Aave v3. */
function formatProtocol(protocol: string) {
  const capitalise = (word: string) =>
    /^v\d/.test(word) ? word : word.replace(/^./u, (letter) => letter.toUpperCase());
  return PROTOCOL_NAMES.get(protocol) ?? protocol.split("-").map(capitalise).join(" ");
}
