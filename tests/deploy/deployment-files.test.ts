// compose.yaml and the systemd units give every service each setting that it reads.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SERVICE_OPTIONS } from "../../bench/portfolio/measure-processes.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { processSettings } from "../../src/config/service-settings.ts";
import { allSettings } from "../../src/config/settings.ts";
import { silentLog } from "../support/quiet-log.ts";

const VARIABLES = Object.values(allSettings).map(({ variable }) => variable);
/** Whatever has a port of its own is a service. */
const SERVICES = VARIABLES.flatMap((variable) => {
  const [, service] = /^([A-Z]+)_PORT$/.exec(variable) ?? [];
  return service === undefined ? [] : [service.toLowerCase()];
});

/** Settings that a container does not get, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  SEXTANT_DATA: "only the embedded database uses the folder",
  X402_DEV_BYPASS: "rejected in production",
  "portfolio FACILITATOR_PRIVATE_KEY": "the facilitator settles, and no other process may have its key",
  "portfolio FACILITATOR_GAS_PRICE_MAX": "the facilitator settles",
  "portfolio FACILITATOR_GAS_PERCENT_MAX": "the facilitator settles",
  "portfolio FACILITATOR_REVERTED_GAS_MAX": "the facilitator settles",
};

describe("settings of services", () => {
  it("knows the services by their ports", () => {
    expect(SERVICES).toEqual(["indexer", "api", "webhooks", "portfolio", "facilitator"]);
  });

  it.each(SERVICES)("compose.yaml passes each setting that %s reads, and no other", async (service) => {
    const image = readImageVariables();
    const ownPort = `${service.toUpperCase()}_PORT`;
    const read = await recordReads(service);
    const passed = readComposeVariables(service);
    const missing = [...read].filter(
      (name) =>
        !passed.has(name) &&
        !image.has(name) &&
        name !== ownPort &&
        !LEFT_OUT[name] &&
        !LEFT_OUT[`${service} ${name}`],
    );
    expect(missing).toEqual([]);
    // The health check of the image reads it.
    expect([...passed].filter((name) => !read.has(name))).toEqual(["HEALTH_PORT"]);
  });

  it("compose.yaml mounts the folder of deployment files in every service", () => {
    const compose = readFileSync("compose.yaml", "utf8");
    const common = compose.slice(0, compose.indexOf("\n\n"));
    // Services that add volumes or leave the common part out would lose the mount.
    expect(common).toMatch(/volumes: \["\S+:\/etc\/sextant:ro"\]/);
    expect(compose.match(/volumes:/g)).toHaveLength(3);
    for (const block of blocksWithCommand(compose)) expect(block).toContain("<<: *sextant\n");
  });

  it("each service has a systemd unit that passes whole files of settings, and names only settings that it reads", async () => {
    const units = readdirSync("deploy/systemd").map((file) => readFileSync(`deploy/systemd/${file}`, "utf8"));
    const commands = units.map(
      (unit) => /^ExecStart=\S+ (?:--\S+ )?bin\/sextant\.mjs (\w+)$/m.exec(unit)?.[1] ?? "",
    );
    expect([...commands].sort()).toEqual([...SERVICES].sort());
    const readme = readFileSync("deploy/README.md", "utf8");
    for (const [index, command] of commands.entries()) {
      const unit = units[index] ?? "";
      const files = [...unit.matchAll(/^EnvironmentFile=(.+)$/gm)].map(([, file]) => file);
      expect(files).toEqual(["/etc/sextant/common.env", `/etc/sextant/${command}.env`]);
      for (const file of files) expect(readme).toContain(`| \`${file}\` |`);
      const read = await recordReads(command);
      for (const [, name] of unit.matchAll(/^Environment=(\w+)=/gm))
        if (name !== "NODE_ENV") expect(read, command).toContain(name);
    }
  });
});

it("the portfolio starts with the options of Node that its benchmark measures", () => {
  const options = SERVICE_OPTIONS.join(" ");
  const unit = readFileSync("deploy/systemd/sextant-portfolio@.service", "utf8");
  expect(unit).toContain(`ExecStart=/usr/bin/node ${options} bin/sextant.mjs portfolio\n`);
  const [block = ""] = blocksWithCommand(readFileSync("compose.yaml", "utf8")).filter((one) =>
    one.includes("command: [portfolio]"),
  );
  expect(block).toContain(`entrypoint: [node, ${SERVICE_OPTIONS.join(", ")}, bin/sextant.mjs]\n`);
});

/** The variables that the command reads until it rejects its settings, before it opens anything. */
async function recordReads(service: string): Promise<ReadonlySet<string>> {
  const read = new Set(Object.values(processSettings).map(({ variable }) => variable));
  const given = { NETWORK: "/missing.json", SEXTANT_WEBHOOK_KEY: `0x${"1".repeat(64)}` };
  const run = await COMMANDS.find(({ name }) => name === service)?.load();
  // An API reads the settings of payments only if it sells.
  for (const sold of [{}, { API_PRICE_USD: "0.001" }]) {
    const environment = new Proxy<Record<string, string>>(
      { ...given, ...sold },
      {
        get(target, name) {
          if (typeof name === "string") read.add(name);
          return Reflect.get(target, name);
        },
      },
    );
    const context = { environment, options: {}, log: silentLog, print: () => undefined };
    await expect(run?.({ ...context, stop: AbortSignal.timeout(60_000) } as never)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  }
  // A further deployment may be on any chain.
  if (read.has("DEPLOYMENTS")) for (const name of listNodeVariables()) read.add(name);
  return read;
}

function listNodeVariables(): string[] {
  const chains: { chainId: number; slug: string }[] = JSON.parse(
    readFileSync("chain-data/chains.json", "utf8"),
  );
  return chains.filter(({ slug }) => slug !== "local").map(({ chainId }) => `RPC_URL_${chainId}`);
}

function readImageVariables(): ReadonlySet<string> {
  const lines = [...readFileSync("Dockerfile", "utf8").matchAll(/^ENV (.+)$/gm)];
  return new Set(
    lines.flatMap(([, pairs = ""]) => [...pairs.matchAll(/(\w+)=/g)].map(([, name = ""]) => name)),
  );
}

function blocksWithCommand(compose: string): string[] {
  return compose.split("\n\n").filter((block) => /^ +command: /m.test(block));
}

/** Reads as much of YAML as the file uses: maps of settings that other maps take over. */
function readComposeVariables(service: string): ReadonlySet<string> {
  const compose = readFileSync("compose.yaml", "utf8");
  const namesIn = (block: string): string[] => [
    ...[...block.matchAll(/^ +([A-Z][A-Z0-9_]*):/gm)].map(([, name = ""]) => name),
    ...[...block.matchAll(/<<: \[?([*\w, -]+)/g)].flatMap(([, list = ""]) =>
      [...list.matchAll(/\*([\w-]+)/g)].flatMap(([, anchor]) =>
        namesIn(compose.split("\n\n").find((part) => part.includes(`: &${anchor}\n`)) ?? ""),
      ),
    ),
  ];
  const own = blocksWithCommand(compose).filter((block) => block.includes(`command: [${service}]`));
  expect(own).toHaveLength(1);
  return new Set(namesIn(own[0] ?? ""));
}
