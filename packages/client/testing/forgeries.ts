// Ways to forge a response with proofs: every class of bytes and of structure, each applied at a random place.
import { type Hex, hexToBytes, toRlp } from "viem";
import { decodeRlp, type RlpItem } from "../verify/strict-rlp.ts";
import type { Json } from "./proof-stage.ts";

type Claim = Json & { path: string; kind: string; layout?: Json; slot?: Hex };
type ProvenChain = Json & {
  block: Record<string, string>;
  header: Hex;
  nodes: Hex[];
  claims: Claim[];
};
export type Forged = Json & {
  address: string;
  tokens?: Json[];
  permissions?: Json[];
  allowances?: Json[];
  accounts?: Json[];
  gas?: Json[];
  proofs: { version: number; chains: ProvenChain[]; coverage: Json };
};

export type Chance = {
  /** Between 0 and `below` - 1. */
  number(below: number): number;
  pick<T>(list: readonly T[]): T;
};

/** Changes a copy of an honest response. `other` is an honest response of an earlier block. Returns text to replace the JSON. */
export type Forgery = {
  readonly name: string;
  readonly forge: (report: Forged, chance: Chance, other: Forged) => string | undefined;
};

const forgery = (name: string, forge: (report: Forged, chance: Chance, other: Forged) => void): Forgery => ({
  name,
  forge: (report, chance, other) => {
    forge(report, chance, other);
    return undefined;
  },
});

const chainOf = ({ proofs }: Forged, chance: Chance) => chance.pick(proofs.chains);
const claimOf = (report: Forged, chance: Chance) => chance.pick(chainOf(report, chance).claims);
const storageClaimOf = (report: Forged, chance: Chance) =>
  chance.pick(report.proofs.chains.flatMap(({ claims }) => claims.filter(({ slot }) => slot !== undefined)));

/** The word is not zero: of nothing every part is nothing. */
const layoutOf = (report: Forged, chance: Chance): Json => {
  const claims = report.proofs.chains.flatMap((chain) => chain.claims);
  return (
    chance.pick(claims.filter(({ slot, path }) => slot !== undefined && path.endsWith("/rawBalance")))
      .layout ?? {}
  );
};

function changeDigit(hex: string, chance: Chance): Hex {
  const at = 2 + chance.number(hex.length - 2);
  const digit = ((Number.parseInt(hex[at] ?? "0", 16) + 1 + chance.number(15)) % 16).toString(16);
  return `${hex.slice(0, at)}${digit}${hex.slice(at + 1)}` as Hex;
}

function replaceAt<T>(list: T[], at: number, change: (item: T) => T): void {
  const item = list[at];
  if (item !== undefined) list[at] = change(item);
}

const nodeForgeries: readonly Forgery[] = [
  forgery("changes a digit of a node", (report, chance) => {
    const { nodes } = chainOf(report, chance);
    replaceAt(nodes, chance.number(nodes.length), (node) => changeDigit(node, chance));
  }),
  forgery("drops a node", (report, chance) => {
    const { nodes } = chainOf(report, chance);
    nodes.splice(chance.number(nodes.length), 1);
  }),
  forgery("repeats a node", (report, chance) => {
    const { nodes } = chainOf(report, chance);
    nodes.splice(chance.number(nodes.length), 0, chance.pick(nodes));
  }),
  forgery("adds a node that nothing uses", (report, chance) => {
    chainOf(report, chance).nodes.push(toRlp(["0x20", `0x${"ab".repeat(1 + chance.number(40))}`]));
  }),
  forgery("adds the nodes of another block", (report, chance, other) => {
    const { nodes } = chainOf(report, chance);
    nodes.push(...chainOf(other, chance).nodes.filter((node) => !nodes.includes(node)));
  }),
  forgery("takes the nodes of another block", (report, chance, other) => {
    chainOf(report, chance).nodes = chainOf(other, chance).nodes;
  }),
  forgery("removes all nodes", (report, chance) => {
    chainOf(report, chance).nodes = [];
  }),
  forgery("cuts a node", (report, chance) => {
    const { nodes } = chainOf(report, chance);
    replaceAt(
      nodes,
      chance.number(nodes.length),
      (node) => node.slice(0, -2 * (1 + chance.number(8))) as Hex,
    );
  }),
  forgery("appends bytes to a node", (report, chance) => {
    const { nodes } = chainOf(report, chance);
    replaceAt(
      nodes,
      chance.number(nodes.length),
      (node) => `${node}${"00".repeat(1 + chance.number(3))}` as Hex,
    );
  }),
  forgery("writes a node in capital letters", (report, chance) => {
    const { nodes } = chainOf(report, chance);
    replaceAt(nodes, chance.number(nodes.length), (node) => `0x${node.slice(2).toUpperCase()}A0` as Hex);
  }),
  forgery("embeds a node in place of its hash", (report, chance) => {
    const { nodes } = chainOf(report, chance);
    replaceAt(nodes, chance.number(nodes.length), (node) => embed(node, chance));
  }),
  forgery("gives text instead of a node", (report, chance) => {
    chainOf(report, chance).nodes.push(chance.pick(["0x", "0x1", "node", "0x80", "0xc0"]) as Hex);
  }),
];

/** One child of a branch, or the value of a leaf, becomes a short list. */
function embed(node: Hex, chance: Chance): Hex {
  const decoded = decodeRlp(hexToBytes(node));
  const items = decoded.kind === "list" ? decoded.items.map(toNested) : [];
  items[chance.number(items.length)] = ["0x31", `0x0${1 + chance.number(9)}`];
  return toRlp(items as Hex[]);
}

type Nested = Hex | Nested[];
function toNested(item: RlpItem): Nested {
  if (item.kind === "list") return item.items.map(toNested);
  return `0x${Array.from(item.bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

const headerForgeries: readonly Forgery[] = [
  forgery("changes a digit of the header", (report, chance) => {
    const chain = chainOf(report, chance);
    chain.header = changeDigit(chain.header, chance);
  }),
  forgery("drops or adds a field of the header", (report, chance) => {
    const chain = chainOf(report, chance);
    const decoded = decodeRlp(hexToBytes(chain.header));
    const fields = decoded.kind === "list" ? (decoded.items.map(toNested) as Hex[]) : [];
    chain.header = toRlp(chance.number(2) === 0 ? fields.slice(0, -1) : [...fields, "0x01"]);
  }),
  forgery("takes the header of another block", (report, chance, other) => {
    chainOf(report, chance).header = chainOf(other, chance).header;
  }),
  forgery("takes the block and header of another block", (report, chance, other) => {
    const { block, header } = chainOf(other, chance);
    Object.assign(chainOf(report, chance), { block, header });
  }),
  forgery("takes the whole proof of another block", (report, chance, other) => {
    report.proofs = structuredClone(other.proofs);
    chance.number(1);
  }),
  forgery("removes the header", (report, chance) => {
    Object.assign(
      chainOf(report, chance),
      chance.pick([{ header: null }, { header: null, reason: "header" }]),
    );
  }),
  forgery("gives a reason next to the header", (report, chance) => {
    chainOf(report, chance).reason = "no_proofs";
  }),
  forgery("changes the block", (report, chance) => {
    const { block } = chainOf(report, chance);
    const name = chance.pick(["number", "hash", "timestamp"]);
    block[name] =
      name === "hash" ? changeDigit(block.hash ?? "0x00", chance) : `${block[name]?.slice(0, -2)}7Z`;
  }),
  forgery("states another block", (report, chance) => {
    const bump = (entry: Json | undefined, name: string) => {
      if (entry !== undefined) entry[name] = Number(entry[name]) + 1 + chance.number(9);
    };
    bump((report.blocks as Json[] | undefined)?.[0], "number");
    bump((report.summary as { chains: Json[] } | undefined)?.chains[0], "blockNumber");
    bump((report.from as { blocks: Json[] } | undefined)?.blocks[0], "number");
  }),
  forgery("names another chain", (report, chance) => {
    const chain = chainOf(report, chance);
    const stated = chance.pick(["eip155:8453", "eip155:01", "1", "eip155:1 "]);
    Object.assign(chain, chance.pick([{ chain: "base" }, { chainId: stated }, { chain: "__proto__" }]));
  }),
  forgery("repeats or drops a chain", (report, chance) => {
    const { chains } = report.proofs;
    if (chance.number(2) === 0) chains.push(structuredClone(chance.pick(chains)));
    else chains.splice(chance.number(chains.length), 1);
  }),
];

const POINTERS = [
  ...[
    "/__proto__",
    "/constructor",
    "/tokens/__proto__/rawBalance",
    "/__proto__/rawBalance",
    "",
    "/",
    "#/tokens/0",
  ],
  ...["/tokens/-1/rawBalance", "/tokens/00/rawBalance", "/tokens/0/rawBalance/", "tokens/0/rawBalance"],
  ...[
    "/tokens/99/rawBalance",
    "/tokens/0/balance",
    "/summary/totalValueUsd",
    "/address",
    "/tokens/0/valueUsd",
  ],
];

const claimForgeries: readonly Forgery[] = [
  forgery("changes a pointer", (report, chance) => {
    claimOf(report, chance).path = chance.pick(POINTERS);
  }),
  forgery("swaps the pointers of two claims", (report, chance) => {
    const { claims } = chainOf(report, chance);
    const [first, second] = [storageClaimOf(report, chance), chance.pick(claims)];
    if (first.slot === second.slot) {
      first.path = "/tokens/98/rawBalance";
      return;
    }
    [first.path, second.path] = [second.path, first.path];
  }),
  forgery("repeats a claim", (report, chance) => {
    const { claims } = chainOf(report, chance);
    claims.push(structuredClone(chance.pick(claims)));
  }),
  forgery("drops a claim that proves something", (report, chance) => {
    const { claims } = chainOf(report, chance);
    claims.splice(claims.indexOf(chance.pick(claims.filter(({ kind }) => kind !== "none"))), 1);
  }),
  forgery("changes a slot", (report, chance) => {
    const claim = storageClaimOf(report, chance);
    claim.slot = changeDigit(claim.slot ?? "0x00", chance);
  }),
  forgery("takes the slot of another claim", (report, chance) => {
    const claim = storageClaimOf(report, chance);
    const others = report.proofs.chains.flatMap(({ claims }) => claims.map(({ slot }) => slot));
    claim.slot = chance.pick(others.filter((slot) => slot !== undefined && slot !== claim.slot)) ?? "0x";
  }),
  forgery("changes a layout", (report, chance) => {
    const layout = layoutOf(report, chance);
    const name = chance.pick(["rule", "position", "bits"]);
    const values = {
      rule: ["vyper", "solady", "solidity", "c", null],
      position: ["0x8", "0x09", "9"],
      bits: ["0-7", "1-255", "0-256", ""],
    };
    const different = values[name as keyof typeof values].filter((value) => value !== layout[name]);
    layout[name] = name === "rule" && layout.rule === "erc7201" ? "c" : chance.pick(different);
  }),
  forgery("narrows the bits of a word to a part of it", (report, chance) => {
    const layout = layoutOf(report, chance);
    layout.bits = chance.pick(["0-0", "0-1", "0-2"]);
  }),
  forgery("changes the account of a claim", (report, chance) => {
    const claim = chance.pick(chainOf(report, chance).claims.filter(({ account }) => account !== undefined));
    claim.account = changeDigit(String(claim.account), chance);
  }),
  forgery("changes the kind of a claim", (report, chance) => {
    const claim = claimOf(report, chance);
    const kinds = ["native", "erc20", "allowance", "permit2", "code", "none", "nonce", "owner", "__proto__"];
    claim.kind = chance.pick(kinds.filter((kind) => kind !== claim.kind));
  }),
  forgery("adds a member", (report, chance) => {
    const chain = chainOf(report, chance);
    const target: Json = chance.pick([
      report.proofs as Json,
      chain,
      chain.block as Json,
      chance.pick(chain.claims),
    ]);
    target[chance.pick(["value", "word", "trusted", "proven"])] = chance.pick(["1", true, null]);
  }),
  forgery("removes a member", (report, chance) => {
    const chain = chainOf(report, chance);
    const target: Json = chance.pick([
      report.proofs as Json,
      chain,
      chain.block as Json,
      chance.pick(chain.claims),
    ]);
    delete target[chance.pick(Object.keys(target))];
  }),
  forgery("gives another type", (report, chance) => {
    const chain = chainOf(report, chance);
    const name = chance.pick(["block", "nodes", "claims", "chain", "chainId", "header"]);
    chain[name] = chance.pick([0, "x", {}, [], [[]], true]);
  }),
  forgery("changes the coverage", (report, chance) => {
    const { coverage } = report.proofs;
    const name = chance.pick(["provenUsd", "totalUsd", "share"]);
    const values = ["1.00", "1", "99999", 1, "-0", null].filter((value) => value !== coverage[name]);
    coverage[name] = chance.pick(values);
  }),
  forgery("names another version", (report, chance) => {
    report.proofs.version = chance.pick([0, 2, -1]);
  }),
];

/** The raw amount and the one for people together, so that only the proof can tell. */
function changeAmount(entry: Json, raw: string, text: string, amount: bigint): void {
  entry[raw] = amount.toString();
  if (Object.hasOwn(entry, text)) entry[text] = (Number(amount) / 1e6).toString();
}

const bodyForgeries: readonly Forgery[] = [
  forgery("changes an amount", (report, chance) => {
    const permission = chance.pick(
      (report.permissions ?? []).filter(({ rawAllowance }) => rawAllowance !== null),
    );
    if (permission !== undefined)
      changeAmount(permission, "rawAllowance", "allowance", BigInt(1 + chance.number(9)) * 10n ** 6n);
    const token = chance.pick((report.tokens ?? []).slice(0, -2));
    if (token === undefined) return;
    const figures = (token.before ?? token) as Json;
    changeAmount(figures, "rawBalance", "balance", BigInt(2_000_000 + chance.number(9)) * 10n ** 6n);
  }),
  forgery("changes a digit of an amount", (report, chance) => {
    // A permission without an amount has no claim, and is never shown as proven.
    const amounts = (report.permissions ?? []).filter(({ rawAllowance }) => rawAllowance !== null);
    const list = [...(report.tokens ?? []), ...amounts, ...(report.gas ?? [])];
    const entry = chance.pick(list);
    const figures = (entry.after ?? entry) as Json;
    const name = Object.hasOwn(figures, "rawAllowance") ? "rawAllowance" : "rawBalance";
    figures[name] = `${figures[name] ?? ""}${1 + chance.number(9)}`;
  }),
  forgery("changes an allowance that was asked for, or a nonce", (report, chance) => {
    const { permissions = [] } = report;
    // The same pair is among the permissions, where it would be a contradiction: only the proof is to tell.
    const isStated = ({ contract, spender, kind }: Json) =>
      permissions.some(
        (each) => each.contract === contract && each.spender === spender && each.kind === kind,
      );
    const entry = chance.pick((report.allowances ?? []).filter((each) => !isStated(each)));
    if (entry !== undefined) entry.rawAllowance = String(1 + chance.number(9));
    const account = report.accounts?.[0];
    if (account !== undefined) account.nonce = `${1 + chance.number(9)}${String(account.nonce)}`;
    if (entry === undefined && account === undefined) report.address = changeDigit(report.address, chance);
  }),
  forgery("is about another NFT", (report, chance) => {
    const approval = (report.permissions ?? []).find(({ kind }) => kind === "nft-approval");
    if (approval === undefined) report.address = changeDigit(report.address, chance);
    else Object.assign(approval, chance.pick([{ tokenId: "8" }, { contract: `0x${"ab".repeat(20)}` }]));
  }),
  forgery("is about another wallet", (report, chance) => {
    report.address = changeDigit(report.address, chance);
  }),
  forgery("swaps two tokens", (report, chance) => {
    const list = (report.tokens ?? report.permissions ?? []).slice(0, 3);
    const [first, second] = chance.number(2) === 0 ? [list[0], list[1]] : [list[1], list[2]];
    if (first === undefined || second === undefined) return;
    [first.contract, second.contract] = [second.contract, first.contract];
  }),
  forgery("changes a contract or a spender", (report, chance) => {
    const entry = chance.pick((report.tokens ?? report.permissions ?? []).slice(0, 3));
    const name = Object.hasOwn(entry, "spender") ? chance.pick(["spender", "contract"]) : "contract";
    entry[name] = changeDigit(String(entry[name]), chance);
  }),
  forgery("moves an entry to another chain", (report, chance) => {
    const entry = chance.pick((report.tokens ?? report.permissions ?? []).slice(0, 3));
    Object.assign(entry, { chain: "base" });
    if (Object.hasOwn(entry, "chainId")) entry.chainId = chance.pick(["eip155:8453", "eip155:1"]);
  }),
  forgery("hides a token", (report, chance) => {
    const list = report.tokens ?? report.permissions ?? [];
    list.splice(chance.number(Math.min(3, list.length)), 1);
  }),
];

const textForgeries: readonly Forgery[] = [
  {
    name: "repeats a member of the JSON",
    forge: (report, chance) => {
      const name = chance.pick(["address", "proofs"]);
      return JSON.stringify(report).replace("{", `{"${name}":${JSON.stringify(report[name])},`);
    },
  },
  {
    name: "hides a member in a prototype",
    forge: (report, chance) => {
      const { proofs } = report;
      const name = chance.pick(["chains", "coverage"] as const);
      const { [name]: hidden, ...rest } = proofs;
      const text = `${JSON.stringify(rest).slice(0, -1)},"__proto__":${JSON.stringify({ [name]: hidden })}}`;
      return JSON.stringify({ ...report, proofs: 0 }).replace('"proofs":0', () => `"proofs":${text}`);
    },
  },
  {
    name: "cuts the text",
    forge: (report, chance) => {
      const text = JSON.stringify(report);
      return text.slice(0, chance.number(text.length - 1));
    },
  },
];

/** Every one must be rejected. */
export const FORGERIES: readonly Forgery[] = [
  ...[...nodeForgeries, ...headerForgeries, ...claimForgeries],
  ...[...bodyForgeries, ...textForgeries],
];
