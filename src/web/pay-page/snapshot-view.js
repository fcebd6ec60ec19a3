// A snapshot as a person wants to see it: the sum, the parts, the doubts, and what was paid for it.
import { allocation, partsOf } from "./allocation.js";
import { price, quantity, usd } from "./amounts.js";
import { card, element, moment, named, shortened, transactionLink } from "./elements.js";

/**
 * @typedef {{slug: string, name: string, explorerTxUrl: string | null}} KnownChain
 * @typedef {import("./paid-request.js").Bought} Bought
 * @typedef {import("./paid-request.js").Snapshot} Snapshot
 * @typedef {import("./paid-request.js").Token} Token
 * @typedef {import("./paid-request.js").Position} Position
 * @typedef {import("./paid-request.js").Activity} Activity
 * @typedef {import("./paid-request.js").Receipt} Receipt
 * @typedef {{chains: KnownChain[], paidOn: KnownChain}} Known
 */

/** @param {Bought} bought @param {Known} known @returns {HTMLElement[]} */
export function snapshotView({ snapshot, receipt }, known) {
  const { summary, tokens, positions, recentActivity } = snapshot;
  const nameOf = (/** @type {string} */ slug) =>
    known.chains.find((chain) => chain.slug === slug)?.name ?? slug;
  return [
    element("div", { class: "two" }, totalCard(snapshot, nameOf), allocationCard(snapshot)),
    summary.warnings.length > 0 ? warningsCard(summary.warnings) : null,
    tokens.length > 0 ? tokensCard(tokens, nameOf) : null,
    positions.length > 0 ? positionsCard(positions, nameOf) : null,
    recentActivity.length > 0 ? activityCard(recentActivity, known, nameOf) : null,
    receipt === null ? null : receiptCard(receipt, known.paidOn),
  ].filter((part) => part !== null);
}

/** @param {Snapshot} snapshot @param {(slug: string) => string} nameOf */
function totalCard({ address, timestamp, provider, summary }, nameOf) {
  const perChain = summary.chains.map((chain) => [nameOf(chain.chain), usd(chain.totalValueUsd)]);
  return card(
    "Worth",
    element(
      "div",
      { class: "total", id: "total" },
      summary.totalValueUsd === null ? "unknown" : usd(summary.totalValueUsd),
    ),
    element(
      "p",
      { class: "soft" },
      `${summary.tokenCount} tokens, ${summary.pricedTokenCount} of them priced; stablecoins ${usd(summary.stablecoinValueUsd)}.`,
    ),
    facts([
      ["Wallet", element("code", { title: address }, shortened(address))],
      ...perChain,
      ["Taken", moment(timestamp)],
      ["Read by", provider],
    ]),
  );
}

/** @param {Snapshot} snapshot */
function allocationCard(snapshot) {
  const picture = allocation(partsOf(snapshot));
  return card("Allocation", picture ?? element("p", { class: "soft" }, "Nothing here has a price."));
}

/** @param {string[]} warnings */
function warningsCard(warnings) {
  const list = element("ul", { class: "plain" }, ...warnings.map((warning) => element("li", {}, warning)));
  const box = card("What to know", list);
  box.classList.add("warnings");
  return box;
}

/** @param {Token[]} tokens @param {(slug: string) => string} nameOf */
function tokensCard(tokens, nameOf) {
  const rows = tokens.map((token) =>
    element(
      "tr",
      token.spam ? { class: "muted" } : {},
      element(
        "th",
        {
          scope: "row",
          title: `${token.symbol ?? "?"} · ${token.name ?? "?"} · ${token.contract ?? "native"}`,
        },
        named(token.symbol ?? (token.contract === null ? "?" : shortened(token.contract))),
        token.spam ? element("span", { class: "tag" }, "spam, not counted") : null,
        element("small", {}, [named(token.name ?? ""), nameOf(token.chain)].filter(Boolean).join(" · ")),
      ),
      numberCell(quantity(token.balance), token.balance ?? token.rawBalance),
      numberCell(price(token.priceUsd), token.priceUsd ?? "no price", "optional"),
      numberCell(usd(token.valueUsd), token.valueUsd ?? "no price"),
    ),
  );
  return card("Tokens", table(["Token"], ["Balance", "Price", "Value"], rows));
}

/** @param {Position[]} positions @param {(slug: string) => string} nameOf */
function positionsCard(positions, nameOf) {
  const rows = positions.map(({ name, protocol, kind, chain, assets, valueUsd }) =>
    element(
      "tr",
      {},
      element(
        "th",
        { scope: "row", title: name },
        named(name),
        element("small", {}, [protocol, kind, nameOf(chain)].join(" · ")),
      ),
      element(
        "td",
        { class: "number" },
        ...assets.map((asset) =>
          element(
            "div",
            { title: asset.balance ?? asset.rawBalance },
            `${quantity(asset.balance)} ${named(asset.symbol ?? "")}`,
          ),
        ),
      ),
      numberCell(usd(valueUsd), valueUsd ?? "no price", valueUsd?.startsWith("-") ? "negative" : ""),
    ),
  );
  return card("Positions", table(["Position"], ["Assets", "Value"], rows));
}

/** @param {Activity[]} activity @param {Known} known @param {(slug: string) => string} nameOf */
function activityCard(activity, known, nameOf) {
  const rows = activity.map(({ chain, hash, from, to, timestamp }) => {
    const page = known.chains.find(({ slug }) => slug === chain)?.explorerTxUrl;
    return element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        hash === null ? "–" : transactionLink(hash, page),
        element("small", {}, nameOf(chain ?? "?")),
      ),
      element("td", { class: "optional" }, element("code", { title: from ?? "" }, shortened(from ?? "–"))),
      element("td", { class: "optional" }, element("code", { title: to ?? "" }, shortened(to ?? "–"))),
      element("td", { class: "number" }, timestamp === null ? "–" : moment(timestamp)),
    );
  });
  return card("Recent activity", table(["Transaction", "From", "To"], ["When"], rows));
}

/** @param {Receipt} receipt @param {KnownChain} paidOn */
function receiptCard(receipt, paidOn) {
  return card(
    "Paid",
    facts([
      ["Transaction", transactionLink(String(receipt.transaction), paidOn.explorerTxUrl)],
      ["By", element("code", {}, String(receipt.payer ?? "–"))],
      ["On", paidOn.name],
    ]),
  );
}

/** @param {(string | Node)[][]} rows */
function facts(rows) {
  const parts = rows.flatMap(([name = "", value = ""]) => [
    element("dt", {}, name),
    element("dd", {}, value),
  ]);
  return element("dl", { class: "facts" }, ...parts);
}

/** @param {string} text @param {string} exact @param {string} look */
function numberCell(text, exact, look = "") {
  return element("td", { class: `number ${look}`.trim(), title: exact }, text);
}

/** @param {string[]} left @param {string[]} right @param {Node[]} rows */
function table(left, right, rows) {
  const hidden = (/** @type {string} */ name) => (["Price", "From", "To"].includes(name) ? "optional" : "");
  const head = [
    ...left.map((name) => element("th", { scope: "col", class: hidden(name) }, name)),
    ...right.map((name) => element("th", { scope: "col", class: `number ${hidden(name)}`.trim() }, name)),
  ];
  return element(
    "div",
    { class: "scroll" },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
  );
}
