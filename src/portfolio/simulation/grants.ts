// Permissions besides allowances that a call may give: approved items, operators of positions, delegates who may borrow.
import type { Hex } from "../../lib/hex.ts";
import { readWord } from "./known-calls.ts";

/** The view that says whether a spender acts for the wallet in a protocol. */
export type PositionView =
  | "comet"
  | "morpho"
  | "venus"
  | "balancer"
  | "maker"
  | "erc6909"
  | "erc777"
  | "euler";

export type Grant =
  | { readonly kind: "item"; readonly token: Hex; readonly spender: Hex; readonly tokenId: bigint }
  | { readonly kind: "allowance"; readonly token: Hex; readonly spender: Hex }
  | { readonly kind: "operator"; readonly token: Hex; readonly spender: Hex }
  | { readonly kind: "position"; readonly token: Hex; readonly spender: Hex; readonly view: PositionView }
  | { readonly kind: "borrow"; readonly token: Hex; readonly spender: Hex };

type GrantFunction = { readonly kind: Grant["kind"]; readonly spender: number; readonly view?: PositionView };

const FUNCTIONS: ReadonlyMap<string, GrantFunction> = new Map([
  // approve(address,uint256): of tokens, and of an item of ERC-721.
  ["095ea7b3", { kind: "item", spender: 0 }],
  ["a22cb465", { kind: "operator", spender: 0 }],
  // allow(address,bool)
  ["110496e5", { kind: "position", spender: 0, view: "comet" }],
  // setAuthorization(address,bool)
  ["eecea000", { kind: "position", spender: 0, view: "morpho" }],
  // updateDelegate(address,bool)
  ["ddbf54fd", { kind: "position", spender: 0, view: "venus" }],
  // setRelayerApproval(address,address,bool)
  ["fa6e671d", { kind: "position", spender: 1, view: "balancer" }],
  // hope(address)
  ["a3b22fc4", { kind: "position", spender: 0, view: "maker" }],
  // setOperator(address,bool)
  ["558a7297", { kind: "position", spender: 0, view: "erc6909" }],
  // authorizeOperator(address)
  ["959b8c3f", { kind: "position", spender: 0, view: "erc777" }],
  // setOperator(bytes19,address,uint256)
  ["c14c11bf", { kind: "position", spender: 1, view: "euler" }],
  // approveDelegation(address,uint256)
  ["c04a8a10", { kind: "borrow", spender: 0 }],
]);

const SELECTORS = new RegExp([...FUNCTIONS.keys()].join("|"), "g");

/** Searches all of the call data: many contracts make calls to themselves, for which the wallet stays the sender. */
export function listGrants({ to: token, data }: { readonly to: Hex; readonly data: Hex }): readonly Grant[] {
  return [...data.matchAll(SELECTORS)].flatMap(({ index, 0: selector }): readonly Grant[] => {
    const found = FUNCTIONS.get(selector);
    const start = index + selector.length;
    const spender = toAccount(readWord(data, start, found?.spender ?? 0));
    if (found === undefined || index % 2 !== 0 || spender === null) return [];
    const { kind, view } = found;
    if (kind === "position") return view ? [{ kind, token, spender, view }] : [];
    if (kind !== "item") return [{ kind, token, spender }];
    const tokenId = readWord(data, start, 1);
    const allowance = { kind: "allowance", token, spender } as const;
    return tokenId === null ? [] : [allowance, { kind, token, spender, tokenId }];
  });
}

function toAccount(word: bigint | null): Hex | null {
  return word === null || word >> 160n !== 0n ? null : `0x${word.toString(16).padStart(40, "0")}`;
}
