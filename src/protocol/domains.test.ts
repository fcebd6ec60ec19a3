// Domains cover every event once, tables can hold every logged value, and every event has an explanation.

import type { EventSource } from "@sextant/contracts/interface/protocol-abis";
import fc from "fast-check";
import type { Abi, AbiEvent, AbiParameter } from "viem";
import { describe, expect, it } from "vitest";
import {
  encodeProtocolLog,
  MEMORY_DEPLOYMENT,
  repeatAddressByte,
  repeatHashByte,
} from "../../tests/support/index/memory-index.ts";
import { uint256 } from "../schema/column.ts";
import { type Domain, defineDomain } from "../schema/domain.ts";
import { defineTable } from "../schema/table.ts";
import { createLogDecoder, explainEvent } from "./decode-logs.ts";
import { domains, requireFullCoverage, tables } from "./domains.ts";

const decoder = createLogDecoder(MEMORY_DEPLOYMENT);

describe("domains", () => {
  const event = (name: string): AbiEvent => ({ type: "event", name, inputs: [] });
  const abi: Abi = [event("Born"), event("Died"), { type: "error", name: "Nope", inputs: [] }];
  const rule = { fold: () => [], explain: () => "It happened" };
  const lives = defineTable("lives", { id: uint256 }, { key: ["id"] });
  const made = (
    names: readonly string[],
    tables: Parameters<typeof defineDomain>[0]["tables"] = [],
  ): Domain =>
    defineDomain({
      contract: "Life",
      abi,
      tables,
      events: Object.fromEntries(names.map((name) => [name, rule])) as never,
    });

  it("accepts domains that share a contract if each event has one rule", () => {
    const good = [made(["Born"], [lives]), made(["Died"])];
    expect(requireFullCoverage(good)).toBe(good);
  });

  it("rejects an event without a rule", () => {
    expect(() => requireFullCoverage([made(["Born"])])).toThrow(
      "Life: the ABI has Born,Died, the domains have rules for Born",
    );
  });

  it("rejects an event with two rules", () => {
    expect(() => requireFullCoverage([made(["Born", "Died"]), made(["Died"])])).toThrow(
      "rules for Born,Died,Died",
    );
  });

  it("rejects a rule without an event", () => {
    expect(() => requireFullCoverage([made(["Born", "Died", "Nope"])])).toThrow("rules for Born,Died,Nope");
  });

  it("rejects a table in two domains", () => {
    expect(() => requireFullCoverage([made(["Born"], [lives]), made(["Died"], [lives])])).toThrow(
      "the table lives belongs to two domains",
    );
  });
});

describe("tables", () => {
  it("tables have keys that are never null, and indexes over existing columns", () => {
    for (const { name, columns, key, indexes } of tables) {
      for (const column of key) expect(columns[column]?.nullable, `${name}.${column}`).toBe(false);
      for (const column of indexes.flat()) expect(columns[column], `${name}.${column}`).toBeDefined();
    }
  });

  it("tables index only bounded text: PostgreSQL limits the size of an index entry", () => {
    const generated = [
      "status",
      "policy_type",
      "policy_subject",
      "scope",
      "settlement_id",
      "dimension",
      "subject",
    ];
    for (const { name, columns, key, indexes } of tables) {
      const unbounded = [...key, ...indexes.flat()].filter(
        (column) => columns[column]?.sql === 'text collate "C"' || columns[column]?.isUnbounded,
      );
      expect(
        unbounded.filter((column) => !generated.includes(column)),
        name,
      ).toEqual([]);
    }
  });

  it("tables have unbounded sums: anyone may log the largest amount repeatedly", () => {
    for (const { name, columns, key } of tables.filter(({ hasProvenance }) => !hasProvenance)) {
      const amounts = Object.entries(columns).filter(([column]) => !key.includes(column));
      const limited = amounts.filter(([, column]) => column.sql.startsWith("numeric("));
      expect(
        limited.map(([column]) => column),
        name,
      ).toEqual([]);
    }
  });
});

const bytesOf = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);

function anyOf({ type }: AbiParameter): fc.Arbitrary<unknown> {
  if (type === "address") return bytesOf(20);
  if (type === "bool") return fc.boolean();
  if (type === "string") return fc.string({ unit: "grapheme" });
  const bits = Number(/^uint(\d+)$/.exec(type)?.[1] ?? 0);
  if (bits > 0) {
    const range = fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n });
    return bits <= 48 ? range.map(Number) : range;
  }
  const length = /^bytes(\d+)$/.exec(type)?.[1];
  if (length) return bytesOf(Number(length));
  throw new Error(`no event has ${type}`);
}

const EVENTS = domains.flatMap((each) =>
  Object.keys(each.events).map((name) => {
    const item = each.abi.find((entry) => entry.type === "event" && entry.name === name) as AbiEvent;
    return { contract: each.contract as EventSource, name, item };
  }),
);

function explain(contract: EventSource, name: string, args: Readonly<Record<string, unknown>>): string {
  const decoded = decoder.decode(encodeProtocolLog(contract, name, args), 0n);
  if (!decoded) throw new Error(`${name} was not decoded`);
  return explainEvent(decoded).description;
}

describe("explanations", () => {
  it.each(EVENTS)("describes $name of $contract for any arguments", ({ contract, name, item }) => {
    const args = fc.record(
      Object.fromEntries(item.inputs.map((input) => [input.name ?? "", anyOf(input)] as const)),
    );
    fc.assert(
      fc.property(args, (values) => {
        const text = explain(contract, name, values);
        expect(text).toMatch(/^[A-Z]/);
        expect(text.length).toBeGreaterThan(10);
        // Free text is quoted as it is; only the rest is ours.
        const own = Object.values(values).reduce<string>(
          (rest, value) => (typeof value === "string" && value ? rest.replaceAll(value, "") : rest),
          text,
        );
        expect(own).not.toMatch(/undefined|null|NaN|\[object|=>/);
      }),
      { numRuns: 20 },
    );
  });

  const account = repeatAddressByte("a1");
  const target = repeatAddressByte("70");
  const document = { metadataURI: "", metadataHash: repeatHashByte("01") };
  const flags: readonly [EventSource, string, Record<string, unknown>, string, string, string][] = [
    [
      "PolicyModule",
      "TargetAllowlistUpdated",
      { account, target },
      "allowed",
      "is allowed",
      "is no longer allowed",
    ],
    [
      "PolicyModule",
      "FunctionAllowlistUpdated",
      { account, target, selector: "0xa9059cbb" },
      "allowed",
      "is allowed",
      "is no longer allowed",
    ],
    [
      "PolicyModule",
      "PaymentPolicySet",
      { account, merchant: target, token: target, facilitator: target, maxPerPayment: 1n, maxPerDay: 1n },
      "allowed",
      "are allowed",
      "are no longer allowed",
    ],
    [
      "PolicyModule",
      "FunctionAllowlistModeUpdated",
      { account },
      "enabled",
      "turned its function allowlist on",
      "off",
    ],
    ["PolicyModule", "AccountFrozen", { account }, "frozen", "was frozen", "was unfrozen"],
    [
      "PolicyAccount",
      "SessionKeyUpdated",
      { sessionKey: target, expiresAt: 5 },
      "active",
      "gave session key",
      "withdrew",
    ],
    [
      "CommerceRegistry",
      "MerchantUpdated",
      { merchantId: 1n, payoutAddress: account, ...document },
      "active",
      "is active",
      "is inactive",
    ],
    [
      "CommerceRegistry",
      "ServiceUpdated",
      { serviceNumericId: 1n, ...document, capabilityHash: repeatHashByte("01") },
      "active",
      "is active",
      "is inactive",
    ],
    [
      "CommerceRegistry",
      "FacilitatorUpdated",
      { facilitatorId: 1n, facilitator: account, ...document },
      "active",
      "is active",
      "is inactive",
    ],
    [
      "SolverRegistry",
      "SolverUpdated",
      { solverId: 1n, metadataURI: "", capabilitiesHash: repeatHashByte("01") },
      "active",
      "is active",
      "is inactive",
    ],
    [
      "AttestorRegistry",
      "AttestorUpdated",
      { attestorId: 1n, metadataURI: "", schemasHash: repeatHashByte("01") },
      "active",
      "is active",
      "is inactive",
    ],
  ];

  it.each(flags)(
    "the explanation of %s.%s shows its flag the right way round",
    (contract, name, args, flag, yes, no) => {
      const [on, off] = [true, false].map((value) => explain(contract, name, { ...args, [flag]: value }));
      expect(on).toContain(yes);
      expect(on).not.toMatch(/no longer|removed|inactive|unfrozen|withdrew| off$/);
      expect(off).toContain(no);
      expect(off).not.toContain(yes);
    },
  );

  it("the explanation of every flag is tested", () => {
    const known = flags.map(([contract, name, , flag]) => `${contract}.${name} ${flag}`);
    const all = EVENTS.flatMap(({ contract, name, item }) =>
      item.inputs.filter(({ type }) => type === "bool").map((input) => `${contract}.${name} ${input.name}`),
    );
    expect(all.sort()).toEqual(known.sort());
  });

  it("explanations distinguish a rejected dispute from a resolved one", () => {
    const texts = [1, 2].map((status) =>
      explain("CommerceRegistry", "DisputeResolved", {
        disputeId: 4n,
        status,
        resolutionHash: repeatHashByte("77"),
      }),
    );
    expect(texts).toEqual([
      `Dispute #4 resolved with ${repeatHashByte("77")}`,
      `Dispute #4 rejected with ${repeatHashByte("77")}`,
    ]);
  });

  it("explanations name known subjects and kinds of signals, and number the others", () => {
    const signal = (subjectType: number, kind: number) =>
      explain("CommerceRegistry", "TrustSignalRecorded", {
        signalId: 1n,
        subjectType,
        subjectId: 2n,
        kind,
        reporter: account,
        signalHash: repeatHashByte("99"),
      });
    expect(signal(3, 1)).toBe(`Risk signal #1 about agent #2 recorded by ${account}`);
    expect(signal(9, 8)).toBe(`Kind 8 signal #1 about subject type 9 #2 recorded by ${account}`);
  });
});
