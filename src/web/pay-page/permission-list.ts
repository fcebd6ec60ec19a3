// Renders permissions: what can be taken, who can take it, how much of it, and what ends the permission.
import type { ExposurePermission } from "../../schema/portfolio/exposure.ts";
import { formatQuantity, formatUsd } from "./amounts.ts";
import { createElement, renderAmount, type ViewElement } from "./elements.ts";
import type { ViewContext } from "./result-view.ts";
import { renderRevocation } from "./revocation-view.ts";
import { renderChain, renderHex, renderName, renderTime, revealName, shortenHex } from "./texts.ts";

type Asset = { key: string; permissions: readonly ExposurePermission[] };

// More would hide what follows; the first are those with the most at risk.
const ASSETS_SHOWN = 12;

/** The meaning of each reason in the response. */
export const REASONS = new Map([
  [
    "unlimited",
    { label: "Unlimited", look: "bad", meaning: "no amount ends it: also what arrives later can be taken" },
  ],
  [
    "unknown spender",
    { label: "Unknown spender", look: "warn", meaning: "not on our list of known contracts" },
  ],
  [
    "unverified delegate",
    { label: "Unverified delegate", look: "bad", meaning: "the account runs code that is not on our list" },
  ],
  [
    "unverified code",
    {
      label: "Unverified code",
      look: "bad",
      meaning: "the account's own code is not known, and could let others act",
    },
  ],
  [
    "full control",
    {
      label: "Full control",
      look: "bad",
      meaning: "its holder alone can take everything that the wallet has",
    },
  ],
  [
    "spam token",
    { label: "Spam token", look: "warn", meaning: "others sent the token; it counts for nothing" },
  ],
]);

// The power of each kind's holder, for permissions over the account itself.
const CONTROLS = new Map([
  ["delegate", ["Delegate", "The account runs the code of this contract (EIP-7702)."]],
  ["owner", ["Owner", "Signs for the account, alone or together with other owners."]],
  ["module", ["Module", "Can act for the account without a signature of its owners."]],
  ["guard", ["Guard", "Is asked before every transaction, and can block it."]],
  ["fallback-handler", ["Fallback handler", "Receives the calls that the account does not know."]],
  ["session-key", ["Session key", "Signs for the account within limits, until it expires."]],
  ["guardian", ["Guardian", "Has rights of its own, such as stopping or recovering the account."]],
  ["entry-point", ["Entry point", "Executes what the account has signed (ERC-4337)."]],
  ["account-code", ["Account code", "Decides who may act for the account, and is not known."]],
]);

/** Whether a permission is over the account, rather than over one asset. */
export function isControl({ kind }: ExposurePermission) {
  return CONTROLS.has(kind);
}

/** Permissions by what they are over, in the order of the response. */
export function groupByAsset(permissions: readonly ExposurePermission[]): Asset[] {
  const assets: Map<string, ExposurePermission[]> = new Map();
  for (const permission of permissions) {
    const key = `${permission.chain} ${permission.contract}`;
    assets.set(key, [...(assets.get(key) ?? []), permission]);
  }
  return [...assets].map(([key, list]) => ({ key, permissions: list }));
}

export function renderAssets(assets: Asset[], context: ViewContext): ViewElement[] {
  const rendered = assets.map((asset) => renderAsset(asset, context));
  if (rendered.length <= ASSETS_SHOWN) return rendered;
  const rest = rendered.slice(ASSETS_SHOWN);
  const summary = createElement("summary", `${rest.length} more`);
  return [...rendered.slice(0, ASSETS_SHOWN), createElement("details.more", summary, ...rest)];
}

function renderAsset({ permissions }: Asset, context: ViewContext) {
  const [first] = permissions;
  if (!first) return createElement("div");
  const { symbol, name, contract, chain, balance, rawBalance, protocol } = first;
  const shown = protocol ?? symbol ?? name ?? shortenHex(contract);
  const about = `${revealName(symbol ?? "?")} · ${revealName(name ?? "?")} · ${contract}`;
  return createElement(
    "section.asset",
    createElement(
      "h4",
      { title: about },
      renderName(shown),
      " ",
      createElement(
        "small",
        name === null || name === shown ? null : renderName(name),
        renderChain(context.nameOf(chain)),
      ),
    ),
    createElement("p.held", { title: balance ?? rawBalance ?? "unknown" }, describeHeld(first)),
    createElement(
      "ul.permissions",
      ...permissions.map((permission) => renderPermission(permission, shown, context)),
    ),
  );
}

function describeHeld({ kind, balance, rawBalance }: ExposurePermission) {
  if (rawBalance === null) return "";
  if (/^0+$/.test(rawBalance)) return "none held now";
  if (kind.startsWith("nft-")) return `${formatQuantity(rawBalance)} held`;
  return balance === null ? "some held" : `${formatQuantity(balance)} held`;
}

function renderPermission(permission: ExposurePermission, shown: string, context: ViewContext) {
  const { kind, spender, spenderName, spenderProtocol, via, expiresAt, reasons, valueAtRiskUsd } = permission;
  const remarks = [
    spenderName !== null && spenderProtocol !== null ? revealName(spenderProtocol) : null,
    via === null ? null : kind === "module-allowance" ? "through a module of the Safe" : "through Permit2",
    expiresAt === null ? null : createElement("span", "until ", renderTime(expiresAt, context.timeZone)),
  ].filter((remark) => remark !== null);
  return createElement(
    "li",
    createElement(
      "div.who",
      renderSpender(permission),
      createElement("small", renderHex(spender), ...remarks.flatMap((remark) => [" · ", remark])),
    ),
    createElement("div.labels", ...renderAmountLabels(permission), ...renderReasons(reasons)),
    createElement("div.risk", { title: valueAtRiskUsd ?? "unknown" }, ...describeRisk(permission)),
    renderRevocation(permission, `${nameSpender(permission)}, ${truncateForLabel(shown)}`),
  );
}

function renderSpender({ spenderName }: ExposurePermission) {
  if (spenderName !== null) return createElement("strong", renderName(spenderName));
  return createElement("strong.unknown-spender", "Unknown");
}

function nameSpender({ spenderName, spender }: ExposurePermission) {
  return spenderName === null ? shortenHex(spender) : revealName(spenderName);
}

function truncateForLabel(text: string) {
  return [...revealName(text)].slice(0, 40).join("");
}

/** How much can be taken, unless a reason says so. */
function renderAmountLabels({
  kind,
  unlimited,
  allowance,
  rawAllowance,
  symbol,
  tokenId,
  reasons,
}: ExposurePermission) {
  if (kind === "position-operator" || kind === "token-operator") return [renderTag("All of it", "bad")];
  if (unlimited) return reasons.includes("unlimited") ? [] : [renderTag("Unlimited", "bad")];
  if (kind === "nft-operator") return [renderTag("All items", "bad")];
  if (tokenId !== null) return [renderTag(`Item ${shortenNumber(tokenId)}`, "")];
  if (rawAllowance === null) return [];
  const verb = kind === "borrow-delegation" ? "Borrows up to" : "Up to";
  const quantity = allowance === null ? "Some" : `${verb} ${formatQuantity(allowance)}`;
  return [
    createElement("span.tag", { title: allowance ?? rawAllowance }, quantity, " ", renderName(symbol ?? "")),
  ];
}

function shortenNumber(digits: string) {
  return digits.length > 12 ? `#${digits.slice(0, 6)}…${digits.slice(-4)}` : `#${digits}`;
}

function renderReasons(reasons: readonly string[]) {
  return reasons.map((reason) => {
    const { label, look, meaning } = REASONS.get(reason) ?? { label: reason, look: "warn", meaning: "" };
    return renderTag(label, look, meaning);
  });
}

function renderTag(text: string, look: string, title = "") {
  return createElement("span", { class: `tag ${look}`.trim(), ...(title === "" ? {} : { title }) }, text);
}

function describeRisk({ valueAtRiskUsd, partial }: ExposurePermission) {
  if (valueAtRiskUsd === null) return [createElement("span.soft", "no price")];
  return [
    renderAmount(formatUsd(valueAtRiskUsd)),
    createElement("small", partial ? "at risk, at least" : "at risk"),
  ];
}

export function renderControls(controls: readonly ExposurePermission[], context: ViewContext) {
  return createElement("ul.permissions", ...controls.map((permission) => renderControl(permission, context)));
}

function renderControl(permission: ExposurePermission, context: ViewContext) {
  const { kind, spender, chain, expiresAt, reasons, valueAtRiskUsd } = permission;
  const [label = kind, meaning = ""] = CONTROLS.get(kind) ?? [];
  return createElement(
    "li",
    createElement(
      "div.who",
      createElement("span.kind", label),
      " ",
      renderSpender(permission),
      createElement(
        "small",
        renderHex(spender),
        " · ",
        renderChain(context.nameOf(chain)),
        expiresAt === null ? null : " · until ",
        expiresAt === null ? null : renderTime(expiresAt, context.timeZone),
      ),
      createElement("small", meaning),
    ),
    createElement("div.labels", ...renderReasons(reasons)),
    // Without a value it is a right that takes nothing by itself.
    createElement("div.risk", ...(valueAtRiskUsd === null ? [] : describeRisk(permission))),
    renderRevocation(permission, `${label}, ${nameSpender(permission)}`),
  );
}
