// A planned transaction in one sentence for the person or agent who is about to sign it.
import type { Hex } from "../../lib/hex.ts";
import { readSelector, readTokenCall, type TokenCall } from "./token-call.ts";

export function describeAction(call: { target: Hex; value: bigint; data: Hex }): string {
  const { target, value, data } = call;
  if (data === "0x") return `Send ${value} wei to ${target}.`;
  const coins = value > 0n ? `, sending ${value} wei along` : "";
  const token = readTokenCall(data);
  if (token?.spend) return `${describeSpend(target, token.name, token.spend)}${coins}.`;
  if (token) return `Call ${token.name} on ${target} with arguments that are cut short${coins}.`;
  const selector = readSelector(data);
  const what = selector === null ? `${(data.length - 2) / 2} bytes and no function` : `function ${selector}`;
  return `Call ${target} with ${what}${coins}.`;
}

function describeSpend(
  token: string,
  name: TokenCall["name"],
  { amount, parties: [first, second] }: NonNullable<TokenCall["spend"]>,
): string {
  if (name === "transfer") return `Transfer ${amount} of token ${token} to ${first} (transfer)`;
  if (name === "approve") return `Approve ${first} to spend ${amount} of token ${token} (approve)`;
  return `Transfer ${amount} of token ${token} from ${first} to ${second} (transferFrom)`;
}
