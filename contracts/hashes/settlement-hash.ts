// The identity of a settlement, as the settlement adapter computes it.
import { type Address, concat, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from "viem";

const lineParameters = parseAbiParameters("uint8, address, address, uint256, bytes32");
const executionParameters = parseAbiParameters(
  "uint256, address, bytes32, bytes32, address, address, uint256, uint256, bytes32",
);

export type SettlementLine = {
  readonly kind: number;
  readonly recipient: Address;
  readonly token: Address;
  readonly amount: bigint;
  readonly metadataHash: Hex;
};

export type SettlementInstruction = {
  readonly quoteHash: Hex;
  readonly settlementPlanHash: Hex;
  readonly payer: Address;
  readonly token: Address;
  readonly grossAmount: bigint;
  readonly deadline: bigint;
  readonly lines: readonly SettlementLine[];
};

export function settlementExecutionHash(
  instruction: SettlementInstruction,
  chainId: bigint,
  settlementAdapter: Address,
): Hex {
  const linesHash = keccak256(concat(instruction.lines.map(lineHash)));
  return keccak256(
    encodeAbiParameters(executionParameters, [
      chainId,
      settlementAdapter,
      instruction.quoteHash,
      instruction.settlementPlanHash,
      instruction.payer,
      instruction.token,
      instruction.grossAmount,
      instruction.deadline,
      linesHash,
    ]),
  );
}

function lineHash({ kind, recipient, token, amount, metadataHash }: SettlementLine): Hex {
  return keccak256(encodeAbiParameters(lineParameters, [kind, recipient, token, amount, metadataHash]));
}
