// `sextant completion bash`: prints the script by which a shell completes commands, options, values and paths.
import { Fault } from "../../lib/fault.ts";
import type { Command, CommandOption, RunClientCommand } from "../command.ts";
import { GLOBAL_OPTIONS } from "../help.ts";

/** The words that a shell completes after the name of a command. */
type Completed = {
  readonly name: string;
  readonly summary: string;
  readonly operands: readonly string[];
  readonly options: readonly {
    readonly name: string;
    readonly description: string;
    readonly takesValue: boolean;
    /** Empty if the value is free. */
    readonly values: readonly string[];
  }[];
};

const SCRIPTS: Readonly<Record<string, (commands: readonly Completed[]) => string>> = {
  bash: formatBash,
  zsh: formatZsh,
  fish: formatFish,
};

export const createCompletionCommand =
  (commands: readonly Command[]): RunClientCommand =>
  async ({ operands: [shell = ""], print }) => {
    const format = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (format === undefined) {
      const shells = Object.keys(SCRIPTS).join(", ");
      throw new Fault("USAGE_INVALID", `Name the shell (${shells}), such as: completion bash.`);
    }
    const completed = await Promise.all(commands.map(describe));
    const names = commands.map(({ name }) => name);
    const help = { name: "help", summary: "show the help of a command", operands: names, options: [] };
    await print(format([...completed, help]));
    return 0;
  };

async function describe({ name, summary, options, client }: Command): Promise<Completed> {
  const extension = await client?.extend?.();
  const all = Object.entries({ ...extension?.options, ...options, ...GLOBAL_OPTIONS });
  return {
    name,
    summary,
    operands: extension?.operands ?? splitChoice(client?.operands ?? ""),
    options: all.map(([key, option]) => ({
      name: key,
      description: option.description,
      takesValue: option.type === "string",
      values: valuesOf(option),
    })),
  };
}

/** Names of free values are in capitals, and are one word. */
function valuesOf({ valueName = "" }: CommandOption): readonly string[] {
  return /^[A-Z]+$/.test(valueName) ? [] : splitChoice(valueName);
}

function splitChoice(text: string): readonly string[] {
  const words = text.replace(/^\[|\]$/g, "").split("|");
  // Other characters would need quotes in a script.
  return words.filter((word) => /^[a-zA-Z0-9._-]+$/.test(word) && word !== word.toUpperCase());
}

function formatBash(commands: readonly Completed[]): string {
  const values = commands.flatMap(({ name, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((option) => `    "${name} --${option.name}") words="${option.values.join(" ")}" ;;\n`),
  );
  const words = commands.map(({ name, operands, options }) => {
    const all = [...operands, ...options.map((each) => `--${each.name}`)];
    return `      ${name}) words="${all.join(" ")}" ;;\n`;
  });
  return `# Completion of sextant for bash. To load it: eval "$(sextant completion bash)"
_sextant() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(" ")}"
  else
    case "\${COMP_WORDS[1]} $previous" in
${values.join("")}    *) case "\${COMP_WORDS[1]}" in
${words.join("")}    esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # A path that goes on with an id is not finished.
  case "\${COMPREPLY[0]-}" in */) type compopt >/dev/null 2>&1 && compopt -o nospace ;; esac
}
complete -o default -F _sextant sextant
`;
}

/** Zsh runs completions of bash. */
function formatZsh(commands: readonly Completed[]): string {
  return `# Completion of sextant for zsh. To load it: source <(sextant completion zsh)
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${formatBash(commands).split("\n").slice(1).join("\n")}`;
}

function formatFish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ name, summary, operands, options }) => {
    const after = `complete -c sextant -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c sextant -n __fish_use_subcommand -f -a ${name} -d ${quoteForFish(summary)}`,
      ...(operands.length === 0 ? [] : [`${after} -f -a '${operands.join(" ")}'`]),
      ...options.map((option) => {
        const value = option.values.length > 0 ? ` -x -a '${option.values.join(" ")}'` : " -r";
        return `${after} -l ${option.name}${option.takesValue ? value : ""} -d ${quoteForFish(option.description)}`;
      }),
    ];
  });
  const head = "# Completion of sextant for fish. To load it: sextant completion fish | source";
  return [head, ...lines, ""].join("\n");
}

function quoteForFish(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
