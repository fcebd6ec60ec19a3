// Renders a snapshot: total, allocation, warnings, tokens, positions, activity and the receipt.
import { listParts, renderAllocation } from "./allocation.js";
import { formatPrice, formatQuantity, formatUsd } from "./amounts.js";
import {
  createHtmlElement,
  formatTime,
  renderCard,
  shortenHex,
  transactionLink,
  truncateName,
} from "./elements.js";

/**
 * @typedef {{slug: string, name: string, explorerTxUrl: string | null}} KnownChain
 * @typedef {import("./paid-request.js").PaidSnapshot} PaidSnapshot
 * @typedef {import("./paid-request.js").Snapshot} Snapshot
 * @typedef {import("./paid-request.js").Token} Token
 * @typedef {import("./paid-request.js").Position} Position
 * @typedef {import("./paid-request.js").Activity} Activity
 * @typedef {import("./paid-request.js").Receipt} Receipt
 * @typedef {{chains: KnownChain[], paymentChain: KnownChain & import("./wallet.js").WalletChain}} ChainInfo
 */

/** @param {PaidSnapshot} paid @param {ChainInfo} info @returns {HTMLElement[]} */
export function renderSnapshot({ snapshot, receipt }, info) {
  const { summary, tokens, positions, recentActivity } = snapshot;
  const nameOf = (/** @type {string} */ slug) =>
    info.chains.find((chain) => chain.slug === slug)?.name ?? slug;
  return [
    createHtmlElement("div", { class: "two" }, renderTotal(snapshot, nameOf), renderAllocationCard(snapshot)),
    summary.warnings.length > 0 ? renderWarnings(summary.warnings) : null,
    tokens.length > 0 ? renderTokens(tokens, nameOf) : null,
    positions.length > 0 ? renderPositions(positions, nameOf) : null,
    recentActivity.length > 0 ? renderActivity(recentActivity, info, nameOf) : null,
    receipt === null ? null : renderReceipt(receipt, info.paymentChain),
  ].filter((part) => part !== null);
}

/** @param {Snapshot} snapshot @param {(slug: string) => string} nameOf */
function renderTotal({ address, timestamp, provider, summary }, nameOf) {
  const perChain = summary.chains.map((chain) => [nameOf(chain.chain), formatUsd(chain.totalValueUsd)]);
  return renderCard(
    "Total value",
    createHtmlElement(
      "div",
      { class: "total", id: "total" },
      summary.totalValueUsd === null ? "unknown" : formatUsd(summary.totalValueUsd),
    ),
    createHtmlElement(
      "p",
      { class: "soft" },
      `${summary.tokenCount} tokens, ${summary.pricedTokenCount} with a price; stablecoins ${formatUsd(summary.stablecoinValueUsd)}.`,
    ),
    renderFacts([
      ["Wallet", createHtmlElement("code", { title: address }, shortenHex(address))],
      ...perChain,
      ["Taken", formatTime(timestamp)],
      ["Source", provider],
    ]),
  );
}

/** @param {Snapshot} snapshot */
function renderAllocationCard(snapshot) {
  const picture = renderAllocation(listParts(snapshot));
  return renderCard(
    "Allocation",
    picture ?? createHtmlElement("p", { class: "soft" }, "Nothing in this wallet has a price."),
  );
}

/** @param {string[]} warnings */
function renderWarnings(warnings) {
  const list = createHtmlElement(
    "ul",
    { class: "plain" },
    ...warnings.map((warning) => createHtmlElement("li", {}, warning)),
  );
  const box = renderCard("Warnings", list);
  box.classList.add("warnings");
  return box;
}

/** @param {Token[]} tokens @param {(slug: string) => string} nameOf */
function renderTokens(tokens, nameOf) {
  const rows = tokens.map((token) =>
    createHtmlElement(
      "tr",
      token.spam ? { class: "muted" } : {},
      createHtmlElement(
        "th",
        {
          scope: "row",
          title: `${token.symbol ?? "?"} · ${token.name ?? "?"} · ${token.contract ?? "native"}`,
        },
        truncateName(token.symbol ?? (token.contract === null ? "?" : shortenHex(token.contract))),
        token.spam ? createHtmlElement("span", { class: "tag" }, "spam, not counted") : null,
        createHtmlElement(
          "small",
          {},
          [truncateName(token.name ?? ""), nameOf(token.chain)].filter(Boolean).join(" · "),
        ),
      ),
      renderNumberCell(formatQuantity(token.balance), token.balance ?? token.rawBalance),
      renderNumberCell(formatPrice(token.priceUsd), token.priceUsd ?? "no price", "optional"),
      renderNumberCell(formatUsd(token.valueUsd), token.valueUsd ?? "no price"),
    ),
  );
  return renderCard("Tokens", renderTable(["Token"], ["Balance", "Price", "Value"], rows));
}

/** @param {Position[]} positions @param {(slug: string) => string} nameOf */
function renderPositions(positions, nameOf) {
  const rows = positions.map(({ name, protocol, kind, chain, assets, valueUsd }) =>
    createHtmlElement(
      "tr",
      {},
      createHtmlElement(
        "th",
        { scope: "row", title: name },
        truncateName(name),
        createHtmlElement("small", {}, [protocol, kind, nameOf(chain)].join(" · ")),
      ),
      createHtmlElement(
        "td",
        { class: "number" },
        ...assets.map((asset) =>
          createHtmlElement(
            "div",
            { title: asset.balance ?? asset.rawBalance },
            `${formatQuantity(asset.balance)} ${truncateName(asset.symbol ?? "")}`,
          ),
        ),
      ),
      renderNumberCell(
        formatUsd(valueUsd),
        valueUsd ?? "no price",
        valueUsd?.startsWith("-") ? "negative" : "",
      ),
    ),
  );
  return renderCard("Positions", renderTable(["Position"], ["Assets", "Value"], rows));
}

/** @param {Activity[]} activity @param {ChainInfo} info @param {(slug: string) => string} nameOf */
function renderActivity(activity, info, nameOf) {
  const rows = activity.map(({ chain, hash, from, to, timestamp, lookalike }) => {
    const page = info.chains.find(({ slug }) => slug === chain)?.explorerTxUrl;
    return createHtmlElement(
      "tr",
      {},
      createHtmlElement(
        "th",
        { scope: "row" },
        hash === null ? "–" : transactionLink(hash, page),
        createHtmlElement(
          "small",
          {},
          // People copy counterparties from such lists, which is what a poisoner waits for.
          lookalike ? `${nameOf(chain ?? "?")}, lookalike address: do not copy` : nameOf(chain ?? "?"),
        ),
      ),
      createHtmlElement(
        "td",
        { class: "optional" },
        createHtmlElement("code", { title: from ?? "" }, shortenHex(from ?? "–")),
      ),
      createHtmlElement(
        "td",
        { class: "optional" },
        createHtmlElement("code", { title: to ?? "" }, shortenHex(to ?? "–")),
      ),
      createHtmlElement("td", { class: "number" }, timestamp === null ? "–" : formatTime(timestamp)),
    );
  });
  return renderCard("Recent activity", renderTable(["Transaction", "From", "To"], ["When"], rows));
}

/** @param {Receipt} receipt @param {KnownChain} paymentChain */
function renderReceipt(receipt, paymentChain) {
  return renderCard(
    "Paid",
    renderFacts([
      ["Transaction", transactionLink(String(receipt.transaction), paymentChain.explorerTxUrl)],
      ["By", createHtmlElement("code", {}, String(receipt.payer ?? "–"))],
      ["On", paymentChain.name],
    ]),
  );
}

/** @param {(string | Node)[][]} rows */
function renderFacts(rows) {
  const parts = rows.flatMap(([name = "", value = ""]) => [
    createHtmlElement("dt", {}, name),
    createHtmlElement("dd", {}, value),
  ]);
  return createHtmlElement("dl", { class: "facts" }, ...parts);
}

/** @param {string} text @param {string} exact @param {string} look */
function renderNumberCell(text, exact, look = "") {
  return createHtmlElement("td", { class: `number ${look}`.trim(), title: exact }, text);
}

/** @param {string[]} left @param {string[]} right @param {Node[]} rows */
function renderTable(left, right, rows) {
  const hidden = (/** @type {string} */ name) => (["Price", "From", "To"].includes(name) ? "optional" : "");
  const head = [
    ...left.map((name) => createHtmlElement("th", { scope: "col", class: hidden(name) }, name)),
    ...right.map((name) =>
      createHtmlElement("th", { scope: "col", class: `number ${hidden(name)}`.trim() }, name),
    ),
  ];
  return createHtmlElement(
    "div",
    { class: "scroll" },
    createHtmlElement(
      "table",
      {},
      createHtmlElement("thead", {}, createHtmlElement("tr", {}, ...head)),
      createHtmlElement("tbody", {}, ...rows),
    ),
  );
}
