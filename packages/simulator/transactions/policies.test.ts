// Steps with policies, payments, policy accounts and session keys do on chain what their names say.

import { demoTargetAbi } from "@sextant/contracts/generated/demo-target";
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { encodeFunctionData, erc20Abi, getAddress, parseEther, toHex, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DeployedChain, startDeployedChain } from "../deployed-chain.ts";
import { readEvents } from "../read-events.ts";
import { registerAgent } from "./agents.ts";
import { recordSignedPayment, recordSpend, setPaymentPolicy } from "./payments.ts";
import {
  type PolicyHolder,
  policiesOfAccount,
  policiesOfWallet,
  setFrozen,
  setFunctionAllowed,
  setFunctionMode,
  setGuardian,
  setSpendLimit,
  setTargetAllowed,
} from "./policies.ts";
import {
  actThroughAccount,
  executeBySessionKey,
  openPolicyAccount,
  setAccountFrozen,
  setSessionKey,
} from "./policy-accounts.ts";
import { mintUsd, sendEther } from "./tokens.ts";

const SELECTOR = "0xa9059cbb";
let stage: DeployedChain;

async function emittedBy(step: () => Promise<unknown>) {
  const { chain, deployment, world } = stage;
  const from = Number(await world.client.getBlockNumber({ cacheTime: 0 })) + 1;
  await step();
  const events = await readEvents(chain.request, deployment, from);
  return events.map(({ contract, event, args }) => [`${contract}.${event}`, args]);
}

/** Every holder of policies acts, and the module then shows the account's state. */
async function expectPolicies(holder: PolicyHolder, address: `0x${string}`): Promise<void> {
  const { world } = stage;
  const account = getAddress(address);
  const token = getAddress(world.local.UsdCoin);
  const guardian = world.actors.guardian.address;
  expect(await emittedBy(() => setSpendLimit(holder, token, 500n))).toEqual([
    ["PolicyModule.SpendLimitSet", { account, token, maxPerDay: 500n }],
  ]);
  expect(await emittedBy(() => setTargetAllowed(holder, token, true))).toEqual([
    ["PolicyModule.TargetAllowlistUpdated", { account, target: token, allowed: true }],
  ]);
  expect(await emittedBy(() => setFunctionAllowed(holder, token, SELECTOR, true))).toEqual([
    ["PolicyModule.FunctionAllowlistUpdated", { account, target: token, selector: SELECTOR, allowed: true }],
  ]);
  expect(await emittedBy(() => setFunctionMode(holder, true))).toEqual([
    ["PolicyModule.FunctionAllowlistModeUpdated", { account, enabled: true }],
  ]);
  expect(await emittedBy(() => setGuardian(holder, guardian))).toEqual([
    ["PolicyModule.GuardianSet", { account, guardian }],
  ]);
  for (const frozen of [true, false]) {
    expect(await emittedBy(() => setFrozen(world, world.actors.guardian, account, frozen))).toEqual([
      ["PolicyModule.AccountFrozen", { account, frozen }],
    ]);
  }
}

beforeAll(async () => {
  stage = await startDeployedChain();
});
afterAll(() => stage.chain.stop());

describe("policy steps", () => {
  it("sets every kind of policy directly", async () => {
    const { agent } = stage.world.actors;
    await expectPolicies(policiesOfWallet(stage.world, agent), agent.address);
  });

  it("sets every kind of policy through a policy account", async () => {
    const { agent } = stage.world.actors;
    const account = await openPolicyAccount(stage.world, agent);
    await expectPolicies(policiesOfAccount(agent, account), account);
    expect(await emittedBy(() => setAccountFrozen(agent, account, true))).toEqual([
      ["PolicyModule.AccountFrozen", { account: getAddress(account), frozen: true }],
    ]);
  });

  it("records spends only under a limit", async () => {
    const { world } = stage;
    const { payer } = world.actors;
    const token = getAddress(world.local.WrappedEther);
    expect(await emittedBy(() => recordSpend(world, payer, token, 5n))).toEqual([]);
    await setSpendLimit(policiesOfWallet(world, payer), token, 10n);
    const spend = async () => expect(await recordSpend(world, payer, token, 5n)).toBe(5n);
    expect(await emittedBy(spend)).toEqual([
      ["PolicyModule.SpendRecorded", { account: payer.address, token, amount: 5n, dailyTotal: 5n }],
    ]);
    expect(await recordSpend(world, payer, token, 3n)).toBe(8n);
  });

  it("sets payment policies and records signed payments, also for a policy account", async () => {
    const { world } = stage;
    const { payer, merchant, facilitator } = world.actors;
    const account = await openPolicyAccount(world, payer);
    await setTargetAllowed(policiesOfAccount(payer, account), world.contracts.PolicyModule, true);
    const route = {
      merchant: merchant.address,
      token: getAddress(world.local.UsdCoin),
      facilitator: facilitator.address,
    };
    const terms = { maxPerPayment: 100n, maxPerDay: 150n, allowed: true };
    const paymentHash = toHex(1, { size: 32 });
    for (const actor of [payer, actThroughAccount(payer, account)]) {
      const common = { account: getAddress(actor.address), ...route };
      expect(await emittedBy(() => setPaymentPolicy(world, actor, route, terms))).toEqual([
        ["PolicyModule.PaymentPolicySet", { ...common, ...terms }],
      ]);
      const pay = async () =>
        expect(await recordSignedPayment(world, actor, route, 100n, paymentHash)).toBe(100n);
      expect(await emittedBy(pay)).toEqual([
        ["PolicyModule.SignedPaymentRecorded", { ...common, amount: 100n, paymentHash, dailyTotal: 100n }],
      ]);
    }
  });
});

describe("session key steps", () => {
  it("lets a session key act for an account until it is withdrawn", async () => {
    const { world } = stage;
    const { owner, agent, solver, merchant, payer } = world.actors;
    const account = await openPolicyAccount(world, agent);
    const policies = policiesOfAccount(agent, account);
    const usd = getAddress(world.local.UsdCoin);
    await mintUsd(world, owner, account, 1_000n);
    await sendEther(owner, account, parseEther("1"));
    for (const target of [usd, merchant.address, world.local.DemoTarget, world.contracts.AgentRegistry]) {
      await setTargetAllowed(policies, target, true);
    }
    await setSpendLimit(policies, usd, 500n);
    await setSpendLimit(policies, zeroAddress, 500n);

    const expiresAt = (await world.timeline.now()) + 3_600n;
    const sessionKey = solver.address;
    expect(await emittedBy(() => setSessionKey(agent, account, sessionKey, expiresAt, true))).toEqual([
      ["PolicyAccount.SessionKeyUpdated", { sessionKey, expiresAt: Number(expiresAt), active: true }],
    ]);

    const transfer = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [merchant.address, 40n],
    });
    const session = { account, key: solver, deadline: expiresAt };
    const byKey = (nonce: bigint, call: Parameters<typeof executeBySessionKey>[2]["call"]) => () =>
      executeBySessionKey(world, payer, { ...session, call, nonce });
    expect(await emittedBy(byKey(1n, { to: usd, data: transfer }))).toEqual([
      [
        "PolicyModule.SpendRecorded",
        { account: getAddress(account), token: usd, amount: 40n, dailyTotal: 40n },
      ],
      ["PolicyAccount.SessionKeyExecuted", { sessionKey, target: usd, value: 0n, nonce: 1n }],
    ]);
    expect(await emittedBy(byKey(2n, { to: merchant.address, value: 7n }))).toEqual([
      [
        "PolicyModule.SpendRecorded",
        { account: getAddress(account), token: zeroAddress, amount: 7n, dailyTotal: 7n },
      ],
      ["PolicyAccount.SessionKeyExecuted", { sessionKey, target: merchant.address, value: 7n, nonce: 2n }],
    ]);
    const setValue = encodeFunctionData({ abi: demoTargetAbi, functionName: "setValue", args: [42n] });
    await byKey(3n, { to: world.local.DemoTarget, data: setValue })();
    const value = { address: world.local.DemoTarget, abi: demoTargetAbi, functionName: "value" } as const;
    expect(await world.client.readContract(value)).toBe(42n);
    const balance = {
      address: usd,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [merchant.address],
    } as const;
    expect(await world.client.readContract(balance)).toBe(40n);

    const profile = {
      metadataURI: "ipfs://x",
      pubkey: "0x",
      capabilitiesHash: toHex(1, { size: 32 }),
    } as const;
    const registered = await emittedBy(() =>
      registerAgent(world, actThroughAccount(agent, account), profile),
    );
    expect(registered).toMatchObject([["AgentRegistry.AgentRegistered", { owner: getAddress(account) }]]);

    await setSessionKey(agent, account, sessionKey, expiresAt, false);
    await expect(byKey(4n, { to: usd, data: transfer })()).rejects.toThrow(/InvalidSessionKey/);
    const spent = {
      address: world.contracts.PolicyModule,
      abi: policyModuleAbi,
      functionName: "getSpentToday",
      args: [account, usd],
    } as const;
    expect(await world.client.readContract(spent)).toBe(40n);
  });
});
