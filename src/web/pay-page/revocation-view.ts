// Renders the call that ends a permission, to read, to copy and to send from the visitor's wallet.
import { chainIdOfNetwork } from "../../lib/caip2.ts";
import type { ExposurePermission, Revocation } from "../../schema/portfolio/exposure.ts";
import { createElement, renderFacts, type ViewElement } from "./elements.ts";

const ADDRESS = /^0x[0-9a-f]{40}$/;
const CALLDATA = /^0x(?:[0-9a-f]{2})*$/;

/** `of` says for screen readers whose permission it is, and over what. */
export function renderRevocation(permission: ExposurePermission, of: string): ViewElement {
  const { revoke, chain, chainId } = permission;
  if (revoke === null) return createElement("p.revoke.soft", "No call of the wallet ends this by itself.");
  const command = buildCommand(permission, revoke);
  return createElement(
    "details.revoke",
    createElement("summary", "Revoke", createElement("span.unseen", ` ${of}`)),
    createElement("p", revoke.description),
    ...renderWhatToSend(revoke),
    createElement(
      "p.tools",
      ...(revoke.type === "call"
        ? [
            renderButton("Revoke with wallet", "small", {
              "data-chain": chain,
              "data-network": chainId,
              "data-from": revoke.from,
              "data-to": revoke.to,
              "data-call": revoke.data,
            }),
            renderButton("Copy calldata", "quiet", { "data-copy": revoke.data }),
          ]
        : []),
      command === null ? null : renderButton("Copy as cast send", "quiet", { "data-copy": command }),
    ),
    createElement("p.outcome", { role: "status" }),
  );
}

function renderWhatToSend(revoke: Revocation) {
  if (revoke.type === "authorization") {
    const { chainId, address } = revoke.authorization;
    return [
      renderFacts([
        ["Authorize", createElement("code", address)],
        ["Chain id", String(chainId)],
      ]),
    ];
  }
  return [
    renderFacts([["To", createElement("code", revoke.to)]]),
    createElement("pre", { tabindex: "0", "aria-label": "Calldata" }, createElement("code", revoke.data)),
  ];
}

function renderButton(label: string, look: string, data: Record<string, string>) {
  return createElement("button", { type: "button", class: look, ...data }, label);
}

/** The command for a shell; null if no key of the visitor can send it, as for calls of an account to itself. */
function buildCommand({ chainId, contract }: ExposurePermission, revoke: Revocation) {
  const chain = `--chain ${chainIdOfNetwork(chainId)} --rpc-url "$RPC_URL"`;
  if (revoke.type === "authorization") {
    const { address } = revoke.authorization;
    const isPlain = ADDRESS.test(address) && ADDRESS.test(contract);
    return isPlain ? `cast send ${contract} --auth ${address} ${chain}` : null;
  }
  const { from, to, data } = revoke;
  const isPlain = ADDRESS.test(from) && ADDRESS.test(to) && CALLDATA.test(data);
  return isPlain && to !== from ? `cast send ${to} ${data} --from ${from} ${chain}` : null;
}
