// Helper contracts of the tests (wallets, hostile tokens, a forwarder), compiled from contracts/test/actors.
import { type Hex, parseAbi } from "viem";
import { readCompiledActors } from "../compile/compiled-actors.ts";

export const puppetAbi = parseAbi([
  "function perform(address target, uint256 value, bytes data) payable returns (bytes)",
  "function rehearse(address target, uint256 value, bytes data, bool insists)",
  "function succeeded() view returns (bool)",
  "function returned() view returns (bytes)",
]);

export const crookedTokenAbi = parseAbi([
  "function setHabit(uint8 habit)",
  "function mint(address to, uint256 amount)",
  "function approve(address spender, uint256 amount) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

/** In the order of the contract's enum. */
export const crookedTokenBehaviours = [
  "HONEST",
  "KEEPS_FEE",
  "OVERCHARGES",
  "OVERPAYS",
  "MOVES_NOTHING",
  "ANSWERS_FALSE",
  "ANSWERS_NOTHING",
  "CALLS_RECIPIENT",
] as const;

export const smartWalletAbi = parseAbi([
  "constructor(address owner)",
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);

export type ActorContract = "Puppet" | "CrookedToken" | "SmallEntryPoint" | "SmartWallet";

/** Creation bytecode. */
export function actorBytecode(actor: ActorContract): Hex {
  const bytecode = readCompiledActors().bytecodes[actor];
  if (bytecode === undefined) throw new Error(`contracts/test/actors has no ${actor}`);
  return bytecode as Hex;
}
