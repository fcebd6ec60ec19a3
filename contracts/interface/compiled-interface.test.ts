// Proves that the compiled contracts have exactly the published interface.
import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  parseAbiItem,
  toEventHash,
  toFunctionSelector,
  toFunctionSignature,
} from "viem";
import { describe, expect, it } from "vitest";
import { PROTOCOL_ABIS } from "./protocol-abis.ts";
import { type ContractInterface, protocolInterface, protocolRecords } from "./protocol-interface.ts";

// Functions of the account's base contracts beyond the published interface.
const inherited: Readonly<Record<string, readonly string[]>> = {
  PolicyAccount: [
    "entryPoint()",
    "getNonce()",
    "getNonce(uint192)",
    "signer()",
    "validateUserOp((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes),bytes32,uint256)",
  ],
};

const effectOf = { view: "read", pure: "read", nonpayable: "write", payable: "payable" } as const;

function eventsOf(abi: Abi): readonly AbiEvent[] {
  return abi.filter((item): item is AbiEvent => item.type === "event");
}

function functionsOf(abi: Abi): readonly AbiFunction[] {
  return abi.filter((item): item is AbiFunction => item.type === "function");
}

// Errors hash as functions do.
function errorSelectors(abi: Abi): ReadonlyMap<string, string> {
  return new Map(
    abi.flatMap((item) => {
      if (item.type !== "error") return [];
      const signature = toFunctionSignature({
        ...item,
        type: "function",
        outputs: [],
        stateMutability: "pure",
      });
      return [[signature, toFunctionSelector(signature)] as const];
    }),
  );
}

function inputsOf(event: AbiEvent): readonly unknown[] {
  return event.inputs.map(({ name, type, indexed }) => ({ name, type, indexed: indexed === true }));
}

describe.each(Object.entries(protocolInterface) as [keyof typeof PROTOCOL_ABIS, ContractInterface][])(
  "%s",
  (name, facts) => {
    const abi = PROTOCOL_ABIS[name];

    it("the contract emits exactly the published events, with their topics and indexed flags", () => {
      const published = Object.entries(facts.events).map(([declaration, topic0]) => {
        const event = parseAbiItem(`event ${declaration}`) as AbiEvent;
        return { name: event.name, topic0, inputs: inputsOf(event) };
      });
      const actual = eventsOf(abi).map((event) => ({
        name: event.name,
        topic0: toEventHash(event),
        inputs: inputsOf(event),
      }));
      const byName = (left: { name: string }, right: { name: string }) => (left.name < right.name ? -1 : 1);
      expect(actual.toSorted(byName)).toEqual(published.toSorted(byName));
    });

    it("the contract has exactly the published functions, with their selectors and effects", () => {
      const actual = Object.fromEntries(
        functionsOf(abi)
          .filter((item) => !(inherited[name] ?? []).includes(toFunctionSignature(item)))
          .map((item) => [
            toFunctionSignature(item),
            [toFunctionSelector(item), effectOf[item.stateMutability]] as const,
          ]),
      );
      expect(actual).toEqual(facts.functions);
    });

    it("the contract has every published error, with its selector", () => {
      const actual = errorSelectors(abi);
      for (const [signature, selector] of Object.entries(facts.errors)) {
        expect([signature, actual.get(signature)]).toEqual([signature, selector]);
      }
    });
  },
);

describe("records", () => {
  it.each(Object.entries(protocolRecords))(
    "%s returns the published fields in order",
    (getter, declaration) => {
      const [contract, functionName] = getter.split(".") as [keyof typeof PROTOCOL_ABIS, string];
      const found = functionsOf(PROTOCOL_ABIS[contract]).find((item) => item.name === functionName);
      const expected = parseAbiItem(
        `function ${functionName}() view returns ((${declaration}) record)`,
      ) as AbiFunction;
      expect(componentsOf(found?.outputs)).toEqual(componentsOf(expected.outputs));
    },
  );
});

type Parameter = {
  readonly name?: string;
  readonly type: string;
  readonly components?: readonly Parameter[];
};

function componentsOf(outputs: readonly unknown[] | undefined): unknown {
  return fieldsOf((outputs?.[0] as Parameter | undefined)?.components);
}

function fieldsOf(components: readonly Parameter[] | undefined): unknown {
  return components?.map(({ name, type, components: inner }) => ({ name, type, inner: fieldsOf(inner) }));
}
