// Twenty tasks of agents: the fewest calls that suffice for each, and the facts, read from rows and chains instead.

import { policyModuleAbi } from "@sextant/contracts/generated/policy-module";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { encodeFunctionData, erc20Abi, type Hex, parseUnits } from "viem";
import { formatMoment } from "../../src/lib/moment.ts";
import { encodeBytea } from "../../src/store/index/raw-logs.ts";
import type { ReadStage } from "../api/api-stage.ts";
import {
  callNode,
  listedTokenOf,
  openPayingClient,
  type PortfolioService,
  type ServiceStage,
} from "../portfolio/service-stage.ts";
import { readSharedHistory } from "../support/index/simulated-history.ts";

type ToolCall = readonly [tool: string, args: Readonly<Record<string, unknown>>];

type Fields = Readonly<Record<string, unknown>>;

/** The data of the calls' results, in order. */
// biome-ignore lint/suspicious/noExplicitAny: each task reads the fields that it needs.
type Results = readonly any[];

type EvaluationTask = {
  readonly ask: string;
  readonly calls: readonly ToolCall[];
  /** The facts, from the results alone. */
  readonly facts: (...results: Results) => unknown;
  /** The same facts without the tools. */
  readonly truth: unknown;
};

const FIVE_DOLLARS = 5_000_000n;
const DAY = 86_400n;
const BLOCKS = 40;
/** 12.345678 USDC. */
const SENT = 12_345_678n;

/** Reads values of rows as text. */
function createRowReads(api: ReadStage) {
  const list = async (column: string, text: string) =>
    (await api.rows(`select ${column} as value from ${text}`)).map(({ value }) => String(value));
  const one = async (column: string, text: string) => (await list(column, `${text} limit 1`))[0] ?? null;
  return { list, one };
}

export async function listIndexTasks(api: ReadStage): Promise<readonly EvaluationTask[]> {
  const {
    timestamp = "",
    finalized,
    indexed,
  } = await api.first(
    "select block_timestamp as timestamp, finalized_block as finalized, block_number as indexed from checkpoint",
  );
  return [
    ...(await listAccountTasks(api, timestamp)),
    ...(await listIntentTasks(api, timestamp)),
    ...(await listCommerceTasks(api)),
    {
      ask: "Who owns this agent, and is it revoked?",
      calls: [["get_agent", { agentId: "1" }]],
      facts: ({ owner, revoked }) => [owner, revoked],
      truth: Object.values(
        await api.first("select owner, revoked from agents where valid_to is null and agent_id = 1"),
      ),
    },
    {
      ask: "How far is the index, and what is final?",
      calls: [["get_integrity", {}]],
      facts: ({ indexed: at, finalized_block: final }) => [at.block_number, final],
      truth: [indexed, finalized],
    },
  ];
}

async function listAccountTasks(api: ReadStage, timestamp: string): Promise<readonly EvaluationTask[]> {
  const { list, one } = createRowReads(api);
  const { account = "", token = "" } = await api.first(
    `select w.account, w.token from spend_windows w join policies p on p.account = w.account and p.token = w.token
     where w.valid_to is null and p.valid_to is null and p.policy_type = 'SPEND_LIMIT' and p.max_per_day > 0
     order by (select count(*) from receipts r where r.token = w.token) desc,
       (select count(*) from session_keys k where k.account = w.account and k.valid_to is null and k.active) desc, 1 limit 1`,
  );
  const own = `policies where valid_to is null and account = ${bytesOf(account)}`;
  const args = [`0x${"5e".repeat(20)}`, FIVE_DOLLARS] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
  const window = await api.first(
    `select p.max_per_day as most, case when w.window_start + ${DAY} > ${timestamp} then w.spent else 0 end as spent,
       case when w.window_start + ${DAY} > ${timestamp} then (w.window_start + ${DAY})::text end as resets_at
     from policies p join spend_windows w on w.account = p.account and w.token = p.token and w.valid_to is null
     where p.valid_to is null and p.policy_type = 'SPEND_LIMIT' and p.account = ${bytesOf(account)} and p.token = ${bytesOf(token)}`,
  );
  return [
    {
      ask: "Can this account spend 5 USDC at X today?",
      calls: [["preflight", { account, target: token, data }]],
      facts: ({ allowed }) => allowed,
      truth: await isAllowedOnChain(await readSharedHistory(), { account, target: token, data }),
    },
    {
      ask: "What is left of its daily limit, and when does it reset?",
      calls: [["list_spending_windows", { address: account }]],
      facts: ({ windows }) => {
        const found = windows.find(
          (each: Fields) => each.policy_type === "SPEND_LIMIT" && each.token === token,
        );
        return [found.max_per_day, found.remaining, found.resets_at];
      },
      truth: [window.most, String(BigInt(window.most ?? 0) - BigInt(window.spent ?? 0)), window.resets_at],
    },
    {
      ask: "What may this account do?",
      calls: [["get_account_policies", { address: account }]],
      facts: ({ policies }) => [
        policies.length,
        policies.filter((each: Fields) => each.allowed === true).length,
      ],
      truth: [Number(await one("count(*)", own)), Number(await one("count(*)", `${own} and allowed`))],
    },
    {
      ask: "Is it frozen, and who can freeze it?",
      calls: [["get_account", { address: account }]],
      facts: ({ frozen, guardian }) => [frozen, guardian],
      truth: [
        (await one("frozen", `${own} and policy_type = 'ACCOUNT_FROZEN'`)) === "true",
        await one("guardian", `${own} and policy_type = 'GUARDIAN'`),
      ],
    },
    {
      ask: "Which keys can act for it, and until when?",
      calls: [["list_session_keys", { address: account }]],
      facts: ({ session_keys: keys }) =>
        keys
          .filter((each: Fields) => each.state === "ACTIVE")
          .map((each: Fields) => `${each.session_key} ${each.expires_at}`)
          .sort(),
      truth: (
        await list(
          "hex_text(session_key) || ' ' || expires_at",
          `session_keys where valid_to is null and account = ${bytesOf(account)} and active and expires_at > ${timestamp}`,
        )
      ).sort(),
    },
  ];
}

async function listIntentTasks(api: ReadStage, timestamp: string): Promise<readonly EvaluationTask[]> {
  const { list, one } = createRowReads(api);
  const filled = await api.first(
    "select intent_id, amount_in, amount_out, solver from fills where valid_to is null order by intent_id limit 1",
  );
  const auction = await one(
    "intent_id",
    "bids where valid_to is null group by intent_id order by count(*) desc, 1",
  );
  const [solver] = await api.rows(
    `select s.solver_id, trunc(avg(f.latency_seconds))::text as seconds from fills f
     join solvers s on s.operator = f.solver and s.valid_to is null and s.active
     where f.valid_to is null group by 1 order by avg(f.latency_seconds), s.solver_id limit 1`,
  );
  return [
    {
      ask: "Which intents can I bid on?",
      calls: [["find_intents", { status: "open" }]],
      facts: ({ intents }) => intents.map((each: Fields) => each.intent_id),
      truth: await list(
        "intent_id",
        `intents where valid_to is null and status = 'OPEN' and deadline >= ${timestamp} order by intent_id desc limit 20`,
      ),
    },
    {
      ask: "Was this intent filled, by whom and for how much?",
      calls: [["get_intent", { id: filled.intent_id }]],
      facts: ({ status, fill }) => [status, fill.solver, fill.amount_in, fill.amount_out],
      truth: ["FILLED", filled.solver, filled.amount_in, filled.amount_out],
    },
    {
      ask: "Which bid is best?",
      calls: [["list_bids", { id: auction, limit: 1 }]],
      facts: ({ bids: [best] }) => [best.chain_bid_id, best.amount_out],
      truth: Object.values(
        await api.first(
          `select chain_bid_id, amount_out from bids where valid_to is null and intent_id = ${auction}
           order by amount_out desc, amount_in, fee, block_number, log_index limit 1`,
        ),
      ),
    },
    {
      ask: "Which solver fills fastest?",
      calls: [["list_solvers", { active: true }]],
      facts: ({ solvers }) => {
        const [fastest] = solvers
          .filter((each: Fields) => each.avg_latency_seconds !== null)
          .sort(
            (a: Record<string, string>, b: Record<string, string>) =>
              Number(a.avg_latency_seconds) - Number(b.avg_latency_seconds),
          );
        return fastest?.solver_id;
      },
      truth: solver?.solver_id,
    },
  ];
}

async function listCommerceTasks(api: ReadStage): Promise<readonly EvaluationTask[]> {
  const { list, one } = createRowReads(api);
  const receipt = await api.first(
    "select receipt_id, token, amount, merchant_id, agent, tx_hash from receipts where valid_to is null order by receipt_id limit 1",
  );
  const merchant = receipt.merchant_id ?? "";
  const disputed = (status: string) =>
    one("count(*)", `disputes where valid_to is null and merchant_id = ${merchant} and ${status}`);
  return [
    {
      ask: "What did this transaction do?",
      calls: [["explain_transaction", { hash: receipt.tx_hash }]],
      facts: ({ events, block_number: at }) => [events.length, at],
      truth: Object.values(
        await api.first(
          `select count(*)::int, min(block_number)::text from logs where tx_hash = ${bytesOf(receipt.tx_hash)}`,
        ),
      ),
    },
    {
      ask: "Was this payment settled: who paid whom, and how much?",
      calls: [["get_commerce_record", { kind: "receipt", id: receipt.receipt_id }]],
      facts: ({ agent, merchant_id, token: paid, amount }) => [agent, merchant_id, paid, amount],
      truth: [receipt.agent, merchant, receipt.token, receipt.amount],
    },
    {
      ask: "Can I trust this merchant?",
      calls: [["get_reputation", { kind: "merchant", id: merchant }]],
      facts: ({ merchant: { active }, commerce: { receipts }, disputes }) => [
        ...[active, receipts, disputes.disputes, disputes.open_disputes],
      ],
      truth: [
        (await one("active", `merchants where valid_to is null and merchant_id = ${merchant}`)) === "true",
        await one("count(*)", `receipts where valid_to is null and merchant_id = ${merchant}`),
        await disputed("true"),
        await disputed("status = 'OPEN'"),
      ],
    },
    {
      ask: "What does this merchant sell?",
      calls: [["list_services", { merchant_id: merchant, active: true }]],
      facts: ({ services }) => services.map((each: Fields) => each.service_id).sort(),
      truth: (
        await list("service_id", `services where valid_to is null and active and merchant_id = ${merchant}`)
      ).sort(),
    },
    {
      ask: "How much was paid in this token?",
      calls: [["analytics", {}]],
      facts: ({ volume_by_token: volumes }) =>
        volumes.find((each: Fields) => each.token === receipt.token).settled_volume,
      truth: await one(
        "sum(amount)",
        `receipts where valid_to is null and token = ${bytesOf(receipt.token)}`,
      ),
    },
  ];
}

/** The contract's own word. */
async function isAllowedOnChain(
  { rpcUrl, deployment }: Awaited<ReturnType<typeof readSharedHistory>>,
  { account, target, data }: { readonly account: string; readonly target: string; readonly data: Hex },
): Promise<boolean> {
  const args = [target as Hex, 0n, data] as const;
  const check = encodeFunctionData({ abi: policyModuleAbi, functionName: "checkTransaction", args });
  const call = { from: account, to: deployment.contracts.PolicyModule, data: check };
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [call, "latest"] }),
  });
  const { error } = (await response.json()) as { readonly error?: { readonly message: string } };
  if (error !== undefined && !/revert/.test(error.message)) throw new Error(error.message);
  return error === undefined;
}

/** Moves money after the time that the tasks name, and returns the tasks with what changed. */
export async function listWalletTasks(
  stage: ServiceStage,
  service: PortfolioService,
  wallet: Hex,
): Promise<readonly EvaluationTask[]> {
  const { base } = stage;
  const usdc = listedTokenOf(base, "USDC");
  const friend: Hex = `0x${"f1".repeat(20)}`;
  const call = async (functionName: "balanceOf" | "allowance", args: readonly Hex[]) => {
    const request = { abi: usdCoinAbi, functionName, args } as unknown as Parameters<
      typeof encodeFunctionData
    >[0];
    const result = await callNode<Hex>(base, "eth_call", [
      { to: usdc, data: encodeFunctionData(request) },
      "latest",
    ]);
    return BigInt(result);
  };
  // So that a block after the wallet was funded is final.
  for (let mined = 0; mined < BLOCKS; mined += 1) await callNode(base, "evm_mine", []);
  const send = { abi: usdCoinAbi, functionName: "transfer", args: [friend, SENT] } as const;
  await callNode(base, "eth_sendTransaction", [{ from: wallet, to: usdc, data: encodeFunctionData(send) }]);
  const since = await findFinalBlock(stage);
  const held = await call("balanceOf", [wallet]);
  const { snapshot } = await openPayingClient(stage);
  const { summary } = await snapshot(service.url, `address=${wallet}&chains=base`);
  // Approved by the payer of every local market, without a limit.
  const taker = namedAccounts().solver.address.toLowerCase() as Hex;
  const own = { address: wallet, chains: "base" };
  const exposure: ToolCall = ["wallet_exposure", { ...own, detail: "summary" }];
  const units = (text: string) => parseUnits(text, 6);
  const findDollars = (records: Results) => records.find(({ symbol }) => symbol === "USDC");
  return [
    {
      ask: "What is my wallet worth?",
      calls: [["wallet_snapshot", { ...own, detail: "summary" }]],
      facts: ({ totalValueUsd }) => totalValueUsd,
      truth: summary.totalValueUsd,
    },
    {
      ask: "How much USDC do I hold?",
      calls: [["wallet_snapshot", own]],
      facts: ({ tokens }) => units(findDollars(tokens).balance),
      truth: held,
    },
    {
      ask: "What changed in my wallet since yesterday, and who can take from it?",
      calls: [["wallet_changes", { ...own, from: since.time, detail: "summary" }], exposure],
      facts: ({ from, largestChanges }, { permissions }) => [
        from.blocks,
        units(findDollars(largestChanges).quantityUsd),
        findDollars(permissions).spender,
      ],
      truth: [[{ chain: "base", number: since.number }], -SENT, taker],
    },
    {
      ask: "Who can take USDC without a limit, and how do I revoke it?",
      calls: [["wallet_exposure", { ...own, fields: "permissions" }]],
      facts: ({ permissions }) => {
        const found = findDollars(permissions);
        return [found.spender, found.reasons.includes("unlimited"), found.revoke.data];
      },
      truth: [
        taker,
        (await call("allowance", [wallet, taker])) >= 2n ** 255n,
        encodeFunctionData({ abi: usdCoinAbi, functionName: "approve", args: [taker, 0n] }),
      ],
    },
  ];
}

/** The newest final block of Base whose time has come, and its time. */
async function findFinalBlock({ base }: ServiceStage) {
  type Header = { readonly number: Hex; readonly timestamp: Hex };
  const read = (at: string) => callNode<Header>(base, "eth_getBlockByNumber", [at, false]);
  let header = await read("finalized");
  while (Number(header.timestamp) * 1_000 > Date.now()) {
    header = await read(`0x${(Number(header.number) - 1).toString(16)}`);
  }
  return { number: Number(header.number), time: formatMoment(Number(header.timestamp)) };
}

/** As rows and logs store hex. */
function bytesOf(hex = ""): string {
  return `'${encodeBytea(hex as Hex)}'`;
}
