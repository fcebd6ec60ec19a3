// The commands of `sextant`: their help texts, options and modules.
import type * as ApiOperations from "./api-operations.ts";
import type { Command, CommandOption } from "./command.ts";

type OptionNames = Pick<CommandOption, "alias" | "variable" | "repeatable">;

/** An option with a value, which --help shows as `valueName`. */
const text = (valueName: string, description: string, names: OptionNames = {}): CommandOption => ({
  type: "string",
  valueName,
  description,
  ...names,
});
const flag = (description: string, names: OptionNames = {}): CommandOption => ({
  type: "boolean",
  description,
  ...names,
});

const network = text("NAME", "a shipped deployment, such as base-sepolia, or a deployment file", {
  variable: "NETWORK",
});

const deployment = text("NAME", "one of NETWORK and DEPLOYMENTS, or a further name or deployment file");
const deployments: CommandOption = { ...deployment, repeatable: true };

const json = flag("print the JSON of the API");
const wide = flag("show all columns and whole values");
const apiUrl = text("URL", "the indexing API", { variable: "SEXTANT_API_URL" });
const portfolioUrl = text("URL", "the portfolio service", { variable: "SEXTANT_PORTFOLIO_URL" });

const max = text(
  "USD",
  "buy for at most this in all, deposits of channels apart; SEXTANT_GUARD_PER_PAYMENT limits each payment",
  {
    alias: "max-usd",
  },
);

const save = text("FILE", "write the response into FILE too, with its signature, receipt and keys");

/** The options of every command that buys. */
const purchaseOptions = {
  max,
  purchase: text("NAME", "a name of your own: within a day the same name and wallet are charged once"),
  again: flag("get what this payer bought within a day again, by signing in; pay only if there is nothing"),
  quote: flag("show price and payee, and pay nothing"),
  save,
} as const;

const SOLD_READS =
  "Where reads are sold, each request is paid within the limits of `wallet`, if SEXTANT_CHANNEL_DEPOSIT is set.";

const paidExits = { 2: true, 3: true, 4: true, 5: true, 6: true } as const;

const byOperation =
  (...given: Parameters<typeof ApiOperations.extendByOperation>) =>
  async () =>
    (await import("./api-operations.ts")).extendByOperation(...given);
const byPath = (command: "get" | "list") => async () =>
  (await import("./api-operations.ts")).extendByPath(command);

// Commands load lazily: --help must not parse database and chain code.
export const COMMANDS: readonly Command[] = [
  {
    name: "wallet",
    summary: "buy a snapshot of a wallet and show it",
    description:
      "Pays for a snapshot with x402, at most what the limits allow, and shows it. A purchase whose response was lost is " +
      "finished by the same command without paying again. WALLET is an address, or a name in ENS or Basenames. The payer is that of a local run, or the account of " +
      "SEXTANT_PAYER_KEY or SEXTANT_PAYER_KEY_FILE; SEXTANT_GUARD_PAYEES names who may be paid.",
    options: { ...purchaseOptions, url: portfolioUrl, json },
    client: {
      operands: "WALLET",
      operandsMax: 1,
      examples: [
        "wallet 0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
        "wallet 0x14dC79964da2C08b23698B3D3cc7Ca32193d9955 --chains base --max 0.02",
        "wallet 0x14dC79964da2C08b23698B3D3cc7Ca32193d9955 --quote",
        "wallet 0x14dC79964da2C08b23698B3D3cc7Ca32193d9955 --detail summary",
        "wallet 0x14dC79964da2C08b23698B3D3cc7Ca32193d9955 --min-usd 1 --json > snapshot.json",
        "wallet 0x14dC79964da2C08b23698B3D3cc7Ca32193d9955 --proof 1 --json > proven.json",
      ],
      extend: byOperation("getPortfolio", "address"),
    },
    exits: paidExits,
    load: async () => (await import("./commands/wallet.ts")).walletCommand,
  },
  {
    name: "diff",
    summary: "buy what changed in a wallet between two blocks",
    description:
      "Pays for the difference of two snapshots with x402, as `wallet` does, and shows it: each change split into quantity " +
      "and price.",
    options: { ...purchaseOptions, url: portfolioUrl, json },
    client: {
      operands: "WALLET",
      operandsMax: 1,
      examples: ["diff 0x14dC79964da2C08b23698B3D3cc7Ca32193d9955 --chains base --from base:34"],
      extend: byOperation("getPortfolioDiff", "address"),
    },
    exits: paidExits,
    load: async () => (await import("./commands/wallet.ts")).diffCommand,
  },
  {
    name: "exposure",
    summary: "buy what can be taken from a wallet",
    description:
      "Pays for every live permission over a wallet with x402, as `wallet` does, and shows them: who has it, the value at " +
      "risk, and the call that revokes it.",
    options: { ...purchaseOptions, url: portfolioUrl, json },
    client: {
      operands: "WALLET",
      operandsMax: 1,
      examples: ["exposure 0x14dC79964da2C08b23698B3D3cc7Ca32193d9955 --chains base"],
      extend: byOperation("getExposure", "address"),
    },
    exits: paidExits,
    load: async () => (await import("./commands/wallet.ts")).exposureCommand,
  },
  {
    name: "verify",
    summary: "check a response without believing the service",
    description:
      "Checks a stored response: its signature and receipt, the Merkle proofs of its amounts or of a record, and the header of each block, " +
      "and shows what is proven, signed only, unknown or wrong. Nothing is sent: only nodes and keys that you name are " +
      "asked, never an address from the file. Two nodes of each chain must have its block. FILE is what --json or --save " +
      "wrote, or - for standard input.",
    options: {
      rpc: text("URL", "a node that you trust to know the chain", { repeatable: true }),
      "min-nodes": text(
        "N",
        "how many of your nodes must have a block (default 2; 1 for a node of your own)",
      ),
      block: text("HASH", "a block that you know to be on its chain", { repeatable: true }),
      deployment: text(
        "FILE",
        "a deployment file, or the address of a contract that you know as the protocol's",
        {
          repeatable: true,
        },
      ),
      key: text("KEY", "the public key of the service, or a file with its keys", { repeatable: true }),
      keys: text("URL", "a service whose keys are read, and count for its host", { repeatable: true }),
      wide,
      json: flag("print the result as JSON"),
    },
    client: {
      operands: "FILE",
      operandsMax: 1,
      examples: [
        "verify response.json --rpc https://node-a.example --rpc https://node-b.example",
        "verify response.json --keys https://service.example --json",
        "verify response.json --deployment deployment.json --rpc https://node.example --min-nodes 1",
      ],
    },
    exits: { 1: "something is wrong, or nothing vouches for the response" },
    load: async () => (await import("./commands/verify.ts")).verifyCommand,
  },
  {
    name: "get",
    summary: "show one record of the indexing API",
    description:
      "Shows what is at a path of the indexing API. A document is printed as it was published, after its hash was checked. " +
      SOLD_READS,
    options: { max, save, url: apiUrl, json },
    client: {
      operands: "PATH",
      // A path may be given in parts: `get intents 15`.
      operandsMax: 3,
      examples: ["get agents/1", "get intents/15 --block 400 --json", "get analytics/commerce"],
      extend: byPath("get"),
    },
    exits: paidExits,
    load: async () => (await import("./commands/get.ts")).getCommand,
  },
  {
    name: "list",
    summary: "show a list of the indexing API",
    description:
      "Shows records of the indexing API as they are read, page by page. With --json each line is one record. " +
      SOLD_READS,
    options: {
      max,
      limit: text("N", "show at most N records (default 20)"),
      all: flag("show all records"),
      url: apiUrl,
      wide,
      json,
    },
    client: {
      operands: "PATH",
      // A path may be given in parts: `get intents 15`.
      operandsMax: 3,
      examples: [
        "list intents --status open",
        "list intents/15/bids --limit 5",
        "list events --limit 10",
        "list merchants --active true --all --json | head -3",
      ],
      extend: byPath("list"),
    },
    exits: paidExits,
    load: async () => (await import("./commands/list.ts")).listCommand,
  },
  {
    name: "watch",
    summary: "print events as they happen",
    description:
      "Prints each event of the protocol with time, block and sentence, and a line when a reorg has removed some. Connects " +
      "again when a connection is lost, and misses nothing. Ends with Ctrl-C. With --json each line is one event, undo or " +
      "progress, as in application/x-ndjson of the API. Where streams are sold, each minute is paid within the limits of " +
      "`wallet`, if SEXTANT_CHANNEL_DEPOSIT is set.",
    options: {
      max,
      "cursor-file": text("FILE", "keep in FILE how far it is, and go on from there instead of --from"),
      url: apiUrl,
      json,
    },
    client: {
      operands: "",
      operandsMax: 0,
      examples: [
        "watch --type IntentSubmitted,IntentFilled",
        "watch --agent 1 --from genesis --finality finalized",
        "watch --json --cursor-file events.cursor >> events.jsonl",
      ],
      extend: byOperation("readEvents", "order", {
        from: "where to begin: a cursor, a block number, genesis, or head (default)",
      }),
    },
    exits: paidExits,
    load: async () => (await import("./commands/watch.ts")).watchCommand,
  },
  {
    name: "publish",
    summary: "copy the events to NATS JetStream",
    description:
      "Copies events, undos and progress to a stream of JetStream and goes on where that ends, without gaps and repetitions. " +
      "Several may run: one writes at a time. The copy is as durable as the " +
      "NATS server; what it has lost is copied again. With a password use SEXTANT_NATS_URL, since others see arguments.",
    options: {
      to: text("URL", "the NATS server: nats://host:4222, or tls://host:4222 to insist on encryption", {
        variable: "SEXTANT_NATS_URL",
      }),
      stream: text("NAME", "the stream, created if it does not exist (default sextant)"),
      prefix: text(
        "NAME",
        "of subjects: NAME.events.IntentSubmitted, NAME.undo, NAME.progress (default sextant)",
      ),
      url: apiUrl,
    },
    client: {
      operands: "",
      operandsMax: 0,
      examples: [
        "publish --to nats://127.0.0.1:4222",
        "publish --to nats://127.0.0.1:4222 --finality finalized --stream final --prefix final",
      ],
      extend: byOperation("readEvents", "order", {
        from: "where an empty stream begins: a cursor, a block number, genesis (default), or head",
      }),
    },
    load: async () => (await import("./commands/publish.ts")).publishCommand,
  },
  {
    name: "preflight",
    summary: "ask what an account's policies say about a transaction",
    description:
      "Shows whether PolicyModule would allow the transaction, every reason why not, and the policy updates that would " +
      "make it pass. Sends nothing to the chain.",
    options: { url: apiUrl, json },
    client: {
      operands: "",
      operandsMax: 0,
      examples: [
        "preflight --account 0x3958cf1cf076864bb2c6c05172696fb64316aa3f --target 0x8a791620dd6260079bf849dc5567adc3f2fdc318",
      ],
      extend: byOperation("preflight", null),
    },
    exits: { 1: "the transaction is not allowed", 2: true },
    load: async () => (await import("./commands/preflight.ts")).preflightCommand,
  },
  {
    name: "payments",
    summary: "show payments and channels, finish open ones, and see what is left to spend",
    description:
      "list shows the payments of the journal, recover sends the signature of every open one again and signs nothing new, " +
      "budget compares what was spent or is reserved with the limits. channels shows what payment channels hold, refund asks " +
      "the service for what is left in one, and withdraw takes it back without the service: it begins, and ends when it " +
      "is run again after the delay; the payer pays the gas, and SEXTANT_GUARD_NODE sends it. CHANNEL is the beginning " +
      "of its id. restore finds the channels of a lost journal on the chain, from BLOCK on.",
    options: { url: portfolioUrl, wide, json },
    client: {
      operands: "[list|recover|budget|channels|refund|withdraw|restore] [CHANNEL|BLOCK]",
      operandsMax: 2,
      examples: ["payments", "payments recover", "payments budget --json", "payments channels"],
    },
    exits: { 1: true, 2: true, 5: true },
    load: async () => (await import("./commands/payments.ts")).paymentsCommand,
  },
  {
    name: "completion",
    summary: "print the completion script of a shell",
    description:
      "Prints a script that completes commands, options, values and paths of `sextant`. Its first line says how to load it.",
    options: {},
    client: {
      operands: "bash|zsh|fish",
      operandsMax: 1,
      examples: ["completion bash"],
    },
    load: async () => (await import("./commands/completion.ts")).createCompletionCommand(COMMANDS),
  },
  {
    name: "local",
    summary: "run everything on this machine, with local chains and simulated traffic (npm start)",
    description:
      "Starts embedded chains with the protocol and two markets, an embedded PostgreSQL, a simulator that creates " +
      "traffic, the indexer, the API, the facilitator and the portfolio service. Needs no key, account or network, and " +
      "deletes everything when it stops. While it runs, local.json in the data folder lists all URLs, addresses and keys.",
    options: {
      seed: text("N", "seed of the simulator; the same seed creates the same traffic (default 1)"),
      "no-traffic": flag("stop the simulator once the initial data exists", { alias: "still" }),
      data: text(
        "DIR",
        "keep the database in DIR after the run; the next run there starts fresh, like the chains",
      ),
      payee: text("ADDRESS", "settle payments to this address too, for a paid server of your own", {
        repeatable: true,
      }),
    },
    load: async () => (await import("./commands/local.ts")).localCommand,
  },
  {
    name: "serve",
    summary: "index a deployment and serve it, in one process",
    description:
      "Runs the indexer and the API, and the portfolio service if it is configured (RPC_URL_<chain id> and PAY_TO), on " +
      "the embedded database in the data folder or the one in DATABASE_URL. Waits for a node that is down. Another " +
      "`sextant api` or `sextant indexer` with the same data folder joins it.",
    options: {
      network,
      deployment: deployments,
      rpc: text("URL", "nodes of its chain, separated by commas", { variable: "RPC_URL" }),
      data: text("DIR", "folder of the embedded database", { variable: "SEXTANT_DATA" }),
    },
    load: async () => (await import("./commands/serve.ts")).serveCommand,
  },
  {
    name: "indexer",
    summary: "follow the chain and write the rows",
    description:
      "Indexes the deployment in NETWORK from the nodes in RPC_URL into the database and follows the chain. Run as many " +
      "as you like: one writes, the others stand by and take over within seconds. Serves /health, /ready and /metrics " +
      "on INDEXER_PORT.",
    options: { network, deployment: deployments },
    load: async () => (await import("./commands/indexer.ts")).indexerCommand,
  },
  {
    name: "api",
    summary: "serve the indexing API from the database",
    description:
      "Serves the indexing API on API_PORT. It is stateless: run as many as you like on one PostgreSQL. Reads NETWORK " +
      "and RPC_URL like the indexer; WRITE_AUTH selects open or signed writes, PUBLIC_BASE_URL is the URL for clients.",
    options: { network, deployment: deployments },
    load: async () => (await import("./commands/api.ts")).apiCommand,
  },
  {
    name: "webhooks",
    summary: "deliver events to webhooks, or manage them",
    description:
      "Delivers events to the registered webhooks and to those in SEXTANT_WEBHOOKS_FILE. API processes do the same unless " +
      "SEXTANT_WEBHOOK_DELIVERY=false; run as many as you like. Serves /health, /ready and /metrics on WEBHOOKS_PORT. With " +
      "one of the options below it manages a webhook, by its id or name, and ends. Works on all deployments of NETWORK and " +
      "DEPLOYMENTS, or on those that --deployment names.",
    options: {
      network,
      deployment: deployments,
      list: flag("print all webhooks, one JSON object per line"),
      pause: text("ID", "stop delivering; the cursor stays"),
      resume: text("ID", "deliver again from the cursor"),
      replay: text("ID", "deliver again from another place; needs --from"),
      from: text("PLACE", "a cursor, a block number, genesis or head"),
      test: text("ID", "send a test message and print what became of it"),
      rotate: text("ID", "new keys; the old ones sign for 24 hours more"),
      secret: text("ID", "print the symmetric secret"),
      delete: text("ID", "delete it with its cursor"),
    },
    load: async () => (await import("./commands/webhooks.ts")).webhooksCommand,
  },
  {
    name: "portfolio",
    summary: "serve paid wallet snapshots",
    description:
      "Sells wallet snapshots on PORTFOLIO_PORT: balances, prices, positions and activity on every chain with configured " +
      "nodes (RPC_URL_8453, RPC_URL_1, …), paid per request with x402 to PAY_TO. Run as many as you like on one " +
      "PostgreSQL, with one shared `sextant facilitator`.",
    options: {},
    load: async () => (await import("./commands/portfolio.ts")).portfolioCommand,
  },
  {
    name: "facilitator",
    summary: "verify x402 payments and settle them on chain",
    description:
      "Verifies x402 payments and settles them with the key in FACILITATOR_PRIVATE_KEY, which pays the gas. Run one per " +
      "key: it assigns the account's nonces. The database records every transaction sent, so a payment that is settled " +
      "again after a restart gets the same one. FACILITATOR_GAS_PRICE_MAX and similar settings limit the gas costs.",
    options: {},
    load: async () => (await import("./commands/facilitator.ts")).facilitatorCommand,
  },
  {
    name: "signing-key",
    summary: "make a key that signs responses, or the next one",
    description:
      "Writes the first key into FILE, or adds the next one, which begins a day later; both are valid for a day, and keys " +
      "that are over stay listed. Without a file it prints a new set for SEXTANT_SIGNING_KEYS.",
    options: {
      file: text("FILE", "the file of the keys", { variable: "SEXTANT_SIGNING_KEYS_FILE" }),
    },
    load: async () => (await import("./commands/signing-key.ts")).signingKeyCommand,
  },
  {
    name: "deployments",
    summary: "list the deployments of the database, or drop one",
    description:
      "Lists the deployments of NETWORK and DEPLOYMENTS, and every other index in the database, with how far " +
      "each is. With --drop it deletes the schema of one, which no indexer may be writing; others are not touched.",
    options: {
      network,
      drop: text("NAME", "the deployment to delete; shows what it has"),
      yes: flag("delete it"),
    },
    isOperator: true,
    exits: { 1: "nothing was deleted: --yes is missing" },
    load: async () => (await import("./commands/deployments.ts")).deploymentsCommand,
  },
  {
    name: "channels",
    summary: "list payment channels, and claim or refund them",
    description:
      "Lists what each payment channel owes and holds: in dollars, or in units of a token that is not known. Claims and " +
      "refunds are written down, and done within seconds by a portfolio service that runs with PAYMENT_CHANNELS. A channel " +
      "that another database seems to have claimed is served no more until --free, as after a restore from a backup.",
    options: {
      claim: text("ID", "claim what this channel owes, or all"),
      refund: text("ID", "give --amount back to its payer"),
      amount: text("UNITS", "in the token's smallest unit"),
      close: text("ID", "claim what it owes and give the rest back"),
      free: text("ID", "serve this channel again, or all: no other database sells on them"),
      json: flag("print one JSON object per line"),
    },
    isOperator: true,
    exits: { 1: "not done yet, or nothing to do" },
    load: async () => (await import("./commands/channels.ts")).channelsCommand,
  },
  {
    name: "rebuild",
    summary: "rebuild the rows from the stored logs, without a node",
    description:
      "Folds the stored logs into fresh tables and swaps them in at the end; readers are not interrupted. Stop the " +
      "indexer first. Reads NETWORK, DATABASE_URL and DATABASE_SCHEMA, and RPC_URL with --reread.",
    options: {
      network,
      deployment,
      reread: text(
        "N[-M]",
        "first read the logs of these final blocks again, after an audit has found a difference",
      ),
    },
    isOperator: true,
    load: async () => (await import("./commands/rebuild.ts")).rebuildCommand,
  },
  {
    name: "move",
    summary: "copy everything to another PostgreSQL and verify the copy",
    description:
      "Copies the source data (logs, documents, metadata, payments) from the embedded database, or the one in " +
      "DATABASE_URL, into an empty schema of another PostgreSQL in one transaction, compares both, and rebuilds the rows " +
      "from the logs. Stop the services first. The old database stays unchanged. Copies every deployment of NETWORK and " +
      "DEPLOYMENTS, unless --deployment names one.",
    options: {
      deployment,
      to: text("URL", "the new database: postgres://user:password@host/database"),
    },
    isOperator: true,
    load: async () => (await import("./commands/move.ts")).moveCommand,
  },
  {
    name: "export",
    summary: "write final blocks as Parquet files, or publish the tables",
    description:
      "Writes raw logs, blocks and every version of every row up to a final block as Parquet files that never change, " +
      "with a manifest of their hashes and views for DuckDB. A later run adds what is new; one that was killed goes on. " +
      "With --publication it creates a publication for logical replication instead. See docs/export.md. Reads " +
      "DATABASE_URL and DATABASE_SCHEMA; the indexer may keep running.",
    options: {
      deployment,
      parquet: text("DIR", "the folder of the files"),
      to: text("BLOCK", "the last block: a number, or finalized (default)"),
      step: text(
        "N",
        "begin a new file at every Nth block (default 50000); the first run into a folder decides",
      ),
      "whole-ranges": flag(
        "leave out the blocks after the last whole step, so that files do not depend on when it runs",
      ),
      verify: flag("compare the files with the manifest, and export nothing"),
      publication: text("NAME", "create the publication, or add the tables that it lacks"),
    },
    isOperator: true,
    exits: { 1: "--verify has found a difference" },
    load: async () => (await import("./commands/export.ts")).exportCommand,
  },
  {
    name: "audit",
    summary: "compare the rows with the contracts",
    description:
      "Compares every row with the contract state at a block and with its event, recounts the counters, and prints a " +
      "table of differences. The indexer may keep running. A block that is not " +
      "recent needs an archive node in RPC_URL. Reads NETWORK, RPC_URL, DATABASE_URL and DATABASE_SCHEMA.",
    options: {
      network,
      deployment,
      block: text("N", "the block to compare at (default: the latest final block)"),
      sample: text(
        "N",
        "compare at most N rows per table, evenly spread; counters and versions are always checked",
      ),
    },
    isOperator: true,
    exits: { 1: "there is a difference" },
    load: async () => (await import("./commands/audit.ts")).auditCommand,
  },
  {
    name: "doctor",
    summary: "check settings, nodes, database, ports and clocks",
    description:
      "Checks the settings, what each node can do (archive, state overrides, getLogs, trace, getProof, latency), the database " +
      "(version, settings, distance, clock) and the ports, and says what each limit means for the features. Changes nothing. " +
      "Next to a run it checks what the run uses.",
    options: { json: flag("print one JSON object per finding") },
    client: { operands: "", operandsMax: 0, examples: ["doctor", "doctor --json"] },
    exits: { 1: "a check has failed" },
    load: async () => (await import("./commands/doctor.ts")).doctorCommand,
  },
  {
    name: "mcp",
    summary: "offer the tools of both services to an agent on this machine",
    description:
      "Speaks the Model Context Protocol over standard input and output: an agent's client starts it. Reads the services " +
      "in SEXTANT_API_URL and SEXTANT_PORTFOLIO_URL, or those of a local run. With SEXTANT_PAYER_KEY or " +
      "SEXTANT_PAYER_KEY_FILE it pays for snapshots within the limits in SEXTANT_GUARD_*, and writes every payment to " +
      "SEXTANT_JOURNAL. Without one, the agent's client gets the terms and pays itself.",
    options: {},
    load: async () => (await import("./commands/mcp.ts")).mcpCommand,
  },
  {
    name: "docs",
    summary: "read these documents in a browser",
    description:
      "Serves the site of the documents on this machine until Ctrl-C. `npm run docs` builds it in a clone.",
    options: { port: text("N", "the port, 3010 by default; 0 lets the system choose") },
    load: async () => (await import("./commands/docs.ts")).docsCommand,
  },
];
