// `sextant completion`: what a shell completes, asked of the shells that are installed.
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { runSextantInProcess } from "../../../tests/support/process/run-in-process.ts";
import { COMMANDS } from "../commands.ts";

const scriptOf = async (shell: string) => (await runSextantInProcess(["completion", shell])).out;

/** Returns the words that bash offers for the last word of each line. */
function completeInBash(script: string, lines: readonly (readonly string[])[]): string[][] {
  const asked = lines.map((words) => {
    const quoted = ["sextant", ...words].map((word) => `'${word}'`).join(" ");
    return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; COMPREPLY=(); _sextant 2>/dev/null; echo "\${COMPREPLY[*]}"`;
  });
  const out = execFileSync("bash", ["--norc", "-u", "-c", `${script}\n${asked.join("\n")}`], {
    encoding: "utf8",
  });
  return out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ").filter(Boolean));
}

it("completes commands, paths, options and values in bash", async () => {
  const script = await scriptOf("bash");
  const [commands, prefix, paths, options, values, actions, help, free] = completeInBash(script, [
    [""],
    ["wat"],
    ["get", "age"],
    ["list", "--st"],
    ["list", "intents", "--status", "f"],
    ["payments", ""],
    ["help", "exp"],
    ["list", "--limit", ""],
  ]);
  expect(commands).toEqual([...COMMANDS.map(({ name }) => name), "help"]);
  expect(prefix).toEqual(["watch"]);
  expect(paths).toEqual(["agents/"]);
  expect(options).toEqual(["--status"]);
  expect(values).toEqual(["filled"]);
  expect(actions?.slice(0, 3)).toEqual(["list", "recover", "budget"]);
  expect(help).toEqual(["exposure", "export"]);
  expect(free ?? []).toEqual([]);
});

it("takes the words of zsh and fish from the same table", async () => {
  const bash = await scriptOf("bash");
  expect(await scriptOf("zsh")).toContain(bash.slice(bash.indexOf("\n_sextant")));
  const fish = await scriptOf("fish");
  for (const { name } of COMMANDS) expect(fish).toContain(`__fish_use_subcommand -f -a ${name} -d '`);
  expect(fish).toMatch(/__fish_seen_subcommand_from list' -l status -x -a '[^']*\bfilled\b/);
  expect(fish).toMatch(/-l account -r -d 'account that would send the transaction/);
  expect(fish).toContain("an account\\'s policies");
});

it("names the shells if none is given", async () => {
  expect(await runSextantInProcess(["completion"])).toMatchObject({
    code: 64,
    err: "sextant: Name the shell (bash, zsh, fish), such as: completion bash.\n",
  });
});
