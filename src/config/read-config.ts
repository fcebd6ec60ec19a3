// Reads the environment into a frozen, typed configuration; rejects unknown and malformed variables by name.
import { Fault } from "../lib/fault.ts";
import { nearestName } from "../lib/nearest-name.ts";
import type { Setting } from "./setting-kinds.ts";

export type Environment = Readonly<Record<string, string | undefined>>;
type SettingTable = Readonly<Record<string, Setting<unknown>>>;
export type Config<S extends SettingTable> = {
  readonly [Key in keyof S]: S[Key] extends Setting<infer T> ? T : never;
};

/** Reads each setting from its variable and reports all problems at once, one per line. */
export function readConfig<S extends SettingTable>(environment: Environment, settings: S): Config<S> {
  const problems: string[] = [];
  const entries = Object.entries(settings).map(([key, setting]) => {
    const given = environment[setting.variable];
    if (given === undefined) return [key, setting.fallback];
    try {
      // A blank value is ambiguous ("default" or "nothing"), so reject it.
      if (given.trim() === "") throw new TypeError("blank");
      return [key, setting.kind.parse(given)];
    } catch {
      problems.push(`${setting.variable} must be ${setting.kind.allowed}, or not be set at all.`);
      return [key, setting.fallback];
    }
  });
  if (problems.length > 0) throw new Fault("CONFIG_INVALID", problems.join("\n"));
  return Object.freeze(Object.fromEntries(entries)) as Config<S>;
}

/** Rejects unknown variables with our prefix: a typo must not silently mean the default. */
export function rejectUnknownVariables(
  environment: Environment,
  rules: { prefixes: readonly string[]; known: readonly string[] },
): void {
  const known = new Set(rules.known);
  const problems = Object.keys(environment)
    .filter((name) => rules.prefixes.some((prefix) => name.startsWith(prefix)))
    .filter((name) => !known.has(name))
    .map((name) => `${name} is not a variable of Sextant; ${suggestion(name, rules.known)}`);
  if (problems.length > 0) throw new Fault("CONFIG_INVALID", problems.join("\n"));
}

function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === null
    ? "remove it, or see all variables on the configuration page of `sextant docs`."
    : `did you mean ${nearest}?`;
}
