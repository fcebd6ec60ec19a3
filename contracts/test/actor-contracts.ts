// Contracts that play the people and tokens around the protocol in tests, compiled from contracts/test/actors.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Hex, parseAbi } from "viem";
import { compileContracts } from "../compile/compile-contracts.ts";
import { hashSources } from "../compile/compiler-settings.ts";

const sourceFolder = fileURLToPath(new URL("./actors/", import.meta.url));
const cacheFolder = fileURLToPath(new URL("../../node_modules/.cache/sextant-actors/", import.meta.url));

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

/** In the order of the contract's enumeration. */
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

/** Creation bytecode; kept between runs, because the compiler takes seconds to start. */
export async function actorBytecode(actor: ActorContract): Promise<Hex> {
  const sources = readdirSync(sourceFolder)
    .sort()
    .map((name) => ({
      name: `test/actors/${name}`,
      text: readFileSync(`${sourceFolder}${name}`, "utf8"),
    }));
  const cacheFile = `${cacheFolder}${hashSources(sources)}.json`;
  const bytecodes = readCached(cacheFile) ?? (await compileInto(cacheFile, sources));
  const bytecode = bytecodes[actor];
  if (bytecode === undefined) throw new Error(`contracts/test/actors has no ${actor}`);
  return bytecode as Hex;
}

type Bytecodes = Readonly<Record<string, string>>;

function readCached(cacheFile: string): Bytecodes | null {
  try {
    return JSON.parse(readFileSync(cacheFile, "utf8"));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw new Error(`${cacheFile} is damaged; delete it`, { cause });
  }
}

// Another test process may be doing the same: the rename makes a half-written answer impossible.
async function compileInto(
  cacheFile: string,
  sources: Parameters<typeof compileContracts>[0],
): Promise<Bytecodes> {
  const contracts = await compileContracts(sources);
  const bytecodes = Object.fromEntries(contracts.map(({ name, bytecode }) => [name, bytecode]));
  mkdirSync(cacheFolder, { recursive: true });
  const unfinished = `${cacheFolder}${process.pid}.tmp`;
  writeFileSync(unfinished, JSON.stringify(bytecodes));
  renameSync(unfinished, cacheFile);
  return bytecodes;
}
