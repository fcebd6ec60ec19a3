// An agent that asks for its own policy before it acts: `npm start`, then `npx tsx examples/policy-agent.ts`.
import { policyAccountAbi, policyAccountBytecode } from "@sextant/contracts/generated/policy-account";
import { encodeFunctionData, erc20Abi, type Hex, parseUnits } from "viem";
import { blockOf, openLocalRun } from "./local-run.ts";

const { api, sextant, token, contract, wallet, formatAmount, formatSentence } = openLocalRun();
const agent = wallet("agent");
const merchant = wallet("merchant").account.address;
const usdc = (amount: bigint | string) => formatAmount(amount, token);
const transfer = (to: Hex, amount: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
/** No check may be older than the agent's own newest transaction. */
let minBlock = 0n;

async function send(to: Hex, data: Hex): Promise<Hex> {
  const hash = await agent.sendTransaction({ to, data });
  minBlock = await blockOf(agent, hash);
  return hash;
}

/** A smart account that the agent's key owns. Each of its calls passes the policy module, which counts what it spends. */
async function openAccount(): Promise<Hex> {
  const args = [agent.account.address, contract("PolicyModule")] as const;
  const hash = await agent.deployContract({ abi: policyAccountAbi, bytecode: policyAccountBytecode, args });
  const { contractAddress } = await agent.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error(`the transaction ${hash} deployed no account`);
  return contractAddress;
}

/** Pays from the account if its rules allow it. Returns the calls that would allow it if they do not. */
async function pay(amount: bigint) {
  const call = { target: token, data: transfer(merchant, amount) };
  // Reasons in parts name the token of each amount.
  const { allowed, reason_parts, required_policy_updates } = await sextant.preflight(
    { account, ...call, include: "parts" },
    { minBlock },
  );
  const reasons = reason_parts?.map(formatSentence).join(" ");
  console.log(`pay ${usdc(amount)}: ${allowed ? "allowed" : `not allowed. ${reasons}`}`);
  if (!allowed) return required_policy_updates;
  // Through the account, never with the key alone: a transfer that the key sends itself meets no rule and is not counted.
  const args = [call.target, 0n, call.data] as const;
  const hash = await send(
    account,
    encodeFunctionData({ abi: policyAccountAbi, functionName: "execute", args }),
  );
  const [window] = await sextant.listSpendingWindows({ address: account }, { minBlock }).take(1);
  if (window === undefined) throw new Error("the index has no limit of this account");
  console.log(
    `paid in ${hash}; ${usdc(window.spent)} is spent today, ${usdc(window.remaining ?? "0")} remains`,
  );
  return [];
}

const account = await openAccount();
await send(token, transfer(account, parseUnits("5", 6)));
// Only what is spent under a limit is counted, so that the limit comes first: 2 a day.
const limit = [token, parseUnits("2", 6)] as const;
await send(
  account,
  encodeFunctionData({ abi: policyAccountAbi, functionName: "setSpendLimit", args: limit }),
);
console.log(`account ${account} holds ${usdc("5000000")} and may spend ${usdc(limit[1])} a day`);

// A contract outside the list of targets is not allowed. The response has the calls that would allow it; whether they
// are sent is the decision of the account's owner, who is the agent itself here.
for (const { policy_type, data } of await pay(parseUnits("1.5", 6))) {
  console.log(`the owner sets ${policy_type}`);
  // The account has the functions of the module under the same names, and passes them on as itself.
  await send(account, data as Hex);
}
await pay(parseUnits("1.5", 6));
// The rest of the day's limit is 0.5: a larger payment is not allowed, and a smaller one is.
await pay(parseUnits("1", 6));
await pay(parseUnits("0.5", 6));
console.log(`next: open ${api}/explorer/accounts/${account}, or run`);
console.log(`  node bin/sextant.mjs list accounts/${account}/windows`);
