// Shows what a wallet is: its name, the kind of account on each chain, and whether it has gas there.
import type { PortfolioAccount } from "../../schema/portfolio/snapshot.ts";
import { formatQuantity } from "./amounts.ts";
import { createElement, type ViewElement } from "./elements.ts";
import type { KeptSnapshot, ViewContext } from "./result-view.ts";
import { renderName, shortenHex } from "./texts.ts";

/** Notes next to the address. */
export function describeWallet({ name, accounts }: KeptSnapshot, { nameOf }: ViewContext): ViewElement[] {
  const kinds: Map<string, string[]> = new Map();
  for (const account of accounts ?? []) {
    const kind = describeAccount(account);
    if (kind !== null) kinds.set(kind, [...(kinds.get(kind) ?? []), nameOf(account.chain)]);
  }
  // One kind on all chains needs no list of them.
  const isOne = kinds.size === 1;
  const tags = [...kinds].map(([kind, chains]) =>
    createElement("span.tag", isOne ? kind : `${kind} on ${chains.join(", ")}`),
  );
  const shown = typeof name === "string" ? [createElement("strong", renderName(name))] : [];
  return [...shown, ...tags];
}

function describeAccount({ kind, proven, delegate, owners, threshold }: PortfolioAccount) {
  // Any contract can say that it is a Safe.
  const claim = proven ? "" : "says it is a ";
  if (kind === "eoa") return "Account with a key (EOA)";
  if (kind === "delegated") return `EOA that runs ${shortenHex(delegate ?? "?")} (EIP-7702)`;
  if (kind === "safe") {
    const signers = owners && threshold !== null ? `, ${threshold} of ${owners.length} owners sign` : "";
    return `${claim}Safe${signers}`;
  }
  if (kind === "smart-account") return `${claim}smart account (ERC-4337)`;
  return kind === "contract" ? "Contract" : null;
}

/** For how many transfers the coin of a chain lasts; null if it is unknown. */
export function renderGas({ gas }: KeptSnapshot, chain: string) {
  const found = (gas ?? []).find((entry) => entry.chain === chain);
  if (!found || found.ready === null || found.transfers === null) return null;
  const { ready, transfers, symbol } = found;
  if (!ready) return createElement("small.gas.bad", "No gas: too little ", renderName(symbol), " to send");
  const count = transfers === "1" ? "one transfer" : `${formatQuantity(transfers)} transfers`;
  return createElement("small.gas", `Gas for ${transfers.length > 4 ? "thousands of transfers" : count}`);
}
