// The settlement adapter with a token, payers and recipients of every character, for tests of settlements.
import { type Address, getAddress, keccak256, pad, zeroAddress, zeroHash } from "viem";
import { plainTokenAbi, plainTokenBytecode } from "../generated/plain-token.ts";
import { settlementAdapterAbi, settlementAdapterBytecode } from "../generated/settlement-adapter.ts";
import type { SettlementInstruction, SettlementLine } from "../hashes/settlement-hash.ts";
import { actorBytecode, crookedTokenAbi, puppetAbi } from "./actor-contracts.ts";
import type { Evm } from "./evm.ts";

export const NATIVE_TOKEN = zeroAddress;

/** The payer's balance of every token when a test starts. */
export const PAYER_TOKENS = 1_000_000n;

export const TEST_QUOTE_HASH = keccak256("0x01");
export const TEST_PLAN_HASH = keccak256("0x02");

export type SettlementWorld = Awaited<ReturnType<typeof openSettlementWorld>>;

export async function openSettlementWorld(evm: Evm) {
  const payer = evm.chain.accounts.payer.address;
  const adapter = await evm.deploy(settlementAdapterAbi, settlementAdapterBytecode, []);
  const token = await evm.deploy(plainTokenAbi, plainTokenBytecode, ["Plain", "PLN", 6]);
  const crooked = await evm.deploy(crookedTokenAbi, actorBytecode("CrookedToken"), []);
  const puppet = await evm.deploy(puppetAbi, actorBytecode("Puppet"), []);
  await token.send(evm.chain.accounts.owner.address, "mint", [payer, PAYER_TOKENS]);
  await token.send(payer, "approve", [adapter.address, PAYER_TOKENS]);
  await crooked.send(payer, "mint", [payer, PAYER_TOKENS]);
  await crooked.send(payer, "approve", [adapter.address, PAYER_TOKENS]);
  return { payer, adapter, token, crooked, puppet };
}

/** A contract without code for value: whatever is sent to it comes back. */
export async function deployRevertingContract(evm: Evm): Promise<Address> {
  const address = recipient(0xbad);
  await evm.chain.setCode(address, "0x5f5ffd");
  return address;
}

/** An address that owns nothing; every number is another one. */
export function recipient(number: number): Address {
  return getAddress(pad(`0x${(0x100000 + number).toString(16)}`, { size: 20 }));
}

export function line(to: Address, token: Address, amount: bigint, kind = 0): SettlementLine {
  return { kind, recipient: to, token, amount, metadataHash: zeroHash };
}

/** A settlement that is right, for tests to spoil in one place. */
export function instruction(
  payer: Address,
  token: Address,
  lines: readonly SettlementLine[],
  changes: Partial<SettlementInstruction> = {},
): SettlementInstruction {
  return {
    quoteHash: TEST_QUOTE_HASH,
    settlementPlanHash: TEST_PLAN_HASH,
    payer,
    token,
    grossAmount: lines.reduce((sum, { amount }) => sum + amount, 0n),
    deadline: 2n ** 40n,
    lines,
    ...changes,
  };
}
