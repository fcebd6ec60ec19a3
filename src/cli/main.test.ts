// The `sextant` command: help, error sentences, exit codes and configuration.
import { EventEmitter } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runSextantInProcess } from "../../tests/support/process/run-in-process.ts";
import {
  CHECKOUT,
  createDatabaseEnvironment,
  startSextant,
} from "../../tests/support/process/sextant-process.ts";
import { operationsFor } from "./api-operations.ts";
import { COMMANDS as COMMAND_LIST } from "./commands.ts";
import { main } from "./main.ts";
import { parseArguments } from "./parse-arguments.ts";

const folder = mkdtempSync(join(tmpdir(), "sextant-cli-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CLIENT_COMMANDS = ["wallet", "get", "list", "preflight", "payments"];
const COMMANDS = ["local", "serve", "indexer", "api", "portfolio", "facilitator", "rebuild", "move", "audit"];

describe("help", () => {
  it.each([[[]], [["help"]], [["--help"]], [["-h"]]])("shows the help for %j", async (args) => {
    const { code, out } = await runSextantInProcess(args);
    expect(code).toBe(0);
    for (const name of [...CLIENT_COMMANDS, ...COMMANDS]) expect(out).toContain(`  ${name} `);
  });

  it.each(COMMANDS)("describes the command %s in its help", async (name) => {
    const { code, out } = await runSextantInProcess([name, "--help"]);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Usage: node bin/sextant\\.mjs ${name} \\[options\\]\n\n[A-Z].*\n`));
    expect(out).toContain("--debug");
  });

  const invocations = [
    [],
    ...COMMAND_LIST.map(({ name }) => [name]),
    ...(["get", "list"] as const).flatMap((command) =>
      operationsFor(command).map(({ path }) => [command, path.slice(1)]),
    ),
  ];

  it("fits every help into 80 columns, or into a narrower terminal", async () => {
    for (const columns of [80, 60]) {
      for (const args of invocations) {
        const { code, out } = await runSextantInProcess(["help", ...args], {}, folder, columns);
        expect(code).toBe(0);
        const isTooWide = (line: string) => line.length > columns && /\S \S/.test(line.replace(/ \\$/, ""));
        expect(out.split("\n").filter(isTooWide)).toEqual([]);
      }
    }
  });

  it("shows the same help for `help COMMAND` as for `COMMAND --help`, and as wide as the terminal", async () => {
    const named = await runSextantInProcess(["help", "list", "intents"]);
    expect(named).toEqual(await runSextantInProcess(["list", "intents", "--help"]));
    const wide = await runSextantInProcess(["help", "publish"], {}, folder, 200);
    expect(Math.max(...wide.out.split("\n").map(({ length }) => length))).toBeGreaterThan(90);
  });

  it("breaks a long example so that a shell joins its lines", async () => {
    const { out } = await runSextantInProcess(["help", "preflight"]);
    const example = COMMAND_LIST.find(({ name }) => name === "preflight")?.client?.examples[0];
    expect(out.replace(/ \\\n +/g, " ")).toContain(`\n  node bin/sextant.mjs ${example}\n`);
  });

  it("lists the exit codes of the command, and no others", async () => {
    const codes = async (name: string) => {
      const [, list = ""] = (await runSextantInProcess(["help", name])).out.split("\nExit codes\n");
      return [...list.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => Number(code));
    };
    const common = [0, 64, 65, 69, 70, 74, 78, 130];
    expect(await codes("publish")).toEqual(common);
    // A name may lead to no address, and a stored snapshot may be unknown.
    expect(await codes("wallet")).toEqual([0, 2, 3, 4, 5, 6, ...common.slice(1)]);
    expect((await runSextantInProcess(["help", "audit"])).out).toMatch(/^ {2}1 +there is a difference$/m);
  });

  it("loads no command for the help: the list imports them lazily", () => {
    const list = readFileSync(new URL("./commands.ts", import.meta.url), "utf8");
    expect(list).not.toMatch(/^import (?!type )/m);
    const all = [...CLIENT_COMMANDS, ...COMMANDS];
    expect(all.filter((name) => !list.includes(`await import("./commands/${name}.ts")`))).toEqual([]);
  });
});

describe("options", () => {
  const clients = COMMAND_LIST.filter(({ client }) => client?.extend !== undefined);

  it.each(clients)("never takes an option of $name for a filter of the API", async ({ name, options }) => {
    const given = Object.entries(options).flatMap(([option, { type }]) =>
      type === "boolean" ? [`--${option}`] : [`--${option}`, "1"],
    );
    const invocation = await parseArguments([name, ...given], COMMAND_LIST, 80);
    if (invocation.kind !== "run") throw new Error("the command shows its help");
    expect(Object.keys(invocation.options)).toEqual(expect.arrayContaining(Object.keys(options)));
    expect(Object.values(invocation.filters).filter((value) => value !== undefined)).toEqual([]);
  });

  it("sends `publish --to URL` to the NATS server, although a read of the API has a filter `to`", async () => {
    const given = ["publish", "--to", "nats://127.0.0.1:1", "--stream", "final", "--finality", "finalized"];
    const environment = { SEXTANT_API_URL: "http://127.0.0.1:9", SEXTANT_DATA: folder };
    const { code, err } = await runSextantInProcess(given, environment);
    expect([code, err]).toEqual([69, expect.stringMatching(/NATS/)]);
  });
});

describe("an invalid start", () => {
  const cases: [string, string[], Record<string, string>, number, RegExp][] = [
    [
      "an unknown command",
      ["fly"],
      {},
      64,
      /^sextant: Unknown command "fly"; run `node bin\/sextant\.mjs --help` .*\n$/,
    ],
    [
      "an unknown option",
      ["api", "--fly"],
      {},
      64,
      /^sextant: Unknown option '--fly'; run `node bin\/sextant\.mjs api --help` .*\n$/,
    ],
    [
      "a misspelt command",
      ["wacth"],
      {},
      64,
      /^sextant: Unknown command "wacth"; did you mean watch\? .*\n$/,
    ],
    [
      "a misspelt option",
      ["api", "--netwrok", "x"],
      {},
      64,
      /^sextant: Unknown option '--netwrok'; did you mean --network\? .*\n$/,
    ],
    [
      "an option without its value",
      ["api", "--network", "--help"],
      {},
      64,
      /^sextant: Option '--network' needs a value; run `node bin\/sextant\.mjs api --help` .*\n$/,
    ],
    [
      "a last option without its value",
      ["api", "--network"],
      {},
      64,
      /^sextant: Option '--network' needs a value; run `node bin\/sextant\.mjs api --help` .*\n$/,
    ],
    [
      "an option that has nothing in common with another one",
      ["list", "intents", "--colour", "x"],
      {},
      64,
      /^sextant: Unknown option '--colour'; run `node bin\/sextant\.mjs list --help` .*\n$/,
    ],
    [
      "a misspelt path",
      ["list", "intnets"],
      {},
      64,
      /^sextant: The API has no intnets; did you mean `node bin\/sextant\.mjs list intents`\? .*\n$/,
    ],
    [
      "a stray argument",
      ["api", "fly"],
      {},
      64,
      /^sextant: Unexpected argument 'fly'.*; run `node bin\/sextant\.mjs api --help` .*\n$/,
    ],
    [
      "a payee that is not an address",
      ["local", "--payee", "0x12"],
      {},
      65,
      /^sextant: --payee must be an address: 0x followed by 40 hex digits.*\n$/,
    ],
    [
      "a malformed variable",
      ["api"],
      { API_PORT: "many" },
      78,
      /^sextant: API_PORT must be a port number from 0 to 65535.*\n$/,
    ],
    [
      "a typo in a variable with our prefix",
      ["api"],
      { SEXTANT_DATTA: "x" },
      78,
      /^sextant: SEXTANT_DATTA is not .*did you mean SEXTANT_DATA\?\n$/,
    ],
    ["a missing node address", ["indexer"], {}, 78, /^sextant: RPC_URL must name at least one node.*\n$/],
    [
      "an unknown network",
      ["indexer"],
      { RPC_URL: "http://127.0.0.1:1", NETWORK: "moon" },
      78,
      /^sextant: NETWORK must be one of .*base-sepolia.*"moon".*\n$/,
    ],
    [
      "a database that does not respond",
      ["api"],
      { DATABASE_URL: "postgres://me:hunter2@127.0.0.1:1/db", API_PORT: "0" },
      69,
      /^sextant: .*127\.0\.0\.1:1.*\n$/,
    ],
  ];

  it.each(cases)(
    "rejects %s in one sentence without a stack",
    async (_name, args, environment, code, message) => {
      const result = await runSextantInProcess(args, { SEXTANT_LOG_LEVEL: "silent", ...environment });
      expect(result.err).toMatch(message);
      expect(result.err).not.toContain("hunter2");
      expect(result.err).not.toContain("    at ");
      expect([result.code, result.out]).toEqual([code, ""]);
    },
  );

  it("rejects an old Node in one sentence", async () => {
    const preload = join(folder, "old-node.cjs");
    writeFileSync(preload, 'Object.defineProperty(process.versions, "node", { value: "18.20.1" });');
    const { code, err } = await startSextant(["api"], {
      ...{ checkout: CHECKOUT, cwd: folder, node: ["--require", preload] },
    }).ended;
    expect(code).toBe(69);
    expect(err).toMatch(/^sextant: Node 18\.20\.1 is too old; Sextant needs 20\.19 or newer\..*\n$/);
  });

  it("rejects a busy port in one sentence", async () => {
    const { environment, drop } = await createDatabaseEnvironment();
    const holder = createServer().listen(0, "127.0.0.1");
    await new Promise((done) => holder.once("listening", done));
    const address = holder.address();
    const port = typeof address === "object" && address ? String(address.port) : "";
    const { code, err } = await runSextantInProcess(["api"], {
      ...environment,
      API_PORT: port,
      SEXTANT_LOG_LEVEL: "silent",
    });
    holder.close();
    await drop();
    expect(err).toBe(
      `sextant: Cannot listen: port ${port} is in use; stop what listens there, or set API_PORT to a free port.\n`,
    );
    expect(code).toBe(69);
  });

  it("prints the stack with --debug or SEXTANT_DEBUG", async () => {
    for (const [args, environment] of [
      [["api", "--debug"], {}],
      [["api"], { SEXTANT_DEBUG: "true" }],
    ] as const) {
      const { code, err } = await runSextantInProcess(args, { ...environment, API_PORT: "many" });
      expect(code).toBe(78);
      expect(err).toContain("    at ");
    }
  });
});

describe("options", () => {
  const options = async (...argv: string[]) => {
    const invocation = await parseArguments(argv, COMMAND_LIST, 80);
    return invocation.kind === "run" ? invocation.options : null;
  };

  it("accepts the former name of an option", async () => {
    expect(await options("local", "--no-traffic")).toMatchObject({ "no-traffic": true });
    expect(await options("local", "--still")).toMatchObject({ "no-traffic": true });
    expect((await options("local"))?.["no-traffic"]).toBeUndefined();
    expect(await options("local", "--still")).not.toHaveProperty("still");
  });

  it("passes values by name", async () => {
    expect(await options("local", "--seed", "7", "--data=x")).toMatchObject({ seed: "7", data: "x" });
    expect(await options("local", "--payee", "a", "--payee=b")).toMatchObject({ payee: ["a", "b"] });
  });
});

describe("output that cannot be written", () => {
  async function runWithBrokenOutput(code: string) {
    let err = "";
    const stdout = Object.assign(new EventEmitter(), {
      write(_: string, taken?: () => void) {
        stdout.emit("error", Object.assign(new Error(`${code}: write`), { code }));
        taken?.();
      },
    });
    const stderr = {
      write: (text: string) => {
        err += text;
      },
    };
    const host = Object.assign(new EventEmitter(), {
      ...{ argv: ["node", "sextant", "--help"], env: {}, stdout, stderr, exitCode: -1 },
      cwd: () => folder,
      exit: () => undefined,
    });
    await main(host);
    return { code: host.exitCode, err };
  }

  it("exits with 0 if the reader has gone, and with 74 if the disk is full", async () => {
    expect(await runWithBrokenOutput("EPIPE")).toEqual({ code: 0, err: "" });
    expect(await runWithBrokenOutput("ENOSPC")).toEqual({
      code: 74,
      err: "sextant: The result could not be written: ENOSPC: write.\n",
    });
  });
});

describe("configuration", () => {
  it.each(["serve", "indexer", "api", "rebuild", "audit"])(
    "lets --network override NETWORK for %s",
    async (name) => {
      const { code, err } = await runSextantInProcess([name, "--network", "moon"], {
        NETWORK: "base-sepolia",
        RPC_URL: "http://127.0.0.1:1",
        DATABASE_URL: "postgres://x@127.0.0.1:1/y",
        SEXTANT_LOG_LEVEL: "silent",
      });
      expect(err).toMatch(/^(Using .*\n)?sextant: NETWORK must be one of .*base-sepolia.*"moon".*\n$/);
      expect(code).toBe(78);
    },
  );

  it("reads a .env file, which variables of the process override", async () => {
    const home = mkdtempSync(join(tmpdir(), "sextant-env-"));
    writeFileSync(join(home, ".env"), "API_PORT=many\nSEXTANT_LOG_LEVEL=silent\n");
    expect((await runSextantInProcess(["api"], {}, home)).err).toMatch(/^sextant: API_PORT must be/);
    const overridden = await runSextantInProcess(
      ["api"],
      { API_PORT: "0", DATABASE_URL: "postgres://x@127.0.0.1:1/y" },
      home,
    );
    expect(overridden.err).toContain("127.0.0.1:1");
    expect(overridden.err).not.toContain("API_PORT");
    rmSync(home, { recursive: true, force: true });
  });
});
