// Renders where the protocol's contracts keep their records: the compiler's storage layout and the hash of the code it is of.
import { keccak256 } from "viem";
import { PROTOCOL_CONTRACTS } from "../deploy/deployment.ts";
import type { CompiledContract, StorageLayout, StorageMember, StorageType } from "./compile-contracts.ts";
import { readPinnedVersions } from "./compiler-settings.ts";

type Types = Readonly<Record<string, StorageType>>;

/** The text of contracts/generated/storage-layouts.ts. */
export function renderStorageLayouts(contracts: readonly CompiledContract[], sourceHash: string): string {
  const stored = contracts.filter(
    ({ name, storage }) =>
      PROTOCOL_CONTRACTS.some((protocol) => protocol === name) && storage.storage.length > 0,
  );
  const layouts = Object.fromEntries(stored.map((each) => [each.name, describeContract(each)]));
  return [
    "// Generated from the protocol's contracts by contracts/compile; do not edit.",
    `export const storageLayouts = ${JSON.stringify({ compiler: readPinnedVersions().solc, sourceHash, contracts: layouts }, null, 1)} as const;`,
    "",
  ].join("\n");
}

function describeContract({ file, runtimeTemplate, immutables, storage }: CompiledContract) {
  const types = storage.types ?? {};
  return {
    source: file,
    // The hash of the code with zeros in place of its immutables.
    codeHash: keccak256(runtimeTemplate as `0x${string}`),
    immutables,
    variables: storage.storage.map((member) => describeMember(member, types)),
    types: describeTypes(storage),
  };
}

function describeMember({ label, slot, offset, type }: StorageMember, types: Types) {
  return { name: label, slot, offset, type: labelOf(type, types) };
}

/** The ids of types contain numbers of the syntax tree, which change with any source: their labels do not. */
function describeTypes({ types }: StorageLayout) {
  const described = new Map<string, unknown>();
  for (const type of Object.values(types ?? {})) {
    const { encoding, label, numberOfBytes, key, value, base, members } = type;
    const one = {
      encoding,
      bytes: Number(numberOfBytes),
      ...(key !== undefined && { key: labelOf(key, types ?? {}) }),
      ...(value !== undefined && { value: labelOf(value, types ?? {}) }),
      ...(base !== undefined && { base: labelOf(base, types ?? {}) }),
      ...(members && { members: members.map((member) => describeMember(member, types ?? {})) }),
    };
    const known = described.get(label);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(one)) {
      throw new Error(`two types of storage have the label ${label}`);
    }
    described.set(label, one);
  }
  return Object.fromEntries([...described].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function labelOf(id: string, types: Types): string {
  const label = types[id]?.label;
  if (label === undefined) throw new Error(`the compiler does not describe the type ${id}`);
  return label;
}
