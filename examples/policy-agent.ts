// An agent that asks for its own policy before it acts: `npm start`, then `npx tsx examples/policy-agent.ts`.
import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { encodeFunctionData, erc20Abi, formatUnits, type Hex, parseUnits } from "viem";
import { blockOf, openLocalRun } from "./local-run.ts";

const { sextant, token, contract, wallet } = openLocalRun();
const policies = contract("PolicyModule");
const agent = wallet("agent");
const merchant = wallet("merchant").account.address;
/** No check may be older than the agent's own newest transaction. */
let minBlock = 0n;

async function send(to: string, data: string): Promise<Hex> {
  const hash = await agent.sendTransaction({ to: to as Hex, data: data as Hex });
  minBlock = await blockOf(agent, hash);
  return hash;
}

/** Calls the module that keeps the rules of the agent's account. */
function sendToModule(...[functionName, args]: ["recordSpend" | "setSpendLimit", readonly [Hex, bigint]]) {
  return send(policies, encodeFunctionData({ abi: policyModuleAbi, functionName, args }));
}

/** Transfers tokens if the rules of the agent's account allow it. Returns what would have to change if they do not. */
async function pay(amount: bigint) {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [merchant, amount] });
  const plan = { account: agent.account.address, target: token, data };
  const { allowed, reasons, required_policy_updates } = await sextant.preflight(plan, { minBlock });
  console.log(`pay ${formatUnits(amount, 6)}: ${allowed ? "allowed" : `not allowed. ${reasons.join(" ")}`}`);
  if (!allowed) return required_policy_updates;
  // A smart account does this with each of its calls. A plain key uses up its limit only if it says what it spends.
  await sendToModule("recordSpend", [token, amount]);
  const hash = await send(token, data);
  console.log(`paid in ${hash}`);
  return [];
}

// A contract outside the list of targets is not allowed. The response has the calls that would allow it; whether they
// are sent is the decision of the account's owner, who is the agent itself here.
for (const { policy_type, to, data } of await pay(parseUnits("1.5", 6))) {
  console.log(`the owner sets ${policy_type}`);
  await send(to, data);
}
await pay(parseUnits("1.5", 6));

// A limit of 2 a day: now a smaller payment is allowed, and a larger one is not.
await sendToModule("setSpendLimit", [token, parseUnits("2", 6)]);
await pay(parseUnits("0.5", 6));
await pay(parseUnits("2.5", 6));
