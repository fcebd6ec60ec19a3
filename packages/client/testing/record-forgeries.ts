// Ways to forge a record of the index with proofs: every class of bytes and of structure, each applied at a random place.
import type { Hex } from "viem";
import type { Chance } from "./forgeries.ts";
import type { Json } from "./proof-stage.ts";

type Claim = Json & { path: string; kind: string; slot?: Hex; log?: number };
type Log = Json & { event: string; header: Hex; nodes: Hex[]; block: Json; transaction: number; log: number };
export type ForgedRecord = Json & {
  proofs: Json & {
    record: string;
    chainId: string;
    contract: { name: string; address: Hex; code: Hex | null };
    block: Record<string, string>;
    header: Hex;
    nodes: Hex[];
    claims: Claim[];
    logs: Log[];
  };
};

/** Honest responses about other things, whose parts are true elsewhere. */
export type OtherRecords = {
  /** Another record of the same kind. */
  readonly sibling: ForgedRecord;
  /** The same record at an earlier block. */
  readonly earlier: ForgedRecord;
  /** A record of another contract. */
  readonly foreign: ForgedRecord;
};

/** Changes a copy of an honest response; false if it has nothing to change in this way. */
export type RecordForgery = {
  readonly name: string;
  readonly forge: (record: ForgedRecord, chance: Chance, others: OtherRecords) => boolean;
};

const always = (
  name: string,
  forge: (record: ForgedRecord, chance: Chance, others: OtherRecords) => void,
): RecordForgery => ({
  name,
  forge: (record, chance, others) => {
    forge(record, chance, others);
    return true;
  },
});

function changeDigit(hex: string, chance: Chance): Hex {
  const at = 2 + chance.number(hex.length - 2);
  const digit = ((Number.parseInt(hex[at] ?? "0", 16) + 1 + chance.number(15)) % 16).toString(16);
  return `${hex.slice(0, at)}${digit}${hex.slice(at + 1)}` as Hex;
}

function replaceAt(list: Hex[], at: number, change: (item: Hex) => Hex): void {
  const item = list[at];
  if (item !== undefined) list[at] = change(item);
}

const shown = ({ proofs }: ForgedRecord) => proofs.claims.filter(({ kind }) => kind !== "none");
const stored = ({ proofs }: ForgedRecord) => proofs.claims.filter(({ kind }) => kind === "storage");

/** The object with the member of a pointer, and its name. */
function memberAt(record: ForgedRecord, { path }: Claim): readonly [Json, string] {
  const [first = "", second] = path.slice(1).split("/");
  return second === undefined ? [record, first] : [record[first] as Json, second];
}

function otherValue(value: unknown, chance: Chance): unknown {
  if (value === null) return "0x00";
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1 + chance.number(200);
  const text = String(value);
  if (/^0x[0-9a-f]+$/.test(text)) return changeDigit(text, chance);
  return /^[0-9]+$/.test(text) ? (BigInt(text) + 1n + BigInt(chance.number(99))).toString() : `${text}x`;
}

const bodyForgeries: readonly RecordForgery[] = [
  always("changes a member that is shown", (record, chance) => {
    const [parent, name] = memberAt(record, chance.pick(shown(record)));
    parent[name] = otherValue(parent[name], chance);
  }),
  always("gives a member another type", (record, chance) => {
    const [parent, name] = memberAt(record, chance.pick(shown(record)));
    const value = parent[name];
    parent[name] = typeof value === "string" ? (chance.number(2) === 0 ? [value] : null) : String(value);
  }),
  {
    name: "swaps the values of two members",
    forge: (record, chance) => {
      const claims = shown(record);
      const [first, second] = [chance.pick(claims), chance.pick(claims)];
      const [[one, a], [two, b]] = [memberAt(record, first), memberAt(record, second)];
      if (one[a] === two[b]) return false;
      [one[a], two[b]] = [two[b], one[a]];
      return true;
    },
  },
  {
    name: "takes a member of another record",
    forge: (record, chance, { sibling }) => {
      const claim = chance.pick(shown(record));
      const [parent, name] = memberAt(record, claim);
      const [other] = memberAt(sibling, claim);
      if (other?.[name] === undefined || other[name] === parent[name]) return false;
      parent[name] = other[name];
      return true;
    },
  },
  {
    name: "reads beyond its part of a packed word",
    forge: (record, chance) => {
      const packed: Readonly<Record<string, string>> = {
        ...{ timestamp: "64", payment_rail: "8", protocol_fee_bps: "16", owner: "160" },
      };
      const names = Object.keys(packed).filter((name) => Object.hasOwn(record, name));
      if (names.length === 0) return false;
      const name = chance.pick(names);
      const value = BigInt(String(record[name])) + (1n << BigInt(packed[name] ?? "8"));
      if (typeof record[name] === "number") record[name] = Number(value);
      else record[name] = name === "owner" ? `0x${value.toString(16)}` : value.toString();
      return true;
    },
  },
  always("adds a member to the record", (record, chance) => {
    record[chance.pick(["bonus", "__proto", "verified"])] = chance.pick(["1", true, null]);
  }),
  always("hides a member by another one that is called like its pointer", (record, chance) => {
    const claim = chance.pick(shown(record));
    const [parent, name] = memberAt(record, claim);
    const pointer = claim.path.slice(1);
    const hidden = chance.pick(pointer.includes("/") ? [pointer] : [`/${name}`, `${name}/`, `~0${name}`]);
    const decoy = pointer.includes("/") ? pointer.replace("/", "~1") : `${name}~1`;
    record[chance.pick([hidden, decoy])] = parent[name];
    parent[name] = otherValue(parent[name], chance);
  }),
  {
    name: "has a part of another shape",
    forge: (record, chance) => {
      const parts = ["fill", "requirements"].filter((part) => Object.hasOwn(record, part));
      if (parts.length === 0) return false;
      const part = chance.pick(parts);
      record[part] = chance.pick(["a fill", {}, [record[part]], true]);
      const { claims } = record.proofs;
      const others = claims.filter(({ path }) => path !== `/${part}` && !path.startsWith(`/${part}/`));
      if (chance.number(2) === 0) others.push({ path: `/${part}`, kind: "none", reason: "event" });
      record.proofs.claims = others;
      return true;
    },
  },
  always("drops a member of the record", (record, chance) => {
    const [parent, name] = memberAt(record, chance.pick(shown(record)));
    delete parent[name];
  }),
];

const elsewhere: readonly RecordForgery[] = [
  always("has the proofs of another record", (record, _chance, { sibling }) => {
    record.proofs = structuredClone(sibling.proofs);
  }),
  always("has the proofs of a record of another contract", (record, _chance, { foreign }) => {
    record.proofs = structuredClone(foreign.proofs);
  }),
  always("has the members of another record with its own proofs", (record, _chance, { sibling }) => {
    const { proofs } = record;
    for (const name of Object.keys(record)) delete record[name];
    Object.assign(record, structuredClone(sibling), { proofs });
  }),
  always("is not shown to exist", (record, chance) => {
    const [id = ""] = Object.keys(record);
    if (chance.number(2) === 0) record[id] = id === "quote_hash" ? `0x${"99".repeat(32)}` : "999999";
    const claims = record.proofs.claims.filter(({ path }) => path !== `/${id}`);
    if (chance.number(4) > 0) claims.push({ path: `/${id}`, kind: "none", reason: "derived" });
    record.proofs.claims = claims;
  }),
  always("has members of another kind", (record, chance, { foreign }) => {
    const others = Object.keys(foreign).filter((name) => !Object.hasOwn(record, name));
    const name = chance.pick(others);
    record[name] = structuredClone(foreign[name]);
    record.proofs.claims.push({ path: `/${name}`, kind: "none", reason: "derived" });
  }),
  always("passes for another kind", (record, chance) => {
    const [id = ""] = Object.keys(record);
    const other = chance.pick(["receipt_id", "dispute_id", "solver_id"].filter((name) => name !== id));
    if (chance.number(2) === 0) {
      record[other] = record[id];
      delete record[id];
      for (const claim of record.proofs.claims) if (claim.path === `/${id}`) claim.path = `/${other}`;
      if (chance.number(2) === 0) record.proofs.record = other.replace("_id", "");
    } else {
      record[other] = "999";
      record.proofs.claims.push({ path: `/${other}`, kind: "none", reason: "event" });
    }
  }),
  {
    name: "has the id of another record",
    forge: (record, _chance, { sibling }) => {
      const id = Object.keys(record)[0] ?? "";
      record[id] = sibling[id];
      return true;
    },
  },
  always("names another contract", (record, chance, { foreign }) => {
    const { contract } = record.proofs;
    const { name, address } = foreign.proofs.contract;
    const kind = chance.number(4);
    if (kind === 0) contract.address = changeDigit(contract.address, chance);
    else if (kind === 1) contract.address = address;
    else if (kind === 2) contract.name = name;
    else Object.assign(contract, { name, address });
  }),
  {
    name: "changes the code of the contract",
    forge: (record, chance) => {
      const { contract } = record.proofs;
      contract.code = contract.code === null ? "0x00" : changeDigit(contract.code, chance);
      return true;
    },
  },
  always("names another kind of record", (record, chance) => {
    const kinds = ["intent", "agent", "solver", "attestor", "merchant", "quote", "constructor"];
    record.proofs.record = chance.pick(kinds.filter((kind) => kind !== record.proofs.record));
  }),
  always("names another chain", (record, chance) => {
    record.proofs.chainId = chance.pick(["eip155:1", "eip155:031337", "31337", "eip155:84532"]);
  }),
  {
    name: "has the block and header of an earlier block",
    forge: (record, _chance, { earlier }) => {
      const { block, header } = structuredClone(earlier.proofs);
      Object.assign(record.proofs, { block, header });
      return true;
    },
  },
  always("has the nodes of another record", (record, _chance, { sibling }) => {
    record.proofs.nodes = [...sibling.proofs.nodes];
  }),
];

const bundleForgeries: readonly RecordForgery[] = [
  always("changes a digit of a node", (record, chance) => {
    const { nodes } = record.proofs;
    replaceAt(nodes, chance.number(nodes.length), (node) => changeDigit(node, chance));
  }),
  always("drops a node", (record, chance) => {
    record.proofs.nodes.splice(chance.number(record.proofs.nodes.length), 1);
  }),
  always("repeats a node", (record, chance) => {
    record.proofs.nodes.push(chance.pick(record.proofs.nodes));
  }),
  always("adds a node that nothing uses", (record, _chance, { foreign }) => {
    const { nodes } = record.proofs;
    nodes.push(foreign.proofs.nodes.find((node) => !nodes.includes(node)) ?? "0x80");
  }),
  always("changes a digit of the header", (record, chance) => {
    record.proofs.header = changeDigit(record.proofs.header, chance);
  }),
  always("changes the stated block", (record, chance) => {
    const { block } = record.proofs;
    const name = chance.pick(["number", "hash", "timestamp"]);
    block[name] =
      name === "hash" ? changeDigit(block.hash ?? "0x00", chance) : `${block[name]?.slice(0, -2)}7Z`;
  }),
  always("removes the header", (record, chance) => {
    Object.assign(
      record.proofs,
      chance.pick([{ header: null }, { header: null, block: null, reason: "late" }]),
    );
  }),
  always("has another version", (record, chance) => {
    record.proofs.version = chance.pick([0, 2, "1", null]);
  }),
  always("adds or drops a member of the proofs", (record, chance) => {
    const target: Json = chance.pick([
      record.proofs,
      record.proofs.contract,
      chance.pick(record.proofs.claims),
    ]);
    if (chance.number(2) === 0) target.extra = "1";
    else delete target[chance.pick(Object.keys(target))];
  }),
];

const claimForgeries: readonly RecordForgery[] = [
  always("leaves open whether the record exists", ({ proofs }) => {
    const [id] = proofs.claims;
    const { path } = id ?? { path: "" };
    proofs.claims[0] = { path, kind: "none", reason: "late" };
  }),
  always("drops a claim", (record, chance) => {
    const { claims } = record.proofs;
    claims.splice(claims.indexOf(chance.pick(shown(record))), 1);
  }),
  always("repeats a claim", (record, chance) => {
    record.proofs.claims.push(structuredClone(chance.pick(record.proofs.claims)));
  }),
  always("changes a slot", (record, chance) => {
    const claim = chance.pick(stored(record));
    claim.slot = changeDigit(claim.slot ?? "0x00", chance);
  }),
  {
    name: "takes the slot of another record",
    forge: (record, chance, { sibling }) => {
      const claim = chance.pick(stored(record));
      const other = sibling.proofs.claims.find(({ path }) => path === claim.path);
      if (other?.slot === undefined || other.slot === claim.slot) return false;
      claim.slot = other.slot;
      return true;
    },
  },
  {
    name: "swaps the pointers of two claims",
    forge: (record, chance) => {
      const [first, second] = [chance.pick(shown(record)), chance.pick(shown(record))];
      const isSame = first.slot === second.slot && first.log === second.log;
      if (isSame) return false;
      [first.path, second.path] = [second.path, first.path];
      return true;
    },
  },
  always("changes the kind of a claim", (record, chance) => {
    const claim = chance.pick(shown(record));
    claim.kind = chance.pick(
      ["storage", "log", "mismatch", "none", "proven"].filter((kind) => kind !== claim.kind),
    );
  }),
];

/** Only for records with events. */
const logForgery = (
  name: string,
  forge: (log: Log, record: ForgedRecord, chance: Chance, others: OtherRecords) => boolean,
): RecordForgery => ({
  name,
  forge: (record, chance, others) => {
    const { logs } = record.proofs;
    return logs.length > 0 && forge(chance.pick(logs), record, chance, others);
  },
});

const logForgeries: readonly RecordForgery[] = [
  logForgery("has another log of the same receipt", (log, _record, chance) => {
    log.log += 1 + chance.number(2);
    return true;
  }),
  logForgery("has another receipt of the same block", (log, _record, chance) => {
    log.transaction += 1 + chance.number(3);
    return true;
  }),
  logForgery("has the receipt of another block", (log, record, _chance, { sibling }) => {
    const other = sibling.proofs.logs.find(
      ({ event, header }) => event === log.event && header !== log.header,
    );
    if (other === undefined) return false;
    record.proofs.logs[record.proofs.logs.indexOf(log)] = structuredClone(other);
    return true;
  }),
  logForgery("has the header of another block with its own receipt", (log, _record, _chance, { sibling }) => {
    const other = sibling.proofs.logs.find(({ header }) => header !== log.header);
    if (other === undefined) return false;
    Object.assign(log, structuredClone({ block: other.block, header: other.header }));
    return true;
  }),
  logForgery("has the header of the record's block with an older receipt", (log, { proofs }) => {
    if (log.header === proofs.header) return false;
    Object.assign(log, structuredClone({ block: proofs.block, header: proofs.header }));
    return true;
  }),
  logForgery("calls an event by another name", (log, _record, chance) => {
    const names = ["IntentSubmitted", "IntentFilled", "IntentFillProof", "AgentRegistered", "constructor"];
    log.event = chance.pick(names.filter((name) => name !== log.event));
    return true;
  }),
  logForgery("changes a digit of a receipt's node", (log, _record, chance) => {
    replaceAt(log.nodes, chance.number(log.nodes.length), (node) => changeDigit(node, chance));
    return true;
  }),
  logForgery("drops or repeats a receipt's node", (log, _record, chance) => {
    if (chance.number(2) === 0) log.nodes.pop();
    else log.nodes.push(chance.pick(log.nodes));
    return true;
  }),
  logForgery("repeats an event", (log, { proofs }) => {
    proofs.logs.push(structuredClone(log));
    return true;
  }),
  logForgery("drops an event that a claim names", (log, { proofs }) => {
    proofs.logs.splice(proofs.logs.indexOf(log), 1);
    return true;
  }),
  logForgery("shows a member by another event", (_log, { proofs }, chance) => {
    const claim = chance.pick(proofs.claims.filter(({ kind }) => kind === "log"));
    claim.log = (claim.log ?? 0) + 1 + chance.number(3);
    return true;
  }),
];

export const RECORD_FORGERIES: readonly RecordForgery[] = [
  ...bodyForgeries,
  ...elsewhere,
  ...bundleForgeries,
  ...claimForgeries,
  ...logForgeries,
];
