// The tables of the verifier against the data that the services ship.
import { readFileSync } from "node:fs";
import { storageLayouts } from "@sextant/contracts/generated/storage-layouts";
import { PROTOCOL_ABIS } from "@sextant/contracts/interface/protocol-abis";
import { toEventSignature } from "viem";
import { describe, expect, it } from "vitest";
import { findKnownChainId } from "./known-chains.ts";
import { SHIPPED_DEPLOYMENTS } from "./known-contracts.ts";
import { listKnownTokens } from "./known-layouts.ts";
import { KNOWN_CODES, RECORD_LAYOUTS, type StorageType } from "./record-layouts.ts";

type Chain = { readonly slug: string; readonly chainId: number; readonly wrappedNative?: string };
const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));

describe("the tables of the verifier", () => {
  const chains = read("chain-data/chains.json") as readonly Chain[];

  it("the table of chains has the id of every chain that is served", () => {
    for (const { slug, chainId } of chains) expect(findKnownChainId(slug)).toBe(`eip155:${chainId}`);
    expect(findKnownChainId("constructor")).toBeNull();
  });

  it("the table of layouts has only tokens that the shipped lists have under these symbols", () => {
    for (const key of listKnownTokens()) {
      const [id, address] = key.split(" ");
      const slug = chains.find(({ chainId }) => `eip155:${chainId}` === id)?.slug;
      const { tokens } = read(`token-lists/${slug}.json`) as {
        tokens: readonly { address: string; symbol: string }[];
      };
      const token = tokens.find((each) => each.address.toLowerCase() === address);
      expect(["USDC", "WETH", "DAI", "USDT"]).toContain(token?.symbol);
    }
  });
});

type Member = {
  readonly name: string;
  readonly slot: string;
  readonly offset: number;
  readonly type: string;
};
type Contract = {
  readonly codeHash: string;
  readonly immutables: readonly { readonly start: number; readonly length: number }[];
  readonly variables: readonly Member[];
  readonly types: Readonly<
    Record<
      string,
      { readonly encoding: string; readonly value?: string; readonly members?: readonly Member[] }
    >
  >;
};
const contracts: Readonly<Record<string, Contract>> = storageLayouts.contracts;

/** The members of a struct and of those in it, as `slot+offset type name`. */
function listMembers({ types }: Contract, struct: string, from = 0): readonly string[] {
  return (types[struct]?.members ?? []).flatMap(({ name, slot, offset, type }) => {
    const at = from + Number(slot);
    const inner = listMembers({ types } as Contract, type, at);
    return inner.length > 0 ? inner : [`${at}+${offset} ${typeOf(type)} ${name.toLowerCase()}`];
  });
}

const typeOf = (type: string) => (type === "string" ? "text" : type.startsWith("enum ") ? "uint8" : type);

/** Columns that are called otherwise than the member of the struct. */
const RENAMED: Readonly<Record<string, string>> = {
  schema_hash: "schema",
  "requirements/execution_target": "target",
  status: "deadline",
};
const memberName = (field: string) => RENAMED[field] ?? (field.split("/").at(-1) ?? "").replaceAll("_", "");

describe("the layouts of records", () => {
  it.each([...RECORD_LAYOUTS])("a record's members are where the compiler puts them: %s", (_, layout) => {
    const contract = contracts[layout.contract] as Contract;
    const mapping = contract.variables.find(({ slot }) => Number(slot) === layout.position);
    const struct = contract.types[mapping?.type ?? ""]?.value ?? "";
    const members = listMembers(contract, struct);
    const [slot, type] = layout.exists;
    expect(members.some((member) => member.startsWith(`${slot}+0 ${type} `))).toBe(true);
    for (const [field, read] of Object.entries(layout.fields)) {
      const found: string[] = [];
      const others: string[] = [];
      read({
        member: (at: number, of: StorageType, offset = 0) => {
          found.push(members.find((each) => each.startsWith(`${at}+${offset} ${of} `))?.split(" ")[2] ?? "");
          return "0";
        },
        other: (at: number) => {
          others.push(contract.variables.find((each) => Number(each.slot) === at)?.name ?? "");
          return "0";
        },
        timestamp: 0n,
      });
      if (others.length > 0) expect([field, others]).toEqual([field, ["_statuses"]]);
      if (found.length > 0 && field !== "status") {
        expect([field, found[0]]).toEqual([field, memberName(field)]);
      }
      expect([field, found]).not.toContain("");
    }
  });

  it("the code of each contract is the one that the compiler makes", () => {
    for (const [name, { hash, immutables }] of KNOWN_CODES) {
      const contract = contracts[name] as Contract;
      expect([name, hash]).toEqual([name, contract.codeHash]);
      expect(contract.immutables).toEqual(immutables.map((start) => ({ start, length: 32 })));
    }
    expect(new Set(KNOWN_CODES.keys())).toEqual(
      new Set([...RECORD_LAYOUTS.values()].map(({ contract }) => contract)),
    );
  });

  it("the events of each record are those of its contract, with the id first", () => {
    for (const { contract, events } of RECORD_LAYOUTS.values()) {
      for (const [name, { signature }] of Object.entries(events)) {
        const abi = PROTOCOL_ABIS[contract as keyof typeof PROTOCOL_ABIS];
        const event = abi.find((item) => item.type === "event" && item.name === name);
        if (event?.type !== "event") throw new Error(`${contract} has no event ${name}`);
        expect(toEventSignature(event)).toBe(signature);
        expect(event.inputs[0]?.indexed).toBe(true);
      }
    }
  });

  it("the shipped deployments are known", () => {
    const shipped = read("deployments/base-sepolia.json");
    const [known] = SHIPPED_DEPLOYMENTS as readonly [{ contracts: object; chainId: number }];
    expect(known.chainId).toBe(shipped.chainId);
    expect(shipped.contracts).toMatchObject(known.contracts);
    expect(Object.keys(known.contracts)).toEqual(expect.arrayContaining([...KNOWN_CODES.keys()]));
  });
});
