// Drainers and honest transactions on a real chain: no drainer is allowed, and what is allowed does what it says.
import { plainTokenAbi } from "@sextant/contracts/generated/plain-token";
import { vault4626Abi } from "@sextant/contracts/generated/vault4626";
import {
  actorBytecode,
  crookedTokenAbi,
  crookedTokenBehaviours,
  puppetAbi,
} from "@sextant/contracts/test/actor-contracts";
import { HOSTILE_CODE, numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import { Ajv2020 } from "ajv/dist/2020.js";
import { encodeFunctionData, type Hex, keccak256, parseAbi } from "viem";
import { sign } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { rejectStateOverrides } from "../../../tests/support/portfolio/portfolio-stage.ts";
import {
  ASKER_CODE,
  COLLECTION_CODE,
  drainCode,
  openSimulationStage,
} from "../../../tests/support/portfolio/simulation-stage.ts";
import { type Simulation, simulationSchema } from "../../schema/portfolio/simulation.ts";
import type { WalletCall } from "./request.ts";

const UNLIMITED = 2n ** 256n - 1n;
const PERSON = numberedAddress(0xdead01);
const COLLECTION = numberedAddress(0xc011);
const COUNTER = numberedAddress(0xc012);
const BURNER = numberedAddress(0xb0b);
const BOMB = numberedAddress(0xb0b2);
const ASKER = numberedAddress(0xa5c);
const stage = await openSimulationStage({
  [COLLECTION]: COLLECTION_CODE,
  [COUNTER]: COLLECTION_CODE.replace("e985e9c5", "dd62ed3e") as Hex,
  // An invalid instruction uses all that is left.
  [BURNER]: "0xfe",
  [BOMB]: HOSTILE_CODE.bomb,
  [ASKER]: ASKER_CODE,
});
const { chain, wallet, token, ether, vault, owner, simulate, send, deploy } = stage;
const crooked = await deploy(crookedTokenAbi, actorBytecode("CrookedToken"), []);
const puppet = await deploy(puppetAbi, actorBytecode("Puppet"), []);
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isValid = ajv.compile(simulationSchema);

const erc20 = (name: "approve" | "transfer", to: Hex, amount: bigint) =>
  encodeFunctionData({ abi: plainTokenAbi, functionName: name, args: [to, amount] });

function codesOf({ reasons }: Simulation): readonly string[] {
  return reasons.map(({ code }) => code);
}

/** Puts a thief at an address, and lets it take what the wallet approved before. */
async function placeThief(address: Hex, detects: boolean): Promise<void> {
  await chain.setCode(address, drainCode(token, PERSON, 1_000n, detects));
  await send({ to: token, data: erc20("approve", address, 5_000n) });
}

async function receiveCrooked(habit: (typeof crookedTokenBehaviours)[number]) {
  const number = crookedTokenBehaviours.indexOf(habit);
  const abi = crookedTokenAbi;
  await send({ to: crooked, data: encodeFunctionData({ abi, functionName: "setHabit", args: [number] }) });
  return [{ to: crooked, data: encodeFunctionData({ abi, functionName: "mint", args: [wallet, 100n] }) }];
}

const alike = (address: Hex): Hex => `${address.slice(0, 6)}${"5".repeat(32)}${address.slice(-4)}` as Hex;

describe("a drainer", () => {
  const cases: readonly (readonly [string, () => Promise<readonly Partial<WalletCall>[]>, string, string])[] =
    [
      [
        "unlimited approval of a person",
        async () => [{ to: token, data: erc20("approve", PERSON, UNLIMITED) }],
        ...(["spender-without-code", "block"] as const),
      ],
      [
        "unlimited approval of unknown code",
        async () => [{ to: token, data: erc20("approve", puppet, UNLIMITED) }],
        ...(["unlimited-approval", "block"] as const),
      ],
      [
        "small approval of unknown code",
        async () => [{ to: token, data: erc20("approve", puppet, 5n) }],
        ...(["unknown-spender", "caution"] as const),
      ],
      [
        "approval of an address like a known spender",
        async () => [{ to: token, data: erc20("approve", alike(vault), 5n) }],
        ...(["lookalike-contract", "block"] as const),
      ],
      [
        "operator for all",
        async () => {
          const abi = parseAbi(["function setApprovalForAll(address,bool)"]);
          const data = encodeFunctionData({ abi, args: [puppet, true] });
          return [{ to: COLLECTION, data }];
        },
        ...(["operator-for-all", "block"] as const),
      ],
      [
        "claim by which approved tokens are taken",
        async () => {
          await placeThief(numberedAddress(0xfeed1), false);
          return [{ to: numberedAddress(0xfeed1), data: "0x4e71d92d" as const }];
        },
        ...(["nothing-in-return", "caution"] as const),
      ],
      [
        "claim that takes nothing while the wallet seems to have code",
        async () => {
          await placeThief(numberedAddress(0xfeed2), true);
          return [{ to: numberedAddress(0xfeed2), data: "0x4e71d92d" as const }];
        },
        ...(["override-detected", "block"] as const),
      ],
      [
        "code that was replaced a few blocks ago",
        async () => {
          await chain.setCode(numberedAddress(0xfeed3), "0x00");
          await chain.mine(101);
          await chain.setCode(numberedAddress(0xfeed3), "0x5b00");
          await chain.mine(1);
          return [{ to: numberedAddress(0xfeed3), data: "0x4e71d92d" as const }];
        },
        ...(["code-changed", "block"] as const),
      ],
      [
        "ether for nothing",
        async () => [{ to: puppet, value: 10n ** 18n }],
        ...(["unknown-code", "caution"] as const),
      ],
      [
        "address that looks like one that was paid",
        async () => {
          await send({ to: token, data: erc20("transfer", owner, 7n) });
          return [{ to: token, data: erc20("transfer", alike(owner), 7n) }];
        },
        ...(["lookalike-receiver", "block"] as const),
      ],
      [
        "all of a token",
        async () => [{ to: token, data: erc20("transfer", PERSON, 10n ** 12n - 7n) }],
        ...(["empties-balance", "caution"] as const),
      ],
      [
        "airdrop of a token on no list",
        async () => {
          const give = encodeFunctionData({
            abi: crookedTokenAbi,
            functionName: "mint",
            args: [wallet, 100n],
          });
          return [{ to: crooked, data: give }];
        },
        ...(["unknown-token", "caution"] as const),
      ],
      [
        "honeypot, whose token stays where it is",
        () => receiveCrooked("MOVES_NOTHING"),
        ...(["cannot-be-sold", "block"] as const),
      ],
      [
        "token that keeps a part of each transfer",
        () => receiveCrooked("KEEPS_FEE"),
        ...(["token-keeps-part", "caution"] as const),
      ],
      [
        "increased allowance of a person",
        async () => {
          const abi = parseAbi(["function increaseAllowance(address,uint256)"]);
          return [{ to: COUNTER, data: encodeFunctionData({ abi, args: [PERSON, 5n] }) }];
        },
        ...(["spender-without-code", "block"] as const),
      ],
      [
        "tokens for a contract that does not count what it is sent",
        async () => [{ to: token, data: erc20("transfer", vault, 5n) }],
        ...(["nothing-in-return", "caution"] as const),
      ],
      [
        "call data for an account without code",
        async () => [{ to: PERSON, data: "0x4e71d92d" as const }],
        ...(["unknown-code", "caution"] as const),
      ],
      [
        "code that burns all gas",
        async () => [{ to: BURNER, data: "0x4e71d92d" as const }],
        "reverts",
        "block",
      ],
      [
        "code that returns megabytes",
        async () => [{ to: BOMB, data: "0x4e71d92d" as const }],
        ...(["unknown-code", "caution"] as const),
      ],
    ];

  it.each(cases)("is never allowed: %s", async (_name, prepare, code, verdict) => {
    const simulation = await simulate(await prepare());
    expect(codesOf(simulation)).toContain(code);
    expect(simulation.verdict).toBe(verdict);
    expect(isValid(simulation), ajv.errorsText(isValid.errors)).toBe(true);
  });
});

describe("an honest transaction", () => {
  it("is allowed as a payment of a listed token, with all that it changes", async () => {
    const simulation = await simulate([{ to: token, data: erc20("transfer", owner, 1_500_000n) }]);
    expect(simulation).toMatchObject({
      verdict: "allow",
      reasons: [],
      success: true,
      crossCheck: { method: "debug_traceCall", agrees: true },
      receivers: [{ account: owner, contract: token, rawAmount: "1500000" }],
    });
    expect(simulation.balanceChanges).toMatchObject([
      { account: wallet, role: "wallet", contract: token, rawChange: "-1500000", change: "-1.5" },
      { account: owner, role: "other", contract: token, rawChange: "1500000" },
    ]);
    expect(isValid(simulation), ajv.errorsText(isValid.errors)).toBe(true);
  });

  it("succeeds as an approval of a known contract and a deposit into it, in this order", async () => {
    const deposit = encodeFunctionData({ abi: vault4626Abi, functionName: "deposit", args: [900n, wallet] });
    const simulation = await simulate([
      { to: token, data: erc20("approve", vault, 1_000n) },
      { to: vault, data: deposit },
    ]);
    expect([simulation.verdict, simulation.reasons]).toEqual([
      "caution",
      // Nothing here has a price.
      [expect.objectContaining({ code: "value-unknown" })],
    ]);
    expect(simulation.transactions.map(({ success }) => success)).toEqual([true, true]);
    expect(simulation.permissionChanges).toMatchObject([
      { kind: "erc20-allowance", contract: token, spender: vault, spenderName: "Vault", rawAfter: "100" },
    ]);
  });

  it("is blocked with the reason of its revert", async () => {
    const simulation = await simulate([{ to: ether, data: erc20("transfer", owner, 1n) }]);
    expect(simulation).toMatchObject({ verdict: "block", success: false });
    expect(codesOf(simulation)[0]).toBe("reverts");
    expect(simulation.transactions[0]?.revert).not.toBeNull();
  });
});

describe("an account without code that seems to have code", () => {
  it("accepts an item as it would without the simulation", async () => {
    const receive = parseAbi(["function onERC721Received(address,address,uint256,bytes)"]);
    const data = encodeFunctionData({ abi: receive, args: [owner, owner, 7n, "0x"] });
    const simulation = await simulate([{ to: ASKER, data }]);
    expect([simulation.success, simulation.crossCheck.agrees]).toEqual([true, true]);
  });

  it("confirms signatures of its own key only", async () => {
    const hash = keccak256("0x38");
    const verify = parseAbi(["function isValidSignature(bytes32,bytes)"]);
    const outcomes = [];
    for (const account of [chain.accounts.payer, chain.accounts.owner]) {
      const signature = await sign({ hash, privateKey: account.privateKey, to: "hex" });
      const data = encodeFunctionData({ abi: verify, args: [hash, signature] });
      const simulation = await simulate([{ to: ASKER, data }]);
      outcomes.push(simulation.success);
    }
    expect(outcomes).toEqual([true, false]);
  });
});

describe("a simulation", () => {
  it("needs at most four requests to a node", async () => {
    const node = await stage.node();
    const before = node.requests.length;
    await simulate([{ to: token, data: erc20("transfer", owner, 1n) }], node);
    expect(node.requests.length - before).toBeLessThanOrEqual(4);
  });

  it("fails without a charge where no node overrides code", async () => {
    const node = await stage.node(rejectStateOverrides);
    const simulating = simulate([{ to: token, data: erc20("transfer", owner, 1n) }], node);
    await expect(simulating).rejects.toMatchObject({ code: "NODE_REFUSED" });
  });

  it("calls the wallet's own code by a delegation, and warns that its checks do not run", async () => {
    const delegated = await openDelegated();
    expect(delegated.warnings.join(" ")).toContain("The account has code");
  });
});

/** The wallet's account runs a puppet for the time of one simulation. */
async function openDelegated(): Promise<Simulation> {
  await chain.setCode(wallet, `0xef0100${puppet.slice(2)}`);
  const data = encodeFunctionData({
    abi: puppetAbi,
    functionName: "perform",
    args: [token, 0n, erc20("transfer", owner, 3n)],
  });
  const simulation = await simulate([{ to: wallet, data }]);
  await chain.setCode(wallet, "0x");
  expect(simulation.balanceChanges.map(({ rawChange }) => rawChange)).toEqual(["-3", "3"]);
  expect(codesOf(simulation)).toContain("calls-itself");
  return simulation;
}
